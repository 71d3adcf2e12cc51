"""What a row index keeps for the next question is bounded, and is let go with the store."""

from __future__ import annotations

import gc

from store.kit import SmallEmbedding

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.cache import Cache


def test_the_oldest_memories_make_room_for_new_ones() -> None:
    ann, bob = object(), object()
    cache = Cache(16 * 4500)  # a sixteenth is for memories: two of 1,600 bytes, and a bit
    for place in range(3):
        cache.keep(ann, place, Candidate(content=f"tea {place}"), 10)
    kept = cache.found(ann, range(3))
    assert [each and each.content for each in kept.values()] == [None, "tea 1", "tea 2"]
    cache.keep(bob, 1, Candidate(content="milk"), 10)
    assert list(cache.found(ann, range(3)).values())[:2] == [None, None]
    cache.clear(ann)
    assert cache.found(ann, [2]) == {2: None}
    assert (milk := cache.found(bob, [1])[1]) is not None
    assert milk.content == "milk"


def test_vectors_take_the_rest_of_the_room_and_an_owner_that_goes_gives_it_back() -> None:
    ann, bob = object(), object()
    cache = Cache(1600)
    assert cache.take(ann, 1000)
    assert not cache.take(bob, 1000)
    cache.clear(ann)
    assert cache.take(bob, 1000)


def test_a_closed_store_keeps_no_memory() -> None:
    with RecallStore(embedding=SmallEmbedding(), event_times=False) as store:
        store.add(["tea at four"])
        read = store.find([Search("tea", 1)])[0][0].memory
        assert store.find([Search("tea", 1)])[0][0].memory is read  # it is not read again
        assert _entries(read)
    assert not _entries(read)


def _entries(memory: Candidate) -> int:
    """The entries of caches that hold a memory."""
    gc.collect()
    return sum(isinstance(each, tuple) for each in gc.get_referrers(memory))
