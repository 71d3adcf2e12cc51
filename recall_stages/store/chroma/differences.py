"""What is new in a collection, seen by the ids of its rows alone.

Chroma hands rows over in the order in which they were stored: one that is replaced keeps its place,
and one that is deleted and stored again comes last.
"""

from __future__ import annotations

from collections.abc import Sequence


def appended(known: Sequence[str], there: Sequence[str]) -> Sequence[str] | None:
    """The rows stored after all that are known; None where anything else has changed too.

    Args:
        known: The ids of the last rows that are known, in order.
        there: The ids in the collection, in order, from the place of the first of these on.

    Examples:
        >>> appended(["b", "c"], ["b", "c", "d"])
        ['d']
        >>> appended(["b", "c"], ["c", "d"]) is None
        True
    """
    return there[len(known) :] if there[: len(known)] == known else None


def stored_anew(known: Sequence[str], there: Sequence[str]) -> Sequence[str]:
    """The rows that are not known, or were deleted and stored again.

    Those stand at the end, from the first on that is not known or comes before its predecessor.

    Args:
        known: The ids of all rows that are known, in order.
        there: The ids of all rows in the collection, in order.

    Examples:
        >>> stored_anew(["a", "b", "c", "d"], ["a", "c", "d", "b", "e"])
        ['b', 'e']
    """
    places = {row_id: place for place, row_id in enumerate(known)}
    last = -1
    for number, row_id in enumerate(there):
        place = places.get(row_id, -1)
        if place <= last:
            return there[number:]
        last = place
    return []
