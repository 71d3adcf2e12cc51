"""The cache of candidates: bounded, and what is forgotten gives its room back."""

from recall_stages.core.candidate import Candidate
from recall_stages.store.rows.memory_cache import CandidateCache

TEXT = Candidate(content="tea " * 1000, id="a")  # 4,000 bytes and what a candidate takes besides


def kept(cache: CandidateCache, count: int) -> int:
    return sum(each is not None for each in cache.at(range(count)))


def test_as_many_are_kept_as_there_is_room_for() -> None:
    cache = CandidateCache(most=20_000)

    for place in range(10):
        cache.keep(place, TEXT)

    assert kept(cache, 10) == 4


def test_what_is_forgotten_or_replaced_gives_its_room_back() -> None:
    cache = CandidateCache(most=20_000)

    for place in range(1000):
        cache.keep(place % 4, TEXT)
    assert kept(cache, 4) == 4
    for place in range(4):
        cache.forget(place)
        cache.forget(place)
    for place in range(10, 20):
        cache.keep(place, TEXT)

    assert kept(cache, 20) == 4
