"""Models that answer whatever they are asked, at once or far too late; and what to ask them of."""

import asyncio
import json
import time
from typing import Any

from faces.adapters import Face, Found, ScriptedChat, ScriptedLLM
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole
from pydantic import BaseModel

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


class _Slow(BaseModel):
    """Takes its time, but for prompts that hold ``quick``."""

    seconds: float = 30
    quick: str = "never"
    under_way: list[str] = []
    waited_out: list[str] = []

    def judged(self, messages: Any) -> str:
        prompt = str(messages[-1].content)
        if self.quick not in prompt:
            time.sleep(self.seconds)
            self.waited_out.append("ended")
        return all_judged(prompt)

    async def ajudged(self, messages: Any) -> str:
        prompt = str(messages[-1].content)
        if self.quick not in prompt:
            self.under_way.append("begun")
            await asyncio.sleep(self.seconds)
            self.waited_out.append("ended")
        return all_judged(prompt)


class SlowChat(_Slow, ScriptedChat):
    """A LangChain model that takes its time."""

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        message = AIMessage(await self.ajudged(messages))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        message = AIMessage(self.judged(messages))
        return ChatResult(generations=[ChatGeneration(message=message)])


class SlowLLM(_Slow, ScriptedLLM):
    """The same for LlamaIndex."""

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return _response(await self.ajudged(messages))

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return _response(self.judged(messages))


def _response(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))


def slow_model(face: Face, **settings: Any) -> Any:
    return (SlowChat if face.is_langchain else SlowLLM)(replies=[], **settings)
