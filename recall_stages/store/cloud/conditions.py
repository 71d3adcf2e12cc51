"""The conditions of a search, within the number of predicates that Chroma Cloud takes.

A named time costs one predicate for the recorded time and two for the events. Several named times
soon are more than the cloud takes. Then the search becomes several requests, each with a part of
the times, and their rows are joined.
"""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.core.errors import FilterError
from recall_stages.core.stage import Search
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.where import Where, all_of, any_of, living_where, scope_where
from recall_stages.store.cloud.limits import PREDICATES, predicates

_BUCKETS = ("created_day", "created_month")


def conditions(search: Search, index: Index, *, living: bool = False) -> list[Where | None]:
    """The condition of each request that together answer a search.

    They are coarse: the bounds of a time are whole days or months, so check the rows exactly. If
    scope and filter leave no room for a time, only the rows are checked.

    Args:
        search: The search.
        index: The collection.
        living: Whether the cloud checks that a row has not expired, if there is room for it.

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
    times = _joined_buckets(index.times(search))
    if None in times or any(predicates(time) > room for time in times):
        return [fixed]
    groups: list[list[Where | None]] = [[]]
    for time in times:
        if predicates(any_of([*groups[-1], time])) > room:
            groups.append([])
        groups[-1].append(time)
    return [all_of([fixed, any_of(group)]) for group in groups]


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
