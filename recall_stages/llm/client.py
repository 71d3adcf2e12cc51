"""Prompts answered by models: with a schema if the model takes one, and sent again if rejected.

It stands between the worlds and the models of both frameworks. A generator decides what comes
next; two loops, in threads and as coroutines, only wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception,
    wait_exponential,
    wait_random,
)

from recall_stages.core.concurrent import call_all, call_all_async
from recall_stages.core.driver import drive, drive_async
from recall_stages.core.errors import ModelError
from recall_stages.core.requests import Prompt, Reply
from recall_stages.core.transient_errors import is_transient, retry_after

ATTEMPTS = 3
"""How often a prompt is sent at the most, where nobody said so and the model does not try again."""

LONGEST_PAUSE = 60.0
"""Seconds; a server that wants to be left alone for longer is not waited for."""

_BACK_OFF = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)

Sent = TypeVar("Sent")


@dataclass(frozen=True, slots=True)
class Client(Generic[Sent]):
    """How a face calls the model of a prompt.

    Attributes:
        plain: Sends a prompt as it is.
        formed: What sends a prompt with the schema of its reply; None = the model takes no schema.
        retries: Whether the model tries again by itself.
    """

    plain: Callable[[Prompt], Sent]
    formed: Callable[[Prompt], Callable[[], Sent] | None]
    retries: Callable[[Prompt], bool]


def ask_models(client: Client[str], prompts: Sequence[Prompt]) -> list[Reply]:
    """Ask the model of each prompt, several at once; an error is a reply too."""
    calls = _calls(prompts)
    outcomes = call_all(lambda call: _answer(client, call), calls, prompts[0].timeout_s)
    return _replies(calls, outcomes)


async def ask_models_async(
    client: Client[Awaitable[str]], prompts: Sequence[Prompt]
) -> list[Reply]:
    """The same without blocking the event loop."""
    calls = _calls(prompts)
    outcomes = await call_all_async(
        lambda call: _answer_async(client, call), calls, prompts[0].timeout_s
    )
    return _replies(calls, outcomes)


@dataclass(slots=True)
class _Call:
    """One prompt on its way: how often it was sent, and when that has to end."""

    prompt: Prompt
    limit: float | None
    most: int = ATTEMPTS
    sent: int = 0
    note: str = ""

    def ways(self, client: Client[Sent]) -> Generator[Callable[[], Sent], str, str]:
        """What sends the prompt: first with the schema, if the model takes it, then without."""
        prompt = self.prompt
        self.most = prompt.attempts or (1 if client.retries(prompt) else ATTEMPTS)
        if prompt.form is not None and prompt.structured is not False:
            try:
                with _of_a_model():
                    formed = client.formed(prompt)
                text = "" if formed is None else (yield formed)
            except ModelError as error:
                if is_transient(error):  # it was sent again in vain: so would plain JSON be
                    raise
                self.note = f"asked again for plain JSON, as the form failed ({error})"
            else:
                if text.strip():
                    return text
                if formed is not None:
                    self.note = "asked again for plain JSON, as the form failed (it said nothing)"
                elif prompt.structured:
                    self.note = "the model takes no form; it was asked for plain JSON"
        return (yield lambda: client.plain(prompt))

    def ends(self, state: RetryCallState) -> bool:
        """Whether it is over, with the error that came last."""
        pause = state.upcoming_sleep
        late = self.limit is not None and monotonic() + pause >= self.limit
        return late or pause > LONGEST_PAUSE or state.attempt_number >= self.most

    def pause(self, state: RetryCallState) -> float:
        """The seconds before the next attempt: what the server said, else longer every time."""
        error = state.outcome.exception() if state.outcome else None
        told = None if error is None else retry_after(error)
        return _BACK_OFF(state) if told is None else told


def _answer(client: Client[str], call: _Call) -> str:
    def send(way: Callable[[], str]) -> str:
        call.sent += 1
        with _of_a_model():
            return way()

    patient = Retrying(
        retry=retry_if_exception(is_transient), stop=call.ends, wait=call.pause, reraise=True
    )
    return drive(call.ways(client), lambda way: patient(send, way))


async def _answer_async(client: Client[Awaitable[str]], call: _Call) -> str:
    async def send(way: Callable[[], Awaitable[str]]) -> str:
        call.sent += 1
        with _of_a_model():
            return await way()

    patient = AsyncRetrying(
        retry=retry_if_exception(is_transient), stop=call.ends, wait=call.pause, reraise=True
    )
    return await drive_async(call.ways(client), lambda way: patient(send, way))


@contextmanager
def _of_a_model() -> Iterator[None]:
    """Whatever is raised here is the error of a user's model, and no bug of ours."""
    try:
        yield
    except Exception as error:
        raise ModelError(error) from error


def _calls(prompts: Sequence[Prompt]) -> list[_Call]:
    timeout = prompts[0].timeout_s
    limit = None if timeout is None else monotonic() + timeout
    return [_Call(prompt, limit) for prompt in prompts]


def _replies(calls: Sequence[_Call], outcomes: Sequence[str | Exception]) -> list[Reply]:
    return [
        Reply(_reply(outcome), call.sent, call.note)
        for call, outcome in zip(calls, outcomes, strict=True)
    ]


def _reply(outcome: str | Exception) -> str | Exception:
    if isinstance(outcome, ModelError):
        return outcome.cause
    if isinstance(outcome, Exception) and not isinstance(outcome, TimeoutError):
        raise outcome  # a bug of ours: a model's error is a ModelError
    return outcome
