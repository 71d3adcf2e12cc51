"""Models that answer whatever they are asked, at once or far too late; and what to ask them of."""

import asyncio
import json
import time
from typing import Any

from faces.adapters import Face, Found, ScriptedChat, ScriptedLLM
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole

GIVEN = [
    Found(str(n), f"The dentist said {n}.", score, {})
    for n, score in enumerate([0.9, 0.8, 0.6, 0.4, 0.2])
]


def all_judged(prompt: str) -> str:
    """The last memory of a window is the best: a ranking, a text and points in one reply."""
    numbers = range(1, prompt.count("<memory ") + 1)
    contents = [each.split("\n")[1] for each in prompt.split("<memory ")[1:]]
    told = [{"text": text, "memories": [n]} for n, text in zip(numbers, contents, strict=True)]
    scores = [{"memory": n, "score": n / 10} for n in numbers]
    return json.dumps({"scores": scores, "ranking": scores, "sentences": told, "points": told})


class SlowChat(ScriptedChat):
    """A LangChain model that takes its time, but for prompts that hold ``quick``."""

    seconds: float = 30
    quick: str = "never"
    under_way: list[str] = []  # noqa: RUF012 - pydantic copies it
    waited_out: list[str] = []  # noqa: RUF012 - the same

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        prompt = str(messages[-1].content)
        if self.quick not in prompt:
            self.under_way.append("begun")
            await asyncio.sleep(self.seconds)
            self.waited_out.append("ended")
        return ChatResult(generations=[ChatGeneration(message=AIMessage(all_judged(prompt)))])

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        prompt = str(messages[-1].content)
        if self.quick not in prompt:
            time.sleep(self.seconds)
            self.waited_out.append("ended")
        return ChatResult(generations=[ChatGeneration(message=AIMessage(all_judged(prompt)))])


class SlowLLM(ScriptedLLM):
    """The same for LlamaIndex."""

    seconds: float = 30
    quick: str = "never"
    under_way: list[str] = []  # noqa: RUF012 - pydantic copies it
    waited_out: list[str] = []  # noqa: RUF012 - the same

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        prompt = str(messages[-1].content)
        if self.quick not in prompt:
            self.under_way.append("begun")
            await asyncio.sleep(self.seconds)
            self.waited_out.append("ended")
        return _response(all_judged(prompt))

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        prompt = str(messages[-1].content)
        if self.quick not in prompt:
            time.sleep(self.seconds)
            self.waited_out.append("ended")
        return _response(all_judged(prompt))


def _response(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))


def slow_model(face: Face, **settings: Any) -> Any:
    return (SlowChat if face.is_langchain else SlowLLM)(replies=[], **settings)
