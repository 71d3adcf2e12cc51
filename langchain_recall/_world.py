"""The world of a stage in LangChain: its models and compressors, and a run for each stage."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any, TypeVar, cast

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManager,
)
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.retry import RunnableRetry

from langchain_recall._convert import to_candidate, to_document
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Recall
from recall_retrievers.core.requests import Prompt, Refine, Reply
from recall_retrievers.core.stage import StageRun
from recall_retrievers.core.streamed import Show
from recall_retrievers.core.world import ListingStore, World, each_of, settled
from recall_retrievers.llm.client import Client, Send, ask_models
from recall_retrievers.llm.model_output import Spent, as_reply
from recall_retrievers.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseDocumentCompressor  # what may be passed as a stage
T = TypeVar("T")


class LangChainWorld(World):
    """Models and compressors are called, and stages are traced, under these callbacks.

    With async callbacks, the world does not block the event loop.
    """

    def __init__(
        self,
        callbacks: CallbackManager | AsyncCallbackManager | None = None,
        store: ListingStore | None = None,
        show: Show | None = None,
    ) -> None:
        asynchronous = isinstance(callbacks, AsyncCallbackManager)
        super().__init__(store, asynchronous=asynchronous, show=show)
        self.callbacks = callbacks or CallbackManager([])

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        models = client(self.callbacks, asynchronous=self.asynchronous)
        return await ask_models(self, models, prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Candidate] | Exception]:
        return await self.call_all(self._refined, requests, requests[0].timeout_s)

    async def work(self, stage_run: StageRun) -> Recall:
        if not self.callbacks.handlers:
            return await super().work(stage_run)
        started = self.callbacks.on_chain_start(None, stage_run.shown_input, name=stage_run.name)
        run = await started if isawaitable(started) else started
        inside = LangChainWorld(run.get_child(), self.store, self.show)
        try:
            outcome = await super(LangChainWorld, inside).work(stage_run)
        except BaseException as error:
            await _notify(run.on_chain_error, error)
            raise
        await _notify(run.on_chain_end, stage_run.shown_outcome(outcome))
        return outcome

    async def _refined(self, request: Refine) -> list[Candidate]:
        zone = request.query.reference_time.tzinfo
        documents = [to_document(memory, zone) for memory in request.memories]
        piece = cast("BaseDocumentCompressor", request.piece)  # as `TakesStages` has seen to
        compress = piece.acompress_documents if self.asynchronous else piece.compress_documents
        compressed = await settled(compress(documents, request.query.text, self.callbacks))
        return [to_candidate(document, zone) for document in compressed]


async def _notify(callback: Callable[[T], object], value: T) -> None:
    waiting = callback(value)
    if isawaitable(waiting):
        await waiting


Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def client(callbacks: BaseCallbackManager, *, asynchronous: bool) -> Client:
    def counting(spent: Spent) -> RunnableConfig:
        around = callbacks.copy()
        around.add_handler(_Counts(spent))
        return {"callbacks": around}

    async def send(model: Model, prompt: Prompt, spent: Spent) -> str:
        invoke = model.ainvoke if asynchronous else model.invoke
        return _text(await settled(invoke(_messages(prompt), counting(spent))))

    def formed(prompt: Prompt) -> Send | None:
        model = _in_form(prompt)
        return None if model is None else partial(send, model, prompt)

    def plain(prompt: Prompt) -> Send:
        return partial(send, _model(prompt), prompt)

    async def streamed(prompt: Prompt, spent: Spent) -> AsyncIterator[str]:
        stream = _model(prompt).astream if asynchronous else _model(prompt).stream
        whole: object = None
        async for part in each_of(stream(_messages(prompt), counting(spent))):
            if isinstance(part, BaseMessage | str):
                yield str(part.text) if isinstance(part, BaseMessage) else part
            else:
                whole = part  # an output parser gives the object so far
        yield as_reply(whole)

    return Client(plain, formed, _retries, streamed)


class _Counts(BaseCallbackHandler):
    """Writes down what a reply cost and why it ended, also where it cannot be read."""

    run_inline = True  # not in a thread, as it only adds

    def __init__(self, spent: Spent) -> None:
        self.spent = spent

    def on_llm_error(self, *_: object, response: object = None, **__: object) -> None:
        """Add what a reply says that the model's own client cannot read."""
        if isinstance(response, LLMResult):
            self.on_llm_end(response)

    def on_llm_end(self, response: LLMResult, **_: object) -> None:
        before = self.spent.tokens
        for replies in response.generations:
            for reply in replies[:1]:
                self.spent.add(getattr(reply, "message", reply))
        if self.spent.tokens == before:
            self.spent.add(response.llm_output)


def _model(prompt: Prompt) -> Model:
    if not isinstance(prompt.llm, Runnable):
        raise TypeError(f"llm must be a LangChain language model; got {type(prompt.llm).__name__}")
    return prompt.llm


def _in_form(prompt: Prompt) -> Model | None:
    """The model with the schema of its reply, in whichever way it has for that; None = it has none.

    Not with ``include_raw``: LangChain then calls the model in a thread that keeps the process
    alive for as long as it hangs. A reply that it cannot read is asked for again in plain JSON.
    And not where something is wrapped around the model: ``bind`` would lose its settings,
    ``with_retry`` its retries, and ``with_fallbacks`` fails to pass the schema on.
    """
    model = _model(prompt)
    if prompt.form is None or not isinstance(model, BaseLanguageModel):
        return None
    try:
        formed: Model = model.with_structured_output(prompt.form)
    except NotImplementedError:  # as LangChain's base says that a model takes none
        return None
    return formed


def _retries(prompt: Prompt) -> bool:
    """Whether LangChain or the model's client tries again; None leaves it to the client."""
    model: object = prompt.llm
    while isinstance(model, RunnableBindingBase):
        if isinstance(model, RunnableRetry):
            return True
        model = model.bound
    return getattr(model, "max_retries", 0) != 0


def _messages(prompt: Prompt) -> list[BaseMessage]:
    system = [SystemMessage(prompt.system)] if prompt.system else []
    return [*system, HumanMessage(prompt.user)]


def _text(reply: object) -> str:
    """The text of a reply; of a tool call, its arguments, also after a sentence."""
    if isinstance(reply, AIMessage) and reply.tool_calls and "{" not in str(reply.text):
        return as_reply(reply.tool_calls[0]["args"])
    return str(reply.text) if isinstance(reply, BaseMessage) else as_reply(reply)
