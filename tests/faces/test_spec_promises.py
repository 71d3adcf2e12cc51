"""What the specification promises and no other table shows in both faces: see tests/spec.toml."""

from datetime import UTC, datetime
from typing import Any

import pytest
from faces.adapters import Face, Found, once
from faces.conftest import NOW
from tables import table

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.store import RecallStore

ANN = {"scope": {"user_id": "ann"}, "timezone": "UTC", "k": 2}
MOMENTS = [1709899200, 1709899200.0, NOW, "2024-03-08 12:00", datetime(2024, 3, 8, 12, tzinfo=UTC)]


def many(count: int, **metadata: Any) -> list[Found]:
    return [Found(f"m{n}", f"Memory number {n}.", 0.9 - n / 100, metadata) for n in range(count)]


@once
@table("moment", MOMENTS, ids=str)
def test_the_moment_of_asking_in_every_form(store: RecallStore, face: Face, moment: Any) -> None:
    asked, settings = "the filling in my tooth last Tuesday", {**ANN, "time_mode": "require"}

    of_retriever = face.ask(face.RecallRetriever(store=store, timestamp=moment, **settings), asked)
    of_call = face.ask(face.RecallRetriever(store=store, **settings), asked, timestamp=moment)

    assert [each.id for each in of_retriever] == ["filling", "tea"]
    assert of_call == of_retriever


@once
@table(("language", "read"), [("auto", True), ("zh", True), ("en", False)], ids=str)
def test_the_language_of_a_question(
    store: RecallStore, face: Face, language: str, read: bool
) -> None:
    stages = [face.ExtractTime(language=language), face.FuseRerank()]
    retriever = face.RecallRetriever(store=store, timestamp=NOW, stages=stages)

    [found, *_] = face.ask(retriever, "上周二我跟你说了什么关于牙医的事？")

    assert ("recall_time_range" in found.metadata) is read


@once
@table(("first", "start"), [("monday", "2024-03-04"), ("sunday", "2024-03-03")])
def test_the_first_day_of_a_week(store: RecallStore, face: Face, first: str, start: str) -> None:
    stages = [face.ExtractTime(week_start=first), face.FuseRerank()]
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", stages=stages)

    [found, *_] = face.ask(retriever, "the dentist this week")

    assert found.metadata["recall_time_range"].startswith(start)


@once
def test_a_question_under_a_key(store: RecallStore, face: Face) -> None:
    plain = face.RecallRetriever(store=store, timestamp=NOW)
    keyed = face.RecallRetriever(store=store, timestamp=NOW, recall_key="question")

    expected = face.ask(plain, "the dentist")

    assert face.ask(plain, {"query": "the dentist"}) == expected
    assert face.ask(keyed, {"question": "the dentist", "language": "en"}) == expected
    with pytest.raises(ValueError, match="expected the question under 'question'"):
        face.ask(keyed, {"query": "the dentist"})


class OfOnesOwn:
    """The whole of what a retriever asks of a collection."""

    def __init__(self, memories: list[Any]) -> None:
        self.memories = memories

    def find(self, searches: Any) -> Any:
        found = [Hit(Candidate.of(memory), 0.5) for memory in self.memories]
        return [found for _ in searches]

    async def afind(self, searches: Any) -> Any:
        return self.find(searches)

    def get(self, ids: Any) -> Any:
        return [memory for memory in self.memories if memory.id in ids]

    def add(self, memories: Any) -> Any:
        raise PermissionError("read only")


@once
def test_a_store_of_ones_own(face: Face) -> None:
    tea = face.Memory(content="Green tea.", id="tea", created_at=NOW)

    [found] = face.ask(face.RecallRetriever(store=OfOnesOwn([tea])), "What do I drink?")

    assert (found.id, found.content) == ("tea", "Green tea.")


# -- stages that ask a model ----------------------------------------------------------------------


@once
@table(("stage", "kept"), [("SemanticRank", 12), ("RerankMemory", 5)])
def test_how_many_a_stage_keeps(face: Face, stage: str, kept: int) -> None:
    assert len(face.refine(getattr(face, stage)(), many(12), "x")) == kept
    assert len(face.refine(getattr(face, stage)(top_n=2), many(12), "x")) == 2


# -- texts ----------------------------------------------------------------------------------------


@once
@table("kind", ["summary", "key_points"])
def test_a_reflection_is_a_summary_or_points(face: Face, kind: str) -> None:
    [told] = face.refine(face.Reflect(kind=kind), many(7), "What is there?")

    lines = told.content.splitlines()
    assert (len(lines) == 1) is (kind == "summary")
    if kind == "key_points":
        assert 3 <= len(lines) <= 5
        assert all(line.startswith("- ") and line.endswith("]") for line in lines)


# -- filters, rankers, the gate -------------------------------------------------------------------
