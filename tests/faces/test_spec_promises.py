"""What the specification promises and no other table shows in both faces: see tests/spec.toml."""

from datetime import UTC, datetime
from typing import Any

import pytest
from faces.adapters import Face, Found
from faces.conftest import NOW
from tables import table

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.store import RecallStore

ANN = {"scope": {"user_id": "ann"}, "timezone": "UTC", "k": 2}
MOMENTS = [1709899200, 1709899200.0, NOW, "2024-03-08 12:00", datetime(2024, 3, 8, 12, tzinfo=UTC)]


def many(count: int, **metadata: Any) -> list[Found]:
    return [Found(f"m{n}", f"Memory number {n}.", 0.9 - n / 100, metadata) for n in range(count)]


@table("moment", MOMENTS, ids=str)
def test_the_moment_of_asking_in_every_form(store: RecallStore, face: Face, moment: Any) -> None:
    asked, settings = "the filling in my tooth last Tuesday", {**ANN, "time_mode": "require"}

    of_retriever = face.ask(face.RecallRetriever(store=store, timestamp=moment, **settings), asked)
    of_call = face.ask(face.RecallRetriever(store=store, **settings), asked, timestamp=moment)

    assert [each.id for each in of_retriever] == ["filling", "tea"]
    assert of_call == of_retriever


@table(("language", "read"), [("auto", True), ("zh", True), ("en", False)], ids=str)
def test_the_language_of_a_question(
    store: RecallStore, face: Face, language: str, read: bool
) -> None:
    stages = [face.ExtractTime(language=language), face.FuseRerank()]
    retriever = face.RecallRetriever(store=store, timestamp=NOW, stages=stages)

    [found, *_] = face.ask(retriever, "上周二我跟你说了什么关于牙医的事？")

    assert ("recall_time_range" in found.metadata) is read


@table(("first", "start"), [("monday", "2024-03-04"), ("sunday", "2024-03-03")])
def test_the_first_day_of_a_week(store: RecallStore, face: Face, first: str, start: str) -> None:
    stages = [face.ExtractTime(week_start=first), face.FuseRerank()]
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", stages=stages)

    [found, *_] = face.ask(retriever, "the dentist this week")

    assert found.metadata["recall_time_range"].startswith(start)


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


def test_a_store_of_ones_own(face: Face) -> None:
    tea = face.Memory(content="Green tea.", id="tea", created_at=NOW)

    [found] = face.ask(face.RecallRetriever(store=OfOnesOwn([tea])), "What do I drink?")

    assert (found.id, found.content) == ("tea", "Green tea.")


# -- stages that ask a model ----------------------------------------------------------------------


@table(
    ("stage", "setting"),
    [
        ("SemanticRank", "enable_ranker"),
        ("RerankMemory", "enable_llm_rerank"),
        ("RewriteMemory", "enable_llm_rewrite"),
        ("BuildQuery", "enable_llm_build"),
    ],
)
def test_switched_off_no_model_is_asked(
    store: RecallStore, face: Face, stage: str, setting: str
) -> None:
    model = face.model("{}")
    made = getattr(face, stage)(llm=model, **{setting: False})
    retriever = face.RecallRetriever(store=store, timestamp=NOW, stages=[made])

    if stage == "BuildQuery":
        found = face.ask(retriever, "", messages=[("user", "Who is the dentist?")])
    else:
        found = face.ask(retriever, "Who is the dentist?")

    assert found
    assert model.prompts == []
    assert "recall_degraded" not in found[0].metadata


@table(("stage", "kept"), [("SemanticRank", 12), ("RerankMemory", 5)])
def test_how_many_a_stage_keeps(face: Face, stage: str, kept: int) -> None:
    assert len(face.refine(getattr(face, stage)(), many(12), "x")) == kept
    assert len(face.refine(getattr(face, stage)(top_n=2), many(12), "x")) == 2


def test_copies_are_judged_once(face: Face) -> None:
    model = face.model('{"scores": [{"memory": 1, "score": 0.7}, {"memory": 2, "score": 0.1}]}')
    copies = [Found("one", "Green tea.", 0.5, {}), Found("two", "Green tea.", 0.4, {})]

    stage = face.SemanticRank(llm=model, semantic_share=1)
    found = face.refine(stage, [*copies, *many(1)], "tea")

    assert [(each.id, each.score) for each in found] == [("one", 0.7), ("m0", 0.1)]
    assert model.prompts[0].count("Green tea.") == 1


