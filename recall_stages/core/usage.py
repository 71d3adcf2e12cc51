"""What the models of a stage cost: calls, tokens and time; and no more time than there is.

It stands between a stage and the driver and sees what passes: the prompts of the stage, which it
gives the time that is left, and the replies, of which the stage gets the text.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypedDict, TypeVar, cast

from recall_stages.core.requests import Answers, Prompt, Refine, Replies, Reply, Requests
from recall_stages.text.tokens import token_counter

T = TypeVar("T")
Waited = TypeVar("Waited", Prompt, Refine)  # what may take long, and is waited for


class Figures(TypedDict):
    """What the models of one stage cost, in numbers; see `Meter`."""

    calls: int
    attempts: int
    tokens_in: int
    tokens_out: int
    milliseconds: float


@dataclass(slots=True)
class Meter:
    """What the models of one stage cost.

    Attributes:
        stage: The stage.
        calls: How many prompts were sent.
        attempts: How often they were sent, all in all.
        tokens_in: The tokens of the prompts, each once, as `token_counter` counts them.
        tokens_out: The tokens of the replies.
        milliseconds: How long the stage waited for them.
        notes: What had to be done otherwise than was wished.
    """

    stage: str
    calls: int = 0
    attempts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    milliseconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        calls = f"{self.calls} call{'s' if self.calls > 1 else ''}"
        if self.attempts > self.calls:
            calls += f" ({self.attempts} attempts)"
        tokens = f"{self.tokens_in} tokens in, {self.tokens_out} out"
        return f"{self.stage}: {calls}, {tokens}, {self.milliseconds:.0f} ms"

    def figures(self) -> Figures:
        """The same as numbers alone, as the traces of a framework show them."""
        return {
            "calls": self.calls,
            "attempts": self.attempts,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "milliseconds": round(self.milliseconds, 1),
        }

    def sent(self, prompts: Sequence[Prompt]) -> None:
        """Count prompts."""
        count = token_counter()
        self.calls += len(prompts)
        self.tokens_in += sum(count(each.system) + count(each.user) for each in prompts)

    def heard(self, replies: Sequence[Reply]) -> None:
        """Count replies."""
        count = token_counter()
        self.attempts += sum(each.attempts for each in replies)
        self.tokens_out += sum(count(each.said) for each in replies if isinstance(each.said, str))
        self.notes += dict.fromkeys(each.note for each in replies if each.note)


@dataclass(frozen=True, slots=True)
class Deadline:
    """When the time for a question is over, by `time.perf_counter`; None = never."""

    at: float | None = None
    seconds: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline so many seconds from now."""
        return cls() if seconds is None else cls(perf_counter() + seconds, seconds)

    def shorten(self, requests: Sequence[Waited]) -> list[Waited]:
        """The requests, none with more time than is left.

        Raises:
            TimeoutError: When none is left.
        """
        if self.at is None:
            return list(requests)
        left = self.at - perf_counter()
        if left <= 0:
            raise TimeoutError(f"the {self.seconds:g} s for the question are over")
        return [replace(each, timeout_s=min(each.timeout_s or left, left)) for each in requests]


def metered(
    steps: Generator[Requests, Answers, T], meter: Meter, deadline: Deadline
) -> Generator[Requests, Answers, T]:
    """The steps of a stage, with their prompts counted and kept within the deadline."""
    try:
        requests = next(steps)
        while True:
            try:
                if isinstance(requests[0], Prompt):
                    answers = yield from _asked(cast("Sequence[Prompt]", requests), meter, deadline)
                elif isinstance(requests[0], Refine):
                    answers = yield deadline.shorten(cast("Sequence[Refine]", requests))
                else:
                    answers = yield requests
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: T = done.value
        return outcome


def _asked(
    prompts: Sequence[Prompt], meter: Meter, deadline: Deadline
) -> Generator[Requests, Answers, Answers]:
    shortened = deadline.shorten(prompts)
    meter.sent(prompts)
    begun = perf_counter()
    try:
        answers = yield shortened
    finally:
        meter.milliseconds += 1000 * (perf_counter() - begun)
    replies = cast("Sequence[Reply]", answers)
    meter.heard(replies)
    return _said(replies)


def _said(replies: Sequence[Reply]) -> Replies:
    """What the models said; where none of them said anything, the first error is raised."""
    said = [each.said for each in replies]
    errors = [each for each in said if isinstance(each, Exception)]
    if errors and len(errors) == len(said):
        raise errors[0]
    return said
