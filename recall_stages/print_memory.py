"""PrintMemory: R -> text. The memories as a reader, or a model, sees them. No model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from recall_stages.memory import Memory
from recall_stages.model.text_stage import TextStage
from recall_stages.stage import Recall

NOTHING_FOUND = "No memories found."


class PrintMemory(TextStage):
    """Write the memories as text: number, when to use, content, time and metadata.

    Seed operation PrintMemoryOp. An empty list gives an explicit text, not an empty one.

    Examples:
        >>> told = Memory(content="The dentist is on Elm Street.", author="Ann")
        >>> print(print_memories([told], None))
        Memory 1:
          Content: The dentist is on Elm Street.
          Author: Ann
        >>> print_memories([], None)
        'No memories found.'
    """

    def apply(self, recall: Recall) -> Recall:
        """Set the text; the memories stay as they are."""
        recall = self.asked_for(recall)
        return replace(
            recall, text=print_memories(recall.memories, recall.query.reference_time.tzinfo)
        )


def print_memories(memories: Sequence[Memory], timezone: tzinfo | None) -> str:
    """The memories as text, their times in a time zone."""
    if not memories:
        return NOTHING_FOUND
    return "\n\n".join(
        _block(number, memory, timezone) for number, memory in enumerate(memories, 1)
    )


def _block(number: int, memory: Memory, timezone: tzinfo | None) -> str:
    lines = {
        "When to use": memory.when_to_use,
        "Content": memory.content.replace("\n", "\n    "),
        "Author": memory.author,
        "Recorded": memory.recorded(timezone),
        "Metadata": ", ".join(f"{key}: {value}" for key, value in memory.metadata.items()),
    }
    return "\n".join(
        [f"Memory {number}:", *(f"  {name}: {text}" for name, text in lines.items() if text)]
    )
