"""Listing and counting memories: from the row index where there is one, else from Chroma.

Chroma cannot sort. So where rows are not kept here, the times of all rows that fit are read first,
and then the rows, page by page, as they are wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.scope import Scope, ScopeName
from recall_retrievers.store.chroma.collection import Collection, pages
from recall_retrievers.store.chroma.fields import bounds_of, to_milliseconds, up_to_milliseconds
from recall_retrievers.store.chroma.where import Where, all_of, expired_where, scope_where
from recall_retrievers.store.cloud import PREDICATES, RESULTS, predicates
from recall_retrievers.store.cloud import conditions as cloud_conditions
from recall_retrievers.store.conditions import UNDATED, Conditions, place_of
from recall_retrievers.store.rows.cells import decided
from recall_retrievers.store.rows.columns import NEVER
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.scoped_rows import ScopedRows
from recall_retrievers.store.rows.table import Table
from recall_retrievers.store.rows.wanted import Places, Wanted
from recall_retrievers.timeline import TimeRange

_ROWS = 5_000  # without their texts, a call
_IDS = 100_000  # a call
_PART = 500  # moments: the ids of their rows are read at once
_UNREAD = "-"  # stands for the text of a row, where it is not read


@dataclass(frozen=True, slots=True)
class Listing:
    """Lists one collection."""

    index: Collection
    opened: ScopedRows | None = None  # its row indexes; the cloud has none

    def memories(self, conditions: Conditions) -> Iterator[Candidate]:
        """The memories that fulfil conditions, by recorded time."""
        where = self.index.filter_where(conditions.search(self.index.fields))
        with self._rows(conditions.scope) as rows:
            if rows is None:
                found = ordered_in_chroma(self.index, conditions, where)
            else:
                found = ordered(rows, conditions, where)
            yield from islice(found, conditions.limit)

    def count(self, conditions: Conditions) -> int:
        """How many memories fulfil conditions."""
        index, recorded, moment = self.index, conditions.recorded, conditions.moment
        if not conditions.limited and not conditions.scope.fields():
            if moment is None or index.foreign:
                return index.count()
            return index.count() - len(expired_in_chroma(index, moment))
        with self._rows(conditions.scope) as rows:
            if rows is None:
                if recorded is None and not index.foreign:  # each row of ours has a text
                    expired = [] if moment is None else expired_in_chroma(index, moment)
                    return len(set(ids_in_chroma(index, conditions)).difference(expired))
                return sum(1 for _ in fitting_in_chroma(index, conditions))
            where = index.filter_where(conditions.search(index.fields))
            # The columns and cells of a row decide most conditions; no row has to be read.
            known = not index.foreign and (where is None or decided(where))
            if known and (recorded is None or _decided_by_column(recorded)):
                return len(selected(rows.table, conditions, where)[0])
            return sum(1 for _ in ordered(rows, conditions, where))

    def scopes(self, moment: datetime) -> Counter[Scope]:
        """How many memories each scope has; what has expired by a moment is not counted."""
        counts: Counter[Scope] = Counter()
        with self._rows(Scope()) as rows:
            if rows is None:
                counts.update(
                    each.scope for each in fitting_in_chroma(self.index, Conditions(moment=moment))
                )
                return counts
            table = rows.table
            for place, count in zip(*table.owners(moment), strict=True):
                [memory] = table.memories([int(place)], None)
                counts[Scope() if memory is None else memory.scope] += int(count)
        return counts

    @contextmanager
    def _rows(self, scope: Scope) -> Iterator[RowIndex | None]:
        """The row index that has all rows of a scope; None if Chroma has to be read."""
        if self.opened is None or (self.opened.by_scope and not scope.fields()):
            yield None
            return
        with self.opened.using(scope) as rows:
            rows.prepare(build=True, patient=True)
            yield rows if rows.knows_all else None


def _decided_by_column(recorded: TimeRange) -> bool:
    """Whether whole milliseconds decide if a time is in a range."""
    start = recorded.start
    if recorded.recurrence is not None:
        return False
    return start is None or to_milliseconds(start) == up_to_milliseconds(start)


# -- from the row index --------------------------------------------------------------------------


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
    for ids in conditions.pages(_in_order(table, places, created, conditions)):
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


def _in_order(
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


# -- from Chroma ----------------------------------------------------------------------------------


def ordered_in_chroma(
    index: Collection, conditions: Conditions, where: Where | None
) -> Iterator[Candidate]:
    """The memories that fulfil conditions, by recorded time; see `ordered`."""
    places = sorted(map(place_of, fitting_in_chroma(index, conditions)), reverse=conditions.newest)
    names = [place[1] for place in places if conditions.follows(place)]
    for ids in conditions.pages(names):
        there = index.read(ids, where)
        yield from (there[x] for x in ids if x in there and conditions.admits(there[x]))


def fitting_in_chroma(index: Collection, conditions: Conditions) -> Iterator[Candidate]:
    """The memories that fulfil conditions, without their texts, as Chroma has them in order."""
    for page in _pages(index, _where(index, conditions), _ROWS, ["metadatas"]):
        for row_id, metadata in zip(page["ids"], page["metadatas"], strict=True):
            memory = index.candidate((row_id, _UNREAD, metadata))
            if memory is not None and conditions.admits(memory):
                yield memory


def ids_in_chroma(index: Collection, conditions: Conditions) -> list[str]:
    """The ids of the rows that fulfil conditions; the time is not compared."""
    return _ids(index, _where(index, conditions))


def expired_in_chroma(index: Collection, moment: datetime, scope: Scope | None = None) -> list[str]:
    """The ids of the rows that have expired by a moment; for rows of ours."""
    return _ids(index, all_of([expired_where(moment), scope_where(scope or Scope(), index.fields)]))


def _ids(index: Collection, where: Where | None) -> list[str]:
    return [row_id for page in _pages(index, where, _IDS, []) for row_id in page["ids"]]


def _where(index: Collection, conditions: Conditions) -> Where | None:
    """The condition for Chroma; of the time as much as it can compare, and takes."""
    search = conditions.search(index.fields)
    if index.cloud:
        [fixed] = cloud_conditions(search, index)
    else:
        fixed = all_of([index.filter_where(search), scope_where(search.scope, index.fields)])
    recorded = conditions.recorded
    whole = all_of([fixed, None if recorded is None else index.recorded(recorded)])
    return fixed if index.cloud and predicates(whole) > PREDICATES else whole


def _pages(
    index: Collection, where: Where | None, most: int, include: list[str]
) -> Iterator[Mapping[str, Any]]:
    most = min(most, RESULTS) if index.cloud else most
    return pages(index.chroma, include, most=most, where=where)


# -- what a whole collection holds ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """A scope, and how many memories it has.

    Attributes:
        scope: The scope.
        memories: How many memories it has.
    """

    scope: Scope
    memories: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a collection holds.

    Attributes:
        memories: How many memories.
        embedding_model: The name of the model that the store embeds with.
        first_recorded: The recorded time of the oldest memory; None if none has a time.
        last_recorded: The recorded time of the newest memory.
        without_a_time: How many memories have no recorded time.
        telling_of_a_time: How many memories name a time in their text.
        memory_type: How many memories of each type, the most frequent first.
        author: How many memories of each author.
        user_id: How many memories of each user.
        agent_id: How many memories of each agent.
        session_id: How many memories of each conversation.
        workspace: How many memories of each group.
    """

    memories: int
    embedding_model: str
    first_recorded: datetime | None
    last_recorded: datetime | None
    without_a_time: int
    telling_of_a_time: int
    memory_type: Mapping[str, int]
    author: Mapping[str, int]
    user_id: Mapping[str, int]
    agent_id: Mapping[str, int]
    session_id: Mapping[str, int]
    workspace: Mapping[str, int]


def projected(scope: Scope, names: Sequence[ScopeName]) -> Scope:
    """The part of a scope with these fields; an empty one if it lacks one of them."""
    fields = scope.fields()
    return Scope(**{name: fields[name] for name in names}) if set(names) <= set(fields) else Scope()


def stats_of(memories: Iterable[Candidate], embedding_model: str) -> StoreStats:
    """The numbers of memories that come newest first, and those without a time last."""
    values: dict[str, Counter[str]] = {
        name: Counter() for name in ("memory_type", "author", *Scope.model_fields)
    }
    first = last = None
    total = undated = telling = 0
    for memory in memories:
        total += 1
        values["memory_type"][memory.memory_type] += 1
        if memory.author:
            values["author"][memory.author] += 1
        for name, value in memory.scope.fields().items():
            values[name][value] += 1
        telling += bool(memory.events)
        undated += memory.created_at is None
        if memory.created_at is not None:
            last = last or memory.created_at
            first = memory.created_at
    return StoreStats(
        memories=total,
        embedding_model=embedding_model,
        first_recorded=first,
        last_recorded=last,
        without_a_time=undated,
        telling_of_a_time=telling,
        **{name: dict(counts.most_common()) for name, counts in values.items()},
    )
