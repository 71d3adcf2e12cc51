"""A model is asked: when again, with which form, what it costs, and what a failure loses."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import Enum
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faces.adapters import FACES, Face, Found, ScriptedChat, ScriptedLLM, node, once
from faces.form_models import FormChat, FormLLM
from faces.slow_models import GIVEN, all_judged, slow_model
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    MessageRole,
)
from llama_index.core.types import PydanticProgramMode
from pydantic import BaseModel
from tables import table
from tenacity import wait_fixed

from recall_retrievers.core.requests import Prompt, Reply
from recall_retrievers.core.transient_errors import is_transient, retry_after
from recall_retrievers.core.world import World, completed
from recall_retrievers.llm import client as answering
from recall_retrievers.llm.client import Client, ask_models
from recall_retrievers.llm.fencing import quoted
from recall_retrievers.llm.model_output import Spent
from recall_retrievers.store import RecallStore


# Errors shaped as those of model clients, which are not installed here.
def error(name: str, *bases: type[Exception], **attributes: Any) -> Exception:
    """An error with this name and these attributes."""
    made = type(name, bases or (Exception,), {})("slow down")
    for attribute, value in attributes.items():
        setattr(made, attribute, value)
    return made


def status(number: int, **headers: str) -> Exception:
    response = SimpleNamespace(status_code=number, headers=headers)
    return error("APIStatusError", status_code=number, response=response)


def wrapped(cause: Exception) -> Exception:
    outer = RuntimeError("the framework failed")
    outer.__cause__ = cause
    return outer


class Scripted:
    """A model that says, or raises, one thing after the other, and keeps when it was asked."""

    def __init__(self, *says: object) -> None:
        self.says = list(says)
        self.asked: list[float] = []

    def __call__(self, prompt: Prompt) -> str:
        self.asked.append(time.monotonic())
        said = self.says[min(len(self.asked), len(self.says)) - 1]
        if isinstance(said, Exception):
            raise said
        return str(said)


def sync(send: Callable[[Prompt], str], prompts: list[Prompt], retries: bool) -> list[Reply]:
    return completed(ask_models(World(), client(send, retries=retries), prompts))


def asynchronous(
    send: Callable[[Prompt], str], prompts: list[Prompt], retries: bool
) -> list[Reply]:
    world = World(asynchronous=True)
    return asyncio.run(ask_models(world, client(send, retries=retries), prompts))


async def never(*_: object) -> AsyncIterator[str]:
    raise AssertionError("nobody wants the reply in parts")
    yield ""


def client(
    plain: Callable[[Prompt], str],
    formed: Callable[[Prompt], str] | None = None,
    *,
    retries: bool = False,
) -> Client:
    async def send(function: Callable[[Prompt], str], prompt: Prompt, _spent: Spent) -> str:
        return function(prompt)

    return Client(
        lambda prompt: partial(send, plain, prompt),
        lambda prompt: None if formed is None else partial(send, formed, prompt),
        lambda _: retries,
        never,
    )


@pytest.fixture(params=[sync, asynchronous])
def ask(request: pytest.FixtureRequest) -> Callable[..., list[Reply]]:
    def asked(model: Scripted, *, retries: bool = False, **prompt: Any) -> list[Reply]:
        return request.param(model, [Prompt("s", "u", **prompt)], retries)

    return asked


def test_a_call_that_is_turned_away_is_made_again(ask: Callable[..., list[Reply]]) -> None:
    model = Scripted(status(429), ConnectionResetError("by peer"), "said")

    assert ask(model) == [Reply("said", attempts=3)]


def test_three_attempts_are_enough_unless_set(ask: Callable[..., list[Reply]]) -> None:
    turned_away = status(503)

    assert ask(Scripted(turned_away)) == [Reply(turned_away, attempts=3)]
    assert ask(Scripted(turned_away), attempts=5) == [Reply(turned_away, attempts=5)]
    assert ask(Scripted(turned_away), attempts=1) == [Reply(turned_away, attempts=1)]


def test_other_errors_are_not_tried_again(ask: Callable[..., list[Reply]]) -> None:
    bad = ValueError("bad request")

    assert ask(Scripted(bad)) == [Reply(bad, attempts=1)]


def test_a_server_is_asked_again_when_it_says(
    ask: Callable[..., list[Reply]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "_BACK_OFF", wait_fixed(50))
    model = Scripted(status(429, **{"retry-after": "0.05"}), "said")

    [reply] = ask(model)

    assert (reply.outcome, reply.attempts) == ("said", 2)
    assert model.asked[1] - model.asked[0] >= 0.05


@pytest.mark.parametrize(
    ("pause", "prompt"), [("3600", {}), ("5", {"timeout_s": 1.0})], ids=["an hour", "too late"]
)
def test_a_pause_that_is_too_long_is_not_waited_for(
    ask: Callable[..., list[Reply]], pause: str, prompt: dict[str, Any]
) -> None:
    turned_away = status(429, **{"retry-after": pause})

    assert ask(Scripted(turned_away), **prompt) == [Reply(turned_away, attempts=1)]


def test_each_of_several_prompts_is_tried_on_its_own() -> None:
    bad = ValueError("no")

    def send(prompt: Prompt) -> str:
        seen.append(prompt.user)
        if prompt.user == "bad":
            raise bad
        if seen.count(prompt.user) == 1:
            raise ConnectionResetError
        return prompt.user

    seen: list[str] = []
    prompts = [Prompt("s", user) for user in ("one", "bad", "two")]

    assert sync(send, prompts, retries=False) == [Reply("one", 2), Reply(bad, 1), Reply("two", 2)]


async def test_cancelling_during_a_pause_leaves_no_task() -> None:
    turned_away = status(429, **{"retry-after": "30"})
    asked = asyncio.Barrier(3)

    async def send(prompt: Prompt, spent: Spent) -> str:
        await asked.wait()
        raise turned_away

    prompts = [Prompt("s", "one"), Prompt("s", "two")]
    models = Client(lambda prompt: partial(send, prompt), lambda _: None, lambda _: False, never)
    task = asyncio.create_task(ask_models(World(asynchronous=True), models, prompts))
    async with asyncio.timeout(20):
        await asked.wait()
    await asyncio.sleep(0)  # both have been turned away
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("broken", ["busy for a while", "busy"])
def test_a_form_that_is_turned_away_is_asked_for_again_and_not_without_a_schema(
    broken: str,
) -> None:
    def send(prompt: Prompt, in_form: bool) -> str:
        asked.append(in_form)
        if broken == "busy" or (in_form and len(asked) < 3):
            raise status(429)
        return "said"

    asked: list[bool] = []
    models = client(partial(send, in_form=False), partial(send, in_form=True))

    [reply] = completed(ask_models(World(), models, [Prompt("s", "u", form=BaseModel)]))

    assert (reply.outcome == "said") is (broken != "busy")
    assert asked == [True, True, True]
    assert reply.note == ""


@pytest.mark.parametrize(
    ("failed", "sent"),
    [("xxx", 3), ("xx.xx.xxx", 9), ("x.x.x.x.", 9), (["xxx", "xxx", "x.x", "xx"], 12)],
)
def test_a_form_that_fails_three_times_in_a_row_is_not_sent_again(
    failed: Sequence[str], sent: int
) -> None:
    """Each question is the outcomes of its prompts; what fails in one question counts once."""

    class Model: ...

    def filled(prompt: Prompt) -> str:
        asked.append(prompt.user)
        return "" if prompt.user == "x" else "said"

    asked: list[str] = []
    model, models = Model(), client(lambda _: "said", filled)
    for question in (*failed, "x"):
        prompts = [Prompt("s", each, llm=model, form=BaseModel) for each in question]
        completed(ask_models(World(), models, prompts))

    assert len(asked) == sent


PASSING = {
    "OpenAI, Anthropic: too many requests": status(429),
    "unavailable": status(503),
    "Anthropic: overloaded": status(529),
    "httpx: a status of its response alone": error(
        "HTTPStatusError", response=SimpleNamespace(status_code=429)
    ),
    "Google: a code": error("ResourceExhausted", code=HTTPStatus.TOO_MANY_REQUESTS),
    "AWS: a response that is a dict": error(
        "ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 429}}
    ),
    "AWS: a name": error("ThrottlingException"),
    "a name, of a subclass": error("MyError", type("RateLimitError", (Exception,), {})),
    "OpenAI: connection": error("APIConnectionError"),
    "httpx: read": error("ReadError", type("NetworkError", (Exception,), {})),
    "httpx: protocol": error("RemoteProtocolError"),
    "aiohttp: disconnected": error(
        "ServerDisconnectedError", type("ClientConnectionError", (Exception,), {})
    ),
    "requests: connection": error("ConnectionError", OSError),
    "Python: reset": ConnectionResetError("by peer"),
    "wrapped by a framework": wrapped(status(429)),
}


LASTING = {
    "bad request": status(400),
    "unauthorized": status(401),
    "server error": status(500),
    "no money": error("RateLimitError", status_code=429, code="insufficient_quota"),
    "OpenAI: timeout": error("APITimeoutError", type("APIConnectionError", (Exception,), {})),
    "Python: timeout": TimeoutError("too slow"),
    "httpx: connect timeout": error("ConnectTimeout", type("NetworkError", (Exception,), {})),
    "a value": ValueError("no such model"),
    "a bad request, though a connection was lost before": None,
}


_late = status(400)


_late.__cause__ = ConnectionResetError()


LASTING["a bad request, though a connection was lost before"] = _late


@table("raised", PASSING.values(), ids=PASSING)
def test_what_passes(raised: Exception) -> None:
    assert is_transient(raised)


@table("raised", LASTING.values(), ids=LASTING)
def test_what_does_not(raised: Exception) -> None:
    assert not is_transient(raised)


def test_when_the_server_wants_to_be_asked_again() -> None:
    in_ten = format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)

    assert retry_after(status(429, **{"Retry-After": "7"})) == 7
    assert retry_after(wrapped(status(429, **{"retry-after": "0.5"}))) == 0.5
    assert retry_after(status(429, **{"retry-after": in_ten})) == pytest.approx(10, abs=2)
    assert retry_after(status(429, **{"retry-after": "-3"})) == 0
    zoneless = status(429, **{"retry-after": in_ten.replace("GMT", "-0000")})
    assert retry_after(zoneless) == pytest.approx(10, abs=2)
    unreadable = [status(429, **{"retry-after": said}) for said in ("soon", "nan", "")]
    for unknown in (status(429), *unreadable, ValueError()):
        assert retry_after(unknown) is None


NOW = "2024-03-08T12:00:00Z"


@once
@pytest.mark.parametrize("stage", ["SemanticRank", "RerankMemory"])
def test_a_prompt_that_fails_costs_itself_alone(face: Face, stage: str) -> None:
    def down_in_another_order(prompt: str) -> str:
        if '<memory number="1">\nThe dentist said 0.' not in prompt:
            raise ConnectionError("the model is down")
        return all_judged(prompt)

    made = getattr(face, stage)(llm=face.model(down_in_another_order), orders=2, semantic_share=1)
    found = face.refine(made, GIVEN, "the dentist")

    assert [each.id for each in found] == ["4", "3", "2", "1", "0"]
    assert found[0].metadata["recall_degraded"] == (
        f"{stage}: 1 of 2 prompts failed: ConnectionError: the model is down"
    )


def test_prompts_are_sent_at_the_same_time(face: Face) -> None:
    together = threading.Barrier(3, timeout=10)

    def reply(prompt: str) -> str:
        together.wait()  # passes only when all three have come
        return all_judged(prompt)

    if not face.is_langchain and face.is_async:
        return  # a CustomLLM has no async of its own; that of SlowLLM below is asked at once
    found = face.refine(face.SemanticRank(llm=face.model(reply), orders=3), GIVEN, "the dentist")

    assert "recall_degraded" not in found[0].metadata


class ToolCallingChat(ScriptedChat):
    """A LangChain model that answers with a tool call, after its reply if it has one."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        arguments = json.loads(all_judged(str(messages[-1].content)))
        call = {"name": "rank", "args": arguments, "id": "1"}
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(self.replies[0], tool_calls=[call]))]
        )


