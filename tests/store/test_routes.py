"""The memories nearest in meaning, by our rows and by Chroma: compared with exact search."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from store.kit import ZONES, SmallEmbedding, ids, similarities

from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import searcher
from recall_retrievers.timeline import TimeRange

SMALL = SmallEmbedding()
FIRST = datetime(2024, 2, 5, tzinfo=UTC)
DAYS = 400
USERS = [Scope(user_id="ann"), Scope(user_id="bob"), Scope()]
WORDS = ["tea", "dentist", "street", "garden", "train", "letter", "music", "river", "bread", "sea"]


def _memories(count: int, seed: int = 7) -> list[Memory]:
    """Dense around a change of the clock, thin over decades; a third name events."""
    dice = random.Random(seed)

    def moment() -> datetime:
        if dice.random() < 0.3:
            return datetime(2024, 3, 31, tzinfo=UTC) + timedelta(minutes=dice.randint(-3000, 3000))
        days = DAYS if dice.random() < 0.8 else 60 * 365
        return FIRST - timedelta(seconds=dice.randrange(days * 86_400))

    def event() -> TimeRange:
        start = moment()
        end = start + timedelta(minutes=dice.choice([1, 60, 1440, 525_600]))
        return TimeRange(*dice.choice([(start, end), (start, None), (None, end)]), "day")

    return [
        Memory(
            id=f"m{number}",
            content=f"{' '.join(dice.choices(WORDS, k=3))} word{number}",
            created_at=moment(),
            events=[event() for _ in range(dice.choice([0, 0, 0, 0, 1, 3]))],
            scope=dice.choice(USERS),
        )
        for number in range(count)
    ]


MEMORIES = _memories(900)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecallStore]:
    path = tmp_path_factory.mktemp("store")
    with RecallStore(path, embedding=SMALL) as opened:
        opened.add(MEMORIES)
    with RecallStore(path, embedding=SMALL) as opened:
        yield opened


def is_exact(found: Sequence[Hit], search: Search) -> bool:
    """Whether an answer is that of all memories and all similarities.

    Chroma computes with 32 bits, and two of a thousand rows may be 1e-8 apart.
    """
    fitting = {
        each.id: each.content
        for each in MEMORIES
        if (not search.within or any(each.matches(span) for span in search.within))
        and search.scope.holds(each.scope)
    }
    cosines = dict(
        zip(fitting, similarities(search.text, list(fitting.values()), SMALL), strict=True)
    )
    wanted = sorted(cosines.values(), reverse=True)[: search.limit]
    got = [cosines.get(row_id, -1.0) for row_id in dict.fromkeys(ids(found))]
    return len(got) == len(wanted) and bool(np.allclose(got, wanted, atol=1e-6))


zones = st.sampled_from([ZoneInfo(name) for name in ZONES])
DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
lengths = st.sampled_from(
    [TICK, 1000 * TICK, *(days * DAY for days in (1 / 24, 1, 7, 61, 63, 365, 3570, 3875, 14_600))]
)


@st.composite
def ranges(draw: st.DrawFn) -> TimeRange:
    starts = st.sampled_from([each.created_at for each in MEMORIES]) | st.datetimes(
        datetime(1962, 1, 1), datetime(2031, 1, 1), timezones=st.just(UTC)
    )
    start = draw(starts).astimezone(draw(zones))
    end = (start.astimezone(UTC) + draw(lengths)).astimezone(draw(zones))
    bounds = [(start, end), (start, end), (None, end), (start, None), (None, None)]
    return TimeRange(*draw(st.sampled_from(bounds)), "day")


@st.composite
def searches(draw: st.DrawFn) -> Search:
    return Search(
        " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))),
        limit=draw(st.sampled_from([1, 5, 50, 1000])),
        scope=draw(st.sampled_from(USERS)),
        within=tuple(draw(st.lists(ranges(), max_size=3))),
    )


@pytest.mark.parametrize("by_chroma", [False, True])
def test_either_way_finds_what_exact_search_finds(
    by_chroma: bool, store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_chroma:
        monkeypatch.setattr(searcher, "_MOST_HERE", -1)

    @given(st.lists(searches(), min_size=1, max_size=4))
    @example([Search("tea", 1000, within=(TimeRange(FIRST - 100 * DAY, FIRST, "day"),))])
    @settings(max_examples=25)
    def holds(asked: list[Search]) -> None:
        answers = store.find(asked)
        assert all(is_exact(found, search) for found, search in zip(answers, asked, strict=True))

    holds()
