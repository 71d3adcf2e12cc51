"""Explain: why each memory came back, as a table, as a page, or as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TypeVar, cast

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from recall_stages.core.candidate import Candidate, candidates
from recall_stages.core.lazy_exports import lazy_exports
from recall_stages.core.memory import Memory
from recall_stages.core.settings_messages import got
from recall_stages.explain.html import as_html
from recall_stages.explain.notes import remarks
from recall_stages.explain.rows import left_out, rows
from recall_stages.explain.time_words import understood
from recall_stages.text.split_words import printable
from recall_stages.timeline.calendar_names import weekday_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Plot = Callable[[Sequence[Candidate], Axes | None], Axes]

T = TypeVar("T")

_LONGEST = 200  # characters of a memory that the table shows

_drawing = lazy_exports(
    {
        "plot_scores": "recall_stages.explain.score_plot",
        "plot_timeline": "recall_stages.explain.timeline_plot",
    },
    {"matplotlib": "plot"},
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the score of each memory came about.

    Printed, it is a table; at the end of a notebook's cell, a table with the way to each score
    drawn. Characters of a memory that would steer a terminal are written out. `plot_scores` and
    `plot_timeline` are pictures.

    Attributes:
        memories: The memories explained, best first.
    """

    memories: tuple[Candidate, ...]

    def table(self, *, ids: bool = False) -> Table:
        """The table, for a `rich` console.

        Args:
            ids: Whether the id of each memory stands with it.
        """
        table = Table("#", "score", "why", "memory")
        for number, memory in enumerate(self.memories, 1):
            score = "" if memory.score is None else f"{memory.score:.3f}"
            why = Text(printable("\n".join(_reasons(memory))))
            table.add_row(str(number), score, why, _told(memory, ids))
        return table

    def understood(self) -> str:
        """What was understood of the time that the question names; empty if it names none."""
        return printable("\n".join(understood(self.memories)))

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def __rich__(self) -> Group | str:
        if not self.memories:
            return "No memories to explain."
        above, below = self.understood(), printable(left_out(self.memories))
        return Group(*([Text(above)] if above else []), self.table(), *([below] if below else []))

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_text(self, width: int = 100) -> str:
        """The table as plain text of a given width, in characters."""
        # In a notebook rich would show it there and then, and write nothing.
        console = Console(file=StringIO(), width=width, color_system=None, force_jupyter=False)
        console.print(self)
        written: str = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO above
        return written.rstrip("\n")

    def to_html(self) -> str:
        """The table as a piece of HTML that stands by itself, without a script."""
        return as_html(self.memories)

    def plot_scores(self, ax: Axes | None = None) -> Axes:
        """Draw how each score was built: what the search found, and what it was multiplied with.

        Args:
            ax: Where to draw, of matplotlib; None = a figure of its own.

        Returns:
            Where it was drawn, to be changed or saved (``.figure.savefig("why.png")``).

        Raises:
            ImportError: When matplotlib is not there: ``pip install 'recall-retrievers[plot]'``.
        """
        return cast("Plot", _drawing("plot_scores"))(self.memories, ax)

    def plot_timeline(self, ax: Axes | None = None) -> Axes:
        """Draw when the memories were recorded and which times they name.

        The time that the question named is shaded, so that it shows what lies in it.

        Args:
            ax: Where to draw, of matplotlib; None = a figure of its own.

        Returns:
            Where it was drawn, to be changed or saved (``.figure.savefig("when.png")``).

        Raises:
            ImportError: When matplotlib is not there: ``pip install 'recall-retrievers[plot]'``.
        """
        return cast("Plot", _drawing("plot_timeline"))(self.memories, ax)


def all_of(found: Sequence[T], kind: type[T]) -> Sequence[T]:
    """What a user wants explained, checked.

    Raises:
        TypeError: When it is no list of these.
    """
    if not isinstance(found, Sequence) or not all(isinstance(each, kind) for each in found):
        raise TypeError(
            f"explain takes a list of {kind.__name__}, as a retriever returned it; got {got(found)}"
        )
    return found


def explain(memories: Sequence[Candidate | Memory]) -> Explanation:
    """Say why each memory came back.

    Examples:
        >>> memory = Candidate(content="Tea at four.").scored(0.8, by="my_function")
        >>> "0.800 by my_function" in str(explain([memory]))
        True
    """
    return Explanation(candidates(memories))


def _reasons(memory: Candidate) -> Iterator[str]:
    yield from (row.whole for row in rows(memory))
    yield from remarks(memory)


def _told(memory: Candidate, with_id: bool) -> Text:
    """When, which and what; as `Text`, so that a memory which says "[bold]" is shown as it is."""
    moment = memory.created_at
    told = Text()
    head = [] if moment is None else [f"{moment:%Y-%m-%d} {weekday_name(moment)}"]
    head += [printable(memory.id)] if with_id else []
    if head:
        told.append(f"{'  '.join(head)}\n", style="dim")
    shown = memory.content if len(memory.content) <= _LONGEST else f"{memory.content[:_LONGEST]}…"
    return told.append(printable(shown))
