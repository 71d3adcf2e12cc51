"""New and deleted rows of a collection, found by the order of its ids.

Chroma returns rows in the order in which they were stored. A row that is replaced keeps its place;
a row that is deleted and stored again comes last. A list with some rows deleted equals the known
one up to the first of them, so the place of the first is found by halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Id = TypeVar("Id", str, int)

_PART = 128  # rows read at once, when the place of a deleted row is nearly found


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


def find_gone(
    known: Sequence[Id], number: int, read: Callable[[int, int], Sequence[Id]]
) -> list[Id] | None:
    """The rows that are gone from a list.

    Args:
        known: The ids of all known rows, in order.
        number: How many of them are gone.
        read: Reads the ids of the rows that are there, from a place on, so many at the most.

    Returns:
        Their ids; None where the list has changed in another way.

    Examples:
        >>> there = [row for row in range(1000) if row not in (7, 500)]
        >>> find_gone(range(1000), 2, lambda start, most: there[start : start + most])
        [7, 500]
    """
    gone: list[Id] = []
    rest, low = list(known), 0
    while len(gone) < number:
        high = len(rest)  # the first row that is gone is in [low, high]
        while high - low > _PART:
            middle = (low + high) // 2
            if list(read(middle, 1)) == [rest[middle]]:
                low = middle + 1
            else:
                high = middle
        there = set(read(low, _PART + 1))
        missing = [row for row in rest[low : low + _PART + 1] if row not in there]
        if not missing:
            return None
        gone += missing
        dropped = set(missing)
        rest = [row for row in rest if row not in dropped]
    return gone if len(gone) == number else None
