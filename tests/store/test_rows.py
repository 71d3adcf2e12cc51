"""A memory as a row of a collection, and back."""

import json
from datetime import UTC, datetime, timedelta, timezone
from math import isclose
from pathlib import Path
from zoneinfo import ZoneInfo

import chromadb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import ZONES, SmallEmbedding

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Memory, is_reserved
from recall_retrievers.core.memory_lines import memory_line, read_lines
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.rows import (
    FIELD_KEYS,
    FRAMEWORK_KEYS,
    OWN_KEYS,
    Ready,
    make_ready,
    to_candidate,
    to_metadata,
)
from recall_retrievers.timeline import TimeRange

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

moments = st.datetimes(
    min_value=datetime(2, 1, 1),
    max_value=datetime(9998, 12, 31),
    timezones=st.sampled_from([*map(ZoneInfo, ZONES), timezone(-timedelta(hours=12)), UTC]),
)
whole = st.integers(-(2**63) + 1, 2**63 - 1)
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = (
    st.text()
    | st.booleans()
    | whole
    | numbers
    | st.lists(st.text(), min_size=1, max_size=3)
    | st.lists(st.booleans(), min_size=1, max_size=3)
    | st.lists(whole, min_size=1, max_size=3)
    | st.lists(numbers, min_size=1, max_size=3)
)
TAKEN = {*FIELD_KEYS, "chroma:document"}
reserved = st.sampled_from(sorted({*FRAMEWORK_KEYS, *OWN_KEYS, "metadata.topic"}))
keys = (reserved | st.text(min_size=1, max_size=20)).filter(
    lambda key: key[0] not in "#$" and key not in TAKEN and not is_reserved(key)
)


@st.composite
def events(draw: st.DrawFn) -> TimeRange:
    start, end = sorted([draw(moments), draw(moments)], key=lambda each: each.astimezone(UTC))
    if start.astimezone(UTC) == end.astimezone(UTC):
        end += timedelta(hours=1)
    bounds = draw(st.sampled_from([(start, end), (None, end), (start, None), (None, None)]))
    return TimeRange(*bounds, "day")


names = st.text(min_size=1, max_size=9).filter(str.strip)
memories = st.builds(
    Memory,
    content=st.text(min_size=1).filter(str.strip),
    memory_type=st.text(max_size=9),
    created_at=moments,
    events=st.lists(events(), max_size=3),
    when_to_use=st.text(max_size=9),
    author=st.text(max_size=9),
    quality=st.none() | st.floats(0, 1),
    scope=st.dictionaries(st.sampled_from([*Scope.model_fields]), names).map(Scope.model_validate),
    metadata=st.dictionaries(keys, values, max_size=4),
)


def assert_same(read: Memory | Candidate, given: Memory) -> None:
    """Equal in everything that a row keeps; times to the millisecond."""
    for name in ("content", "memory_type", "when_to_use", "author", "scope"):
        assert getattr(read, name) == getattr(given, name)
    assert alike(read.quality, given.quality)
    assert read.created_at == EPOCH + (given.created_at - EPOCH) // MILLISECOND * MILLISECOND
    assert [(each.start, each.end) for each in map(in_utc, read.events)] == [
        (each.start, each.end) for each in map(in_utc, given.events)
    ]
    assert alike(read.metadata, given.metadata)
    types = {key: type(value) for key, value in given.metadata.items()}
    assert {key: type(value) for key, value in read.metadata.items()} == types


def alike(one: object, other: object) -> bool:
    """Equal, but for the last bit of fractions, which Chroma loses of some."""
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other


def in_utc(time_range: TimeRange) -> TimeRange:
    ends = [end and end.astimezone(UTC) for end in (time_range.start, time_range.end)]
    return TimeRange(*ends, "day")


def made_ready(memory: Memory) -> Ready:
    [ready] = make_ready([memory], lambda: EPOCH, read_events=False)
    return ready


class TestRoundTrip:
    @given(memory=memories)
    @settings(max_examples=60)
    def test_what_is_known_of_a_memory_just_stored_is_what_its_row_says(
        self, memory: Memory
    ) -> None:
        ready = made_ready(memory)
        assert_same(ready.memory, memory)
        assert ready.memory == to_candidate(ready.memory.id, memory.content, ready.metadata)
        assert to_metadata(ready.memory) == ready.metadata

    def test_chroma_keeps_every_part_of_a_memory(self, in_memory: RecallStore) -> None:
        @given(given_memories=st.lists(memories, min_size=1, max_size=4))
        @settings(max_examples=40)
        def holds(given_memories: list[Memory]) -> None:
            kept = in_memory.get(in_memory.add(given_memories))
            for read, memory in zip(kept, given_memories, strict=True):
                assert_same(read, memory)

        holds()

    def test_a_row_does_not_inherit_the_lists_of_a_deleted_collection(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        """Chroma leaves them behind, and gives them to the next row that takes the place."""
        client = chromadb.PersistentClient(str(tmp_path))
        with RecallStore(client, "before", embedding=small) as before:
            before.add([{"content": "tea", "metadata": {"tags": ["a", "b"], "old": [1]}}] * 3)
        client.delete_collection("before")

        with RecallStore(client, "after", embedding=small) as after:
            ids = after.add(["tea", {"content": "tea", "metadata": {"tags": ["c"]}}])
            kept = [memory.metadata for memory in after.get(ids)]
            found = [hit.memory.metadata for hit in after.find([Search("tea", 2)])[0]]

        assert kept == [{}, {"tags": ["c"]}]
        assert sorted(map(str, found)) == sorted(map(str, kept))
        client.close()


@pytest.mark.parametrize(
    ("key", "values", "none"),
    [
        ("created_at", ["soon", 10**30, True, [1, 2], "", float(10**20)], None),
        ("expires_at", [9 * 10**18], None),
        ("event_ranges", ["soon", "a/b", "2024-01-01/2023-01-01", "2024-01-01/..", 7], ()),
        ("quality", ["high", 7, -1, True], None),
    ],
)
def test_what_somebody_else_writes_never_breaks_the_reading(
    key: str, values: list[object], none: object
) -> None:
    for value in values:
        memory = to_candidate("id", "tea", {key: value})
        assert memory is not None
        assert getattr(memory, {"event_ranges": "events"}.get(key, key)) == none
    for document in (None, "", "  \n"):
        assert to_candidate("id", document, {"created_at": 0}) is None


@pytest.mark.parametrize(
    ("beside", "question"),
    [({"when_to_use": "printer jams"}, "printer jams"), ({"author": "Ann"}, "ann: yes")],
)
def test_it_is_found_by_what_stands_beside_its_text(
    in_memory: RecallStore, beside: dict[str, str], question: str
) -> None:
    in_memory.add(["restart it", {"id": "right", "content": "restart it", **beside}])
    found = in_memory.find([Search(question, limit=1)])[0]
    assert [(each.id, each.memory.content) for each in found] == [("right", "restart it")]


@given(memory=memories)
@settings(deadline=None)
def test_a_line_of_a_file_has_all_that_a_row_has(memory: Memory) -> None:
    stored = made_ready(memory).memory.memory()
    written = json.dumps(memory_line(stored), ensure_ascii=False).encode()
    [read] = read_lines(written, "file", "UTC").memories.values()
    assert to_metadata(read) == to_metadata(stored)
    assert read == stored
