"""What must hold of memories, in a form that any store's own filter can be written from.

Such a filter is coarse: it may return too much, never too little. What it returns is checked here.
So whatever stores read differently is left out: negations, lists, texts in order, missing keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

from typing_extensions import TypeIs

from recall_stages.core.scope import Scope
from recall_stages.core.stage import Search
from recall_stages.store.any_store.time_forms import TimeForms
from recall_stages.store.chroma.row_fields import Fields
from recall_stages.store.chroma.where import DOCUMENT, Where, filter_where

Filter = TypeVar("Filter")

_LARGEST = 2**53  # beyond it, numbers with a fraction leave whole ones out


Bound = float | str | datetime | None


class Between(NamedTuple):
    """The lowest and the highest value; None = there is no such bound."""

    low: Bound
    high: Bound


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one metadata key.

    Attributes:
        key: The metadata key.
        operator: "in" = is one of these texts; "text" = is this text, or a value that is written
            so; "is" = is this boolean; "between" = is neither lower nor higher; "has" = whether the
            key is there.
        value: The value to compare with.
    """

    key: str
    operator: Literal["in", "text", "is", "between", "has"]
    value: tuple[str, ...] | str | bool | Between


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all must hold ("and"), or at least one ("or")."""

    how: Literal["and", "or"]
    parts: tuple[Condition | Joined, ...]


Part = Condition | Joined


class Dialect(Generic[Filter]):
    """Writes conditions as the filter of one kind of store.

    Attributes:
        knows_missing: Whether it can write "has".
    """

    knows_missing: ClassVar[bool] = False

    def condition(self, condition: Condition) -> Filter | None:
        """One condition; None = the store cannot check it, so it is left to us."""
        raise NotImplementedError

    def joined(self, how: Literal["and", "or"], filters: Sequence[Filter]) -> Filter:
        """Two or more filters as one."""
        raise NotImplementedError

    def arguments(self, written: Filter) -> Mapping[str, object]:
        """The arguments of the store's search that hold the filter."""
        raise NotImplementedError

    def narrowing(self, part: Part | None) -> Mapping[str, object]:
        """The arguments for some conditions; empty if the store can check none of them."""
        written = None if part is None else self._written(part)
        return {} if written is None else self.arguments(written)

    def _written(self, part: Part) -> Filter | None:
        if isinstance(part, Condition):
            return self.condition(part)
        arms = [self._written(each) for each in part.parts]
        present = [each for each in arms if each is not None]
        if not present or (part.how == "or" and len(present) < len(arms)):
            return None
        return present[0] if len(present) == 1 else self.joined(part.how, present)


def coarse(search: Search, fields: Fields, forms: TimeForms, *, missing: bool) -> Part | None:
    """What a search demands of memories: their scope, the user's filter and the times.

    Args:
        search: The search.
        fields: The metadata keys of the store.
        forms: How the store writes times.
        missing: Whether the store can check for a missing key.
    """
    where = filter_where(search.filter, fields, timezone=search.timezone)
    return _both(
        [
            *_scope(search.scope, fields),
            None if where is None else _part(where, fields.created_at),
            _window(search, fields, forms, missing=missing),
        ]
    )


def flat(search: Search, fields: Fields) -> Part | None:
    """The same without times and alternatives, for stores that take a plain list of conditions."""
    where = filter_where(search.filter, fields, timezone=search.timezone)
    own = None if where is None else _part(where, fields.created_at)
    whole = _both([*_scope(search.scope, fields), own])
    parts = whole.parts if isinstance(whole, Joined) and whole.how == "and" else (whole,)
    return _both([each for each in parts if isinstance(each, Condition)])


def values_written(text: str) -> list[bool | int | float]:
    """The booleans and numbers that Python writes as a text.

    Examples:
        >>> values_written("7"), values_written("True"), values_written("07")
        ([7], [True], [])
    """
    if text in ("True", "False"):
        return [text == "True"]
    for kind in (int, float):
        with suppress(ValueError):
            if str(kind(text)) == text and math.isfinite(float(text)):
                return [kind(text)]
    return []


def _scope(scope: Scope, fields: Fields) -> list[Part | None]:
    return [
        Condition(getattr(fields, name), "text", value) for name, value in scope.fields().items()
    ]


def _window(search: Search, fields: Fields, forms: TimeForms, *, missing: bool) -> Part | None:
    arms: list[Part | None] = []
    for each in search.within:
        arms += [_between(*bounds) for bounds in forms.bounds(each, fields.created_at)]
        if missing:
            without = [("event_ranges", True), ("event_end", False)]
            arms.append(Joined("and", tuple(Condition(k, "has", there) for k, there in without)))
    return _either(arms) if forms.comparable(missing=missing) else None


def _between(first: str, last: str, low: Bound, high: Bound) -> Part | None:
    """At least ``low`` in one key, at most ``high`` in another; both may be the same key."""
    if first == last:
        return Condition(first, "between", Between(low, high))
    lower = None if low is None else Condition(first, "between", Between(low, None))
    upper = None if high is None else Condition(last, "between", Between(None, high))
    return _both([lower, upper])


def _part(where: Where, created_at: str) -> Part | None:
    """A where clause, wider where stores differ; None = no condition is left."""
    parts: list[Part | None] = []
    for key, wanted in where.items():
        if key in ("$and", "$or"):
            arms = [_part(each, created_at) for each in cast("Sequence[Where]", wanted)]
            parts.append(_both(arms) if key == "$and" else _either(arms))
        elif key not in (DOCUMENT, created_at):  # the time is compared as a moment, here alone
            conditions = cast("Mapping[str, object]", wanted).items()
            parts.extend(_compared(key, operator, bound) for operator, bound in conditions)
    return _both(parts)


def _compared(key: str, operator: str, bound: object) -> Part | None:
    if operator == "$eq":
        return _equal(key, bound)
    if operator == "$in":
        values = cast("Sequence[object]", bound)
        if all(isinstance(each, str) for each in values):
            return Condition(key, "in", cast("tuple[str, ...]", tuple(values)))
        return _either([_equal(key, each) for each in values])
    if not _is_exact(bound):
        return None
    if operator in ("$gt", "$gte"):
        return Condition(key, "between", Between(bound, None))
    if operator in ("$lt", "$lte"):
        return Condition(key, "between", Between(None, bound))
    return None


def _equal(key: str, value: object) -> Part | None:
    if isinstance(value, bool):
        return Condition(key, "is", value)
    if isinstance(value, str):
        return Condition(key, "in", (value,))
    # Not every store takes 1 for 1.0, but all compare them.
    return _between(key, key, value, value) if _is_exact(value) else None


def _is_exact(value: object) -> TypeIs[int | float]:
    return isinstance(value, int | float) and abs(value) <= _LARGEST


def _both(parts: Sequence[Part | None]) -> Part | None:
    present: list[Part] = []
    for part in parts:
        if part is not None:
            nested = isinstance(part, Joined) and part.how == "and"
            present.extend(cast("Joined", part).parts if nested else [part])
    if len(present) < 2:
        return present[0] if present else None
    return Joined("and", tuple(present))


def _either(parts: Sequence[Part | None]) -> Part | None:
    present = [each for each in parts if each is not None]
    if not present or len(present) < len(parts):
        return None
    return present[0] if len(present) == 1 else Joined("or", tuple(present))
