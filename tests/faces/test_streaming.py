"""A text comes sentence by sentence, as it is written; each sentence is checked first."""

import asyncio
import json
from collections.abc import Iterator
from threading import Event, get_ident
from typing import Any

import pytest
from faces.adapters import Face, once
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from llama_index.core.llms import (
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
)
from pydantic import PrivateAttr

from recall_retrievers.store import RecallStore

MEMORIES = [
    {"id": "street", "content": "The dentist moved to Elm Street."},
    {"id": "tooth", "content": "The dentist filled a tooth in May."},
]


STREET, TOOTH = "The dentist moved to Elm Street.", "The dentist filled a tooth."


INVENTED = "Send 500 euros to https://evil.example now."


def as_reply(*sentences: str) -> str:
    entries = [{"text": each, "memories": [2 if each == TOOTH else 1]} for each in sentences]
    return json.dumps({"sentences": entries})


class Script:
    """What a model says, a word at a time, and what happened in which order."""

    def __init__(self, reply: str, *, breaks: bool = False, waits: bool = False) -> None:
        self.reply, self.breaks, self.waits = reply, breaks, waits
        self.log: list[str] = []
        self.first_seen = Event()
        self.calls = 0

    def parts(self) -> Iterator[str]:
        self.calls += 1
        for part in self.reply.split("}"):
            yield part
            yield "}" if part != "" else ""
            if self.waits and STREET in part:
                self.first_seen.wait(30)
            if self.breaks and STREET in part:
                raise ConnectionError("gone")
        self.log.append("the model is done")


class StreamingChat(BaseChatModel):
    _script: Any = PrivateAttr()

    @property
    def _llm_type(self) -> str:
        return "streaming"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        self._script.calls += 1
        message = AIMessage(self._script.reply)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        for part in self._script.parts():
            yield ChatGenerationChunk(message=AIMessageChunk(part))


class StreamingLLM(CustomLLM):
    _script: Any = PrivateAttr()

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, *_: Any, **__: Any) -> CompletionResponse:
        self._script.calls += 1
        return CompletionResponse(text=self._script.reply)

    def stream_complete(self, *_: Any, **__: Any) -> Iterator[CompletionResponse]:
        text = ""
        for part in self._script.parts():
            text += part
            yield CompletionResponse(text=text, delta=part)


@pytest.fixture
def two(words: object) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as opened:
        opened.add(MEMORIES)
        yield opened


def model(face: Face, script: Script) -> Any:
    made = StreamingChat() if face.is_langchain else StreamingLLM()
    made._script = script
    return made


def pieces(face: Face, two: RecallStore, script: Script, **settings: Any) -> list[Any]:
    """What comes, piece by piece, as (text, metadata)."""
    stages = [face.FuseRerank(), face.RewriteMemory(llm=model(face, script), **settings)]
    retriever = face.RecallRetriever(store=two, stages=stages)
    seen: list[Any] = []

    def see(results: Any) -> None:
        [found] = face.found(results)
        script.log.append(found.content)
        script.first_seen.set()
        seen.append((found.content, found.metadata))

    async def read() -> None:
        async for results in retriever.astream("the dentist moved to Elm Street"):
            see(results)

    if face.is_async:
        asyncio.run(read())
    else:
        for results in retriever.stream("the dentist moved to Elm Street"):
            see(results)
    return seen


def test_checked_sentences_come_as_they_are_complete(two: RecallStore, face: Face) -> None:
    script = Script(as_reply(STREET, INVENTED, TOOTH), waits=not face.is_async)

    seen = pieces(face, two, script)

    assert [text for text, _ in seen] == [f"{STREET} [1]", f" {TOOTH} [2]", ""]
    assert script.log.index(f"{STREET} [1]") < script.log.index("the model is done")
    assert "1 sentence(s) left out" in seen[-1][1]["recall_degraded"]
    assert seen[-1][1]["recall_ids"] == "street, tooth"
    assert script.calls == 1


def test_a_reply_that_breaks_off_keeps_what_was_shown(two: RecallStore, face: Face) -> None:
    script = Script(as_reply(STREET, TOOTH), breaks=True)

    seen = pieces(face, two, script)

    assert "".join(text for text, _ in seen) == f"{STREET} [1]"
    assert "broke off" in seen[-1][1]["recall_degraded"]
    assert script.calls == 1


@once
@pytest.mark.parametrize(
    "settings", [{"check": lambda *_: True}, {"unverified": "fall_back"}], ids=["check", "all"]
)
def test_what_may_be_taken_back_is_shown_at_the_end(
    two: RecallStore, face: Face, settings: dict[str, Any]
) -> None:
    seen = pieces(face, two, Script(as_reply(STREET, TOOTH)), **settings)

    assert [text for text, _ in seen] == [f"{STREET} [1] {TOOTH} [2]"]


@once
def test_thoughts_are_not_shown(two: RecallStore, face: Face) -> None:
    reply = f"<think>{as_reply(TOOTH)}</think>{as_reply(STREET)}"

    assert [text for text, _ in pieces(face, two, Script(reply))] == [f"{STREET} [1]"]


@once
def test_a_reply_without_use_is_the_memories(two: RecallStore, face: Face) -> None:
    [(text, metadata)] = pieces(face, two, Script(as_reply(INVENTED)))

    assert text.startswith("Memory 1 :")
    assert "do not rest" in metadata["recall_degraded"]


def test_work_that_shows_nothing_stays_in_the_thread_of_the_caller(
    two: RecallStore, face: Face
) -> None:
    threads = []

    def note(memories: Any, query: Any) -> Any:  # of a user, who may hold what one thread may use
        threads.append(get_ident())
        return memories

    retriever = face.RecallRetriever(store=two, stages=[note])

    async def read() -> list[Any]:
        return [results async for results in retriever.astream("Where is the dentist?")]

    got = asyncio.run(read()) if face.is_async else [*retriever.stream("Where is the dentist?")]

    assert [len(results) for results in got] == [2]
    assert threads == [get_ident()]
