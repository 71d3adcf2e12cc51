"""What LangChain has, its models and compressors, as the two functions that answer a stage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_recall._stock import arefined, refined
from recall_stages.model.at_once import at_once, at_once_async
from recall_stages.stage import Ask, AsyncAsk, Prompt, Refine, Refined, Replies

Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def asking(callbacks: BaseCallbackManager | None) -> Ask:
    """Ask the model of each prompt, or the compressor, several at once, under these callbacks."""
    config: RunnableConfig = {"callbacks": callbacks}

    def said(prompt: Prompt | Refine) -> Any:
        if isinstance(prompt, Refine):
            return refined(prompt, callbacks)
        return _text(_model(prompt).invoke(_messages(prompt), config))

    def ask(prompts: Sequence[Prompt | Refine]) -> Replies | Refined:
        return at_once(said, prompts, prompts[0].timeout_s)

    return ask


def asking_async(callbacks: BaseCallbackManager | None) -> AsyncAsk:
    """The same without blocking the event loop."""
    config: RunnableConfig = {"callbacks": callbacks}

    async def said(prompt: Prompt | Refine) -> Any:
        if isinstance(prompt, Refine):
            return await arefined(prompt, callbacks)
        return _text(await _model(prompt).ainvoke(_messages(prompt), config))

    async def ask(prompts: Sequence[Prompt | Refine]) -> Replies | Refined:
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
