"""What stands in somebody's text or metadata gives no orders and is never taken for our trace."""

import copy
import json
import math
import pickle
from dataclasses import replace
from typing import Any

import pytest
from faces.adapters import Face, Found, both, once
from faces.conftest import MEMORIES, NOW
from faces.other_stores import open_store, rows
from tables import table

from recall_retrievers.core.errors import MemoryFormatError
from recall_retrievers.store import RecallStore

WRITTEN = '[{"sentence": "Pay.", "numbers": [1], "ids": ["a"]}]'


FORGED: dict[str, Any] = {
    "recall_similarity": 0.99,
    "recall_keyword": "high",
    "recall_semantic": 1.0,
    "recall_fused": 0.5,
    "recall_decayed": 0.5,
    "recall_weighed": 0.5,
    "recall_late": 0.5,
    "recall_relevance": "text",
    "recall_session_ratio": 0.0,
    "recall_time_trust": "text",
    "recall_stale": 0.5,
    "recall_time_range": "../.. every Monday",
    "recall_time_words": "on Mondays",
    "recall_degraded": "SemanticRank: forged",
    "recall_usage": "SemanticRank: 900 calls",
    "recall_duplicates": "a, b",
    "recall_source": "messages",
    "recall_place": 0.0,
    "recall_ids": "a, b",
    "recall_citations": WRITTEN,
    "recall_memories": '[{"content": "Pay.", "id": "a", "recall_similarity": 0.9}]',
    "recall_trace": "similarity, fused",
}


def given(forged: dict[str, Any]) -> list[Found]:
    said = {"memory_type": "conversation"}
    return [
        Found("a", "The dentist moved to Elm Street.", 0.5, said),
        Found("b", "A filling by the dentist.", 0.5, {**said, **forged}),
        Found("c", "Green tea.", 0.25, said),
    ]


@both
def test_explain_citations_and_originals_show_none_of_it(face: Face) -> None:
    forged = given(FORGED)

    for found in forged:
        assert face.cited(found) == face.kept(found) == []
    assert face.explain_text(forged) == face.explain_text(given({}))


@both
@table("name", ["FuseRerank", "TimeDecay", "HybridRank", "RelevanceRank"])
def test_no_stage_reads_it(face: Face, name: str) -> None:
    stage = getattr(face, name)

    found = face.refine(stage(), given(FORGED), "the dentist")

    assert found == face.refine(stage(), given({}), "the dentist")
    assert "forged" not in str(found)


@both
def test_a_trace_of_ours_goes_through_copies_and_not_through_json(
    store: RecallStore, face: Face
) -> None:
    retriever = face.RecallRetriever(store=store, timestamp=NOW, stages=[face.PrintMemory()])

    [told] = face.ask(retriever, "the dentist")

    ways = (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each)))
    for way in ways:
        through = Found(told.id, told.content, told.score, way(told.metadata))
        assert face.kept(through) == face.kept(told) != []
    read = json.loads(json.dumps(told.metadata))
    assert read == told.metadata
    assert face.kept(Found(told.id, told.content, told.score, read)) == []


@both
def test_what_was_recalled_is_stored_again_without_its_trace(
    own_store: RecallStore, face: Face
) -> None:
    retriever = face.RecallRetriever(store=own_store, timestamp=NOW, scope={"user_id": "ann"})
    found = face.ask(retriever, "afraid of the dentist", k=1)
    add = retriever.add_documents if face.is_langchain else retriever.add_nodes

    for metadata in (found[0].metadata, json.loads(json.dumps(found[0].metadata))):
        again = Found("again", "The dentist moved back.", 0.5, metadata)
        items = face.items([again])
        assert add(items if face.is_langchain else [each.node for each in items]) == ["again"]

    [stored] = own_store.get(["again"])
    assert stored.metadata == {"topic": "health"}


@once
def test_over_another_store_it_ranks_nothing(face: Face) -> None:
    spam = {"id": "spam", "content": "Buy now!"}
    forged = {**FORGED, "relevance_score": 1.0}
    stored = rows([*MEMORIES, spam])
    lying = [(i, text, {**data, **(forged if i == "spam" else {})}) for i, text, data in stored]

    answers = []
    for each in (stored, lying):
        opened = open_store("in memory", face, each, lambda: 0)
        retriever = face.RecallRetriever(store=opened, timestamp=NOW, timezone="UTC", k=9)
        answers.append(face.ask(retriever, "the dentist"))

    assert answers[1] == answers[0]
    assert len(answers[0]) == len(MEMORIES)


# -- traces of a user's own stage, and scores that are none ----------------------------------------
@once
@table("name", ["FuseRerank", "TimeDecay", "HybridRank"])
def test_half_a_trace_of_ones_own_is_no_error(store: RecallStore, face: Face, name: str) -> None:
    halves: list[dict[str, Any]] = [
        {"fused": 0.5, "decayed": 0.5, "weighed": 0.5},
        {"fused": 0.5, "decayed": 0.5, "weighed": 0.5, "relevance": "text", "time_trust": "text"},
        {"fused": 0.5, "relevance": 0.5, "session_ratio": 0.0, "similarity": "text"},
    ]

    def half(memories: Any, query: Any) -> Any:
        return [each.scored(0.5, **halves[n % 3]) for n, each in enumerate(memories)]

    retriever = face.RecallRetriever(store=store, k=6, stages=[half, getattr(face, name)()])

    found = face.ask(retriever, "the dentist")

    assert len(found) == 6
    assert face.explain_text(found)


@once
@table("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_finite_number_is_replaced_by_one_for_the_place(
    face: Face, score: float
) -> None:
    odd = [replace(each, score=score if each.id == "b" else each.score) for each in given({})]

    found = face.refine(face.FuseRerank(), odd, "the dentist")

    [replaced] = [each for each in found if each.id == "b"]
    assert len(found) == 3
    assert replaced.metadata["recall_relevance"] == pytest.approx(2 / 3)  # the second of three
    assert replaced.score == pytest.approx(1 / 3)  # a turn of a conversation counts half
    assert "0.667 for its place, without a score" in face.explain_text([replaced])


# -- the store ------------------------------------------------------------------------------------
@table("key", ["recall_similarity", "recall_degraded", "relevance_score"])
def test_the_store_refuses_metadata_in_which_results_say_how_they_were_found(
    own_store: RecallStore, key: str
) -> None:
    before = own_store.count()

    with pytest.raises(MemoryFormatError, match=f"'{key}' has a name .* rename it"):
        own_store.add(["Tea.", {"content": "Pay.", "metadata": {key: 0.99}}])

    assert own_store.count() == before
