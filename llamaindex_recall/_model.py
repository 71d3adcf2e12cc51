"""What LlamaIndex has, its models and postprocessors, as the two functions that answer a stage."""

from __future__ import annotations

import json

from llama_index.core.llms import LLM, ChatMessage, MessageRole
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.types import PydanticProgramMode

from llamaindex_recall._stock import refined, refined_async
from recall_stages.core.requests import Answered, Asked, refines
from recall_stages.core.stage import Prompt
from recall_stages.llm.client import Client, answers, answers_async
from recall_stages.llm.reply_schemas import written


def ask(asked: Asked) -> Answered:
    """Ask the model of each prompt, or a postprocessor, several at once."""
    if refines(asked):
        return refined(asked)
    return answers(Client(_send, _takes_form, _retries), asked)


async def ask_async(asked: Asked) -> Answered:
    """The same without blocking the event loop."""
    if refines(asked):
        return await refined_async(asked)
    return await answers_async(Client(_send_async, _takes_form, _retries), asked)


def _send(prompt: Prompt, in_form: bool) -> str:
    model = _model(prompt)
    if in_form and prompt.form is not None:
        told = {"system": prompt.system, "user": prompt.user}
        return written(model.structured_predict(prompt.form, _template(), **told))
    return _text(model.chat(_messages(prompt)).message)


async def _send_async(prompt: Prompt, in_form: bool) -> str:
    model = _model(prompt)
    if in_form and prompt.form is not None:
        told = {"system": prompt.system, "user": prompt.user}
        return written(await model.astructured_predict(prompt.form, _template(), **told))
    return _text((await model.achat(_messages(prompt))).message)


def _takes_form(prompt: Prompt) -> bool:
    """Whether the model calls functions; for others LlamaIndex reads JSON out of text, as we do."""
    model = _model(prompt)
    by_text = model.pydantic_program_mode is PydanticProgramMode.LLM
    return model.metadata.is_function_calling_model and not by_text


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
