"""What must hold of memories, written as the own filter of any store.

Such a filter is coarse: it may return too much, never too little. What it returns is checked here.
So whatever stores read differently is left out: negations, lists, texts in order, missing keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, Self, TypeVar, cast

from typing_extensions import TypeIs

from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.fields import Fields, TimeUnit, event_bounds, outer_bounds
from recall_retrievers.store.chroma.where import DOCUMENT, Where, filter_where
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.parse_time import EPOCH_MILLISECONDS_FROM

if TYPE_CHECKING:
    from qdrant_client import models

Filter = TypeVar("Filter")
Bound = float | str
Plain = str | bool | int | float
Side = Literal["gte", "lte"]
How = Literal["and", "or"]

_LARGEST = 2**53  # beyond it, numbers with a fraction leave whole ones out
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_DAY = timedelta(days=1)  # no zone is further from UTC
_WITH_FOUR_DIGITS = (datetime(1000, 1, 3, tzinfo=UTC), datetime(9999, 12, 28, tzinfo=UTC))
_SIDES: Mapping[str, Side] = {"$gt": "gte", "$gte": "gte", "$lt": "lte", "$lte": "lte"}


class Dialect(Generic[Filter]):
    """Writes the filters of one kind of store.

    None in the place of a filter means that the store cannot check it, so it is left to us.

    Attributes:
        stores: The names of the classes of such stores, so that none has to be installed.
        knows_missing: Whether it can write that a key is missing.
        any_key: Whether a key may have a dot or a bracket, which some stores take for a path.
        alternatives: Whether it can write "or". Without it, no times are written.
    """

    stores: ClassVar[tuple[str, ...]] = ()
    knows_missing: ClassVar[bool] = False
    any_key: ClassVar[bool] = False
    alternatives: ClassVar[bool] = True

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

    def narrowing(self, search: Search, fields: Fields, times: TimeUnit) -> Mapping[str, object]:
        """The arguments for what a search demands: its scope, the user's filter and the times.

        They are empty if the store can check none of it.
        """
        where = filter_where(search.filter, fields, timezone=search.timezone)
        owner = [
            self._text(getattr(fields, n), value) for n, value in search.scope.fields().items()
        ]
        own = None if where is None else self._where(where, fields.created_at)
        window = self._window(search, fields.created_at, times)
        written = self._one("and", [*owner, own, window])
        return {} if written is None else self.arguments(written)

    def between(self, key: str, low: Bound | None, high: Bound | None) -> Filter | None:
        """A key is neither lower nor higher."""
        return self._one("and", [self._bound(key, "gte", low), self._bound(key, "lte", high)])

    def _text(self, key: str, text: str) -> Filter | None:
        """A key has this text, or a value that is written so: a store may have 7 for "7"."""
        return self._one("or", [self._in(key, [each]) for each in (text, *values_written(text))])

    def _window(self, search: Search, key: str, times: TimeUnit) -> Filter | None:
        if times == "mixed":
            return None
        arms: list[Filter | None] = []
        for each in search.within:
            arms.append(self.between(key, *_bounds(each, times)))
            first, last = event_bounds(each)
            low, high = first if each.start else None, last if each.end else None
            events = [self._bound("event_end", "gte", low), self._bound("event_start", "lte", high)]
            arms.append(self._one("and", events))
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
        if len(present) == 1:
            return present[0]
        return self.joined(how, present) if how == "and" or self.alternatives else None


Words = dict[str, object]


@dataclass(frozen=True, slots=True)
class QdrantDialect(Dialect[Words]):
    """Qdrant's filters as JSON. Its client is there if there is a store of it.

    Attributes:
        prefix: What stands before the metadata keys in a payload.
    """

    stores: ClassVar[tuple[str, ...]] = ("QdrantVectorStore",)
    knows_missing: ClassVar[bool] = True

    prefix: str = "metadata."

    def one_of(self, key: str, values: Sequence[Plain]) -> Words | None:
        """A key has one of these values; numbers match only whole ones, so they are compared."""
        value = values[0]
        if not isinstance(value, str | bool):
            return self.between(key, value, value)
        match = {"value": value} if isinstance(value, bool) else {"any": [*values]}
        return {"key": self.prefix + key, "match": match}

    def bounded(self, key: str, side: Side, bound: Bound) -> Words | None:
        """A key has at least, or at most, this value."""
        return {"key": self.prefix + key, "range": {side: bound}}

    def between(self, key: str, low: Bound | None, high: Bound | None) -> Words | None:
        """A key is neither lower nor higher: one range, which Qdrant plans better than two."""
        whole = Dialect.between(self, key, low, high)
        if whole is None or low is None or high is None:
            return whole
        return {"key": self.prefix + key, "range": {"gte": low, "lte": high}}

    def has(self, key: str, there: bool) -> Words:
        """A key is there, or is missing."""
        empty: Words = {"is_empty": {"key": self.prefix + key}}
        return {"must_not": [empty]} if there else empty

    def joined(self, how: How, filters: Sequence[Words]) -> Words:
        """Several conditions as one."""
        return {"must" if how == "and" else "should": [*filters]}

    def whole(self, written: Words) -> models.Filter:
        """A filter as Qdrant's client takes it."""
        from qdrant_client import models  # noqa: PLC0415 - no dependency of ours

        return models.Filter.model_validate(self.joined("and", [written]))

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"filter": self.whole(written)}


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


def written_unit(value: object) -> TimeUnit:
    """How a time is written; "mixed" for what no store compares as a time.

    Examples:
        >>> written_unit(1709632800), written_unit("2024-03-05"), written_unit("5 March")
        ('seconds', 'iso', 'mixed')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "milliseconds" if abs(value) >= EPOCH_MILLISECONDS_FROM else "seconds"
    return "iso" if isinstance(value, str) and _ISO.fullmatch(value) else "mixed"


def _bounds(time_range: TimeRange, times: TimeUnit) -> tuple[Bound | None, Bound | None]:
    """The bounds of a range as a store writes them, never too narrow; None = open."""
    start, end = time_range.start, time_range.end
    if times == "iso":
        return _date(start, -_DAY), _date(end, 2 * _DAY)
    return outer_bounds(time_range, 1000 if times == "seconds" else 1)


def _date(moment: datetime | None, margin: timedelta) -> str | None:
    """The date of a moment, moved by a margin: what any time of that day begins with, or more."""
    first, last = _WITH_FOUR_DIGITS
    if moment is None or not first < moment < last:
        return None
    return (moment.astimezone(UTC) + margin).date().isoformat()


def _is_exact(value: object) -> TypeIs[int | float]:
    return isinstance(value, int | float) and abs(value) <= _LARGEST
