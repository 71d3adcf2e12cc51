"""What the candidates are worth, on one scale, whatever found them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recall_stages.core.memory import Memory


def relevances(memories: Sequence[Memory], ranked_by: str) -> list[float]:
    """How relevant each memory was before a stage weighed it, between 0 and 1.

    Scores on a larger scale are divided by the best one; a memory without a finite one gets one
    from its place. A memory that the same stage has weighed before, and none since, is taken as it
    was then, so that running a stage twice changes nothing.

    Args:
        memories: The candidates, best first.
        ranked_by: The name under which the stage leaves its score in the trace; what it was made
            from stands there as ``relevance``.

    Examples:
        >>> found = [Memory(content="a", score=4.0), Memory(content="b", score=1.0)]
        >>> relevances(found, "fused")
        [1.0, 0.25]
        >>> relevances([Memory(content="a"), Memory(content="b")], "fused")
        [1.0, 0.5]
    """
    scores = [_before(memory, ranked_by) for memory in memories]
    scale = max([1.0, *(score for score in scores if score is not None)])
    return [
        1 - place / len(memories) if score is None else max(score, 0.0) / scale
        for place, score in enumerate(scores)
    ]


def noted(memory: Memory, ranked_by: str, name: str) -> float | None:
    """The number that a stage left in the trace when it gave a memory its score.

    None where it left none, or where another stage has scored the memory since.

    Examples:
        >>> fused = Memory(content="Tea.").scored(0.8, fused=0.8, relevance=0.4, time_match="none")
        >>> [noted(fused, "fused", name) for name in ("relevance", "time_match", "time_trust")]
        [0.4, None, None]
    """
    value = memory.trace.get(name)
    was_ranked = memory.score is not None and memory.trace.get(ranked_by) == memory.score
    return value if was_ranked and isinstance(value, float) else None


def _before(memory: Memory, ranked_by: str) -> float | None:
    relevance = noted(memory, ranked_by, "relevance")
    score = memory.score if relevance is None else relevance
    return score if score is not None and math.isfinite(score) else None
