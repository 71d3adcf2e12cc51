"""A form given apart from the prompt, and a text that comes sentence by sentence, each checked."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, get_ident
from typing import Any

import pytest
from faces.adapters import Face, Found, ScriptedChat, once
from faces.form_models import FormChat, FormLLM
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.types import PydanticProgramMode
from pydantic import PrivateAttr
from tables import table

from recall_retrievers.llm.fencing import quoted
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"
GIVEN = [
    Found(name, content, score, {})
    for name, content, score in [
        ("a", "The dentist moved to Elm Street.", 0.9),
        ("b", "A filling {user} the dentist.", 0.6),
        ("c", "Green tea in the morning.", 0.5),
    ]
]
SCORES = {"scores": [{"memory": n, "score": n / 10} for n in (1, 2, 3)]}
PLAIN = json.dumps(SCORES)


def form_model(face: Face, filled: object, plain: object = PLAIN) -> Any:
    return (FormChat if face.is_langchain else FormLLM)(replies=[plain], filled=filled)


def ranked(face: Face, model: Any, **settings: Any) -> list[Found]:
    stage = face.SemanticRank(llm=model, semantic_share=1, **settings)
    return face.refine(stage, GIVEN, "the dentist")


def test_a_model_that_takes_a_form_is_given_it_and_asked_once(face: Face) -> None:
    model = form_model(face, SCORES, plain=AssertionError("asked plainly"))

    found = ranked(face, model)

    assert [(each.id, each.score) for each in found] == [("c", 0.3), ("b", 0.2), ("a", 0.1)]
    assert len(model.prompts) == 1
    assert "recall_degraded" not in found[0].metadata
    # Braces reach the model as they are, whatever the framework makes templates of.
    assert quoted(2, face.Memory(content="A filling {user} the dentist.")) in model.prompts[0]
    assert '{"scores": [[number, score]' in model.prompts[0]
    [form] = model.forms
    assert set(form["properties"]) == {"scores"}
    pairs = form["properties"]["scores"]
    pair = pairs["items"]
    assert (pairs["maxItems"], pair["minItems"], pair["maxItems"]) == (50, 2, 2)
    assert pair["items"] == {"minimum": 0, "type": "number"}


FAILING: dict[str, Any] = {
    "an error": (ValueError("tools are not supported"), "ValueError: tools are not supported"),
    "another form": ({"ratings": []}, "for Scores"),
    "prose instead": ("I would rather not.", "lain text: 'I would rather not.'"),
    "nothing": ("", ""),
}


@table(("filled", "why"), FAILING.values(), ids=FAILING)
def test_where_the_form_fails_plain_json_is_asked_for_and_the_trace_says_so(
    face: Face, filled: Any, why: str
) -> None:
    model = form_model(face, filled)

    found = ranked(face, model)

    assert [each.id for each in found] == ["c", "b", "a"]
    assert len(model.prompts) == 2
    told = found[0].metadata["recall_degraded"]
    assert told.startswith("SemanticRank: asked again for plain JSON, as the form failed (")
    if face.is_langchain and isinstance(filled, str):
        why = "it said nothing"  # LangChain reads a tool call or nothing
    assert why in told
    assert "SemanticRank: 1 call (2 attempts), " in found[0].metadata["recall_usage"]


def test_a_form_that_is_refused_is_not_sent_again_and_said_once(face: Face) -> None:
    no = NotImplementedError("no tools")
    model, broken = (form_model(face, no, said) for said in (PLAIN, ValueError))

    first, again = (ranked(face, model) for _ in range(2))
    wished = ranked(face, model, structured=True)
    for _ in range(2):
        ranked(face, broken)

    assert "as the form failed" in first[0].metadata["recall_degraded"]
    assert "recall_degraded" not in again[0].metadata
    assert [each.id for each in again] == [each.id for each in wished] == ["c", "b", "a"]
    assert len(model.prompts) == 2 + 1 + 2
    assert len(broken.prompts) == 2 * 2  # plain JSON failed, too: the form is not to blame


class NoSystemChat(ScriptedChat):
    """A LangChain model without a system role."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        if isinstance(messages[0], SystemMessage):
            raise TypeError("System role not supported")
        return super()._generate(messages, *args, **kwargs)


def without_system(prompt: str) -> str:
    if prompt.startswith("system:"):
        raise ValueError("System role not supported")
    return PLAIN


def test_a_model_without_a_system_role_gets_the_instructions_from_the_user(face: Face) -> None:
    model = NoSystemChat(replies=[PLAIN]) if face.is_langchain else face.model(without_system)

    first, again = (ranked(face, model) for _ in range(2))

    for found in (first, again):
        assert [each.id for each in found] == ["c", "b", "a"]
        assert "recall_degraded" not in found[0].metadata
    assert "1 call (2 attempts)" in first[0].metadata["recall_usage"]
    assert "1 call, " in again[0].metadata["recall_usage"]
    assert "You judge how well memories answer" in model.prompts[-1]


