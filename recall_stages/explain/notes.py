"""Remarks on a memory, apart from its score: its origin, its copies, and failed stages."""

from __future__ import annotations

from collections.abc import Iterator

from recall_stages.core.candidate import Candidate
from recall_stages.core.recall import JOINED


def remarks(memory: Candidate) -> Iterator[str]:
    """The remarks on a memory.

    Examples:
        >>> list(remarks(Candidate(content="Tea.").scored(0.5, duplicates="a, b")))
        ['2 duplicate(s) left out']
    """
    joined, duplicates, degraded = map(memory.noted, (JOINED, "duplicates", "degraded"))
    if joined is not None:
        yield f"of the {joined}: no memory yet"
    if duplicates is not None:
        yield f"{str(duplicates).count(',') + 1} duplicate(s) left out"
    if degraded is not None:
        yield f"degraded: {degraded}"
