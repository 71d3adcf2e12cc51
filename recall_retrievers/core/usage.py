"""What the models of a stage cost: calls, tokens and time; and the deadline of a question."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeVar

from recall_retrievers.core.errors import ModelError
from recall_retrievers.core.requests import Prompt, Refine, Reply, Score, Tokens
from recall_retrievers.text.tokens import token_counter

logger = logging.getLogger(__name__)

Waited = TypeVar("Waited", Prompt, Refine, Score)  # requests that have a timeout

_FIGURES = ("calls", "attempts", "tokens_in", "tokens_out", "estimated", "milliseconds")


class Deadline(NamedTuple):
    """When the time for a question is over, by `time.perf_counter`; the least comes first."""

    at: float = inf
    seconds: float = inf

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(perf_counter() + seconds, seconds)

    def shorten(self, requests: Sequence[Waited]) -> list[Waited]:
        """The requests, each with no more time than is left; a `TimeoutError` if none is left."""
        if self.at == inf:
            return list(requests)
        left = self.at - perf_counter()
        if left <= 0:
            raise TimeoutError(f"the {self.seconds:g} s for the question are over")
        return [replace(wait, timeout_s=min(wait.timeout_s or left, left)) for wait in requests]


@dataclass(slots=True)
class Meter:
    """What the models of one stage cost, and how long they may take."""

    stage: str
    deadline: Deadline = field(default_factory=Deadline)
    calls: int = 0  # prompts
    attempts: int = 0  # how often they were sent in all
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False  # whether any tokens are an estimate: some models give no counts
    milliseconds: float = 0.0
    notes: list[str] = field(default_factory=list)  # settings that a model did not follow

    def __str__(self) -> str:
        calls = f"{self.calls} call{'s' if self.calls > 1 else ''}"
        if self.attempts > self.calls:
            calls += f" ({self.attempts} attempts)"
        about = "about " if self.estimated else ""
        tokens = f"{about}{self.tokens_in} tokens in, {self.tokens_out} out"
        return f"{self.stage}: {calls}, {tokens}, {self.milliseconds:.0f} ms"

    def figures(self) -> dict[str, float]:
        own = {name: getattr(self, name) for name in _FIGURES}
        return own | {"milliseconds": round(self.milliseconds, 1)}

    @contextmanager
    def asking(self, prompts: Sequence[Prompt]) -> Iterator[list[Prompt]]:
        """Count prompts and the time they take; yields them with no more time than is left."""
        try:
            shortened = self.deadline.shorten(prompts)
        except TimeoutError as error:
            raise ModelError(error) from None
        self.calls += len(prompts)
        begun = perf_counter()
        try:
            yield shortened
        finally:
            self.milliseconds += 1000 * (perf_counter() - begun)

    def texts(self, prompts: Sequence[Prompt], replies: Sequence[Reply]) -> list[str | ModelError]:
        """Count replies: the text or the error of each; if none has a text, the first is raised."""
        outcomes = [reply.outcome for reply in replies]
        texts = [x if isinstance(x, str) else ModelError(x) for x in outcomes]
        errors = [x for x in texts if isinstance(x, ModelError)]
        self.attempts += sum(reply.attempts for reply in replies)
        for prompt, reply in zip(prompts, replies, strict=True):
            tokens = reply.tokens or estimate(prompt, reply.outcome)
            self.tokens_in += tokens.sent
            self.tokens_out += tokens.received
            self.estimated = self.estimated or tokens.estimated
        self.notes += dict.fromkeys(reply.note for reply in replies if reply.note)
        self.log(outcomes)
        if errors and len(errors) == len(texts):
            raise errors[0] from errors[0].cause
        return texts

    def log(self, outcomes: Sequence[object]) -> None:
        for outcome in outcomes:
            if isinstance(outcome, Exception):  # its type alone: what it says may quote a memory
                logger.warning("%s: a call failed with %s", self.stage, type(outcome).__name__)


def estimate(prompt: Prompt, said: object = "") -> Tokens:
    count = token_counter()
    received = count(said) if isinstance(said, str) else 0
    return Tokens(count(prompt.system) + count(prompt.user), received)
