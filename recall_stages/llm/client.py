"""Prompts answered by models: in a form where these take one, again where they were turned away.

It stands between the drivers of the stages and the clients of both frameworks. What is to be done
next is decided once, in a generator; two drivers, in threads and as coroutines, only wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
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

from recall_stages.core.concurrent import at_once, at_once_async
from recall_stages.core.driver import drive, drive_async
from recall_stages.core.requests import Prompt, Reply
from recall_stages.core.transient_errors import passes, retry_after

ATTEMPTS = 3
"""How often a prompt is sent at the most, where nobody said so and the model does not try again."""

LONGEST_PAUSE = 60.0
"""Seconds; a server that wants to be left alone for longer is not waited for."""

_BACK_OFF = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)

Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Client(Generic[Said]):
    """A face's way to its models.

    Attributes:
        send: Sends a prompt to its model; True = in the form of the prompt.
        takes_form: Whether the model of a prompt says that it answers in a form.
        retries: Whether the model tries again by itself.
    """

    send: Callable[[Prompt, bool], Said]
    takes_form: Callable[[Prompt], bool]
    retries: Callable[[Prompt], bool]


def answers(client: Client[str], prompts: Sequence[Prompt]) -> list[Reply]:
    """Ask the model of each prompt, several at once; an error is a reply too."""
    calls = _calls(prompts)
    outcomes = at_once(lambda call: _answer(client, call), calls, prompts[0].timeout_s)
    return _replies(calls, outcomes)


async def answers_async(client: Client[Awaitable[str]], prompts: Sequence[Prompt]) -> list[Reply]:
    """The same without blocking the event loop."""
    calls = _calls(prompts)
    outcomes = await at_once_async(
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

    def ways(self, client: Client[Said]) -> Generator[bool, str, str]:
        """Whether to ask in the form, for each time that something else is to be tried."""
        prompt = self.prompt
        self.most = prompt.attempts or (1 if client.retries(prompt) else ATTEMPTS)
        if prompt.form is not None and prompt.structured is not False:
            takes = client.takes_form(prompt)
            if not takes and prompt.structured:
                self.note = "the model takes no form; it was asked for plain JSON"
            elif takes:
                try:
                    said = yield True
                except Exception as error:
                    if passes(error):  # it has been waited for: it would pass no better plainly
                        raise
                    why = f"{type(error).__name__}: {error}"
                else:
                    if said.strip():
                        return said
                    why = "it said nothing"
                self.note = f"asked again for plain JSON, as the form failed ({why})"
        return (yield False)

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
    def send(in_form: bool) -> str:
        call.sent += 1
        return client.send(call.prompt, in_form)

    def send_patiently(in_form: bool) -> str:
        patient = Retrying(
            retry=retry_if_exception(passes), stop=call.ends, wait=call.pause, reraise=True
        )
        return patient(send, in_form)

    return drive(call.ways(client), send_patiently)


async def _answer_async(client: Client[Awaitable[str]], call: _Call) -> str:
    async def send(in_form: bool) -> str:
        call.sent += 1
        return await client.send(call.prompt, in_form)

    async def send_patiently(in_form: bool) -> str:
        patient = AsyncRetrying(
            retry=retry_if_exception(passes), stop=call.ends, wait=call.pause, reraise=True
        )
        said: str = await patient(send, in_form)
        return said

    return await drive_async(call.ways(client), send_patiently)


def _calls(prompts: Sequence[Prompt]) -> list[_Call]:
    timeout = prompts[0].timeout_s
    limit = None if timeout is None else monotonic() + timeout
    return [_Call(prompt, limit) for prompt in prompts]


def _replies(calls: Sequence[_Call], outcomes: Sequence[str | Exception]) -> list[Reply]:
    return [
        Reply(outcome, call.sent, call.note) for call, outcome in zip(calls, outcomes, strict=True)
    ]
