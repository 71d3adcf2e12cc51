"""A LlamaIndex model as the two functions that answer a stage's prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from llama_index.core.llms import LLM, ChatMessage, MessageRole

from recall_stages.stage import Prompt


def ask(prompts: Sequence[Prompt]) -> list[str]:
    """Ask the model of each prompt, one after the other."""
    return [_model(prompt).chat(_messages(prompt)).message.content or "" for prompt in prompts]


async def ask_async(prompts: Sequence[Prompt]) -> list[str]:
    """Ask the model of each prompt, all at once, without blocking the event loop."""
    replies = await asyncio.gather(*(_model(each).achat(_messages(each)) for each in prompts))
    return [reply.message.content or "" for reply in replies]


def _model(prompt: Prompt) -> LLM:
    if not isinstance(prompt.llm, LLM):
        raise TypeError(f"llm must be a LlamaIndex LLM; got {type(prompt.llm).__name__}")
    return prompt.llm


def _messages(prompt: Prompt) -> list[ChatMessage]:
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
        ChatMessage(role=MessageRole.USER, content=prompt.user),
    ]
