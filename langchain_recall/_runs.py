"""Each stage of a question as a run of its own in LangChain's callbacks, its model calls inside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager

from langchain_recall._model import asking, asking_async
from recall_stages.core.recall import Recall
from recall_stages.core.stage import Ask, AsyncAsk, Step, Within, WithinAsync
from recall_stages.core.stage_run import became, given


def stage_runs(callbacks: CallbackManager) -> Within | None:
    """Begin and end a run around every stage; None where nobody listens."""
    if not callbacks.handlers:
        return None

    def within(step: Step, work: Callable[[Ask], Recall]) -> Recall:
        run = callbacks.on_chain_start(None, given(step), name=step.stage.called)
        try:
            outcome = work(asking(run.get_child()))
        except BaseException as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end(became(step, outcome))
        return outcome

    return within


def stage_runs_async(callbacks: AsyncCallbackManager) -> WithinAsync | None:
    """The same without blocking the event loop."""
    if not callbacks.handlers:
        return None

    async def within(step: Step, work: Callable[[AsyncAsk], Awaitable[Recall]]) -> Recall:
        run = await callbacks.on_chain_start(None, given(step), name=step.stage.called)
        try:
            outcome = await work(asking_async(run.get_child()))
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        await run.on_chain_end(became(step, outcome))
        return outcome

    return within
