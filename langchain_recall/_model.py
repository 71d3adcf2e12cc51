"""A LangChain model as the two functions that answer a stage's prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from recall_stages.stage import Ask, AsyncAsk, Prompt

Model = Runnable[Any, Any]
"""A chat model or an LLM, also one wrapped by ``with_retry`` or ``with_fallbacks``."""


def asking(callbacks: BaseCallbackManager | None) -> Ask:
    """Ask the model of each prompt, several at once, under these callbacks."""
    config: RunnableConfig = {"callbacks": callbacks}

    def ask(prompts: Sequence[Prompt]) -> list[str]:
        replies = _model(prompts).batch([_messages(prompt) for prompt in prompts], config)
        return [_text(reply) for reply in replies]

    return ask


def asking_async(callbacks: BaseCallbackManager | None) -> AsyncAsk:
    """The same without blocking the event loop."""
    config: RunnableConfig = {"callbacks": callbacks}

    async def ask(prompts: Sequence[Prompt]) -> list[str]:
        replies = await _model(prompts).abatch([_messages(prompt) for prompt in prompts], config)
        return [_text(reply) for reply in replies]

    return ask


def _model(prompts: Sequence[Prompt]) -> Model:
    llm = prompts[0].llm
    if not isinstance(llm, Runnable):
        raise TypeError(f"llm must be a LangChain language model; got {type(llm).__name__}")
    return llm


def _messages(prompt: Prompt) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _text(reply: BaseMessage | str) -> str:
    return reply if isinstance(reply, str) else str(reply.text)
