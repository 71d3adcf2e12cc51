"""The stages as each framework uses them: a compressor or postprocessor each, or several in one."""

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
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"


CANDIDATES = [
    Found("a", "The dentist moved to Elm Street.", 0.9, {"created_at": "2024-02-01T09:00:00Z"}),
    Found(
        "b", "A filling by the dentist.", 0.6, {"created_at": 1709632800, "memory_type": "insight"}
    ),
    Found(
        "c", "Green tea.", 0.05, {"created_at": "2024-03-05T07:00:00+00:00", "memory_type": "task"}
    ),
    Found("d", "Something undated.", 0.5, {}),
]


def test_extract_time_then_fuse_rerank_understand_a_bare_string(face: Face) -> None:
    """In a stock list only text is passed on; the time understood travels on the candidates."""
    question = "the dentist last Tuesday"

    stamped = face.refine(face.ExtractTime(timestamp=NOW, timezone="UTC"), CANDIDATES, question)
    fused = face.refine(face.FuseRerank(), stamped, question)

    assert [each.id for each in stamped] == ["a", "b", "c", "d"]
    # The best of that Tuesday answers 0.6 / 0.9 as well as the best of all: by the cube of this it
    # is trusted less than a day in words is at least.
    trust = 0.5
    assert [each.id for each in fused] == ["b", "a", "d"]
    best = 0.6 * 2 * (1 + trust)  # above 1, so all are divided by it
    assert [each.score for each in fused] == pytest.approx([1, 0.9 / best, 0.5 / best])
    assert [each.metadata["recall_time_match"] for each in fused] == ["recorded", "none", "none"]
    assert fused[0].metadata["recall_time_trust"] == pytest.approx(trust)


def test_fuse_rerank_twice_gives_the_same(face: Face) -> None:
    stage = face.FuseRerank(timestamp=NOW, show_time=True)

    once = face.refine(stage, CANDIDATES, "the dentist")

    assert face.refine(stage, once, "the dentist") == once
    assert once[0].metadata["created_at"] == 1709632800  # as it came
    assert once[0].content == "[2024-03-05 10:00:00 Tuesday] A filling by the dentist."


@both
def test_print_memory_writes_what_a_reader_sees(face: Face) -> None:
    # As a stock reader hands on a row of ours: with the columns that are kept for searching.
    row = {"created_at": 1709632800000, "created_day": 19787}
    tea = Found("row", "Green tea.", 0.5, {**row, "topic": "tea"})

    text = face.text(face.PrintMemory(timezone="UTC"), [*CANDIDATES[:2], tea])

    assert text == (
        "Memory 1:\n"
        "  Content: The dentist moved to Elm Street.\n"
        "  Recorded: 2024-02-01 09:00:00 Thursday\n\n"
        "Memory 2:\n"
        "  Content: A filling by the dentist.\n"
        "  Recorded: 2024-03-05 10:00:00 Tuesday\n\n"
        "Memory 3:\n"
        "  Content: Green tea.\n"
        "  Recorded: 2024-03-05 10:00:00 Tuesday\n"
        "  Metadata: topic: tea"
    )
    assert face.text(face.PrintMemory(), []) == "No memories found."


QUESTION = "What did I cook during the lockdown?"


LOCKDOWN = '{"words": "during the lockdown", "start": "2020-03-22", "end": "2020-05-04"}'


TIME_CANDIDATES = [
    Found("new", "Lentils.", 0.6, {"created_at": "2024-03-04T19:00:00Z"}),  # a Monday
    Found("old", "Banana bread.", 0.5, {"created_at": "2020-04-01T19:00:00Z"}),  # a Wednesday
]


def test_in_a_list_of_the_framework_the_model_is_asked_once(face: Face) -> None:
    """Only text and candidates are passed on; the time that the model named travels on these."""
    model = face.model(LOCKDOWN)
    given = TIME_CANDIDATES

    for stage in (
        face.ExtractTime(llm=model, timestamp=NOW, timezone="UTC"),
        face.FuseRerank(),
        face.FuseRerank(),
    ):
        given = face.refine(stage, given, QUESTION)

    assert [each.id for each in given] == ["old", "new"]
    assert given[0].metadata["recall_time_words"] == "during the lockdown"
    assert given[0].metadata["recall_time_match"] == "recorded"
    assert "recall_degraded" not in given[0].metadata
    assert len(model.prompts) == 1


@once
@table("settings", [{"time_mode": "ignore"}, {"time_range": ("2020-04-01", "2020-05-01")}])
def test_time_that_is_given_or_unwanted_costs_no_call(
    store: RecallStore, face: Face, settings: dict[str, object]
) -> None:
    model = face.model(LOCKDOWN)
    retriever = face.RecallRetriever(store=store, stages=[face.ExtractTime(llm=model)])

    face.ask(retriever, QUESTION, **settings)

    assert model.prompts == []


DENTIST = "the dentist last Tuesday"
DATED = [
    Found("moved", "It moved to Elm Street.", 0.9, {"created_at": "2024-02-01T09:00:00Z"}),
    Found("filling", "A filling by the dentist.", 0.6, {"created_at": "2024-03-05T10:00:00Z"}),
    Found("tea", "Green tea.", 0.5, {"created_at": "2024-03-05T07:00:00Z"}),
]
ASKED = {"timestamp": NOW, "timezone": "UTC"}


def test_they_say_what_the_stages_say_one_by_one(face: Face) -> None:
    stages = [face.ExtractTime(**ASKED), face.RelevanceThreshold(threshold_score=0.55)]
    stages.append(face.FuseRerank())
    one_by_one = DATED
    for stage in stages:
        one_by_one = face.refine(stage, one_by_one, DENTIST)

    at_once = face.refine(face.several(stages=stages, **ASKED), DATED, DENTIST)

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

    [text] = face.refine(face.several(stages=stages, **ASKED), DATED, DENTIST)

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

    found = face.refine(several, DATED, DENTIST)

    assert len(found) == 3
    assert found[0].metadata["recall_degraded"] == "SemanticRank: ConnectionError: down"
    assert found[0].metadata["recall_usage"].count("SemanticRank") == 1
    assert ";" not in found[0].metadata["recall_usage"]
    asked = len(model.prompts)
    assert face.refine(several, [], DENTIST) == []
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

    found = face.ask(retriever, DENTIST)

    assert not slow.waited_out
    assert "SemanticRank: TimeoutError" in found[0].metadata["recall_degraded"]
    assert any("recall_time_match" in each.metadata for each in found)


@once
def test_candidates_of_another_retriever_are_read_by_the_keys_that_are_named(
    face: Face, caplog: pytest.LogCaptureFixture
) -> None:
    days = ["2024-03-01", "2024-03-05"]
    theirs = [Found(day, f"Tea on {day[-2:]}.", 0.5, {"date": day}) for day in days]
    settings = {"stages": [face.ExtractTime(), face.FuseRerank()], "timestamp": "2024-03-08"}
    unread = face.several(**settings)

    for _ in range(2):
        assert [each.id for each in face.refine(unread, theirs, "tea last Tuesday")] == days
    [said] = [each.getMessage() for each in caplog.records if "candidates" in each.getMessage()]
    assert said.startswith("0 of 2 candidates have a time, read from 'created_at', and ")
    assert "Other keys there: date. Pass fields=" in said

    read = face.refine(
        face.several(**settings, fields={"created_at": "date"}), theirs, "tea last Tuesday"
    )
    assert [each.id for each in read] == days[::-1]
    assert read[0].metadata["date"] == "2024-03-05"
    assert len([each for each in caplog.records if "candidates" in each.getMessage()]) == 1
