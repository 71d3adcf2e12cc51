"""PrintMemory: R -> text. The memories as text for a reader or a model. No model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import ClassVar

from recall_stages.core.candidate import Candidate
from recall_stages.core.stage import Recall, Stage
from recall_stages.llm.fencing import indented, one_line

NOTHING_FOUND = "No memories found."

_MARGIN = " " * 4  # deeper than the name of a field is indented


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
    return "\n\n".join(
        _block(number, memory, timezone) for number, memory in enumerate(memories, 1)
    )


def named_values(memory: Candidate) -> str:
    """The metadata of a memory, on one line.

    Examples:
        >>> named_values(Candidate(content="Tea.", metadata={"topic": "drinks", "stars": 3}))
        'topic: drinks, stars: 3'
    """
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
