"""RecallCompressor and RecallPostprocessor: several stages as one, in the framework's own lists."""

import time
from typing import Any

import pytest
from faces.adapters import Face, Found, both, once
from faces.slow_models import SlowChat, SlowLLM
from langchain_core.load import dumps, loads
from tables import table

import langchain_recall
from benchmarks.conformance.check import Check
from benchmarks.conformance.checks import CHECKS
from benchmarks.conformance.ours import REPLIES, SUBJECTS

NOW = "2024-03-08T12:00:00Z"
QUESTION = "the dentist last Tuesday"
CANDIDATES = [
    Found("moved", "It moved to Elm Street.", 0.9, {"created_at": "2024-02-01T09:00:00Z"}),
    Found("filling", "A filling by the dentist.", 0.6, {"created_at": "2024-03-05T10:00:00Z"}),
    Found("tea", "Green tea.", 0.5, {"created_at": "2024-03-05T07:00:00Z"}),
]
ASKED = {"timestamp": NOW, "timezone": "UTC"}


def test_they_say_what_the_stages_say_one_by_one(face: Face) -> None:
    stages = [face.ExtractTime(**ASKED), face.RelevanceThreshold(threshold_score=0.55)]
    stages.append(face.FuseRerank())
    one_by_one = CANDIDATES
    for stage in stages:
        one_by_one = face.refine(stage, one_by_one, QUESTION)

    at_once = face.refine(face.several(stages=stages, **ASKED), CANDIDATES, QUESTION)

    assert at_once == one_by_one
    assert [each.id for each in at_once] == ["moved", "filling"]
    assert at_once[1].metadata["recall_time_match"] == "recorded"


@both
def test_their_default_is_that_of_a_retriever(face: Face, store: Any) -> None:
    retriever = face.RecallRetriever(store=store)

    assert list(map(repr, face.several().stages)) == list(map(repr, retriever.stages))


@once
def test_a_text_comes_last_and_is_one_result(face: Face) -> None:
    stages = [face.FuseRerank(top_n=1), face.PrintMemory()]

    [text] = face.refine(face.several(stages=stages, **ASKED), CANDIDATES, QUESTION)

    assert text.content.startswith("Memory 1:\n  Content: It moved")
    assert text.metadata["recall_ids"] == "moved"
    with pytest.raises(ValueError, match="put it last, not before FuseRerank"):
        face.several(stages=stages[::-1])
    with pytest.raises(ValueError, match="at least 1 item"):
        face.several(stages=[])


@once
def test_a_failing_model_is_named_once(face: Face) -> None:
    model = face.model(ConnectionError("down"))
    several = face.several(stages=[face.SemanticRank(llm=model), face.FuseRerank()])

    found = face.refine(several, CANDIDATES, QUESTION)

    assert len(found) == 3
    assert found[0].metadata["recall_degraded"] == "SemanticRank: ConnectionError: down"
    assert found[0].metadata["recall_usage"].count("SemanticRank") == 1
    assert ";" not in found[0].metadata["recall_usage"]
    asked = len(model.prompts)
    assert face.refine(several, [], QUESTION) == []
    assert len(model.prompts) == asked


@pytest.mark.parametrize("package", SUBJECTS)
@table("check", CHECKS, ids=str)
def test_they_keep_the_promises_of_single_stages(package: str, check: Check) -> None:
    face = Face(package, is_async=False)

    def several(model: Any) -> Any:
        return face.several(stages=[face.ExtractTime(), face.SemanticRank(llm=model)])

    check(SUBJECTS[package](several, reply=REPLIES["SemanticRank"]))


def test_it_can_be_written_down() -> None:
    stages = [langchain_recall.ExtractTime(language="en"), langchain_recall.FuseRerank(top_n=3)]
    names = [langchain_recall.RecallCompressor, *map(type, stages)]

    back = loads(
        dumps(langchain_recall.RecallCompressor(stages=stages)),
        valid_namespaces=["langchain_recall"],
        allowed_objects=names,
    )

    assert [type(each) for each in back.stages] == names[1:]
    assert back.stages[1].top_n == 3


@once
def test_inside_a_retriever_they_share_its_question_and_its_deadline(
    face: Face, store: Any
) -> None:
    slow = (SlowChat if face.is_langchain else SlowLLM)(replies=["{}"])
    stages = [face.SemanticRank(llm=slow)]
    several = face.several(stages=[face.ExtractTime(), *stages, face.FuseRerank()], **ASKED)
    retriever = face.RecallRetriever(store=store, stages=[several], deadline_s=0.3, **ASKED)

    begun = time.monotonic()
    found = face.ask(retriever, QUESTION)

    assert time.monotonic() - begun < 10
    assert "SemanticRank: TimeoutError" in found[0].metadata["recall_degraded"]
    assert any("recall_time_match" in each.metadata for each in found)
