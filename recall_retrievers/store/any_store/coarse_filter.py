"""What must hold of memories, written as the own filter of any store.

Such a filter is coarse: it may return too much, never too little. What it returns is checked here.
So whatever stores read differently is left out: negations, lists, texts in order, missing keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import ClassVar, Generic, Literal, Self, TypeVar, cast

from typing_extensions import TypeIs

from recall_retrievers.core.stage import Search
from recall_retrievers.store.any_store.time_forms import TimeForms
from recall_retrievers.store.chroma.row_fields import Fields
from recall_retrievers.store.chroma.where import DOCUMENT, Where, filter_where

Filter = TypeVar("Filter")
Bound = float | str | datetime
Plain = str | bool | int | float
Side = Literal["gte", "lte"]
How = Literal["and", "or"]

_LARGEST = 2**53  # beyond it, numbers with a fraction leave whole ones out
_SIDES: Mapping[str, Side] = {"$gt": "gte", "$gte": "gte", "$lt": "lte", "$lte": "lte"}


class Dialect(Generic[Filter]):
    """Writes the filters of one kind of store.

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
    def of(cls, source: object) -> Self:  # noqa: ARG003 - a subclass reads it
        """What writes the filters of a store."""
        return cls()

    def one_of(self, key: str, values: Sequence[Plain]) -> Filter | None:
        """A key has one of these texts, or this single value of another type."""
        raise NotImplementedError

    def bounded(self, key: str, side: Side, bound: Bound) -> Filter | None:
        """A key has at least, or at most, this value."""
        raise NotImplementedError

    def has(self, key: str, there: bool) -> Filter:
        """A key is there, or is missing; asked only if `knows_missing`."""
        raise NotImplementedError

    def joined(self, how: How, filters: Sequence[Filter]) -> Filter:
        """Two or more filters as one."""
        raise NotImplementedError

    def arguments(self, written: Filter) -> Mapping[str, object]:
        """The arguments of the store's search that hold the filter."""
        raise NotImplementedError

    def narrowing(
        self, search: Search, fields: Fields, forms: TimeForms | None
    ) -> Mapping[str, object]:
        """The arguments for what a search demands: its scope, the user's filter and the times.

        They are empty if the store can check none of it. Without ``forms``, in which it writes
        times, they are a plain list of conditions: no times, and no alternatives.
        """
        where = filter_where(search.filter, fields, timezone=search.timezone)
        if where is not None and forms is None:
            where = _without_alternatives(where)
        owner = [
            self._text(getattr(fields, n), value) for n, value in search.scope.fields().items()
        ]
        own = None if where is None else self._where(where, fields.created_at)
        window = None if forms is None else self._window(search, fields, forms)
        written = self._one("and", [*owner, own, window])
        return {} if written is None else self.arguments(written)

    def between(self, key: str, low: Bound | None, high: Bound | None) -> Filter | None:
        """A key is neither lower nor higher."""
        return self._one("and", [self._bound(key, "gte", low), self._bound(key, "lte", high)])

    def _text(self, key: str, text: str) -> Filter | None:
        """A key has this text, or a value that is written so: a store may have 7 for "7"."""
        return self._one("or", [self._in(key, [each]) for each in (text, *values_written(text))])

    def _window(self, search: Search, fields: Fields, forms: TimeForms) -> Filter | None:
        if not forms.comparable(missing=self.knows_missing):
            return None
        arms: list[Filter | None] = []
        for each in search.within:
            for first, last, low, high in forms.bounds(each, fields.created_at):
                if first == last:
                    arms.append(self.between(first, low, high))
                    continue
                bounds = [self._bound(first, "gte", low), self._bound(last, "lte", high)]
                arms.append(self._one("and", bounds))
            if self.knows_missing:
                unread = [self.has("event_ranges", True), self.has("event_end", False)]
                arms.append(self.joined("and", unread))
        return self._one("or", arms)

    def _where(self, where: Where, created_at: str) -> Filter | None:
        """A where clause, wider where stores differ; None = no condition is left."""
        parts: list[Filter | None] = []
        for key, wanted in where.items():
            if key in ("$and", "$or"):
                arms = [self._where(each, created_at) for each in cast("Sequence[Where]", wanted)]
                parts.append(self._one("and" if key == "$and" else "or", arms))
            elif key not in (DOCUMENT, created_at):  # the time is compared as a moment, here alone
                conditions = cast("Mapping[str, object]", wanted).items()
                parts.extend(self._compared(key, operator, bound) for operator, bound in conditions)
        return self._one("and", parts)

    def _compared(self, key: str, operator: str, bound: object) -> Filter | None:
        if operator in _SIDES:
            return self._bound(key, _SIDES[operator], bound) if _is_exact(bound) else None
        if operator not in ("$eq", "$in"):
            return None
        values = cast("Sequence[object]", bound if operator == "$in" else [bound])
        texts = [each for each in values if isinstance(each, str)]
        others = [self._equal(key, each) for each in values if not isinstance(each, str)]
        return self._one("or", [*([self._in(key, texts)] if texts else []), *others])

    def _equal(self, key: str, value: object) -> Filter | None:
        if isinstance(value, bool):
            return self._in(key, [value])
        # Not every store takes 1 for 1.0, but all compare them.
        return self.between(key, value, value) if _is_exact(value) else None

    def _in(self, key: str, values: Sequence[Plain]) -> Filter | None:
        return self.one_of(key, values) if self.any_key or key.isidentifier() else None

    def _bound(self, key: str, side: Side, bound: Bound | None) -> Filter | None:
        if bound is None or not (self.any_key or key.isidentifier()):
            return None
        return self.bounded(key, side, bound)

    def _one(self, how: How, arms: Sequence[Filter | None]) -> Filter | None:
        """Filters as one; "and" goes without what the store cannot check, "or" needs all."""
        present = [each for each in arms if each is not None]
        if not present or (how == "or" and len(present) < len(arms)):
            return None
        return present[0] if len(present) == 1 else self.joined(how, present)


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


def _without_alternatives(where: Where) -> Where:
    kept: Where = {}
    for key, wanted in where.items():
        if key == "$and":
            kept[key] = [_without_alternatives(each) for each in cast("Sequence[Where]", wanted)]
        elif key != "$or":
            conditions = cast("Mapping[str, object]", wanted).items()
            kept[key] = {name: bound for name, bound in conditions if not _is_mixed(name, bound)}
    return kept


def _is_mixed(operator: str, bound: object) -> bool:
    """Whether it is a list of values that are written as alternatives."""
    listed = cast("Sequence[object]", bound) if operator == "$in" else ()
    return not all(isinstance(each, str) for each in listed)


def _is_exact(value: object) -> TypeIs[int | float]:
    return isinstance(value, int | float) and abs(value) <= _LARGEST