class ToolCallingLLM(ScriptedLLM):
    """The same for LlamaIndex."""

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        arguments = json.loads(all_judged(str(messages[-1].content)))
        block = ToolCallBlock(tool_name="rank", tool_kwargs=arguments)
        blocks = [TextBlock(text=self.replies[0]), block]
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks))


@table("text", ["", "I will rank these."])
def test_a_model_that_answers_with_a_tool_call_is_understood(face: Face, text: str) -> None:
    model = (ToolCallingChat if face.is_langchain else ToolCallingLLM)(replies=[text])

    stage = face.SemanticRank(llm=model, semantic_share=1)
    found = face.refine(stage, GIVEN, "the dentist")

    assert [each.id for each in found] == ["4", "3", "2", "1", "0"]
    assert "recall_degraded" not in found[0].metadata


def test_nodes_of_a_text_show_a_prompt_the_text_alone() -> None:
    from llama_index.core.schema import MetadataMode

    import llamaindex_recall

    [told] = llamaindex_recall.RewriteMemory().postprocess_nodes([node(GIVEN[0])])

    assert told.node.get_content(MetadataMode.LLM) == told.text
    assert told.score == 0.9


@once
def test_a_type_error_of_ours_reaches_the_user(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise TypeError("a bug of ours")

    monkeypatch.setattr("recall_retrievers.llm.judging.read_scores", broken)

    with pytest.raises(TypeError, match="a bug of ours"):
        face.refine(face.SemanticRank(llm=face.model(all_judged)), GIVEN, "the dentist")


@pytest.mark.parametrize("stage", ["SemanticRank", "RerankMemory", "RewriteMemory", "Reflect"])
def test_a_model_that_hangs_costs_the_timeout_and_no_memory(face: Face, stage: str) -> None:
    model = slow_model(face)
    made = getattr(face, stage)(llm=model, timeout_s=0.2)
    plain = face.refine(getattr(face, stage)(), GIVEN, "the dentist")

    found = face.refine(made, GIVEN, "the dentist")

    assert not model.waited_out
    assert [(each.content, each.score) for each in found] == [(e.content, e.score) for e in plain]
    assert found[0].metadata["recall_degraded"] == (
        f"{stage}: TimeoutError: no answer within 0.2 s"
    )


@once
def test_a_deadline_ends_the_waiting_and_what_is_ranked_by_then_is_returned(
    store: RecallStore, face: Face
) -> None:
    """The first stage has its answer; the second is cut short; the third is not asked at all."""
    model = slow_model(face, quick="<memory")  # in every prompt
    slow = slow_model(face)
    stages = [
        face.SemanticRank(llm=model),
        face.RerankMemory(llm=slow),
        face.RewriteMemory(llm=slow),
    ]
    retriever = face.RecallRetriever(store=store, stages=stages, timestamp=NOW, deadline_s=3)

    [told] = face.ask(retriever, "the dentist")

    assert not slow.waited_out
    rerank, rewrite = told.metadata["recall_degraded"].split("; ")
    assert rerank.startswith("RerankMemory: TimeoutError: no answer within")
    assert rewrite == "RewriteMemory: TimeoutError: the 3 s for the question are over"
    assert told.content.startswith("Memory 1 :")
    assert [each.split(":")[0] for each in told.metadata["recall_usage"].split("; ")] == [
        "SemanticRank",
        "RerankMemory",
    ]


TWO = [Found(name, f"Memory {name}.", 0.5, {}) for name in "ab"]


JUDGED = '{"scores": [{"memory": 1, "score": 0.1}, {"memory": 2, "score": 0.9}]}'


class RateLimitError(Exception):
    """As the clients of OpenAI and Anthropic raise it."""

    status_code = 429


def busy(times: int) -> Any:
    """Says nothing but that it is busy, so many times."""
    left = iter([RateLimitError("slow down")] * times)

    def reply(prompt: str) -> str:
        if error := next(left, None):
            raise error
        return JUDGED

    return reply


def test_a_model_that_tries_again_by_itself_is_asked_once(face: Face) -> None:
    class Patient(type(face.model())):  # type: ignore[misc]  # of either framework
        """A client with retries of its own, as those of OpenAI have."""

        max_retries: int | None = 2

    model = Patient(replies=[busy(9)])

    face.refine(face.SemanticRank(llm=model), TWO, "which?")

    assert len(model.prompts) == 1


SENT, RECEIVED = 100, 7


class CountingChat(ScriptedChat):
    """A LangChain model that says what it cost."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        [generation] = super()._generate(messages, *args, **kwargs).generations
        message = AIMessage(
            str(generation.message.content),
            usage_metadata={
                "input_tokens": SENT,
                "output_tokens": RECEIVED,
                "total_tokens": SENT + RECEIVED,
            },
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


class CountingLLM(ScriptedLLM):
    """The same for LlamaIndex."""

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        response = super().chat(messages, **kwargs)
        response.raw = {"usage": {"prompt_tokens": SENT, "completion_tokens": RECEIVED}}
        return response


def counting(face: Face, *replies: object) -> Any:
    return (CountingChat if face.is_langchain else CountingLLM)(replies=list(replies))


def cost(face: Face, model: Any, **settings: Any) -> str:
    [first, *_] = face.refine(face.SemanticRank(llm=model, **settings), GIVEN, "the dentist")
    return first.metadata["recall_usage"].rpartition(", ")[0]


def test_the_counts_of_the_model_are_taken(face: Face) -> None:
    usage = cost(face, counting(face, all_judged), orders=3)

    assert usage == f"SemanticRank: 3 calls, {3 * SENT} tokens in, {3 * RECEIVED} out"


@once
def test_every_attempt_counts_but_those_that_were_turned_away(face: Face) -> None:
    turned_away = ConnectionResetError("by peer")
    once = cost(face, counting(face, all_judged))
    again = cost(face, counting(face, turned_away, all_judged), attempts=2)

    assert again == once.replace("1 call,", "1 call (2 attempts),")


def test_a_form_that_fails_and_the_plain_question_after_it_both_count() -> None:
    class Counting(FormChat):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
            result = super()._generate(messages, *args, **kwargs)
            result.llm_output = {"token_usage": {"prompt_tokens": 50, "completion_tokens": 5}}
            return result

    face = Face("langchain_recall", is_async=False)
    model = Counting(replies=[all_judged], filled={"another": []})

    assert cost(face, model) == "SemanticRank: 1 call (2 attempts), 100 tokens in, 10 out"


COUNTS = {
    "OpenAI": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    "Anthropic": {"usage": {"input_tokens": 3, "output_tokens": 2}},
    "Anthropic's cache": {
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 2,
            "cache_creation_input_tokens": None,
        }
    },
    "Bedrock": {"usage": {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 2}},
    "Cohere": {"meta": {"tokens": {"input_tokens": 3.0, "output_tokens": 2.0}}},
    "Google": {"usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2}},
    "Gemini": {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}},
    "Ollama": {"prompt_eval_count": 3, "eval_count": 2},
    "an object": type("Raw", (), {"usage": type("U", (), {"input_tokens": 3, "output_tokens": 2})}),
}


@table("raw", COUNTS.values(), ids=COUNTS)
def test_whoever_serves_the_model(raw: object) -> None:
    spent = Spent()
    for source in (raw, None, {"usage": {"prompt_tokens": None}}, "words"):
        spent.add(source)

    assert spent.tokens == (3, 2)


ENDS = {
    "OpenAI": ({"choices": [{"finish_reason": "length"}]}, "finish_reason: length"),
    "Anthropic": ({"content": [], "stop_reason": "refusal"}, "stop_reason: refusal"),
    "Google": ({"candidates": [{"finishReason": "SAFETY"}]}, "finishReason: SAFETY"),
    "Google's enum": ({"finish_reason": Enum("Reason", "SAFETY").SAFETY}, "finish_reason: SAFETY"),
    "Ollama": ({"done_reason": "length"}, "done_reason: length"),
    "as usual": ([{"finish_reason": x} for x in ("stop", "STOP", "tool_calls", "eos_token")], ""),
    "as usual, Anthropic": ([{"stop_reason": x} for x in ("end_turn", "tool_use")], ""),
    "unknown": ({"finish_reason": None, "choices": [{"refusal": None}]}, ""),
}


@table(("raw", "why"), ENDS.values(), ids=ENDS)
def test_why_a_reply_ended_is_told_where_it_says_nothing(raw: object, why: str) -> None:
    class Empty(ScriptedLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(content=""), raw=raw)

    for face, model in (
        (FACES[0], ScriptedChat(replies=[AIMessage("", response_metadata={"raw": raw})])),
        (FACES[2], Empty(replies=[])),
    ):
        [first, _] = face.refine(face.SemanticRank(llm=model), TWO, "which?")
        told = f"the model said nothing ({why})" if why else "the model said nothing"
        assert first.metadata["recall_degraded"] == f"SemanticRank: ReplyError: {told}"


def text_blocks(face: Face, *texts: str) -> Any:
    """A model that replies in several blocks."""
    if face.is_langchain:
        return ScriptedChat(replies=[AIMessage([{"type": "text", "text": x} for x in texts])])

    class Blocks(ScriptedLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            blocks = [TextBlock(text=text) for text in texts]
            return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks))

    return Blocks(replies=[])


def test_json_in_several_blocks_is_one_text(face: Face) -> None:
    reply = json.dumps({"sentences": [{"text": "The dentist said 0.", "memories": [1]}]})
    cut = reply.index("dentist") + 3  # in a string, where a line end would count
    model = text_blocks(face, reply[:cut], reply[cut:])

    [told] = face.refine(face.RewriteMemory(llm=model), GIVEN, "the dentist")

    assert told.content == "The dentist said 0. [1]"
    assert "recall_degraded" not in told.metadata


@once
@table(("stage", "name"), [("RewriteMemory", "sentences"), ("Reflect", "points")])
def test_a_model_that_finds_no_answer_says_so_and_nothing_has_failed(
    face: Face, stage: str, name: str
) -> None:
    made = getattr(face, stage)(llm=face.model(json.dumps({name: []})))

    [told] = face.refine(made, GIVEN, "Where is my bike?")

    assert told.content == "The memories do not answer this question."
    assert "recall_degraded" not in told.metadata
    assert face.cited(told) == []
    assert len(face.kept(told)) == len(GIVEN)


NOW = "2024-03-08T12:00:00Z"


THREE = [
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
    return face.refine(stage, THREE, "the dentist")


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
