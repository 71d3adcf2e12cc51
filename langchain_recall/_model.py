"""LangChain's models, as a stage asks them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.retry import RunnableRetry
from pydantic import BaseModel

from recall_stages.core.requests import Prompt
from recall_stages.llm.client import Client, Send
from recall_stages.llm.reply_schemas import as_reply

Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def client(callbacks: BaseCallbackManager | None, *, asynchronous: bool) -> Client:
    """Calls models under these callbacks."""
    config: RunnableConfig = {"callbacks": callbacks}

    async def send(model: Model, prompt: Prompt) -> str:
        messages = _messages(prompt)
        if asynchronous:
            return _text(await model.ainvoke(messages, config))
        return _text(model.invoke(messages, config))

    def formed(prompt: Prompt) -> Send | None:
        model = _in_form(prompt)
        return None if model is None else partial(send, model, prompt)

    async def plain(prompt: Prompt) -> str:
        return await send(_model(prompt), prompt)

    return Client(plain, formed, _retries)


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


def _text(reply: BaseMessage | BaseModel | str | None) -> str:
    """The text of a reply; of a tool call, its arguments."""
    if isinstance(reply, AIMessage) and reply.tool_calls and not str(reply.text).strip():
        return json.dumps(reply.tool_calls[0]["args"])
    if isinstance(reply, BaseMessage):
        return str(reply.text)
    return as_reply(reply) if isinstance(reply, BaseModel) else reply or ""
