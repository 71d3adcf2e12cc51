"""A chat model that answers what our prompts, and LangChain's, ask for, after the same time."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from recall_retrievers.text.tokens import token_counter
from recall_retrievers.text.words import words

_OURS = re.compile(r'<memory number="(\d+)"[^>]*>\n(.*?)\n</memory>', re.DOTALL)
_STOCK = re.compile(r"Document ID: (\d+)\n```(.*?)```", re.DOTALL)
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)
_SENTENCES = 5  # of a text, one for each of the first memories


class ScriptedModel(BaseChatModel):
    """Ranks what it is shown in the order given, and retells the first of it, sentence by sentence.

    Asked to leave out what does not bear on the question, it names what shares a word with it.

    Args:
        latency_s: Seconds that each call takes.
    """

    latency_s: float = 0.0
    prompts: list[str] = Field(default_factory=list, exclude=True)
    _calls: int = PrivateAttr(default=0)
    _tokens_in: int = PrivateAttr(default=0)
    _tokens_out: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def reset(self) -> None:
        """Count from nothing again."""
        self._calls = self._tokens_in = self._tokens_out = 0
        self.prompts.clear()

    @property
    def counted(self) -> tuple[int, int, int]:
        """How many calls there were, and the tokens in and out of all."""
        return self._calls, self._tokens_in, self._tokens_out

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The same model, which answers with a call of the first of these tools."""
        kwargs.pop("tool_choice", None)
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the framework's
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        time.sleep(self.latency_s)
        return self._answered(messages, kwargs.get("tools"))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the framework's
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.sleep(self.latency_s)
        return self._answered(messages, kwargs.get("tools"))

    def _answered(self, messages: list[BaseMessage], tools: list[Any] | None) -> ChatResult:
        prompt = "\n\n".join(str(message.content) for message in messages)
        answer = _answer(prompt)
        said = answer if isinstance(answer, str) else json.dumps(answer)
        count = token_counter()
        self._calls += 1
        self.prompts.append(prompt)
        self._tokens_in += count(prompt)
        self._tokens_out += count(said)
        message = AIMessage(said)
        if tools and isinstance(answer, dict):
            name = tools[0]["function"]["name"]
            message = AIMessage("", tool_calls=[{"name": name, "args": answer, "id": "1"}])
        return ChatResult(generations=[ChatGeneration(message=message)])


def _answer(prompt: str) -> dict[str, object] | str:
    """What a prompt asks for: the keys of ours that it names, LangChain's ids, or a plain text."""
    if shown := _OURS.findall(prompt):
        told = [(int(number), first_sentence(text)) for number, text in shown]
        question = _QUESTION.search(prompt)
        asked = {*words(question[1] if question else "")}
        bearing = [int(number) for number, text in shown if asked.intersection(words(text))]
        every = {
            "scores": [
                [number, round(1 - place / len(bearing), 1)] for place, number in enumerate(bearing)
            ],
            "sentences": [
                {"text": text, "memories": [number]} for number, text in told[:_SENTENCES]
            ],
        }
        return {key: value for key, value in every.items() if f'"{key}"' in prompt}
    documents = _STOCK.findall(prompt)
    if prompt.rpartition("Sort the Documents")[1]:
        return {"ranked_document_ids": [int(number) for number, _ in documents]}
    return " ".join(f"{first_sentence(text)} [{number}]" for number, text in documents[:_SENTENCES])


def first_sentence(text: str) -> str:
    """The first sentence of a memory, without the speaker's name."""
    said = text.partition(": ")[2] or text
    return re.split(r"(?<=[.!?])\s", said, maxsplit=1)[0]
