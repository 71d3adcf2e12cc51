"""LangChain's models, as a stage asks them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.retry import RunnableRetry

from recall_retrievers.core.driver import each_of, settled
from recall_retrievers.core.requests import Prompt
from recall_retrievers.llm.client import Client, Send
from recall_retrievers.llm.model_output import Spent, as_reply, with_marks

Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def client(callbacks: BaseCallbackManager, *, asynchronous: bool) -> Client:
    """Calls models under these callbacks."""

    def counting(spent: Spent) -> RunnableConfig:
        around = callbacks.copy()
        around.add_handler(_Counts(spent))
        return {"callbacks": around}

    async def send(model: Model, prompt: Prompt, spent: Spent) -> str:
        invoke = model.ainvoke if asynchronous else model.invoke
        return _text(await settled(invoke(_messages(prompt), counting(spent))), prompt)

    def formed(prompt: Prompt) -> Send | None:
        model = _in_form(prompt)
        return None if model is None else partial(send, model, prompt)

    async def plain(prompt: Prompt, spent: Spent) -> str:
        return await send(_model(prompt), prompt, spent)

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
    """Writes down what a model says that it cost, also where its reply cannot be read."""

    run_inline = True  # not in a thread, as it only adds

    def __init__(self, spent: Spent) -> None:
        self.spent = spent

    def on_llm_end(self, response: LLMResult, **_: object) -> None:
        """Add the counts of a reply; those of its message, else those of all replies."""
        before = self.spent.tokens
        for replies in response.generations:
            for each in replies[:1]:
                self.spent.add(getattr(getattr(each, "message", None), "usage_metadata", None))
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
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _text(reply: object, prompt: Prompt) -> str:
    """The text of a reply; of a tool call, its arguments."""
    if isinstance(reply, AIMessage) and reply.tool_calls and not str(reply.text).strip():
        return as_reply(reply.tool_calls[0]["args"])
    if isinstance(reply, BaseMessage):
        parts = [] if isinstance(reply.content, str) else [_cited(each) for each in reply.content]
        return with_marks(parts, prompt.user) if parts else str(reply.text)
    return as_reply(reply)


def _cited(block: object) -> tuple[str, list[str]]:
    """The text of a block, and the passages that it cites, as Anthropic or LangChain has them."""
    if not isinstance(block, dict) or block.get("type") != "text":
        return (block if isinstance(block, str) else ""), []
    cited = [*(block.get("citations") or ()), *(block.get("annotations") or ())]
    passages = [each.get("cited_text") for each in cited if isinstance(each, dict)]
    return str(block.get("text") or ""), [each for each in passages if isinstance(each, str)]
