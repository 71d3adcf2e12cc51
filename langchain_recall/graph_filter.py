"""Filters of LangGraph: what they admit, and what of them the collection can check.

A value is JSON, and the collection compares flat metadata alone. So plain values at the top of a
value are metadata, too. A condition on them lets through too many items, never too few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import ge, gt, le, lt

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.core.query import Filter

_FLAT = "langgraph_flat"  # whether the plain values are metadata, each by itself
_IS = "langgraph_is_{}"  # one of them
# In Chroma Cloud a row has 32 keys of up to 36 bytes, and a condition has 8 parts.
_MOST_FLAT, _LONGEST_NAME, _MOST_PUSHED = 8, 23, 2
_LONGEST = 200  # characters of a text that is compared
_ORDER = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def admits(filter: Mapping[str, object] | None, value: Mapping[str, object]) -> bool:
    """Whether a value fulfils a filter as LangGraph's stores read it.

    A missing key is equal to None. It is neither more nor less than anything.

    Raises:
        ValueError: When an operator is not known.

    Examples:
        >>> admits({"stars": {"$gte": 3}, "topic": "tea"}, {"stars": 4, "topic": "tea"})
        True
    """
    return all(_fulfils(value.get(key), wanted) for key, wanted in (filter or {}).items())


def pushed_down(filter: Mapping[str, object]) -> Filter | None:
    """The condition that the memories of items must fulfil; None = the collection can check none.

    Examples:
        >>> pushed_down({"kind": "tea"})
        {'$or': [{'langgraph_flat': False}, {'$and': [{'langgraph_is_kind': {'$eq': 'tea'}}]}]}
    """
    conditions = _conditions(filter)[:_MOST_PUSHED]
    return {"$or": [{_FLAT: False}, {"$and": conditions}]} if conditions else None


def _fulfils(value: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compares(value, str(key), bound) for key, bound in wanted.items())
        if not isinstance(value, Mapping):
            return False
        return all(_fulfils(value.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(_fulfils(each, part) for each, part in zip(value, wanted, strict=True))
    return value == wanted


def _compares(value: object, operator: str, bound: object) -> bool:
    if operator == "$eq":
        return value == bound
    if operator == "$ne":
        return value != bound
    if operator not in _ORDER:
        raise ValueError(
            f"filter operator must be one of $eq, $ne, {', '.join(_ORDER)}; got {operator!r}"
        )
    left, right = _number(value), _number(bound)
    return left is not None and right is not None and _ORDER[operator](left, right)


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _plain(value: object) -> str | float | None:
    """A value as it is compared in the collection: equal values are equal there, too."""
    if isinstance(value, str):
        return value[:_LONGEST]
    number = _number(value)  # 1, 1.0 and True are equal
    return number if number is not None and math.isfinite(number) else None


def flat_values(value: Mapping[str, object]) -> dict[str, MetadataValue]:
    """The plain values at the top of a value, as metadata; none if they are too many."""
    plain = {
        _IS.format(name): _plain(part)
        for name, part in value.items()
        if isinstance(part, str | int | float) and _can_be_named(name)
    }
    known = {name: part for name, part in plain.items() if part is not None}
    whole = len(known) == len(plain) <= _MOST_FLAT
    return {_FLAT: whole, **(known if whole else {})}


def _conditions(filter: Mapping[str, object]) -> list[Filter]:
    """The conditions of a filter that the collection can check."""
    conditions: list[Filter] = []
    for name, wanted in filter.items():
        for operator, bound in (wanted if isinstance(wanted, Mapping) else {"$eq": wanted}).items():
            plain = _plain(bound)
            ordered = operator in _ORDER and isinstance(plain, float)
            if _can_be_named(name) and plain is not None and (operator == "$eq" or ordered):
                conditions.append({_IS.format(name): {str(operator): plain}})
    return conditions


def _can_be_named(name: str) -> bool:
    return len(name.encode("utf-8", "surrogatepass")) <= _LONGEST_NAME
