"""Explain: why each memory came back, as a table a person can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recall_stages.memory import Memory
from recall_stages.stage import JOINED
from recall_stages.time_stamp import stamped_ranges
from recall_stages.timeline import TimeRange

_LONGEST = 200  # characters of a memory that the table shows


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the score of each memory came about. Printing it shows the table.

    Attributes:
        memories: The memories explained, best first.
    """

    memories: tuple[Memory, ...]

    def table(self) -> Table:
        """The table, for a `rich` console."""
        table = Table("#", "score", "why", "memory")
        for number, memory in enumerate(self.memories, 1):
            score = "" if memory.score is None else f"{memory.score:.3f}"
            table.add_row(str(number), score, "\n".join(_reasons(memory)), _told(memory))
        return table

    def understood(self) -> str:
        """What was understood of the time that the question names; empty if it names none."""
        ranges = stamped_ranges(self.memories)
        if ranges:
            return "\n".join(map(_reading, ranges))
        reasons = (str(memory.trace.get("degraded", "")) for memory in self.memories)
        failed = any("ExtractTime: " in reason for reason in reasons)
        return "No time was understood, though the question has words of time." if failed else ""

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, width: int = 100) -> str:
        """The table as plain text of a given width, in characters."""
        if not self.memories:
            return "No memories to explain."
        console = Console(file=StringIO(), width=width, color_system=None)
        if self.understood():
            console.print(self.understood(), markup=False, highlight=False)
        console.print(self.table())
        written: str = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO above
        return written.rstrip("\n")


def explain(memories: Sequence[Memory]) -> Explanation:
    """Say why each memory came back.

    Examples:
        >>> memory = Memory(content="Tea at four.", memory_type="insight").scored(
        ...     0.8, similarity=0.4, relevance=0.4, type_ratio=2.0, time_ratio=1.0
        ... )
        >>> "similarity 0.400" in str(explain([memory]))
        True
    """
    return Explanation(tuple(memories))


def _reading(time_range: TimeRange) -> str:
    """The words, the reading taken, and those that were kept besides it."""
    words = f'"{time_range.text}"' if time_range.text else "the time asked about"
    others = dict.fromkeys(map(_meaning, time_range.alternatives))
    also = f"; also possible: {', or '.join(others)}" if others else ""
    return f"{words} is understood as {_meaning(time_range)}{also}"


def _meaning(time_range: TimeRange) -> str:
    if not time_range.soft:
        return time_range.describe()
    if time_range.start is None:
        return f"long ago: {time_range.describe()}"
    return "recently: newer memories first"


def _reasons(memory: Memory) -> Iterator[str]:
    trace = memory.trace
    if JOINED in trace:
        yield f"of the {trace[JOINED]}: no memory yet"
    for name in ("similarity", "keyword", "semantic", "relevance"):
        value = trace.get(name)
        if value is not None:
            yield f"{name} {value:.3f}" if isinstance(value, float) else f"{name}: {value}"
    if trace.get("type_ratio", 1.0) != 1.0:
        yield f"x {trace['type_ratio']:g} {memory.memory_type}"
    if trace.get("author_ratio", 1.0) != 1.0:
        yield f"x {trace['author_ratio']:g} said by {memory.author}"
    if trace.get("time_ratio", 1.0) != 1.0:
        yield f"x {trace['time_ratio']:.2g} {trace.get('time_match', '')} in time"
    if "duplicates" in trace:
        yield f"{str(trace['duplicates']).count(',') + 1} duplicate(s) left out"
    if "degraded" in trace:
        yield f"degraded: {trace['degraded']}"


def _told(memory: Memory) -> Text:
    """When, who and what; as `Text`, so that a memory which says "[bold]" is shown as it is."""
    moment = memory.created_at
    told = Text()
    if moment is not None:
        told.append(f"{moment:%Y-%m-%d %A}\n", style="dim")
    shown = memory.content if len(memory.content) <= _LONGEST else f"{memory.content[:_LONGEST]}…"
    return told.append(shown)
