"""Explain: why each memory came back, as a table a person can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recall_stages.memory import Memory
from recall_stages.time_stamp import stamped_ranges

_LONGEST = 160  # characters of a memory that the table shows


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the score of each memory came about. Printing it shows the table.

    Attributes:
        memories: The memories explained, best first.
    """

    memories: tuple[Memory, ...]

    def table(self) -> Table:
        """The table, for a `rich` console."""
        table = Table(title=self._understood(), title_justify="left", title_style="bold")
        for heading in ("#", "score", "how"):
            table.add_column(heading, justify="right" if heading != "how" else "left")
        table.add_column("recorded", no_wrap=True)
        table.add_column("memory", overflow="fold")
        for number, memory in enumerate(self.memories, 1):
            score = "" if memory.score is None else f"{memory.score:.3f}"
            # Text, not markup: a memory that says "[bold]" is shown as it is.
            recorded = memory.recorded(
                None if memory.created_at is None else memory.created_at.tzinfo
            )
            table.add_row(
                str(number),
                score,
                "\n".join(_reasons(memory)),
                recorded[:10] + recorded[19:],
                Text(_shortened(memory.content)),
            )
        return table

    def _understood(self) -> str | None:
        described = [f'"{each.text}" = {each.describe()}' for each in stamped_ranges(self.memories)]
        return "time understood: " + "; ".join(described) if described else None

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, width: int = 100) -> str:
        """The table as plain text of a given width, in characters."""
        if not self.memories:
            return "No memories to explain."
        console = Console(file=StringIO(), width=width, color_system=None)
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


def _reasons(memory: Memory) -> Iterator[str]:
    trace = memory.trace
    for name in ("similarity", "semantic"):
        value = trace.get(name)
        if value is not None:
            yield f"{name} {value:.3f}" if isinstance(value, float) else f"{name}: {value}"
    if trace.get("type_ratio", 1.0) != 1.0:
        yield f"x {trace['type_ratio']:g} {memory.memory_type}"
    if trace.get("time_ratio", 1.0) != 1.0:
        yield f"x {trace['time_ratio']:.2g} {trace.get('time_match', '')} in time"
    if "duplicates" in trace:
        yield f"{str(trace['duplicates']).count(',') + 1} duplicate(s) left out"
    if "degraded" in trace:
        yield f"degraded: {trace['degraded']}"


def _shortened(content: str) -> str:
    return content if len(content) <= _LONGEST else content[: _LONGEST - 1] + "…"
