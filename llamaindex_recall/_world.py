"""The world of a stage in LlamaIndex: its models and postprocessors, and a span for each stage.

The spans of a model are inside that of its stage. The event `StageUsage` has the cost.
"""

import inspect
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar, cast
from uuid import uuid4

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, MessageRole
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.schema import QueryBundle
from llama_index.core.types import PydanticProgramMode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import (
    DISPATCHER_SPAN_DECORATED_ATTR,
    active_instrument_tags,
)
from llama_index_instrumentation.events.span import SpanDropEvent
from llama_index_instrumentation.span import active_span_id
from pydantic import BaseModel

from llamaindex_recall._convert import ByItsName, to_candidate, to_node
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Recall
from recall_retrievers.core.requests import Prompt, Refine, Reply
from recall_retrievers.core.stage import StageRun
from recall_retrievers.core.world import World, each_of, settled
from recall_retrievers.llm.client import Client, Send, ask_models
from recall_retrievers.llm.model_output import Spent, as_reply
from recall_retrievers.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseNodePostprocessor  # what may be passed as a stage
dispatcher = get_dispatcher(__name__)

Method = TypeVar("Method", bound=Callable[..., object])

_around_tool: ContextVar[bool | None] = ContextVar("around_tool", default=None)


def without_span(method: Method) -> Method:
    """Keep LlamaIndex from giving a method a span: it looks at the one that is around it."""
    setattr(method, DISPATCHER_SPAN_DECORATED_ATTR, True)
    return method


def asked_inside() -> bool:
    """Whether a run of LlamaIndex asks: there is a span around; a tool's own does not count."""
    around_tool = _around_tool.get()
    return active_span_id.get() is not None if around_tool is None else around_tool


@contextmanager
def as_tool() -> Iterator[None]:
    token = _around_tool.set(asked_inside())
    try:
        yield
    finally:
        _around_tool.reset(token)


_SIGNATURE = inspect.Signature()  # what went in has names of its own, and no more of a signature


class StageUsage(ByItsName, BaseEvent):
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


class LlamaIndexWorld(World):
    """Models and postprocessors are called, and each stage is a span."""

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        return await ask_models(self, client(asynchronous=self.asynchronous), prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Candidate] | Exception]:
        return await self.call_all(self._refined, requests, requests[0].timeout_s)

    async def work(self, stage_run: StageRun) -> Recall:
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


def client(*, asynchronous: bool) -> Client:
    async def send(prompt: Prompt, spent: Spent) -> str:
        chat = _model(prompt).achat if asynchronous else _model(prompt).chat
        response = await settled(chat(_messages(prompt)))
        _count(spent, response)
        return _text(response.message)

    def formed(prompt: Prompt) -> Send | None:
        # Only of models that call functions: LlamaIndex would read the JSON of others itself.
        model = _model(prompt)
        by_text = model.pydantic_program_mode is PydanticProgramMode.LLM
        takes = model.metadata.is_function_calling_model and not by_text
        return partial(fill_in, model, prompt.form, prompt) if takes and prompt.form else None

    async def fill_in(
        model: LLM, form: type[BaseModel], prompt: Prompt, _spent: Spent
    ) -> str:  # LlamaIndex keeps the model's counts to itself here
        material = {"system": prompt.system, "user": prompt.user}
        predict = model.astructured_predict if asynchronous else model.structured_predict
        return as_reply(await settled(predict(form, _template(prompt), **material)))

    async def streamed(prompt: Prompt, spent: Spent) -> AsyncIterator[str]:
        chat = _model(prompt).astream_chat if asynchronous else _model(prompt).stream_chat
        response, before = None, ""
        async for response in each_of(await settled(chat(_messages(prompt)))):
            yield _part(response, before)
            before = response.message.content or ""
        if response:
            _count(spent, response)

    return Client(lambda prompt: partial(send, prompt), formed, _retries, streamed)


def _count(spent: Spent, response: ChatResponse) -> None:
    spent.add(response)  # why it ended, wherever that stands in it
    spent.add(response.raw)
    if spent.tokens is None:
        spent.add(response.additional_kwargs)


def _retries(prompt: Prompt) -> bool:
    return getattr(prompt.llm, "max_retries", 0) != 0


def _template(prompt: Prompt) -> ChatPromptTemplate:
    # A new one, as LlamaIndex may write a parser into it; braces in a memory would be placeholders.
    return ChatPromptTemplate(
        message_templates=_messages(Prompt("{system}" if prompt.system else "", "{user}"))
    )


def _model(prompt: Prompt) -> LLM:
    if not isinstance(prompt.llm, LLM):
        raise TypeError(f"llm must be a LlamaIndex LLM; got {type(prompt.llm).__name__}")
    return prompt.llm


def _messages(prompt: Prompt) -> list[ChatMessage]:
    roles = {MessageRole.SYSTEM: prompt.system, MessageRole.USER: prompt.user}
    return [ChatMessage(role=role, content=text) for role, text in roles.items() if text]


def _part(response: ChatResponse, before: str) -> str:
    """What a part of a reply adds; some models tell the whole so far, and no more."""
    if response.delta is not None:
        return response.delta
    return (response.message.content or "").removeprefix(before)


def _text(message: ChatMessage) -> str:
    """The text of a reply, with nothing between its blocks; of a tool call, its arguments."""
    text = "".join(block.text for block in message.blocks if isinstance(block, TextBlock))
    if "{" not in text:  # a sentence before the call, if anything
        for block in message.blocks:
            arguments = getattr(block, "tool_kwargs", None)  # of a ToolCallBlock; 0.14.0 has none
            if arguments is not None:
                return as_reply(arguments)
    return text
