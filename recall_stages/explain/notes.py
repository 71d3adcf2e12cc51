"""What the trace of a memory says beside its score: how it was found, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator

from recall_stages.core.memory import Memory
from recall_stages.core.recall import JOINED

_FOUND = ("similarity", "keyword", "semantic")


def measured(memory: Memory) -> Iterator[str]:
    """How like the question it is, by each that compared them.

    Examples:
        >>> list(measured(Memory(content="Tea.", trace={"similarity": 0.4, "keyword": 2.0})))
        ['similarity 0.400', 'keyword 2.000']
    """
    for name in _FOUND:
        value = memory.trace.get(name)
        if value is not None:
            yield f"{name} {value:.3f}" if isinstance(value, float) else f"{name}: {value}"


def remarks(memory: Memory) -> Iterator[str]:
    """What else there is to know of it.

    Examples:
        >>> list(remarks(Memory(content="Tea.", trace={"duplicates": "a, b"})))
        ['2 duplicate(s) left out']
    """
    if JOINED in memory.trace:
        yield f"of the {memory.trace[JOINED]}: no memory yet"
    if "duplicates" in memory.trace:
        yield f"{str(memory.trace['duplicates']).count(',') + 1} duplicate(s) left out"
    if "degraded" in memory.trace:
        yield f"degraded: {memory.trace['degraded']}"
