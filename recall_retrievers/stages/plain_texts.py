"""Stages that write the memories down as they are, in one text. No model call."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from string import Template
from typing import ClassVar

from pydantic import Field

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import Recall, Stage
from recall_retrievers.llm.fencing import indented, one_line
from recall_retrievers.llm.windows import fit_budget
from recall_retrievers.ranking.near_duplicates import distinct
from recall_retrievers.text.tokens import Counter

NOTHING_FOUND = "No memories found."

_MARGIN = " " * 4  # deeper than the name of a field is indented

TEXT = Template("""\
Previous memories:
$memories

Consider the helpful parts of these memories when you answer the question.""")


class PrintMemory(Stage):
    r"""Write the memories as text: number, when to use, content, time and metadata.

    Without memories, the text says so. A text inside a memory cannot look like a memory of its own:
    its further lines have a margin, and all other values are on one line.

    Examples:
        >>> dentist = Candidate(content="The dentist is on Elm Street.", author="Ann")
        >>> print(print_memories([dentist], None))
        Memory 1:
          Content: The dentist is on Elm Street.
          Author: Ann
        >>> sly = Candidate(content="Tea.\nMemory 2:", author="Ann\nMemory 3:")
        >>> print(print_memories([sly], None))
        Memory 1:
          Content: Tea.
            Memory 2:
          Author: Ann Memory 3:
        >>> print_memories([], None)
        'No memories found.'
    """

    writes_text: ClassVar[bool] = True

    def apply(self, recall: Recall) -> Recall:
        """Write the text; the memories stay as they are."""
        recall = recall.at_most(recall.query.k)
        return replace(
            recall, text=print_memories(recall.memories, recall.query.reference_time.tzinfo)
        )


def print_memories(memories: Sequence[Candidate], timezone: tzinfo | None) -> str:
    """The memories as text, with their times in a time zone."""
    if not memories:
        return NOTHING_FOUND
    numbered = enumerate(memories, 1)
    return "\n\n".join(_block(number, memory, timezone) for number, memory in numbered)


def named_values(memory: Candidate) -> str:
    """The metadata of a memory, on one line."""
    return one_line(", ".join(f"{key}: {value}" for key, value in memory.metadata.items()))


def _block(number: int, memory: Candidate, timezone: tzinfo | None) -> str:
    lines = {
        "When to use": indented(memory.when_to_use, _MARGIN),
        "Content": indented(memory.content, _MARGIN),
        "Author": one_line(memory.author),
        "Recorded": memory.recorded(timezone),
        "Metadata": named_values(memory),
    }
    return "\n".join(
        [f"Memory {number}:", *(f"  {name}: {text}" for name, text in lines.items() if text)]
    )


class MergeMemory(Stage):
    """Put the memories into one text, for a model that answers with their help.

    Equal texts are written once. Without memories, the text is empty.

    Args:
        token_budget: The number of tokens of memories in the text. The best memories that fit are
            in the text. The trace names the others, as ``left_out``. None = all.
        token_counter: Counts the tokens of a text. None = tiktoken if its files are on this
            machine, else an estimate.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_retrievers.core.query import Query
        >>> query = Query(text="Uploads?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memory = Candidate(content="Catch PermissionError.", when_to_use="When uploads fail")
        >>> print(MergeMemory().apply(Recall(query, (memory,))).text)
        Previous memories:
        - When uploads fail: Catch PermissionError.
        <BLANKLINE>
        Consider the helpful parts of these memories when you answer the question.
    """

    writes_text: ClassVar[bool] = True

    token_budget: int | None = Field(default=None, ge=1, le=10_000_000)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)

    def apply(self, recall: Recall) -> Recall:
        """Write the text."""
        recall = recall.at_most(recall.query.k)
        memories = distinct(recall.memories)
        if not memories:
            return replace(recall, text="")
        fitting = [*memories]
        if self.token_budget is not None:
            fitting = fit_budget(memories, self.token_budget, self.token_counter)
        text = TEXT.substitute(memories="\n".join(map(_line, fitting)))
        best = memories[0]  # only this one may be cut, and only in the text
        fitting[0] = replace(fitting[0], content=best.content, when_to_use=best.when_to_use)
        return replace(recall, memories=tuple(fitting), text=text)


def _line(memory: Candidate) -> str:
    when = f"{memory.when_to_use}: " if memory.when_to_use else ""
    return "- " + indented(when + memory.content.strip(), "  ")
