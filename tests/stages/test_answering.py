"""Calls that are turned away: which are made again, when, how often, and how that is told."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from tables import table
from tenacity import wait_fixed, wait_none

from recall_retrievers.core.requests import Prompt, Reply
from recall_retrievers.core.transient_errors import is_transient, retry_after
from recall_retrievers.core.world import World, completed
from recall_retrievers.llm import client as answering
from recall_retrievers.llm.client import Client, ask_models
from recall_retrievers.llm.model_output import Spent


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


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses. A private name: how long to wait is no setting."""
    monkeypatch.setattr(answering, "_BACK_OFF", wait_none())


@pytest.mark.usefixtures("at_once")
def test_a_call_that_is_turned_away_is_made_again(ask: Callable[..., list[Reply]]) -> None:
    model = Scripted(status(429), ConnectionResetError("by peer"), "said")

    assert ask(model) == [Reply("said", attempts=3)]


@pytest.mark.usefixtures("at_once")
def test_three_attempts_are_enough_unless_set(ask: Callable[..., list[Reply]]) -> None:
    turned_away = status(503)

    assert ask(Scripted(turned_away)) == [Reply(turned_away, attempts=3)]
    assert ask(Scripted(turned_away), attempts=5) == [Reply(turned_away, attempts=5)]
    assert ask(Scripted(turned_away), attempts=1) == [Reply(turned_away, attempts=1)]


@pytest.mark.usefixtures("at_once")
def test_a_model_that_tries_again_by_itself_is_asked_once_unless_set(
    ask: Callable[..., list[Reply]],
) -> None:
    turned_away = status(429)

    assert ask(Scripted(turned_away), retries=True)[0].attempts == 1
    assert ask(Scripted(turned_away), retries=True, attempts=2)[0].attempts == 2


def test_other_errors_are_not_tried_again(ask: Callable[..., list[Reply]]) -> None:
    bad = ValueError("bad request")

    assert ask(Scripted(bad)) == [Reply(bad, attempts=1)]


def test_the_pauses_grow(ask: Callable[..., list[Reply]]) -> None:
    model = Scripted(status(429), status(429), "said")

    ask(model)

    first, second = (b - a for a, b in zip(model.asked, model.asked[1:], strict=False))
    assert first >= 0.5
    assert second >= 1.0


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


@pytest.mark.usefixtures("at_once")
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


def test_what_is_tried_again_when_time_is_up_says_how_often_it_was_sent() -> None:
    """The first attempt is turned away, and the second hangs."""

    def hang(prompt: Prompt) -> str:
        sent.append(1)
        if len(sent) == 1:
            raise status(429, **{"retry-after": "0"})
        released.wait(20)
        return "late"

    sent: list[int] = []
    released = threading.Event()

    [reply] = sync(hang, [Prompt("s", "u", timeout_s=1)], retries=False)

    released.set()
    assert isinstance(reply.outcome, TimeoutError)
    assert reply.attempts == 2


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


@pytest.mark.usefixtures("at_once")
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


def test_a_bug_of_ours_is_raised_and_not_taken_for_the_models(
    ask: Callable[..., list[Reply]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: Any) -> Any:
        raise TypeError("a bug of ours")

    monkeypatch.setattr(answering, "retry_after", broken)

    with pytest.raises(TypeError, match="a bug of ours"):
        ask(Scripted(status(429)))


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
