"""New rows of a collection, found by the order of its ids.

Chroma returns rows in the order in which they were stored. A row that is replaced keeps its place;
a row that is deleted and stored again comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Id = TypeVar("Id", str, int)


def appended(known: Sequence[Id], there: Sequence[Id]) -> Sequence[Id] | None:
    """The rows stored after all known ones; None if anything else has changed too.

    Args:
        known: The ids of the last known rows, in order.
        there: The ids in the collection, in order, from the place of the first known one.

    Examples:
        >>> appended(["b", "c"], ["b", "c", "d"])
        ['d']
        >>> appended(["b", "c"], ["c", "d"]) is None
        True
    """
    return there[len(known) :] if there[: len(known)] == known else None


def stored_anew(known: Sequence[Id], there: Sequence[Id]) -> Sequence[Id]:
    """The rows that are unknown, or were deleted and stored again.

    They are at the end. The first of them is unknown or comes before its predecessor.

    Args:
        known: The ids of all known rows, in order.
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
