"""The meaning of another store's scores: similarities, distances, of words, or unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall_stages.ranking.fusion import rank_score

_ROUNDING = 1e-6  # the tolerance for a similarity above 1
# The squared distance of unrelated vectors of length 1, so that squared distances become cosines.
# Cosine distances are half as large, and plain ones are not squared: their order stays.
_ORTHOGONAL = 2.0


def similarities(
    scores: Sequence[float | None], similarity: Callable[[float], float] | None = None
) -> list[float] | None:
    """The scores of a store as similarities, 0 to 1; None if they are none.

    Args:
        scores: The scores of the answers, best first.
        similarity: Turns a score into a similarity, if that is known.

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
    """The nearness of the answers of a store, 0 to 1, if its scores are no similarities.

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


def word_scores(scores: Sequence[float | None]) -> list[float]:
    """The scores of a store's search by words, 0 and up; by rank if it has none.

    Examples:
        >>> word_scores([7.5, 2.0])
        [7.5, 2.0]
        >>> word_scores([None, None])[0]
        1.0
    """
    known = [float(score) for score in scores if score is not None]
    falling = known == sorted(known, reverse=True) and all(score >= 0 for score in known)
    if len(known) < len(scores) or not falling:
        return [rank_score(rank) for rank in range(1, len(scores) + 1)]
    return known
