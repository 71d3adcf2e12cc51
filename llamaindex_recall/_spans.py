"""Each stage of a question as a span of its own in LlamaIndex's instrumentation.

The model's spans and events are inside it; what its models cost is told as `StageUsage`.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import active_instrument_tags
from llama_index_instrumentation.events.span import SpanDropEvent
from llama_index_instrumentation.span import active_span_id

from llamaindex_recall._model import ask, ask_async
from recall_stages.core.recall import Recall
from recall_stages.core.stage import Ask, AsyncAsk, Step
from recall_stages.core.stage_run import became, given

dispatcher = get_dispatcher(__name__)

_SIGNATURE = inspect.Signature()  # what went in has names of its own, and no more of a signature


class StageUsage(BaseEvent):
    """The instrumentation event of a stage that asked a model: what it cost.

    Args:
        stage: The stage.
        calls: How many prompts were sent.
        attempts: How often they were sent, all in all.
        tokens_in: The tokens of the prompts, each once.
        tokens_out: The tokens of the replies.
        milliseconds: How long the stage waited for them.
    """

    stage: str
    calls: int
    attempts: int
    tokens_in: int
    tokens_out: int
    milliseconds: float

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes the event down."""
        return cls.__name__


def within(step: Step, work: Callable[[Ask], Recall]) -> Recall:
    """Begin and end a span around a stage."""
    with _span(step) as ended:
        return ended(work(ask))


async def within_async(step: Step, work: Callable[[AsyncAsk], Awaitable[Recall]]) -> Recall:
    """The same without blocking the event loop."""
    with _span(step) as ended:
        return ended(await work(ask_async))


@contextmanager
def _span(step: Step) -> Iterator[Callable[[Recall], Recall]]:
    # The decorator `dispatcher.span` would show the stage's inner state as what went in and out.
    span_id = f"{step.stage.called}.apply-{uuid4()}"
    bound = inspect.BoundArguments(_SIGNATURE, OrderedDict(given(step)))
    token = active_span_id.set(span_id)
    parent = token.old_value if isinstance(token.old_value, str) else None
    tags = active_instrument_tags.get()
    dispatcher.span_enter(span_id, bound, step.stage, parent_id=parent, tags=tags)

    def ended(outcome: Recall) -> Recall:
        if step.meter.calls:
            dispatcher.event(StageUsage(stage=step.stage.called, **step.meter.figures()))
        dispatcher.span_exit(span_id, bound, step.stage, result=became(step, outcome))
        return outcome

    try:
        yield ended
    except BaseException as error:
        dispatcher.event(SpanDropEvent(span_id=span_id, err_str=str(error)))
        dispatcher.span_drop(span_id, bound, step.stage, err=error)
        raise
    finally:
        active_span_id.reset(token)
