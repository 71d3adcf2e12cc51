"""What the traces of each framework show of a question: its stages as runs, model calls inside."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from faces.adapters import FACES, Face, both, document, llamaindex
from faces.conftest import MEMORIES
from faces.listening import Events, listening
from faces.slow_models import GIVEN, all_judged, slow_model
from langchain_core.runnables import RunnableLambda
from llama_index.core.instrumentation import get_dispatcher

from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"
STAGES = ["ExtractTime", "Retrieve", "SemanticRank", "StaleReflections", "FuseRerank"]


def ask(face: Face, retriever: Any, question: str, config: dict[str, Any]) -> Any:
    if face.is_langchain:
        return face.call(retriever, "invoke", question, config)
    return face.call(retriever, "retrieve", question)


def test_each_stage_is_a_run_and_its_model_calls_are_inside(store: RecallStore, face: Face) -> None:
    retriever = face.personal_memory_retriever(
        store, face.model(all_judged), rewrite=True, timestamp=NOW, timezone="UTC"
    )
    retriever.stages[1].orders = 3

    with listening(face) as (runs, config):
        ask(face, retriever, "the dentist last Tuesday", config)

    [question] = runs.questions
    assert [run.name for run in question.inside] == [*STAGES, "RewriteMemory"]
    calls = {run.name: [each.name for each in run.inside] for run in question.inside}
    assert {name: inside for name, inside in calls.items() if inside} == {
        "SemanticRank": ["model"] * 3,
        "RewriteMemory": ["model"],
    }
    assert all(run.ended for run in runs.all.values())


@both
def test_what_a_run_shows_is_small_and_says_what_the_stage_did(
    store: RecallStore, face: Face
) -> None:
    retriever = face.personal_memory_retriever(
        store, face.model(all_judged), rewrite=True, timestamp=NOW, timezone="UTC", k=2
    )

    with listening(face) as (runs, config):
        [text] = ask(face, retriever, "the dentist last Tuesday", config)

    time, found, ranked, _, fused, told = runs.questions[0].inside
    assert time.given == {"query": "the dentist last Tuesday", "candidates": 0}
    assert time.outcome == {
        "query": "the dentist",
        "candidates": 0,
        "best": [],
        "time": ["2024-03-05 (Tuesday)"],
    }
    assert (found.given, found.outcome["candidates"]) == (
        {"query": "the dentist", "candidates": 0},
        6,
    )
    usage = ranked.outcome["usage"]
    assert set(usage) == {
        *("calls", "attempts", "tokens_in", "tokens_out", "estimated", "milliseconds")
    }
    assert (usage["calls"], usage["tokens_in"] > 100, usage["tokens_out"] > 50) == (1, True, True)
    assert fused.given["candidates"] == 6
    assert ", ".join(fused.outcome["best"][:2]) == text.metadata["recall_ids"]
    assert told.outcome["characters"] > 20
    shown = str([(run.given, run.outcome) for run in (time, found, ranked, fused, told)])
    assert not [each["content"] for each in MEMORIES if each["content"][:15] in shown]


def test_a_stage_that_fell_back_says_so_in_its_run(store: RecallStore, face: Face) -> None:
    model = face.model(ValueError("it does not answer"))
    retriever = face.personal_memory_retriever(store, model, timestamp=NOW)

    with listening(face) as (runs, config):
        ask(face, retriever, "the dentist", config)

    said = {run.name: run.outcome.get("degraded") for run in runs.questions[0].inside}
    assert said.pop("SemanticRank") == "SemanticRank: ValueError: it does not answer"
    assert set(said.values()) == {None}
    [call] = runs.named("model")
    assert isinstance(call.error, ValueError)


def test_the_run_of_a_stage_that_raises_ends_with_its_error(store: RecallStore, face: Face) -> None:
    def broken(memories: Any, query: Any) -> Any:
        raise ZeroDivisionError("no such luck")

    retriever = face.RecallRetriever(
        store=store, stages=[broken, face.FuseRerank()], time_mode="ignore"
    )

    with listening(face) as (runs, config), pytest.raises(ZeroDivisionError):
        ask(face, retriever, "the dentist", config)

    [question] = runs.questions
    assert [run.name for run in question.inside] == ["Retrieve", "broken"]
    assert isinstance(question.inside[1].error, ZeroDivisionError)
    assert isinstance(question.error, ZeroDivisionError)


@pytest.mark.parametrize("face", [each for each in FACES if each.is_async], ids=str)
def test_the_runs_of_a_question_that_is_cancelled_end(store: RecallStore, face: Face) -> None:
    model = slow_model(face)
    retriever = face.personal_memory_retriever(store, model, timestamp=NOW)

    async def cancel(config: dict[str, Any]) -> None:
        call = retriever.ainvoke if face.is_langchain else retriever.aretrieve
        task = asyncio.create_task(call("the dentist", *([config] if config else [])))
        async with asyncio.timeout(20):
            while not model.under_way:
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with listening(face) as (runs, config):
        asyncio.run(cancel(config))

    [question] = runs.questions
    assert question.inside[-1].name == "SemanticRank"
    assert isinstance(question.inside[-1].error, asyncio.CancelledError)
    assert all(run.ended for run in question.inside)  # LangChain leaves its own two open


def test_questions_at_the_same_time_do_not_get_into_each_others_runs(
    store: RecallStore, face: Face
) -> None:
    retriever = face.personal_memory_retriever(store, slow_model(face, seconds=0.05), timestamp=NOW)
    questions = [f"the dentist number {n}" for n in range(6)]

    async def together(config: dict[str, Any]) -> None:
        given = [config] if config else []
        call = retriever.ainvoke if face.is_langchain else retriever.aretrieve
        await asyncio.gather(*(call(each, *given) for each in questions))

    with listening(face) as (runs, config):
        if face.is_async:
            asyncio.run(together(config))
        else:
            with ThreadPoolExecutor() as threads:
                list(threads.map(lambda each: ask(face, retriever, each, config), questions))

    assert len(runs.questions) == 6
    for question in runs.questions:
        assert [run.name for run in question.inside] == STAGES
        [number] = [n for n in range(6) if f"number {n}" in question.given]
        assert {run.given["query"] for run in question.inside} == {questions[number]}
        [call] = question.inside[2].inside
        assert f"number {number}" in call.given


def test_what_recall_does_in_one_call_is_shown_too(store: RecallStore, face: Face) -> None:
    reflector = face.Reflect(llm=face.model(all_judged))
    config = face.RecallConfig(source=store, generate_reflection=True, reflector=reflector)

    with listening(face) as (runs, given):
        if face.is_langchain:  # inside a chain, whose callbacks are heard of

            def recall(asked: str) -> Any:
                return face.recall(asked, config)

            async def arecall(asked: str) -> Any:
                return await face.arecall(asked, config)

            face.call(RunnableLambda(recall, arecall, name="chain"), "invoke", "the dentist", given)
        else:
            face.call(face, "recall", "the dentist", config)

    shown = runs.named("ExtractTime", "Retrieve", "FuseRerank", "Reflect")
    assert [run.name for run in shown] == ["ExtractTime", "Retrieve", "FuseRerank", "Reflect"]
    assert [run.name for run in shown[-1].inside] == ["model"]
    assert {run.parent.name if run.parent else None for run in shown} == (
        {"chain"} if face.is_langchain else {None}
    )


@llamaindex
def test_usage_is_told_to_instrumentation_inside_the_span_of_its_stage(
    store: RecallStore, face: Face
) -> None:
    retriever = face.personal_memory_retriever(store, face.model(all_judged), timestamp=NOW)
    root, events = get_dispatcher(), Events()
    root.add_event_handler(events)
    try:
        ask(face, retriever, "the dentist", {})
    finally:
        root.event_handlers.remove(events)

    [told] = [each for each in events._seen if isinstance(each, face.StageUsage)]
    assert (told.stage, told.calls, told.tokens_in > 100) == ("SemanticRank", 1, True)
    assert told.span_id.startswith("SemanticRank.apply-")
    assert told.model_dump()["class_name"] == "StageUsage"
    names = [type(each).__name__ for each in events._seen]
    assert names.index("LLMChatEndEvent") < names.index("StageUsage")


def test_a_stage_in_a_list_of_your_own_shows_its_model_calls_too(face: Face) -> None:
    stage = face.SemanticRank(llm=face.model(all_judged), orders=3)

    with listening(face) as (runs, config):
        if face.is_langchain:  # there it is a Runnable, and a run anyway
            ranked = stage.with_config(config)
            given = {"query": "the dentist", "documents": [document(each) for each in GIVEN]}
            face.call(ranked, "invoke", given)
        else:
            face.refine(stage, GIVEN, "the dentist")

    [ranking] = runs.named("SemanticRank")
    assert [run.name for run in ranking.inside] == ["model"] * 3
