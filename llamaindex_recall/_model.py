"""What LlamaIndex has, its models and postprocessors, as the two functions that answer a stage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import LLM, ChatMessage, MessageRole

from llamaindex_recall._stock import arefined, refined
from recall_stages.model.at_once import at_once, at_once_async
from recall_stages.stage import Prompt, Refine, Refined, Replies


def ask(prompts: Sequence[Prompt | Refine]) -> Replies | Refined:
    """Ask the model of each prompt, or the postprocessor, several at once."""
    return at_once(_said, prompts, prompts[0].timeout_s)


async def ask_async(prompts: Sequence[Prompt | Refine]) -> Replies | Refined:
    """The same without blocking the event loop."""
    return await at_once_async(_asaid, prompts, prompts[0].timeout_s)


def _said(prompt: Prompt | Refine) -> Any:
    if isinstance(prompt, Refine):
        return refined(prompt)
    return _text(_model(prompt).chat(_messages(prompt)).message)


async def _asaid(prompt: Prompt | Refine) -> Any:
    if isinstance(prompt, Refine):
        return await arefined(prompt)
    return _text((await _model(prompt).achat(_messages(prompt))).message)


def _model(prompt: Prompt) -> LLM:
    if not isinstance(prompt.llm, LLM):
        raise TypeError(f"llm must be a LlamaIndex LLM; got {type(prompt.llm).__name__}")
    return prompt.llm


def _messages(prompt: Prompt) -> list[ChatMessage]:
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
        ChatMessage(role=MessageRole.USER, content=prompt.user),
    ]


def _text(message: ChatMessage) -> str:
    """What a model said; where it called a tool instead, what it would have told the tool."""
    if not (message.content or "").strip():
        for block in message.blocks:
            told = getattr(block, "tool_kwargs", None)  # of a ToolCallBlock, which 0.14.0 lacks
            if told is not None:
                return told if isinstance(told, str) else json.dumps(told)
    return message.content or ""
