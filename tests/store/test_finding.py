"""Finding: exact, side by side with writers, on the event loop; and what is found, as columns."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import chromadb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from store.kit import NOON, ZONES, SmallEmbedding, best, contents, ids, similarities

from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.errors import QueryError, StoreClosedError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.pool import Arm, arms_of, facts_of
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.ranking.fusion import fuse_arms
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import searcher, table
from recall_retrievers.store.rows.table import Table
from recall_retrievers.timeline import TimeRange


class TestFinding:
    def test_a_book_is_no_question(self, in_memory: RecallStore) -> None:
        with pytest.raises(QueryError, match="50,000 characters at most"):
            in_memory.find([Search("tea " * 12_501, 1)])

    @pytest.mark.parametrize(
        ("broken", "times", "answered"),
        [
            ("Error finding id", 2, True),
            ("Error finding id", 99, False),
            ("Failed to apply logs", 1, False),
        ],
    )
    def test_only_chromas_race_is_tried_again(
        self,
        searched_by_chroma: RecallStore,
        monkeypatch: pytest.MonkeyPatch,
        broken: str,
        times: int,
        answered: bool,
    ) -> None:
        """A row deleted between two look-ups; a broken index would return wrong neighbours."""
        failures = [chromadb.errors.InternalError(broken) for _ in range(times)]
        query = chromadb.Collection.query

        def failing(self: Any, **asked: Any) -> Any:
            if failures:
                raise failures.pop()
            return query(self, **asked)

        monkeypatch.setattr(chromadb.Collection, "query", failing)
        if answered:
            assert contents(best(searched_by_chroma, "tea")) == ["tea"]
        else:
            with pytest.raises(StoreError, match=broken) as raised:
                best(searched_by_chroma, "tea")
            assert isinstance(raised.value.__cause__, chromadb.errors.InternalError)

    async def test_the_event_loop_runs_on_while_a_store_works(self) -> None:
        class Slow(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                time.sleep(0.3)
                return super().embed_documents(texts)

            async def aembed_query(self, text: str) -> list[float]:
                await asyncio.sleep(0.1)
                return self.embed_query(text)

        with RecallStore(embedding=Slow()) as store:
            for work in (store.aadd(["tea"]), store.afind([Search("tea", 1)])):
                ticks, task = 0, asyncio.ensure_future(work)
                while not task.done():
                    await asyncio.sleep(0.01)
                    ticks += 1
                await task
                assert ticks >= 3  # none while something holds the loop up

    async def test_async_searches_run_side_by_side(self) -> None:
        together = asyncio.Barrier(8)

        class Together(SmallEmbedding):
            async def aembed_query(self, text: str) -> list[float]:
                await together.wait()  # passes only when all eight are being embedded
                return self.embed_query(text)

        with RecallStore(embedding=Together()) as store:
            store.add(["tea", "train"])
            async with asyncio.timeout(20):
                await store.afind([Search(f"tea {number}", 1) for number in range(8)])

    def test_a_store_closed_within_a_search_by_words_does_not_answer_with_nothing(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        by_words = Table.by_words

        def closing(table: Table, *wanted: Any, **how: Any) -> Any:
            in_memory.close()
            return by_words(table, *wanted, **how)

        in_memory.add(["tea"])
        monkeypatch.setattr(Table, "by_words", closing)
        with pytest.raises(StoreClosedError):
            best(in_memory, "tea", method="keyword")


@pytest.fixture
def searched_by_chroma() -> Iterator[RecallStore]:
    """A collection of others in another space than cosine: Chroma answers every question."""
    client = chromadb.EphemeralClient()
    theirs = client.create_collection("race", configuration={"hnsw": {"space": "l2"}})
    embedding = SmallEmbedding()
    theirs.add("1", embeddings=[embedding.embed_query("tea")], documents=["tea"])
    with RecallStore(client, "race", embedding=embedding) as store:
        yield store
    client.delete_collection("race")


MARCH = TimeRange(NOON - timedelta(days=9), NOON + timedelta(days=9), "month")
TEA = Search("tea", 5, in_columns=True)
WORDS = replace(TEA, method="keyword")


@pytest.fixture
def store() -> Iterator[RecallStore]:
    with RecallStore(embedding=SmallEmbedding(), clock=lambda: NOON) as opened:
        opened.add(
            [
                {"id": "b", "content": "Any tea?", "author": "Ann", "memory_type": "conversation"},
                {"id": "a", "content": "Tea, and a cake that " + "we " * 300, "author": "user"},
                {
                    "id": "c",
                    "content": "Tea at four.",
                    "memory_type": "conversation",
                    "turn_before": "b",
                    "events": [MARCH],
                    "created_at": NOON - timedelta(days=400),
                    "scope": {"user_id": "bob", "session_id": "x"},
                },
            ]
        )
        yield opened


def found(store: RecallStore, *searches: Search) -> list[Arm]:
    return arms_of(store.find(searches))


def test_the_columns_of_rows_say_what_their_memories_say(store: RecallStore) -> None:
    [arm, _] = found(store, TEA, WORDS)
    rows = arm.source.facts(np.unique(arm.keys))
    memories = [memory for memory in rows.candidates(range(3)) if memory is not None]
    read = facts_of(memories)

    assert rows.ids == ("a", "b", "c")
    named = {each.name for each in fields(rows)} - {"source", "keys", "owners", "profiles"}
    assert all([*getattr(rows, name)] == [*getattr(read, name)] for name in named)
    assert rows.profiles is not None
    assert rows.profiles.tolist() == [[*each.wording.profile] for each in memories]
    assert [bool(any(owner)) for owner in rows.owners] == [False, False, True]
    assert rows.matches([MARCH]) == [["recorded"], ["recorded"], ["event"]]


def test_a_memory_that_is_deleted_meanwhile_is_left_out(store: RecallStore) -> None:
    semantic, keyword = found(store, TEA, WORDS)
    store.delete(["c"])

    assert {hit.id for hit in semantic} == {"a", "b"}
    assert {memory.id for memory in fuse_arms([semantic], [keyword], limit=5)} == {"a", "b"}


def test_rows_that_are_let_go_meanwhile_are_read_from_the_collection(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = found(store, TEA, WORDS)
    before = [[*arm] for arm in arms]

    def closed(*_: object) -> None:
        raise StoreClosedError("the rows of this scope were let go")

    monkeypatch.setattr(table.Table, "memories", closed)
    assert [[*arm] for arm in arms] == before


def test_owners_are_compared_as_they_are_before_a_memory_is_shown(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table.Table, "select", lambda rows, _: [all_of(rows)])
    bobs = replace(TEA, scope=Scope(user_id="bob"))

    assert [hit.id for hit in found(store, bobs)[0]] == ["c"]


def all_of(rows: table.Table) -> table.Selection:
    """As where the numbers of two owners are equal."""
    return table.Selection(np.ones(rows.living().max() + 1, dtype=np.bool_), whole=False)


SMALL = SmallEmbedding()
FIRST = datetime(2024, 2, 5, tzinfo=UTC)
DAYS = 400
USERS = [Scope(user_id="ann"), Scope(user_id="bob"), Scope()]
VOCABULARY = str.split("tea dentist street garden train letter music river bread sea")


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
            content=f"{' '.join(dice.choices(VOCABULARY, k=3))} word{number}",
            created_at=moment(),
            events=[event() for _ in range(dice.choice([0, 0, 0, 0, 1, 3]))],
            scope=dice.choice(USERS),
        )
        for number in range(count)
    ]


MEMORIES = _memories(900)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecallStore]:
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
        " ".join(draw(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=3))),
        limit=draw(st.sampled_from([1, 5, 50, 1000])),
        scope=draw(st.sampled_from(USERS)),
        within=tuple(draw(st.lists(ranges(), max_size=3))),
    )


@pytest.mark.parametrize("by_chroma", [False, True])
def test_either_way_finds_what_exact_search_finds(
    by_chroma: bool, many: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_chroma:
        monkeypatch.setattr(searcher, "_MOST_HERE", -1)

    @given(st.lists(searches(), min_size=1, max_size=4))
    @example([Search("tea", 1000, within=(TimeRange(FIRST - 100 * DAY, FIRST, "day"),))])
    @settings(max_examples=25)
    def holds(asked: list[Search]) -> None:
        answers = many.find(asked)
        assert all(is_exact(found, search) for found, search in zip(answers, asked, strict=True))

    holds()
