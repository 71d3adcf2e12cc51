"""The world of a stage in LlamaIndex: its models and postprocessors, and a span for each stage.

The spans of a model are inside that of its stage. The event `StageUsage` has the cost.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast
from uuid import uuid4

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import QueryBundle
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import active_instrument_tags
from llama_index_instrumentation.events.span import SpanDropEvent
from llama_index_instrumentation.span import active_span_id

from llamaindex_recall._convert import to_candidate, to_node
from llamaindex_recall._model import client
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.driver import settled
from recall_retrievers.core.recall import Recall
from recall_retrievers.core.requests import Prompt, Refine, Reply
from recall_retrievers.core.stage import StageRun
from recall_retrievers.core.world import World
from recall_retrievers.llm.client import ask_models
from recall_retrievers.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseNodePostprocessor
"""What may be passed as a stage."""

dispatcher = get_dispatcher(__name__)

_SIGNATURE = inspect.Signature()  # what went in has names of its own, and no more of a signature


class StageUsage(BaseEvent):
    """The instrumentation event of a stage that asked a model, with the cost.

    Args:
        stage: The stage.
        calls: How many prompts were sent.
        attempts: How often they were sent in all.
        tokens_in: The tokens of the prompts, once for each attempt that the model took.
        tokens_out: The tokens of the replies.
        estimated: Whether the model has not counted all of them itself.
        milliseconds: How long the stage waited for them.
    """

    stage: str
    calls: int
    attempts: int
    tokens_in: int
    tokens_out: int
    estimated: bool
    milliseconds: float

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes the event down."""
        return cls.__name__


class LlamaIndexWorld(World):
    """Models and postprocessors are called, and each stage is a span."""

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply."""
        return await ask_models(self, client(asynchronous=self.asynchronous), prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Candidate] | Exception]:
        """What the postprocessors make of memories."""
        return await self.call_all(self._refined, requests, requests[0].timeout_s)

    async def work(self, stage_run: StageRun) -> Recall:
        """Do the work of a stage in a span of its own, with the spans of its models inside."""
        with _span(stage_run) as ended:
            return ended(await super().work(stage_run))

    async def _refined(self, request: Refine) -> list[Candidate]:
        zone = request.query.reference_time.tzinfo
        nodes = [to_node(memory, zone) for memory in request.memories]
        piece = cast("BaseNodePostprocessor", request.piece)  # as `TakesStages` has seen to
        process = piece.apostprocess_nodes if self.asynchronous else piece.postprocess_nodes
        processed = await settled(process(nodes, QueryBundle(request.query.text)))
        return [to_candidate(node, zone) for node in processed]


@contextmanager
def _span(stage_run: StageRun) -> Iterator[Callable[[Recall], Recall]]:
    # The decorator `dispatcher.span` would show the stage's inner state as what went in and out.
    span_id = f"{stage_run.name}.apply-{uuid4()}"
    bound = inspect.BoundArguments(_SIGNATURE, OrderedDict(stage_run.shown_input))
    token = active_span_id.set(span_id)
    parent = token.old_value if isinstance(token.old_value, str) else None
    tags = active_instrument_tags.get()
    dispatcher.span_enter(span_id, bound, stage_run.stage, parent_id=parent, tags=tags)

    def ended(outcome: Recall) -> Recall:
        if stage_run.meter.calls:
            usage = {"stage": stage_run.name, **stage_run.meter.figures()}
            dispatcher.event(StageUsage.model_validate(usage))
        dispatcher.span_exit(
            span_id, bound, stage_run.stage, result=stage_run.shown_outcome(outcome)
        )
        return outcome

    try:
        yield ended
    except BaseException as error:
        dispatcher.event(SpanDropEvent(span_id=span_id, err_str=str(error)))
        dispatcher.span_drop(span_id, bound, stage_run.stage, err=error)
        raise
    finally:
        active_span_id.reset(token)
