"""LlamaIndex's models, as a stage asks them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, MessageRole
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.types import PydanticProgramMode
from pydantic import BaseModel

from recall_retrievers.core.driver import each_of, settled
from recall_retrievers.core.requests import Prompt
from recall_retrievers.llm.client import Client, Send
from recall_retrievers.llm.model_output import Spent, as_reply, with_marks


def client(*, asynchronous: bool) -> Client:
    """Calls models."""

    async def plain(prompt: Prompt, spent: Spent) -> str:
        chat = _model(prompt).achat if asynchronous else _model(prompt).chat
        response = await settled(chat(_messages(prompt)))
        spent.add(response.raw)
        if spent.tokens is None:
            spent.add(response.additional_kwargs)
        return _text(response.message, prompt)

    def formed(prompt: Prompt) -> Send | None:
        model, form = _taking_form(prompt)
        return None if form is None else partial(fill_in, model, form, prompt)

    async def fill_in(
        model: LLM, form: type[BaseModel], prompt: Prompt, _spent: Spent
    ) -> str:  # LlamaIndex keeps the model's counts to itself here
        material = {"system": prompt.system, "user": prompt.user}
        predict = model.astructured_predict if asynchronous else model.structured_predict
        return as_reply(await settled(predict(form, _template(), **material)))

    async def streamed(prompt: Prompt, spent: Spent) -> AsyncIterator[str]:
        chat = _model(prompt).astream_chat if asynchronous else _model(prompt).stream_chat
        raw, before = None, ""
        async for response in each_of(await settled(chat(_messages(prompt)))):
            raw = response.raw
            yield _part(response, before)
            before = response.message.content or ""
        spent.add(raw)

    return Client(plain, formed, _retries, streamed)


def _taking_form(prompt: Prompt) -> tuple[LLM, type[BaseModel] | None]:
    """The model, and the schema if it calls functions; else LlamaIndex reads JSON itself."""
    model = _model(prompt)
    by_text = model.pydantic_program_mode is PydanticProgramMode.LLM
    takes = model.metadata.is_function_calling_model and not by_text
    return model, prompt.form if takes else None


def _retries(prompt: Prompt) -> bool:
    return getattr(prompt.llm, "max_retries", 0) != 0


def _template() -> ChatPromptTemplate:
    """A template with placeholders alone, as braces in a memory would count as placeholders.

    A new one for each call, since LlamaIndex may write a parser into it.
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


def _part(response: ChatResponse, before: str) -> str:
    """What a part of a reply adds; some models tell the whole so far, and no more."""
    if response.delta is not None:
        return response.delta
    return (response.message.content or "").removeprefix(before)


def _text(message: ChatMessage, prompt: Prompt) -> str:
    """The text of a reply, with nothing between its blocks; of a tool call, its arguments."""
    parts: list[tuple[str, list[str]]] = []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            parts.append((block.text, []))
            continue
        cited = getattr(block, "cited_content", None)  # of a CitationBlock, which is new
        if parts and isinstance(cited, TextBlock):
            parts[-1][1].append(cited.text)
    text = with_marks(parts, prompt.user)
    if not text.strip():
        for block in message.blocks:
            arguments = getattr(block, "tool_kwargs", None)  # of a ToolCallBlock; 0.14.0 has none
            if arguments is not None:
                return as_reply(arguments)
    return text
