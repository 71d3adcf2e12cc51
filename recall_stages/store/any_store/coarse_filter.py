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
from typing import ClassVar, Generic, Literal, NamedTuple, Self, TypeVar, cast

from typing_extensions import TypeIs

from recall_stages.core.scope import Scope
from recall_stages.core.stage import Search
from recall_stages.store.any_store.time_forms import TimeForms
from recall_stages.store.chroma.row_fields import Fields
from recall_stages.store.chroma.where import DOCUMENT, Where, filter_where

Filter = TypeVar("Filter")

_LARGEST = 2**53  # beyond it, numbers with a fraction leave whole ones out


Bound = float | str | datetime | None
Plain = str | bool | int | float
Side = Literal["gte", "lte"]
How = Literal["and", "or"]


class Between(NamedTuple):
    """The lowest and the highest value; None = there is no such bound."""

    low: Bound
    high: Bound


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one metadata key.

    Attributes:
        key: The metadata key.
        value: A tuple = it is one of these; `Between` = it is neither lower nor higher; a boolean =
            whether the key is there.
    """

    key: str
    value: tuple[Plain, ...] | Between | bool


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all must hold ("and"), or at least one ("or")."""

    how: How
    parts: tuple[Condition | Joined, ...]


Part = Condition | Joined


class Dialect(Generic[Filter]):
    """Writes conditions as the filter of one kind of store.

    None in the place of a filter means that the store cannot check it, so it is left to us.

    Attributes:
        stores: The names of the classes of such stores, so that none has to be installed.
        knows_missing: Whether it can write that a key is missing.
        any_key: Whether a key may have a dot or a bracket, which some stores take for a path.
    """

    stores: ClassVar[tuple[str, ...]] = ()
    knows_missing: ClassVar[bool] = False
    any_key: ClassVar[bool] = False

    @classmethod
    def of(cls, source: object) -> Self:  # noqa: ARG003 - for those that differ from store to store
        """What writes the filters of a store."""
        return cls()

    def one_of(self, key: str, values: Sequence[Plain]) -> Filter | None:
        """A key has one of these values, which are of one type."""
        raise NotImplementedError

    def bounded(self, key: str, side: Side, bound: Bound) -> Filter | None:
        """A key has at least, or at most, this value."""
        raise NotImplementedError

    def between(self, key: str, low: Bound, high: Bound) -> Filter | None:
        """A key is neither lower nor higher."""
        lower = None if low is None else self.bounded(key, "gte", low)
        upper = None if high is None else self.bounded(key, "lte", high)
        return self._one("and", [lower, upper])

    def has(self, key: str, there: bool) -> Filter:
        """A key is there, or is missing; asked only if `knows_missing`."""
        raise NotImplementedError

    def joined(self, how: How, filters: Sequence[Filter]) -> Filter:
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
        if isinstance(part, Joined):
            return self._one(part.how, [self._written(each) for each in part.parts])
        key, value = part.key, part.value
        if not (self.any_key or key.isidentifier()):
            return None
        if isinstance(value, Between):
            return self.between(key, *value)
        if isinstance(value, bool):
            return self.has(key, value)
        alike: dict[type, list[Plain]] = {}
        for each in value:
            alike.setdefault(type(each), []).append(each)
        return self._one("or", [self.one_of(key, same) for same in alike.values()])

    def _one(self, how: How, arms: Sequence[Filter | None]) -> Filter | None:
        present = [each for each in arms if each is not None]
        if not present or (how == "or" and len(present) < len(arms)):
            return None
        return present[0] if len(present) == 1 else self.joined(how, present)


def coarse(search: Search, fields: Fields, forms: TimeForms, *, missing: bool) -> Part | None:
    """What a search demands of memories: their scope, the user's filter and the times."""
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
        Condition(getattr(fields, name), (value, *values_written(value)))  # not "7" alone: 7
        for name, value in scope.fields().items()
    ]


def _window(search: Search, fields: Fields, forms: TimeForms, *, missing: bool) -> Part | None:
    arms: list[Part | None] = []
    for each in search.within:
        arms += [_between(*bounds) for bounds in forms.bounds(each, fields.created_at)]
        if missing:
            without = [("event_ranges", True), ("event_end", False)]
            arms.append(Joined("and", tuple(Condition(k, there) for k, there in without)))
    return _either(arms) if forms.comparable(missing=missing) else None


def _between(first: str, last: str, low: Bound, high: Bound) -> Part | None:
    """At least ``low`` in one key, at most ``high`` in another; both may be the same key."""
    if first == last:
        return Condition(first, Between(low, high))
    lower = None if low is None else Condition(first, Between(low, None))
    upper = None if high is None else Condition(last, Between(None, high))
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
            return Condition(key, cast("tuple[str, ...]", tuple(values)))
        return _either([_equal(key, each) for each in values])
    if not _is_exact(bound):
        return None
    if operator in ("$gt", "$gte"):
        return Condition(key, Between(bound, None))
    if operator in ("$lt", "$lte"):
        return Condition(key, Between(None, bound))
    return None


def _equal(key: str, value: object) -> Part | None:
    if isinstance(value, bool | str):
        return Condition(key, (value,))
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
