"""The rows of a collection in the order of their time, read from Chroma page by page.

For a collection on a server, or in the cloud, whose rows are not kept here. Chroma cannot sort: so
the times of all rows that fit are read first, and then the rows, as they are wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from recall_stages.core.candidate import Candidate
from recall_stages.core.scope import Scope
from recall_stages.store.chroma.index import Index, pages
from recall_stages.store.chroma.where import Where, all_of, expired_where, scope_where
from recall_stages.store.chroma.window import foreign_window_where, recorded_where
from recall_stages.store.cloud.conditions import conditions as cloud_conditions
from recall_stages.store.cloud.limits import PREDICATES, RESULTS, predicates
from recall_stages.store.conditions import Conditions
from recall_stages.store.position import READ, Walk, place_of

_ROWS = 5_000  # without their texts, a call
_IDS = 100_000  # a call
_UNREAD = "-"  # stands for the text of a row, where it is not read


def ordered_in_chroma(index: Index, conditions: Conditions, walk: Walk) -> Iterator[Candidate]:
    """The memories that fulfil conditions, by recorded time; see `ordered`."""
    where = index.filter_where(conditions.search(index.fields))
    places = sorted(map(place_of, fitting_in_chroma(index, conditions)), reverse=walk.newest)
    names = (place[1] for place in places if walk.goes_on(place))
    page = walk.first_read
    while ids := list(islice(names, page)):
        there = index.read(ids, where)
        for row_id in ids:
            memory = there.get(row_id)
            if memory is not None and conditions.admits(memory):
                yield memory
        page = READ


def fitting_in_chroma(index: Index, conditions: Conditions) -> Iterator[Candidate]:
    """The memories that fulfil conditions, without their texts, as Chroma has them in order."""
    for page in _pages(index, _where(index, conditions), _ROWS, ["metadatas"]):
        for row_id, metadata in zip(page["ids"], page["metadatas"], strict=True):
            memory = index.candidate((row_id, _UNREAD, metadata))
            if memory is not None and conditions.admits(memory):
                yield memory


def ids_in_chroma(index: Index, conditions: Conditions) -> list[str]:
    """The ids of the rows that fulfil conditions; the time is not compared."""
    where = _where(index, conditions)
    return [row_id for page in _pages(index, where, _IDS, []) for row_id in page["ids"]]


def expired_in_chroma(index: Index, moment: datetime, scope: Scope | None = None) -> list[str]:
    """The ids of the rows that have expired by a moment; for rows of ours.

    Args:
        index: The collection.
        moment: The moment.
        scope: Only rows in this scope.
    """
    where = all_of([expired_where(moment), scope_where(scope or Scope(), index.fields)])
    return [row_id for page in _pages(index, where, _IDS, []) for row_id in page["ids"]]


def present_in_chroma(index: Index, ids: Sequence[str]) -> list[str]:
    """Those of some ids that the collection has."""
    collection: Any = index.collection
    parts = (list(ids[start : start + READ]) for start in range(0, len(ids), READ))
    return [row_id for part in parts for row_id in collection.get(ids=part, include=[])["ids"]]


def _where(index: Index, conditions: Conditions) -> Where | None:
    """The condition for Chroma; of the time as much as it can compare, and takes."""
    search = conditions.search(index.fields)
    if index.cloud:
        [fixed] = cloud_conditions(search, index)
    else:
        fixed = all_of([index.filter_where(search), scope_where(search.scope, index.fields)])
    time = None
    if conditions.recorded is not None:
        if index.foreign:
            time = foreign_window_where([conditions.recorded], index.fields, index.unit)
        else:
            time = recorded_where(conditions.recorded)
    whole = all_of([fixed, time])
    return fixed if index.cloud and predicates(whole) > PREDICATES else whole


def _pages(
    index: Index, where: Where | None, most: int, include: list[str]
) -> Iterator[Mapping[str, Any]]:
    most = min(most, RESULTS) if index.cloud else most
    return pages(index.collection, include, most=most, where=where)
