"""Explain: the reasons for each result, as a table, as HTML or as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TypeVar

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from recall_retrievers.core.candidate import Candidate, candidates
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.settings_messages import got
from recall_retrievers.explain import still
from recall_retrievers.explain.html import as_html
from recall_retrievers.explain.rows import below, nothing, remarks, rows, understood
from recall_retrievers.text.words import printable

T = TypeVar("T")

_LONGEST = 200  # characters of a memory that the table shows


@dataclass(frozen=True, slots=True)
class Explanation:
    """The way to the score of each memory.

    Print it for a table. At the end of a notebook's cell it is a table with bars, under a picture
    of the times. Characters of a memory that would control a terminal are escaped.

    Attributes:
        memories: The memories, best first.
        why: Why there are none, in words, where that is known.
    """

    memories: tuple[Candidate, ...]
    why: str = ""

    def table(self, *, ids: bool = False) -> Table:
        """The table, for a `rich` console.

        Args:
            ids: Whether to show the ids of the memories.
        """
        table = Table("#", "score", "why", "memory")
        for number, memory in enumerate(self.memories, 1):
            score = "" if memory.score is None else f"{memory.score:.3f}"
            why = "\n".join([*(row.whole for row in rows(memory)), *remarks(memory)])
            table.add_row(str(number), score, Text(printable(why)), _memory_cell(memory, ids))
        return table

    def understood(self) -> str:
        """The understood time of the question, in words; empty if it names none."""
        return printable("\n".join(understood(self.memories)))

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def __rich__(self) -> Group | str:
        if not self.memories:
            return printable(nothing(self.why))
        above, under = Text(self.understood()), Text(printable("\n".join(below(self.memories))))
        return Group(*([above] if above else []), self.table(), *([under] if under else []))

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_text(self, width: int = 100) -> str:
        """The table as plain text.

        Args:
            width: The width, in characters.
        """
        return plain_text(self, width)

    def to_html(self) -> str:
        """The picture of the times and the table, as one piece of HTML without a script."""
        return as_html(self.memories, self.why)

    def to_svg(self) -> str:
        """A picture of the times: when each memory was recorded, and of when it tells.

        The time that the question names is shaded. Write it to a file, or into a page:
        ``Path("when.svg").write_text(explain(memories).to_svg())``.
        """
        return still.draw(self.memories)


def plain_text(shown: RenderableType, width: int) -> str:
    """What a terminal of a width, in characters, would show."""
    written = StringIO()
    # In a notebook rich would display it at once, and write nothing to the file.
    console = Console(file=written, width=width, color_system=None, force_jupyter=False)
    console.print(shown)
    return written.getvalue().rstrip("\n")


def all_of(results: Sequence[T], kind: type[T]) -> Sequence[T]:
    """Check the results that a user wants explained: they must be a list of this type."""
    if not isinstance(results, Sequence) or not all(isinstance(each, kind) for each in results):
        raise TypeError(
            f"explain takes a list of {kind.__name__}, as a retriever returned it; "
            f"got {got(results)}"
        )
    return results


def explain(memories: Sequence[Candidate | Memory], why: str = "") -> Explanation:
    """Explain the score of each memory, or why there is none.

    Examples:
        >>> memory = Candidate(content="Tea at four.").scored(0.8, by="my_function")
        >>> "0.800 by my_function" in str(explain([memory]))
        True
    """
    return Explanation(candidates(memories), why)


def _memory_cell(memory: Candidate, with_id: bool) -> Text:
    """The time, the id and the content, as `Text`: so a "[bold]" in a memory stays as it is."""
    cell = Text()
    head = [memory.day, printable(memory.id) if with_id else ""]
    if any(head):
        cell.append(f"{'  '.join(filter(None, head))}\n", style="dim")
    shown = memory.content if len(memory.content) <= _LONGEST else f"{memory.content[:_LONGEST]}…"
    return cell.append(printable(shown))
