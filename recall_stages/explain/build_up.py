"""How the score of a memory was built, step by step, read backwards from what the stages left.

A stage that weighs leaves its result in the trace, and what it weighed with. So the last one is the
one whose result is the score; what it was given is that result without its weights, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isclose, prod
from operator import mul
from typing import Literal

from recall_stages.core.memory import Memory

Kind = Literal[
    "meaning",
    "words",
    "relevance",
    "model",
    "later",
    "type",
    "author",
    "session",
    "time",
    "age",
    "stale",
]

_Factor = tuple[Kind, float, str]
_WEIGHED = ("fused", "decayed", "weighed", "late", "stale")  # what stages that weigh leave
_MIXED = ("weighed", "late")  # of these, what is no product


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way to a score.

    Attributes:
        kind: What made it.
        told: The step in words, such as "x 2 insight".
        before: The score before it; 0 before the first.
        after: The score after it.
    """

    kind: Kind
    told: str
    before: float
    after: float

    @property
    def whole(self) -> str:
        """The step with what it came to, such as "x 2 insight = 0.800"."""
        return f"{self.told} = {self.after:.3f}" if self.before else self.told


@dataclass(frozen=True, slots=True)
class BuildUp:
    """The way of a memory to its score.

    Attributes:
        found: What it was worth to the search, or to the model that ranked: from nothing up to its
            relevance. Empty where it has no score.
        weighed: What the stages made of that, from its relevance to its score.
    """

    found: tuple[Step, ...] = ()
    weighed: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The whole way."""
        return self.found + self.weighed

    @property
    def highest(self) -> float:
        """The highest score on the way; pictures need room for it."""
        return max((max(step.before, step.after) for step in self.steps), default=0.0)


def build_up(memory: Memory) -> BuildUp:
    """How the score of a memory was built.

    Examples:
        >>> memory = Memory(content="Tea at four.", memory_type="insight").scored(
        ...     0.8, relevance=0.4, type_ratio=2.0, time_ratio=1.0, fused=0.8
        ... )
        >>> [step.told for step in build_up(memory).steps]
        ['relevance 0.400', 'x 2 insight']
    """
    if memory.score is None:
        return BuildUp()
    value, given = memory.score, _given(memory)
    weighed: tuple[Step, ...] = ()
    left = [name for name in _WEIGHED if name in memory.trace]
    unknown = bool(left)  # until a stage of ours is found that made the score
    while name := next((each for each in left if _made(memory, each, value)), None):
        unknown = False
        left.remove(name)
        own = None if name == "stale" else given  # the last that weighed tells what it was given
        tell = _mixed if name in _MIXED else _multiplied
        steps = tell(memory, name, value, own)
        if steps is None:  # what was there before cannot be told any more
            break
        weighed = (*steps, *weighed)
        value = steps[0].before if steps else value
        if own is not None:
            given = None
            weighed = (*(scaled := _scaled(memory, left, value)), *weighed)
            value = scaled[0].before if scaled else value
    return BuildUp(tuple(_found(memory, value, unknown=unknown)), weighed)


def _made(memory: Memory, name: str, value: float) -> bool:
    """Whether a stage made this score; `StaleReflections` leaves its weight alone."""
    return name == "stale" or _same(_number(memory, name), value)


def _multiplied(
    memory: Memory, name: str, value: float, given: float | None
) -> tuple[Step, ...] | None:
    factors = list(_factors(memory, name))
    product = prod(factor for _, factor, _ in factors)
    if given is None and not product:
        return None
    first = value / product if given is None else given
    values = pairwise(accumulate((factor for _, factor, _ in factors), mul, initial=first))
    return tuple(
        Step(kind, told, before, after)
        for (kind, factor, told), (before, after) in zip(factors, values, strict=True)
        if factor != 1
    )


def _factors(memory: Memory, name: str) -> Iterator[_Factor]:
    if name == "fused":
        kind, author, session, time = (
            _number(memory, f"{each}_ratio", 1.0) for each in ("type", "author", "session", "time")
        )
        yield "type", kind, f"x {kind:g} {memory.memory_type}"
        yield "author", author, f"x {author:g} said by {memory.author}"
        yield "session", session, f"x {session:.2g} for the rest of its session"
        yield "time", time, f"x {time:.2g} {memory.trace.get('time_match', '')} in time"
    elif name == "decayed":
        decay = _number(memory, "decay", 1.0)
        yield "age", decay, f"x {decay:.2g} for its age"
    else:
        stale = _number(memory, "stale", 1.0)
        yield "stale", stale, f"x {stale:g} as what it rests on has changed"


def _mixed(memory: Memory, name: str, value: float, given: float | None) -> tuple[Step, ...] | None:
    if given is None:
        return None
    if name == "late":
        return (Step("relevance", "mixed with the likeness of its words", given, value),)
    if "recency" not in memory.trace:  # undated, so relevance alone counted
        return ()
    recency = _number(memory, "recency")
    return (Step("age", f"mixed with recency {recency:.2f}", given, value),)


def _scaled(memory: Memory, left: Sequence[str], value: float) -> tuple[Step, ...]:
    """What `relevances` does to scores above 1, between two stages that weigh."""
    results = [_number(memory, name) for name in left if name != "stale"]
    if len(results) != 1 or not 0 < value < results[0] or _same(value, results[0]):
        return ()
    told = f"/ {results[0] / value:.3g}, so that the best has 1"
    return (Step("relevance", told, results[0], value),)


def _found(memory: Memory, value: float, *, unknown: bool) -> Iterator[Step]:
    """What the search or a model gave; by meaning and by words, where that makes up the whole."""
    meaning, words = _number(memory, "by_meaning"), _number(memory, "by_words")
    if "semantic" in memory.trace and _same(_number(memory, "semantic"), value):
        yield Step("model", f"the model says {value:.3f}", 0.0, value)
    elif meaning + words and _same(meaning + words, value):
        if meaning:
            yield Step("meaning", f"{meaning:.3f} by meaning", 0.0, meaning)
        if words:
            yield Step("words", f"{words:.3f} by words", meaning, value)
    elif "ranked_by" in memory.trace:
        yield Step("later", f"{value:.3f} by {memory.trace['ranked_by']}", 0.0, value)
    elif unknown:
        yield Step("later", f"{value:.3f} from a later step", 0.0, value)
    else:
        yield Step("relevance", f"relevance {value:.3f}", 0.0, value)


def _given(memory: Memory) -> float | None:
    return _number(memory, "relevance") if "relevance" in memory.trace else None


def _number(memory: Memory, name: str, default: float = 0.0) -> float:
    """A number out of the trace; it may come from anywhere, so a text counts as the default."""
    value = memory.trace.get(name, default)
    return value if isinstance(value, float) else default


def _same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
