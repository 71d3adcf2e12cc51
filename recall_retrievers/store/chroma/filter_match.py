"""The check of a filter in Python, for stores that cannot filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import cast

from recall_retrievers.store.chroma.where import DOCUMENT, Where

_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "$lt": lt,
    "$lte": le,
    "$gt": gt,
    "$gte": ge,
}
_OPPOSITE = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}


def fulfils(where: Where | None, text: str, metadata: Mapping[str, object]) -> bool:
    """Whether a row fulfils a where clause, as Chroma reads one.

    Args:
        where: The clause, as `filter_where` writes it; None = every row fulfils it.
        text: The row's text.
        metadata: Its metadata. A missing key is equal to nothing, so "$ne" holds.

    Examples:
        >>> fulfils({"stars": {"$gte": 3}}, "Tea.", {"stars": 4})
        True
        >>> fulfils({"$and": [{"stars": {"$ne": 4}}, {"topic": {"$eq": "tea"}}]}, "", {"stars": 4})
        False
    """
    return where is None or all(
        _holds(key, wanted, text, metadata) for key, wanted in where.items()
    )


def _holds(key: str, wanted: object, text: str, metadata: Mapping[str, object]) -> bool:
    if key in ("$and", "$or"):
        arms = cast("Sequence[Where]", wanted)
        return (all if key == "$and" else any)(fulfils(arm, text, metadata) for arm in arms)
    conditions = cast("Mapping[str, object]", wanted).items()
    if key == DOCUMENT:
        return all((str(part) in text) == (each == "$contains") for each, part in conditions)
    return all(_compare(metadata.get(key), each, bound) for each, bound in conditions)


def _compare(value: object, operator: str, bound: object) -> bool:
    if operator in _OPPOSITE:
        return not _compare(value, _OPPOSITE[operator], bound)
    if operator == "$eq":
        return _equal(value, bound)
    if operator == "$in":
        return any(_equal(value, each) for each in cast("Sequence[object]", bound))
    if operator == "$contains":
        return isinstance(value, list) and any(_equal(each, bound) for each in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return _ORDER[operator](value, cast("float", bound))


def _equal(value: object, bound: object) -> bool:
    """Equality that does not take True for 1."""
    return isinstance(value, bool) == isinstance(bound, bool) and value == bound
