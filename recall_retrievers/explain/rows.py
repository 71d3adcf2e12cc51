"""What an explanation says, in the terminal, HTML and pictures: the way to each score, and more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.query import JOINED, OUTCOME
from recall_retrievers.core.stage import stamped_ranges
from recall_retrievers.timeline.time_range import in_words

EMPTY = "No memories to explain."


def nothing(why: str = "") -> str:
    """What is said where there are no memories, and why there are none."""
    return f"{EMPTY} {why[:1].upper()}{why[1:]}." if why else EMPTY


# Colour-blind readers can tell these apart: the palette of Okabe and Ito (2008). Black and yellow
# are left out: black cannot be seen on a dark page, and yellow not on a light one.
COLOURS = {
    "relevance": "#0072B2",
    "words": "#56B4E9",
    "type": "#009E73",
    "author": "#CC79A7",
    "time": "#E69F00",
    "age": "#D55E00",
}

# By the name of a step in flat metadata; every other step is about relevance.
_COLOUR_NAMES = {
    "by_words": "words",
    "type_ratio": "type",
    "author_ratio": "author",
    "session_ratio": "author",
    "time_ratio": "time",
    "decay": "age",
    "recency": "age",
    "stale": "age",
}

IN_RANGE = COLOURS["time"]  # the time that the question names, and the memories in it
OTHER = "#808080"  # the other memories
EVENT = COLOURS["type"]  # the events of a memory


@dataclass(frozen=True, slots=True)
class Row:
    """One step on the way to a score, in words, such as "x 2 insight"; before the first it is 0."""

    label: str
    before: float
    after: float
    colour_name: str = "relevance"

    @property
    def colour(self) -> str:
        """The colour, as in CSS."""
        return COLOURS[self.colour_name]

    @property
    def whole(self) -> str:
        """The step with the score after it, such as "x 2 insight = 0.800"."""
        return f"{self.label} = {self.after:.3f}" if self.before else self.label


def rows(memory: Candidate) -> list[Row]:
    """The steps to the score of a memory, in order; none if it has no score.

    Added and multiplied, they give the score. A step that did not change the score has no row.

    Examples:
        >>> tea = Candidate(content="Tea at four.").after(
        ...     0.8, Step("Retrieve", "add", 0.4, 0.4, "by_meaning", "by meaning"),
        ...     Step("FuseRerank", "times", 2.0, 0.8, "type_ratio", "insight"),
        ... )
        >>> [row.whole for row in rows(tea)]
        ['0.400 by meaning', 'x 2 insight = 0.800']
    """
    shown: list[Row] = []
    before = 0.0
    for step in memory.steps:
        if step.after is None:
            continue
        if step.change == "set":
            shown, before = [], 0.0
        elif not shown and (base := _base(step)):
            shown, before = [_came_with(base)], base
        if not _changes(step):
            continue
        plus = "+ " if step.change == "add" and shown else ""
        name = step.name or next(iter(step.notes), "")
        colour = _COLOUR_NAMES.get(name, "relevance")
        shown.append(Row(plus + step.label, before, step.after, colour))
        before = step.after
    score = memory.score
    if score is None:
        return []
    if not shown or not isclose(before, score, rel_tol=1e-9, abs_tol=1e-12):
        return [Row(f"{score:.3f} from a later step", 0.0, score) if shown else _came_with(score)]
    return shown


def remarks(memory: Candidate) -> Iterator[str]:
    """The remarks on a memory apart from its score: its origin, its copies, and failed stages."""
    joined, duplicates, degraded = map(memory.noted, (JOINED, "duplicates", "degraded"))
    if joined is not None:
        yield f"of the {joined}: no memory yet"
    if duplicates is not None:
        yield f"{str(duplicates).count(',') + 1} duplicate(s) left out"
    if degraded is not None:
        yield f"degraded: {degraded}"


def understood(memories: Sequence[Candidate]) -> list[str]:
    """A line for each time that the question names; none if it names no time."""
    ranges = stamped_ranges(memories)
    if ranges:
        return [in_words(each) for each in ranges]
    reasons = (str(memory.noted("degraded")) for memory in memories)
    failed = any("ExtractTime: " in reason for reason in reasons)
    return ["No time was understood, though the question has words of time."] if failed else []


def below(memories: Sequence[Candidate]) -> list[str]:
    """The lines below a table of memories: what the stages left out, and the evidence."""
    if not memories:
        return []
    steps = [step for step in memories[0].steps if step.stage == OUTCOME]
    counts = ", ".join(step.about for step in steps if step.about)
    lines = [f"Left out: {counts}"] if counts else []
    sign, about = memories[0].noted("evidence"), memories[0].noted("evidence_about")
    return [*lines, f"Evidence: {sign}{f'; {about}' if about else ''}"] if sign else lines


def _changes(step: Step) -> bool:
    neutral = {"times": 1.0, "divide": 1.0, "add": 0.0}
    return step.change == "set" or (step.change != "note" and step.value != neutral[step.change])


def _base(step: Step) -> float:
    """The score of a candidate before its first step."""
    after = step.after or 0.0
    if step.change == "times":
        return after / step.value if step.value else 0.0
    if step.change == "divide":
        return after * step.value
    return after if step.change == "note" else 0.0


def _came_with(score: float) -> Row:
    return Row(f"{score:.3f} as it came", 0.0, score)
