"""A LangChain model as the two functions that answer a stage's prompts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from recall_stages.model.at_once import at_once, at_once_async
from recall_stages.stage import Ask, AsyncAsk, Prompt, Replies

Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def asking(callbacks: BaseCallbackManager | None) -> Ask:
    """Ask the model of each prompt, several at once, under these callbacks."""
    config: RunnableConfig = {"callbacks": callbacks}

    def said(prompt: Prompt) -> str:
        return _text(_model(prompt).invoke(_messages(prompt), config))

    def ask(prompts: Sequence[Prompt]) -> Replies:
        return at_once(said, prompts, prompts[0].timeout_s)

    return ask


def asking_async(callbacks: BaseCallbackManager | None) -> AsyncAsk:
    """The same without blocking the event loop."""
    config: RunnableConfig = {"callbacks": callbacks}

    async def said(prompt: Prompt) -> str:
        return _text(await _model(prompt).ainvoke(_messages(prompt), config))

    async def ask(prompts: Sequence[Prompt]) -> Replies:
        return await at_once_async(said, prompts, prompts[0].timeout_s)

    return ask


def _model(prompt: Prompt) -> Model:
    if not isinstance(prompt.llm, Runnable):
        raise TypeError(f"llm must be a LangChain language model; got {type(prompt.llm).__name__}")
    return prompt.llm


def _messages(prompt: Prompt) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _text(reply: BaseMessage | str) -> str:
    """What a model said; where it called a tool instead, what it would have told the tool."""
    if isinstance(reply, AIMessage) and reply.tool_calls and not str(reply.text).strip():
        return json.dumps(reply.tool_calls[0]["args"])
    return reply if isinstance(reply, str) else str(reply.text)