def test_the_last_three_messages_are_the_query(store: RecallStore, words: Any, face: Face) -> None:
    said = [("user", "Gone."), ("user", "x" * 300), ("assistant", "Which?"), ("user", "Lee.")]
    retriever = face.RecallRetriever(store=store, stages=[face.BuildQuery()])

    face.ask(retriever, "", messages=said)
    assert words.queries[-1] == f"- user: {'x' * 200}...\n- assistant: Which?\n- user: Lee."

    face.ask(retriever, "the dentist", messages=said)
    assert words.queries[-1] == "the dentist"


def test_the_filter_is_on_stored_quality(face: Face) -> None:
    given = [
        Found("poor", "Give up.", 0.99, {"quality": 0.2}),
        Found("good", "Retry with a delay.", 0.5, {"quality": 0.9}),
        Found("unknown", "Ask somebody.", 0.1, {}),
    ]

    def kept(**settings: Any) -> list[str]:
        return [each.id for each in face.refine(face.RerankMemory(**settings), given, "x")]

    assert kept() == ["poor", "good", "unknown"]
    assert kept(enable_score_filter=True) == ["good", "unknown"]
    assert kept(enable_score_filter=True, min_score_threshold=0.95) == ["unknown"]


# -- texts ----------------------------------------------------------------------------------------


def test_merging_tells_each_text_once(face: Face) -> None:
    given = [Found("a", "Retry.", 0.9, {"when_to_use": "On timeouts"}), Found("b", "Ask.", 0.5, {})]

    text = face.text(face.MergeMemory(), [*given, Found("copy", "Ask.", 0.4, {})])

    assert text.splitlines()[:3] == ["Previous memories:", "- On timeouts: Retry.", "- Ask."]
    assert text.count("Ask.") == 1


def test_merging_keeps_to_a_budget(face: Face) -> None:
    given = [Found("a", "Short.", 0.9, {}), Found("b", "x" * 500, 0.8, {})]

    [merged] = face.refine(face.MergeMemory(token_budget=60, token_counter=len), given, "x")

    assert "Short." in merged.content
    assert len(merged.content) < 300
    assert merged.metadata["recall_left_out"] == "b"


@table("kind", ["summary", "key_points"])
def test_a_reflection_is_a_summary_or_points(face: Face, kind: str) -> None:
    [told] = face.refine(face.Reflect(kind=kind), many(7), "What is there?")

    lines = told.content.splitlines()
    assert (len(lines) == 1) is (kind == "summary")
    if kind == "key_points":
        assert 3 <= len(lines) <= 5
        assert all(line.startswith("- ") and line.endswith("]") for line in lines)


# -- filters, rankers, the gate -------------------------------------------------------------------


def test_near_copies_are_dropped_and_the_better_scored_stays(face: Face) -> None:
    text = " ".join(f"word{n}" for n in range(40))
    given = [Found("worse", text, 0.4, {}), Found("better", f"{text} more", 0.8, {})]

    dropped = face.refine(face.Deduplicate(), given, "x")
    kept = face.refine(face.Deduplicate(similarity_threshold=1), given, "x")

    assert [each.id for each in dropped] == ["better"]
    assert {each.id for each in kept} == {"worse", "better"}


def test_a_time_to_come_counts_as_now(face: Face) -> None:
    given = [
        Found("soon", "Tea.", 0.5, {"created_at": "2024-05-01T00:00:00Z"}),
        Found("now", "Milk.", 0.5, {"created_at": NOW}),
        Found("within", "Rum.", 0.5, {"created_at": "2024-02-22T12:00:00Z"}),
        Found("beyond", "Gin.", 0.5, {"created_at": "2024-01-01T00:00:00Z"}),
    ]

    scores = {e.id: e.score for e in face.refine(face.HybridRank(timestamp=NOW), given, "x")}

    assert scores["soon"] == scores["now"] == pytest.approx(0.7 * 0.5 + 0.3)
    assert scores["within"] == pytest.approx(0.7 * 0.5 + 0.3 * 0.5)
    assert scores["beyond"] == pytest.approx(0.7 * 0.5)


def test_the_gates_weights_and_threshold(face: Face) -> None:
    given, asked = many(1), "What did I tell you about the dentist?"

    assert face.refine(face.SearchGate(), given, asked)
    assert face.refine(face.SearchGate(threshold=50), given, asked) == []
    assert face.refine(face.SearchGate(), given, "What is a dentist?") == []
    assert face.refine(face.SearchGate(weights={"asks": 9}), given, "What is a dentist?")
