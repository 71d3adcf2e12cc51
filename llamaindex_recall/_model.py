"""LlamaIndex's models, as a stage asks them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from llama_index.core.llms import LLM, ChatMessage, MessageRole
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.types import PydanticProgramMode
from pydantic import BaseModel

from recall_stages.core.requests import Prompt
from recall_stages.llm.client import Client
from recall_stages.llm.reply_schemas import as_reply


def _send(prompt: Prompt) -> str:
    return _text(_model(prompt).chat(_messages(prompt)).message)


async def _send_async(prompt: Prompt) -> str:
    return _text((await _model(prompt).achat(_messages(prompt))).message)


def _formed(prompt: Prompt) -> Callable[[], str] | None:
    model, form = _taking_form(prompt)
    if form is None:
        return None
    return lambda: as_reply(model.structured_predict(form, _template(), **_material(prompt)))


def _formed_async(prompt: Prompt) -> Callable[[], Awaitable[str]] | None:
    model, form = _taking_form(prompt)
    if form is None:
        return None

    async def send() -> str:
        return as_reply(await model.astructured_predict(form, _template(), **_material(prompt)))

    return send


def _taking_form(prompt: Prompt) -> tuple[LLM, type[BaseModel] | None]:
    """The model, and the schema if it calls functions: else LlamaIndex reads JSON, as we do."""
    model = _model(prompt)
    by_text = model.pydantic_program_mode is PydanticProgramMode.LLM
    takes = model.metadata.is_function_calling_model and not by_text
    return model, prompt.form if takes else None


def _material(prompt: Prompt) -> dict[str, str]:
    return {"system": prompt.system, "user": prompt.user}


def _retries(prompt: Prompt) -> bool:
    return getattr(prompt.llm, "max_retries", 0) != 0


def _template() -> ChatPromptTemplate:
    """A template that holds nothing yet, as braces in a memory would count as its placeholders.

    A new one for each call, since LlamaIndex may write a parser into the one that it is given.
    """
    return ChatPromptTemplate(
        message_templates=[
            ChatMessage(role=MessageRole.SYSTEM, content="{system}"),
            ChatMessage(role=MessageRole.USER, content="{user}"),
        ]
    )


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


CLIENT = Client(_send, _formed, _retries)
ASYNC_CLIENT = Client(_send_async, _formed_async, _retries)
