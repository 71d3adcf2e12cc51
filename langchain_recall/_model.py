"""What LangChain has, its models and compressors, as the two functions that answer a stage."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.retry import RunnableRetry
from pydantic import BaseModel

from langchain_recall._stock import refined, refined_async
from recall_stages.core.requests import Answered, Asked, refines
from recall_stages.core.stage import Ask, AsyncAsk, Prompt
from recall_stages.llm.client import Client, answers, answers_async
from recall_stages.llm.reply_schemas import written

Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def asking(callbacks: BaseCallbackManager | None) -> Ask:
    """Ask the model of each prompt, or a compressor, several at once, under these callbacks."""
    config: RunnableConfig = {"callbacks": callbacks}

    def send(prompt: Prompt, in_form: bool) -> str:
        model = _in_form(prompt) if in_form else _model(prompt)
        return _text(model.invoke(_messages(prompt), config))

    client = Client(send, _takes_form, _retries)

    def ask(asked: Asked) -> Answered:
        return refined(asked, callbacks) if refines(asked) else answers(client, asked)

    return ask


def asking_async(callbacks: BaseCallbackManager | None) -> AsyncAsk:
    """The same without blocking the event loop."""
    config: RunnableConfig = {"callbacks": callbacks}

    async def send(prompt: Prompt, in_form: bool) -> str:
        model = _in_form(prompt) if in_form else _model(prompt)
        return _text(await model.ainvoke(_messages(prompt), config))

    client: Client[Awaitable[str]] = Client(send, _takes_form, _retries)

    async def ask(asked: Asked) -> Answered:
        if refines(asked):
            return await refined_async(asked, callbacks)
        return await answers_async(client, asked)

    return ask


def _model(prompt: Prompt) -> Model:
    if not isinstance(prompt.llm, Runnable):
        raise TypeError(f"llm must be a LangChain language model; got {type(prompt.llm).__name__}")
    return prompt.llm


def _in_form(prompt: Prompt) -> Model:
    """The model, told the form of its reply in whichever way it has for that.

    Not with ``include_raw``: LangChain then calls the model in a thread that keeps the process
    alive for as long as it hangs. A reply that it cannot read is asked for again in plain JSON.
    And not where something is wrapped around the model: ``bind`` would lose its settings,
    ``with_retry`` its retries, and ``with_fallbacks`` fails to pass the form on.
    """
    model = _model(prompt)
    if prompt.form is None or not isinstance(model, BaseLanguageModel):
        raise NotImplementedError("only a language model itself can be given a form")
    formed: Model = model.with_structured_output(prompt.form)
    return formed


def _takes_form(prompt: Prompt) -> bool:
    try:
        _in_form(prompt)
    except NotImplementedError:  # as LangChain's base says that a model does not
        return False
    except Exception:  # noqa: BLE001 - it says that it does, and fails: so it will when it is asked
        return True
    return True


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
    """What a model said; where it called a tool instead, what it would have told the tool."""
    if isinstance(reply, AIMessage) and reply.tool_calls and not str(reply.text).strip():
        return json.dumps(reply.tool_calls[0]["args"])
    if isinstance(reply, BaseMessage):
        return str(reply.text)
    return written(reply) if isinstance(reply, BaseModel) else reply or ""
