"""The quotas of Chroma Cloud: what goes into one request, and what a memory may be.

They are the default quotas of https://docs.trychroma.com/cloud/quotas-limits. `SEARCHES` is not
there; it is the default of Chroma's source.

A named time costs one predicate for the recorded time and two for the events. Several named times
soon are more than the cloud takes. Then a search becomes several requests, each with a part of the
times, and their rows are joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from recall_retrievers.core.errors import FilterError, MemoryFormatError
from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.rows import Ready
from recall_retrievers.store.chroma.where import Where, all_of, any_of, living_where, scope_where

RESULTS = 300  # rows that one search, or one read, returns
SEARCHES = 5  # in one request
PREDICATES = 8  # in one condition; the values of an $in count as one

_BUCKETS = ("created_day", "created_month")
_DOCUMENT, _VALUE, _ID, _KEY = 16_384, 4_096, 128, 36  # bytes
_KEYS = 32
_ADDED = 2  # keys that a row gets when it is written: the time of writing, and its words


def predicates(where: Where | None) -> int:
    """The number of predicates of a condition.

    Examples:
        >>> predicates({"$and": [{"a": {"$eq": 1}}, {"b": {"$in": [1, 2, 3]}}]})
        2
    """
    if where is None:
        return 0
    total = 0
    for key, value in where.items():
        if isinstance(value, list):
            total += sum(predicates(arm) for arm in value)
        else:
            total += len(value) if key[:1] != "$" and isinstance(value, Mapping) else 1
    return total


def conditions(search: Search, index: Collection, *, living: bool = False) -> list[Where | None]:
    """The condition of each request that together answer a search.

    They are coarse: the bounds of a time are whole days or months, so check the rows exactly. If
    scope and filter leave no room for a time, only the rows are checked.

    With ``living`` the cloud checks that a row has not expired, if there is room for it.

    Raises:
        FilterError: When scope and filter alone are too long.
    """
    fixed = all_of([index.filter_where(search), scope_where(search.scope, index.fields)])
    room = PREDICATES - predicates(fixed)
    if room < 0:
        scope = len(search.scope.fields())
        raise FilterError(
            f"Chroma Cloud takes {PREDICATES} conditions in a search; the scope has {scope}, and "
            f"this filter {PREDICATES - room - scope}. Make the filter shorter: $in with a list of "
            "values counts as one"
        )
    if living and search.moment is not None and not index.foreign:
        alive = living_where(search.moment)
        if predicates(alive) <= room:
            fixed, room = all_of([fixed, alive]), room - predicates(alive)
    times = _joined_buckets(index.times(search.within))
    if None in times or any(predicates(time) > room for time in times):
        return [fixed]
    groups: list[list[Where | None]] = [[]]
    for time in times:
        if predicates(any_of([*groups[-1], time])) > room:
            groups.append([])
        groups[-1].append(time)
    return [all_of([fixed, any_of(group)]) for group in groups]


def check_fits(rows: Iterable[Ready]) -> None:
    """Refuse memories that Chroma Cloud would refuse, before any of them is stored.

    Raises:
        MemoryFormatError: When one is too large.
    """
    for row in rows:
        memory = row.memory
        for what, size, most in _sizes(memory.id, memory.content, row.metadata):
            if size > most:
                raise MemoryFormatError(
                    f"memory {memory.id[:_ID]!r} does not fit into Chroma Cloud: {what} "
                    f"{size:,}, and {most:,} is the most. Make it shorter, or divide the memory; "
                    "nothing was stored"
                )


def _sizes(
    row_id: str, text: str, metadata: Mapping[str, MetadataValue]
) -> Iterator[tuple[str, int, int]]:
    yield "the bytes of its id are", _bytes(row_id), _ID
    yield "the bytes of its text are", _bytes(text), _DOCUMENT
    yield "the keys of its row are", len(metadata) + _ADDED, _KEYS
    for key, value in metadata.items():
        yield f"the bytes of the key {got(key)} are", _bytes(key), _KEY
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield f"the bytes of {got(key)} are", _bytes(part), _VALUE


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _joined_buckets(times: Sequence[Where | None]) -> list[Where | None]:
    """The conditions on times, with all lists of days as one list, and all of months."""
    joined: list[Where | None] = []
    lists: dict[str, list[object]] = {}
    for time in times:
        key, wanted = next(iter(time.items())) if time else ("", None)
        values = wanted.get("$in") if isinstance(wanted, dict) and key in _BUCKETS else None
        if not isinstance(values, list):
            joined.append(time)
        elif key in lists:
            lists[key].extend(value for value in values if value not in lists[key])
        else:
            lists[key] = [*values]
            joined.append({key: {"$in": lists[key]}})
    return joined
