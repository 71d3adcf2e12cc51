"""Models that answer too late: what a timeout, a deadline or a cancelled question costs."""

import asyncio
from typing import Any

import pytest
from faces.adapters import Face, once
from faces.slow_models import GIVEN, slow_model

from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"


@pytest.mark.parametrize("stage", ["SemanticRank", "RerankMemory", "RewriteMemory", "Reflect"])
def test_a_model_that_hangs_costs_the_timeout_and_no_memory(face: Face, stage: str) -> None:
    model = slow_model(face)
    made = getattr(face, stage)(llm=model, timeout_s=0.2)
    plain = face.refine(getattr(face, stage)(), GIVEN, "the dentist")

    found = face.refine(made, GIVEN, "the dentist")

    assert not model.waited_out
    assert [(each.content, each.score) for each in found] == [(e.content, e.score) for e in plain]
    assert found[0].metadata["recall_degraded"] == (
        f"{stage}: TimeoutError: no answer within 0.2 s"
    )


def test_cancelling_a_question_leaves_no_task(store: RecallStore, face: Face) -> None:
    model = slow_model(face)
    retriever = face.personal_memory_retriever(store, model, timestamp=NOW)
    retriever.stages[1].window = 2

    async def cancel() -> set[Any]:
        call = retriever.ainvoke if face.is_langchain else retriever.aretrieve
        task = asyncio.create_task(call("the dentist"))
        async with asyncio.timeout(20):
            while len(model.under_way) < 3:
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(cancel()) == set()


@once
def test_a_deadline_ends_the_waiting_and_what_is_ranked_by_then_is_returned(
    store: RecallStore, face: Face
) -> None:
    """The first stage has its answer; the second is cut short; the third is not asked at all."""
    model = slow_model(face, quick="<memory")  # in every prompt
    slow = slow_model(face)
    stages = [
        face.SemanticRank(llm=model),
        face.RerankMemory(llm=slow),
        face.RewriteMemory(llm=slow),
    ]
    retriever = face.RecallRetriever(store=store, stages=stages, timestamp=NOW, deadline_s=1)

    [told] = face.ask(retriever, "the dentist")

    assert not slow.waited_out
    rerank, rewrite = told.metadata["recall_degraded"].split("; ")
    assert rerank.startswith("RerankMemory: TimeoutError: no answer within")
    assert rewrite == "RewriteMemory: TimeoutError: the 1 s for the question are over"
    assert told.content.startswith("Memory 1 :")
    assert [each.split(":")[0] for each in told.metadata["recall_usage"].split("; ")] == [
        "SemanticRank",
        "RerankMemory",
    ]


@once
def test_a_deadline_may_be_set_for_a_call(store: RecallStore, face: Face) -> None:
    retriever = face.personal_memory_retriever(store, slow_model(face), timestamp=NOW)

    found = face.ask(retriever, "the dentist", deadline_s=0.3)

    assert len(found) == 5
    assert "TimeoutError" in found[0].metadata["recall_degraded"]
    with pytest.raises(ValueError, match="must be above 0"):
        face.ask(retriever, "the dentist", deadline_s=0)