def test_a_model_that_takes_no_form_is_asked_plainly(face: Face) -> None:
    unasked, asked = face.model(PLAIN), face.model(PLAIN)

    found = ranked(face, unasked)
    wished = ranked(face, asked, structured=True)

    assert len(unasked.prompts) == len(asked.prompts) == 1
    assert "recall_degraded" not in found[0].metadata
    assert wished[0].metadata["recall_degraded"] == (
        "SemanticRank: the model takes no form; it was asked for plain JSON"
    )
    assert [each.id for each in wished] == ["c", "b", "a"]


@once
def test_a_form_may_be_switched_off(face: Face) -> None:
    model = form_model(face, ValueError("never asked so"))

    found = ranked(face, model, structured=False)

    assert (model.forms, len(model.prompts)) == ([], 1)
    assert "recall_degraded" not in found[0].metadata


@once
def test_the_stages_that_read_the_question_have_forms_too(store: RecallStore, face: Face) -> None:
    def fill(prompt: str) -> Any:
        if "You decide whether a message" in prompt:
            return {"search": True}
        if "You write the query" in prompt:
            return {"query": "my sister's dentist"}
        return {"words": "during the lockdown", "start": "2024-02-01", "end": "2024-02-01"}

    model = form_model(face, fill, plain=AssertionError("asked plainly"))
    stages = [face.BuildQuery(llm=model), face.ExtractTime(llm=model), face.FuseRerank()]
    gate = face.SearchGate(llm=model, undecided=(-9, 99), threshold=99)
    retriever = face.RecallRetriever(store=store, stages=stages, gate=gate, timestamp=NOW, k=1)

    [found] = face.ask(retriever, "The dentist during the lockdown?")
    built = face.ask(retriever, "", messages=[{"role": "user", "content": "My tooth hurts."}])

    assert found.metadata["recall_time_words"] == "during the lockdown"
    assert built
    assert len(model.forms) == len(model.prompts) == 4
    assert "recall_degraded" not in found.metadata | built[0].metadata


def test_what_is_wrapped_around_a_langchain_model_is_kept_and_asked_plainly() -> None:
    face = Face("langchain_recall", is_async=False)
    inner = FormChat(replies=[PLAIN], filled=ValueError("never asked so"))
    fake = FakeListChatModel(responses=[PLAIN])

    for model in (inner.bind(stop=["x"]), inner.with_retry(), inner.with_fallbacks([fake]), fake):
        found = ranked(face, model)
        assert [each.id for each in found] == ["c", "b", "a"]
        assert "recall_degraded" not in found[0].metadata
    assert inner.forms == []


def test_a_llamaindex_model_that_is_set_to_text_is_given_no_form() -> None:
    face = Face("llamaindex_recall", is_async=False)
    model = FormLLM([PLAIN], SCORES, pydantic_program_mode=PydanticProgramMode.LLM)

    found = ranked(face, model)

    assert model.forms == []
    assert [each.id for each in found] == ["c", "b", "a"]


HANGS = """
import time
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_recall import SemanticRank

class Hanging(FakeListChatModel):
    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, *args, **kwargs):
        time.sleep(60)

stage = SemanticRank(llm=Hanging(responses=[]), timeout_s=0.5)
ranked = stage.compress_documents([Document("Tea."), Document("Jam.")], "the dentist")
print(ranked[0].metadata["recall_degraded"])
"""


def test_a_model_that_hangs_over_a_form_does_not_keep_the_process_alive() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert done.stdout == "SemanticRank: TimeoutError: no answer within 0.5 s\n", done.stderr


MEMORIES = [
    {"id": "street", "content": "The dentist moved to Elm Street."},
    {"id": "tooth", "content": "The dentist filled a tooth in May."},
]
STREET, TOOTH = "The dentist moved to Elm Street.", "The dentist filled a tooth."
INVENTED = "Send 500 euros to https://evil.example now."


def told(*sentences: str) -> str:
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
    script = Script(told(STREET, INVENTED, TOOTH), waits=not face.is_async)

    seen = pieces(face, two, script)

    assert [text for text, _ in seen] == [f"{STREET} [1]", f" {TOOTH} [2]", ""]
    assert script.log.index(f"{STREET} [1]") < script.log.index("the model is done")
    assert "1 sentence(s) left out" in seen[-1][1]["recall_degraded"]
    assert seen[-1][1]["recall_ids"] == "street, tooth"
    assert script.calls == 1


def test_a_reply_that_breaks_off_keeps_what_was_shown(two: RecallStore, face: Face) -> None:
    script = Script(told(STREET, TOOTH), breaks=True)

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
    seen = pieces(face, two, Script(told(STREET, TOOTH)), **settings)

    assert [text for text, _ in seen] == [f"{STREET} [1] {TOOTH} [2]"]


@once
def test_thoughts_are_not_shown(two: RecallStore, face: Face) -> None:
    reply = f"<think>{told(TOOTH)}</think>{told(STREET)}"

    assert [text for text, _ in pieces(face, two, Script(reply))] == [f"{STREET} [1]"]


@once
def test_a_reply_without_use_is_the_memories(two: RecallStore, face: Face) -> None:
    [(text, metadata)] = pieces(face, two, Script(told(INVENTED)))

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
