"""Where clauses: a user's filter checked and made exact, a scope and a time, as Chroma reads them.

Only operators that work embedded and on every server are let through.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from operator import ge, gt, le, lt
from typing import cast

from typing_extensions import TypeIs

from recall_retrievers.core.errors import FilterError
from recall_retrievers.core.query import Filter
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.fields import (
    EARLIEST,
    EXPIRES_AT,
    MAY_EXPIRE,
    OWN_FIELDS,
    SUPERSEDED_AT,
    Fields,
    bounds_of,
    day_of,
    event_bounds,
    to_milliseconds,
)
from recall_retrievers.store.chroma.rows import FRAMEWORK_KEYS, row_key
from recall_retrievers.timeline import TimeRange, parse_time

Where = dict[str, object]

_ORDER = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_OPPOSITE = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}
_OPERATORS = ("$eq", "$ne", *_ORDER, "$in", "$nin", "$contains", "$not_contains")
_LISTS = (list, tuple, set, frozenset)
DOCUMENT = "#document"  # Chroma's key for the text of a row
_LARGEST_INTEGER = 2**63 - 1
_MOST_CLAUSES, _MOST_VALUES = 200, 10_000  # of a filter: each is compared with each memory
_DEEPEST = 30  # filters within filters; servers read JSON that is nested 128 deep, two to a filter


class Joined(list[Filter]):
    """Filters that must all hold, of which each may be as large as any; for an ``$and``."""


def joined(*filters: Filter | None) -> Filter | None:
    """Filters of a retriever, of a call and of our own as one; None = every row fulfils it."""
    present = Joined(each for each in filters if each)
    return {"$and": present} if len(present) > 1 else next(iter(present), None)


def check_size(clauses: int, values: int = 0) -> None:
    if clauses > _MOST_CLAUSES or values > _MOST_VALUES:
        raise FilterError(
            f"a filter may have {_MOST_CLAUSES} conditions and {_MOST_VALUES:,} values at most; "
            "this one has more. Ask with several filters, or store what the memories have in "
            "common as a metadata value"
        )


def all_of(conditions: Sequence[Where | None]) -> Where | None:
    """Every condition at once; Chroma accepts neither an empty nor a one-armed ``$and``."""
    return _joined("$and", conditions)


def any_of(conditions: Sequence[Where | None]) -> Where | None:
    return _joined("$or", conditions)


def scope_where(scope: Scope, fields: Fields = OWN_FIELDS) -> Where | None:
    owners = scope.fields().items()
    return all_of([{getattr(fields, name): {"$eq": value}} for name, value in owners])


def living_where(search: Search, moment: datetime) -> Where:
    """Rows of ours that may count in a search, or never end; slow where Chroma checks it.

    It lets through the few rows with one end that is over, and one that is not.
    """
    later = to_milliseconds(moment)
    superseded = {"$gte": EARLIEST} if search.include_superseded else {"$gt": later}
    ends: list[Where] = [{EXPIRES_AT: {"$gt": later}}, {SUPERSEDED_AT: superseded}]
    return {"$or": [*ends, {MAY_EXPIRE: {"$ne": True}}]}


def expired_where(moment: datetime) -> Where:
    return {EXPIRES_AT: {"$lte": to_milliseconds(moment)}}


def filter_where(
    condition: Filter | None,
    fields: Fields = OWN_FIELDS,
    unit: int | None = 1,
    timezone: tzinfo | None = None,
    *,
    ours: bool = False,
) -> Where | None:
    """A user's filter as a where clause that Chroma accepts; None = every row fulfils it.

    It is a `FilterError` if a key, an operator or a value cannot match anything. The recorded time
    may be compared with a datetime or ISO 8601. Fractions, which Chroma truncates, compare rightly
    with whole numbers. ``unit``: of the times of rows, in milliseconds; None = they are no numbers
    of one unit. ``ours``: the rows are ours, where metadata may have another key.
    """
    reader = _Reader(fields.created_at, unit, timezone, ours)
    return None if condition is None else reader.read(condition)


@dataclass(slots=True)
class _Reader:
    created_at: str
    unit: int | None
    timezone: tzinfo | None
    ours: bool
    clauses: int = 0
    values: int = 0

    def read(self, condition: object, depth: int = 1) -> Where | None:
        if depth > _DEEPEST:
            raise FilterError(
                f"a filter may be nested {_DEEPEST} deep; this one is deeper. Put all conditions "
                "of an $and, or an $or, into one list"
            )
        if not isinstance(condition, Mapping):
            raise FilterError(
                f"filter must be a mapping of keys to conditions; got {got(condition)}"
            )
        if not condition:
            self._count(0)
        return all_of([self._condition(str(key), value, depth) for key, value in condition.items()])

    def _count(self, values: int) -> None:
        self.clauses += 1
        self.values += values
        check_size(self.clauses, self.values)

    def _condition(self, key: str, wanted: object, depth: int) -> Where | None:
        if key in ("$and", "$or"):
            if not isinstance(wanted, Sequence) or isinstance(wanted, str) or not wanted:
                raise FilterError(f"{key} takes a list of at least one filter; got {got(wanted)}")
            arms = []
            for arm in wanted:
                if isinstance(wanted, Joined):
                    self.clauses = self.values = 0
                arms.append(self.read(arm, depth + 1))
            return _joined(key, arms)
        if key.startswith("$"):
            raise FilterError(f"{key} is not understood; combine filters with $and and $or")
        if self.ours and key in FRAMEWORK_KEYS:
            key = row_key(key)
        conditions = wanted if isinstance(wanted, Mapping) else {"$eq": wanted}
        if not conditions:
            raise FilterError(
                f"filter on {got(key)} is empty; leave the key out, or give it a value"
            )
        for operator, value in conditions.items():
            self._count(len(value) if isinstance(value, _LISTS) else 1)
            if operator not in _OPERATORS:
                raise FilterError(
                    f"filter on {got(key)} has {got(operator)}; metadata is flat, so nested keys "
                    f"cannot be matched, and a condition is one of {', '.join(_OPERATORS)}"
                )
        return all_of([self._compare(key, str(each), x) for each, x in conditions.items()])

    def _compare(self, key: str, operator: str, value: object) -> Where | None:
        contains = operator in ("$contains", "$not_contains")
        if key == DOCUMENT and not contains:
            raise FilterError(f"{DOCUMENT} is the text; it takes $contains and $not_contains")
        if operator in ("$in", "$nin"):
            return self._one_of(key, operator, value)
        operand = self._operand(key, value)
        if operator in _ORDER and isinstance(operand, str | bool):
            raise FilterError(
                f"{operator} on {got(key)} compares numbers; got {got(value)}. Store an order as a "
                "number (times: epoch milliseconds)"
            )
        if contains:
            return _contains(key, operator, operand)
        if isinstance(operand, float) and not operand.is_integer():
            return _fraction(key, operator, operand)
        return {key: {operator: operand}}

    def _one_of(self, key: str, operator: str, values: object) -> Where | None:
        if not isinstance(values, _LISTS) or not values:
            raise FilterError(f"{operator} on {got(key)} takes a list of values; got {got(values)}")
        operands = [self._operand(key, value) for value in values]
        kinds = {type(each) for each in operands}
        if len(kinds) == 1 and float not in kinds:
            return {key: {operator: operands}}
        # Mixed types are refused by Chroma, and fractions truncated: compare one by one.
        single, join = ("$eq", any_of) if operator == "$in" else ("$ne", all_of)
        return join([self._compare(key, single, each) for each in operands])

    def _operand(self, key: str, value: object) -> str | bool | int | float:
        if isinstance(value, datetime) or (key == self.created_at and self._is_time(value)):
            return self._time(key, value)
        if isinstance(value, float) and not math.isfinite(value):
            problem = f"a finite number; got {value}"
        elif not isinstance(value, str | bool | int | float):
            problem = f"text, a number or a boolean; got {got(value)}"
        elif isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
            problem = f"64 bits at most; got {value}"
        else:
            return value
        raise FilterError(f"filter on {got(key)} must compare with {problem}")

    def _is_time(self, value: object) -> TypeIs[str | int | float]:
        # Numbers in our own rows mean what they mean in a Memory: seconds, or milliseconds.
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        return isinstance(value, str) or (numeric and self.unit == 1)

    def _time(self, key: str, value: datetime | str | float) -> str | int | float:
        if self.unit is None:  # a text is compared with texts, whatever their form
            return value.isoformat() if isinstance(value, datetime) else value
        try:
            milliseconds = to_milliseconds(parse_time(value, self.timezone))
        except ValueError as error:
            raise FilterError(f"filter on {got(key)}: {error}") from error
        return milliseconds if self.unit == 1 else milliseconds / self.unit


def _fraction(key: str, operator: str, value: float) -> Where | None:
    """Compare with a fraction so that both whole and fractional values come out right.

    Chroma truncates a fractional bound before it compares whole numbers (chroma issue 7491):
    ``$lt 1.5`` misses 1, and ``$gte 1.5`` finds it. A second bound, a whole number, mends that.
    """
    below, above = math.floor(value), math.ceil(value)
    plain: Where = {key: {operator: value}}
    join, bound = {
        "$lt": (any_of, {"$lte": below}),
        "$gt": (any_of, {"$gte": above}),
        "$lte": (all_of, {"$lt": above}),
        "$gte": (all_of, {"$gt": below}),
        "$eq": (all_of, {"$nin": [below, above]}),
        "$ne": (any_of, {"$in": [below, above]}),
    }[operator]
    return join([plain, {key: bound}])


def _contains(key: str, operator: str, value: str | float) -> Where | None:
    """Chroma tells lists of whole numbers from lists of fractions; 1 and 1.0 are the same to us."""
    if isinstance(value, str | bool) or value != round(value) or abs(value) > _LARGEST_INTEGER:
        return {key: {operator: value}}
    join = any_of if operator == "$contains" else all_of
    return join([{key: {operator: int(value)}}, {key: {operator: float(value)}}])


def _joined(operator: str, conditions: Sequence[Where | None]) -> Where | None:
    if operator == "$or" and None in conditions:
        return None  # one arm without a condition admits every row
    present: list[Where] = []
    for condition in filter(None, conditions):
        nested = condition.get(operator)
        present.extend(nested if isinstance(nested, list) else [condition])
    return {operator: present} if len(present) > 1 else next(iter(present), None)


# -- a time range: coarse and fast; the exact bounds are compared afterwards ----------------------

# Up to here a list of days is faster than a range: Chroma materialises each side of a range.
_MOST_DAYS = 400


def window_where(time_range: TimeRange) -> Where | None:
    """The condition for a row of ours with a time in a range, its own or that of an event."""
    low, high = map(day_of, bounds_of(time_range))
    recorded: Where | None = {"created_day": {"$in": [*range(low, high + 1)]}}
    if high - low >= _MOST_DAYS:
        recorded = _between(("created_day", "created_day"), time_range, low, high)
    low, high = event_bounds(time_range)
    return any_of([recorded, _between(("event_end", "event_start"), time_range, low + 1, high)])


def recorded_where(time_range: TimeRange, fields: Fields, unit: int | None) -> Where | None:
    """The condition for the recorded time of any row; None = Chroma cannot compare such times."""
    if unit is None:
        return None  # they are texts: the candidates are compared here
    (low, high), key = bounds_of(time_range), fields.created_at
    return _between((key, key), time_range, low // unit, -(-(high + 1) // unit))


def _between(keys: tuple[str, str], time_range: TimeRange, low: int, high: int) -> Where | None:
    """Two keys at the bounds of a range; an open end sets no condition."""
    return all_of(
        [
            {keys[0]: {"$gte": low}} if time_range.start else None,
            {keys[1]: {"$lte": high}} if time_range.end else None,
        ]
    )


# -- the same check in Python, for stores that cannot filter ---------------------------------------


def fulfils(where: Where | None, text: str, metadata: Mapping[str, object]) -> bool:
    """Whether a row fulfils a where clause, as Chroma reads one: a missing key equals nothing."""
    rows = () if where is None else where.items()
    return all(_holds(key, wanted, text, metadata) for key, wanted in rows)


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
    return bool(_ORDER[operator](value, cast("float", bound)))


def _equal(value: object, bound: object) -> bool:
    """Equality that does not take True for 1."""
    return isinstance(value, bool) == isinstance(bound, bool) and value == bound
