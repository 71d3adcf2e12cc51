"""The meaning of another store's scores: similarities, distances, of words, or unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall_stages.ranking.fusion import rank_score

_ROUNDING = 1e-6  # the tolerance for a similarity above 1
# The squared distance of unrelated vectors of length 1, so that squared distances become cosines.
# Cosine distances are half as large, and plain ones are not squared: their order stays.
_ORTHOGONAL = 2.0


def comparable(
    scores: Sequence[float | None],
    similarity: Callable[[float], float] | None = None,
    *,
    words: bool = False,
) -> tuple[str, list[float]]:
    """The scores of a store as one of three measures, and the name of the measure.

    - "keyword": the scores of a search by words, 0 and up;
    - "similarity": 0 to 1, where they fall and do not exceed 1, or ``similarity`` makes them so;
    - "nearness": 0 to 1, of distances on an unknown scale.

    Where they tell nothing, or only some answers have one, their order counts.

    Examples:
        >>> comparable([0.9, 0.4, -0.2])
        ('similarity', [0.9, 0.4, 0.0])
        >>> comparable([0.5, 1.0])  # they rise: distances
        ('nearness', [0.75, 0.5])
        >>> comparable([0.1, 0.6], lambda distance: 1 - distance)
        ('similarity', [0.9, 0.4])
        >>> comparable([7.5, 2.0], words=True)
        ('keyword', [7.5, 2.0])
    """
    known = [float(score) for score in scores if score is not None]
    by_rank = [rank_score(rank) for rank in range(1, len(scores) + 1)]
    whole = len(known) == len(scores)
    falling = whole and known == sorted(known, reverse=True)
    rising = whole and known == sorted(known) and all(score >= 0 for score in known)
    if words:
        return "keyword", known if falling and all(score >= 0 for score in known) else by_rank
    if whole and similarity is not None:
        known, falling = [similarity(score) for score in known], True
    elif any(score > 1 + _ROUNDING for score in known):
        falling = False
    if falling:
        return "similarity", [min(max(score, 0.0), 1.0) for score in known]
    if not rising:
        return "nearness", by_rank
    longest = max(_ORTHOGONAL, *known)
    return "nearness", [1 - score / longest for score in known]
