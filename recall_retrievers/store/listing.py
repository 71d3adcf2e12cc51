"""Listing in a row index: the memories that fulfil conditions by recorded time, and sessions."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Standing
from recall_retrievers.core.requests import Spans
from recall_retrievers.core.scope import Scope
from recall_retrievers.ranking.ratios import PAUSE
from recall_retrievers.store.chroma.fields import bounds_of, to_milliseconds, up_to_milliseconds
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.conditions import UNDATED, Conditions
from recall_retrievers.store.rows.columns import NEVER, Slots, Wanted, decided
from recall_retrievers.store.rows.database import hashed
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.table import Table
from recall_retrievers.timeline import TimeRange

_READ = 250  # rows that are read at once: below every limit
_MOMENTS = 500  # the ids of their rows are read at once


def in_order(rows: RowIndex, conditions: Conditions, where: Where | None) -> Iterator[Candidate]:
    """The memories that fulfil conditions, by recorded time.

    The order is that of this moment. A row that is replaced before its turn is read as it then is;
    a deleted one is left out. One that is superseded by then is listed: what supersedes it is not.
    """
    ids = _ids(rows.table, conditions, where)
    conditions = replace(conditions, standing=conditions.standing._replace(include_superseded=True))
    size = min(conditions.limit or _READ, _READ)  # of the first page, no more than are wanted
    while page := list(islice(ids, size)):
        size = _READ
        table = rows.table  # rows as they are now; those that are gone are left out
        there = table.slots_of(page)
        for memory in table.memories(there[there >= 0].tolist(), where):
            if memory is not None and conditions.admits(memory):
                yield memory


def count(table: Table, conditions: Conditions, where: Where | None) -> int | None:
    """How many memories fulfil conditions; None where columns and cells do not decide it."""
    recorded = conditions.recorded
    if not ((where is None or decided(where)) and (recorded is None or _is_exact(recorded))):
        return None
    slots, _ = _selected(table, conditions, where)
    return int(np.count_nonzero(table.column("memory_type", slots)))


def sessions(table: Table, scope: Scope, moment: datetime) -> Spans:
    """The sessions of a scope by a moment: of turns of conversations, else of all memories.

    Rows of one ``session_id`` are one session, unless all have the same; others end with a pause.
    """
    conditions = Conditions(scope, standing=Standing(moment, include_superseded=True))
    slots, created = _selected(table, conditions, None)
    turns = table.column("memory_type", slots) == hashed("conversation")
    begun = (created > UNDATED) & (created <= to_milliseconds(moment))
    counts = begun & turns if turns.any() else begun
    created, named = created[counts], table.column("session_id", slots[counts])
    if not (named != named[:1]).any():
        named = np.zeros_like(named)  # a name that all share tells nothing apart
    order = np.lexsort((created, named))
    created, named = created[order], named[order]
    pauses = np.diff(created, append=NEVER) >= PAUSE // timedelta(milliseconds=1)
    ends = (np.roll(named, -1) != named) | (pauses & (named == 0))
    return sorted(zip(created[np.roll(ends, 1)].tolist(), created[ends].tolist(), strict=True))


def _is_exact(recorded: TimeRange) -> bool:
    """Whether whole milliseconds decide if a time is in a range."""
    start = recorded.start
    if recorded.recurrence is not None:
        return False
    return start is None or to_milliseconds(start) == up_to_milliseconds(start)


def _selected(
    table: Table, conditions: Conditions, where: Where | None
) -> tuple[Slots, NDArray[np.int64]]:
    """The rows that may fulfil conditions, and when they were recorded, in milliseconds."""
    wanted = Wanted(conditions.scope, standing=conditions.standing)
    [selected] = table.select([(wanted, where)])
    slots = selected.slots
    created = table.column("created", slots)
    created = np.where(created == NEVER, UNDATED, created)
    if conditions.recorded is not None:
        first, last = bounds_of(conditions.recorded)
        inside = (first <= created) & (created <= last)
        slots, created = slots[inside], created[inside]
    return slots, created


def _ids(table: Table, conditions: Conditions, where: Where | None) -> Iterator[str]:
    """The ids of rows in order; ids are read only where they decide, or are wanted."""
    slots, created = _selected(table, conditions, where)
    newest, after = conditions.newest, conditions.after
    if after is not None:
        rest = created <= after[0] if newest else created >= after[0]
        slots, created = slots[rest], created[rest]
    order = np.argsort(-created if newest else created, kind="stable")
    slots, created = slots[order], created[order]
    ends = np.flatnonzero(np.diff(created, append=NEVER)) + 1  # of equal times
    first = 0
    for start in range(0, len(ends), _MOMENTS):
        part = ends[start : start + _MOMENTS].tolist()
        known = table.ids_at(slots[first : part[-1]].tolist())
        for end in part:
            moment = int(created[first])
            ids = [known[slot] for slot in slots[first:end].tolist() if slot in known]
            if after is not None:
                ids = [x for x in ids if ((moment, x) < after if newest else (moment, x) > after)]
            yield from sorted(ids, reverse=newest)
            first = end
