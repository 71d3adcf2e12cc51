"""What the models of a stage cost: calls, tokens and time; and no more time than there is.

It stands between a stage and the driver and sees what passes: the prompts of the stage, which it
gives the time that is left, and the replies.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TypedDict, TypeVar, cast

from recall_stages.model.requests import Prompt, Replies
from recall_stages.model.tokens import token_counter

T = TypeVar("T")
Yielded = TypeVar("Yielded", bound=Sequence[object])
Sent = TypeVar("Sent", bound=Sequence[object])


class Figures(TypedDict):
    """What the models of a stage cost, in numbers; see `Meter`."""

    calls: int
    tokens_in: int
    tokens_out: int
    milliseconds: float


@dataclass(slots=True)
class Meter:
    """What the models of one stage cost.

    Attributes:
        stage: The stage.
        calls: How many prompts were sent.
        tokens_in: The tokens of the prompts, as `token_counter` counts them.
        tokens_out: The tokens of the replies.
        milliseconds: How long the stage waited for them.
    """

    stage: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    milliseconds: float = 0.0

    def __str__(self) -> str:
        calls = f"{self.calls} call{'s' if self.calls > 1 else ''}"
        tokens = f"{self.tokens_in} tokens in, {self.tokens_out} out"
        return f"{self.stage}: {calls}, {tokens}, {self.milliseconds:.0f} ms"

    def figures(self) -> Figures:
        """The same as numbers alone, as the traces of a framework show them."""
        return {
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "milliseconds": round(self.milliseconds, 1),
        }

    def sent(self, prompts: Sequence[Prompt]) -> None:
        """Count prompts."""
        count = token_counter()
        self.calls += len(prompts)
        self.tokens_in += sum(count(each.system) + count(each.user) for each in prompts)

    def heard(self, replies: Replies) -> None:
        """Count replies."""
        count = token_counter()
        self.tokens_out += sum(count(each) for each in replies if isinstance(each, str))


@dataclass(frozen=True, slots=True)
class Deadline:
    """When the time for a question is over, by `time.perf_counter`; None = never."""

    at: float | None = None
    seconds: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline so many seconds from now."""
        return cls() if seconds is None else cls(perf_counter() + seconds, seconds)

    def shorten(self, prompts: Sequence[Prompt]) -> list[Prompt]:
        """The prompts, none with more time than is left.

        Raises:
            TimeoutError: When none is left.
        """
        if self.at is None:
            return list(prompts)
        left = self.at - perf_counter()
        if left <= 0:
            raise TimeoutError(f"the {self.seconds:g} s for the question are over")
        return [replace(each, timeout_s=min(each.timeout_s or left, left)) for each in prompts]


def metered(
    steps: Generator[Yielded, Sent, T], meter: Meter, deadline: Deadline
) -> Generator[Yielded, Sent, T]:
    """The steps of a stage, with their prompts counted and kept within the deadline."""
    try:
        requests = next(steps)
        while True:
            try:
                answers: Sent
                if isinstance(requests[0], Prompt):
                    answers = yield from _asked(requests, meter, deadline)
                else:
                    answers = yield requests
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: T = done.value
        return outcome


def _asked(requests: Yielded, meter: Meter, deadline: Deadline) -> Generator[Yielded, Sent, Sent]:
    prompts = cast("Sequence[Prompt]", requests)
    shortened = cast("Yielded", deadline.shorten(prompts))
    meter.sent(prompts)
    begun = perf_counter()
    try:
        answers = yield shortened
    finally:
        meter.milliseconds += 1000 * (perf_counter() - begun)
    meter.heard(cast("Replies", answers))
    return answers
