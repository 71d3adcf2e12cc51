"""The rows of a row index in the order of their time, read as they are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.epoch import bounds_of
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.conditions import UNDATED, Conditions
from recall_retrievers.store.rows.columns import NEVER
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.table import Table
from recall_retrievers.store.rows.wanted import Places, Wanted

_PART = 500  # moments: the ids of their rows are read at once


def ordered(rows: RowIndex, conditions: Conditions, where: Where | None) -> Iterator[Candidate]:
    """The memories that fulfil conditions, by recorded time.

    The order is that of this moment. A row that is replaced before its turn is read as it then is;
    a deleted one is left out.

    Args:
        rows: The row index; it knows all rows.
        conditions: The conditions.
        where: The condition that their filter sets.
    """
    table = rows.table
    places, created = selected(table, conditions, where)
    for ids in conditions.pages(_ids(table, places, created, conditions)):
        yield from filter(conditions.admits, read_now(rows, ids, where))


def selected(
    table: Table, conditions: Conditions, where: Where | None
) -> tuple[Places, NDArray[np.int64]]:
    """The rows that may fulfil conditions, and when they were recorded, in milliseconds."""
    places = table.select(Wanted(conditions.scope, moment=conditions.moment), where).places
    created = table.created(places)
    created = np.where(created == NEVER, UNDATED, created)
    if conditions.recorded is not None:
        first, last = bounds_of(conditions.recorded)
        inside = (first <= created) & (created <= last)
        places, created = places[inside], created[inside]
    return places, created


def read_now(rows: RowIndex, ids: Sequence[str], where: Where | None) -> Iterator[Candidate]:
    """The memories with these ids as they are now; those that are gone are left out."""
    table = rows.table
    places = table.places_of(ids)
    found = table.memories(places[places >= 0].tolist(), where)
    return (memory for memory in found if memory is not None)


def _ids(
    table: Table, places: Places, created: NDArray[np.int64], conditions: Conditions
) -> Iterator[str]:
    """The ids of rows in order; ids are read only where they decide, or are wanted."""
    if conditions.after is not None:
        rest = (
            created <= conditions.after[0] if conditions.newest else created >= conditions.after[0]
        )
        places, created = places[rest], created[rest]
    order = np.argsort(-created if conditions.newest else created, kind="stable")
    places, created = places[order], created[order]
    ends = np.append(np.flatnonzero(np.diff(created)) + 1, len(places))  # of equal times
    first = 0
    while first < len(places):
        parts = ends[np.searchsorted(ends, first, side="right") :][:_PART]
        known = table.ids_at(places[first : parts[-1]].tolist())
        for start, end in pairwise([first, *parts.tolist()]):
            moment = int(created[start])
            ids = [known[place] for place in places[start:end].tolist() if place in known]
            if conditions.after is not None:
                ids = [each for each in ids if conditions.follows((moment, each))]
            yield from sorted(ids, reverse=conditions.newest)
        first = int(parts[-1])
