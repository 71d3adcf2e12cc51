"""What the scores of a store that is not ours mean: similarities, distances, or nothing known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall_stages.ranking.fusion import rank_score

_ROUNDING = 1e-6  # what a similarity may be above 1
# The squared distance of unrelated vectors of length 1, so that of squared distances the cosine is
# made; cosine distances, half as large, and plain ones, not squared, come out flatter, in order.
_ORTHOGONAL = 2.0


def similarities(
    scores: Sequence[float | None], similarity: Callable[[float], float] | None = None
) -> list[float] | None:
    """The scores of a store as similarities, 0 to 1; None where they are none.

    Args:
        scores: What the store says of its answers, the best first.
        similarity: What makes a similarity of such a score, where that is known.

    Examples:
        >>> similarities([0.9, 0.4, -0.2])
        [0.9, 0.4, 0.0]
        >>> similarities([0.1, 0.6]) is None  # they rise: distances
        True
        >>> similarities([0.1, 0.6], lambda distance: 1 - distance)
        [0.9, 0.4]
    """
    known = [float(score) for score in scores if score is not None]
    if len(known) < len(scores):
        return None
    if similarity is not None:
        known = [similarity(score) for score in known]
    elif known != sorted(known, reverse=True) or any(score > 1 + _ROUNDING for score in known):
        return None
    return [min(max(score, 0.0), 1.0) for score in known]


def nearness(scores: Sequence[float | None]) -> list[float]:
    """How near the answers of a store are, 0 to 1, where its scores are no similarities.

    Examples:
        >>> nearness([0.5, 1.0])  # they rise: distances
        [0.75, 0.5]
        >>> nearness([None, None])[0]
        1.0
    """
    known = [float(score) for score in scores if score is not None]
    rise = known == sorted(known) and all(score >= 0 for score in known)
    if not known or len(known) < len(scores) or not rise:
        return [rank_score(rank) for rank in range(1, len(scores) + 1)]
    longest = max(_ORTHOGONAL, known[-1])
    return [1 - score / longest for score in known]
