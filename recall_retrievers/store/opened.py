"""A collection while it is open: its rows, its writer, and how its memories are listed."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.memory import Standing
from recall_retrievers.core.requests import Spans
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.ranking.relevance import PAUSE
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import bounds_of, to_milliseconds, up_to_milliseconds
from recall_retrievers.store.chroma.place import Place
from recall_retrievers.store.chroma.where import Where, all_of, expired_where, scope_where
from recall_retrievers.store.conditions import UNDATED, Conditions
from recall_retrievers.store.embedding.embedder import BoundedEmbedding
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.rows.cells import decided
from recall_retrievers.store.rows.columns import NEVER, Slots, Wanted
from recall_retrievers.store.rows.database import hashed
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.scoped_rows import let_go, open_rows
from recall_retrievers.store.rows.searcher import search
from recall_retrievers.store.rows.table import Table
from recall_retrievers.store.writing import Writer
from recall_retrievers.timeline import TimeRange

_A_FEW = 100  # rows without their texts, a call, where one of them answers
_PART = 500  # moments: the ids of their rows are read at once
_UNREAD = "-"  # stands for the text of a row, where it is not read


class Opened:
    """A collection that is open in this process: what is in Chroma, its rows, and its writer."""

    def __init__(  # noqa: PLR0913 - what it is made of
        self,
        collection: Collection,
        place: Place | None,  # None = the caller passed the collection
        embedding: BoundedEmbedding,
        index_dir: Path | None,
        *,
        private: bool,  # in memory, under a name that nobody else knows
        check_open: Callable[[], None],  # an error once the store is closed
    ) -> None:
        self.collection = collection
        self._check_open = check_open
        self.rows = open_rows(collection, place, index_dir, alone=private)
        self.writer = Writer(collection, None if place is None else place.folder, embedding)

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        self.collection.check_dimension(*(each.vectors for each in embedded.values()))
        with self._while_open():
            found = search(self.collection, self.rows, searches, embedded)
        self._check_open()
        return found

    def memories(self, conditions: Conditions) -> Iterator[Candidate]:
        where = self._filter(conditions)
        with self._read(conditions.scope) as rows:
            for memory in islice(_ordered(rows, conditions, where), conditions.limit):
                self._check_open()
                yield memory

    def count(self, conditions: Conditions) -> int:
        """How many memories fulfil conditions; no row is read where columns and cells decide."""
        where, recorded = self._filter(conditions), conditions.recorded
        known = where is None or (decided(where) and not self.collection.foreign)
        with self._read(conditions.scope) as rows:
            if known and (recorded is None or _decided_by_column(recorded)):
                slots, _ = _selected(rows.table, conditions, where)
                return int(np.count_nonzero(rows.table.column("memory_type", slots)))
            return sum(1 for _ in _ordered(rows, conditions, where))

    def scopes(self, moment: datetime) -> Counter[Scope]:
        counts: Counter[Scope] = Counter()
        with self._read(ANYBODY) as rows:
            for slot, count in zip(*rows.table.owners(moment), strict=True):
                [memory] = rows.table.memories([int(slot)], None)
                counts[ANYBODY if memory is None else memory.scope] += int(count)
        return counts

    def several_users(self, scope: Scope) -> bool:
        rows = self.rows.at_hand(scope)
        if rows is not None:
            return rows.table.several_users(scope)
        first = self._a_user(scope, None)
        if first is None:
            return False
        key = self.collection.fields.user_id  # few rows are left, or none, where there is one user
        return self._a_user(scope, {key: {"$ne": first}}) is not None

    def _a_user(self, scope: Scope, where: Where | None) -> str | None:
        """The user of a row in a scope; None if none of them has one."""
        where = all_of([where, scope_where(scope, self.collection.fields)])
        for page in self.collection.pages(["metadatas"], most=_A_FEW, where=where):
            for row_id, metadata in zip(page["ids"], page["metadatas"], strict=True):
                memory = self.collection.candidate((row_id, _UNREAD, metadata))
                if memory is not None and memory.scope.user_id:
                    return memory.scope.user_id
        return None

    def sessions(self, scope: Scope, moment: datetime) -> Spans:
        """The sessions of a scope by a moment: of turns of conversations, else of all memories."""
        conditions = Conditions(scope, standing=Standing(moment, include_superseded=True))
        with self._read(scope) as rows:
            slots, created = _selected(rows.table, conditions, None)
            turns = rows.table.column("memory_type", slots) == hashed("conversation")
        recorded = created[turns] if turns.any() else created
        begun = (recorded > UNDATED) & (recorded <= to_milliseconds(moment))
        return _spans(np.sort(recorded[begun]))

    def fitting(self, ids: Sequence[str] | None, conditions: Conditions) -> list[str]:
        """The ids of the memories that fulfil conditions, of these or of all."""
        collection, limited = self.collection, conditions.limited or bool(conditions.scope.fields())
        if ids is None:
            return [x.id for x in self.memories(conditions)] if limited else collection.ids()
        if limited:
            found = collection.read(ids, self._filter(conditions)).values()
            return [memory.id for memory in found if conditions.admits(memory)]
        return [row_id for page in collection.by_id(ids, []) for row_id in page["ids"]]

    def purge(self, moment: datetime, scope: Scope) -> int:
        """Delete the memories of a scope that have expired by a moment; return their number."""
        owned = scope_where(scope, self.collection.fields)
        expired = self.collection.ids(all_of([expired_where(moment), owned]))
        if expired:
            self.writer.delete(expired).result()
        return len(expired)

    def close(self) -> bool:
        """Write what is waiting; False if a call of Chroma hangs."""
        idle = self.writer.close()
        let_go(self.rows)
        return idle

    def _filter(self, conditions: Conditions) -> Where | None:
        return self.collection.filter_where(conditions.search(self.collection.fields))

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Let an error say that the store was closed meanwhile: that says more than Chroma's."""
        try:
            yield
        except Exception:
            self._check_open()
            raise

    @contextmanager
    def _read(self, scope: Scope) -> Iterator[RowIndex]:
        """The rows of a scope, all of them known."""
        with self._while_open(), self.rows.using(scope) as rows:
            rows.prepare(build=True, patient=True)
            yield rows


def _spans(recorded: NDArray[np.int64]) -> Spans:
    """The sessions of memories that were recorded at these moments, in order."""
    ends = np.diff(recorded, append=NEVER) >= PAUSE // timedelta(milliseconds=1)
    firsts, lasts = recorded[np.roll(ends, 1)], recorded[ends]
    return [*zip(firsts.tolist(), lasts.tolist(), strict=True)]


def _decided_by_column(recorded: TimeRange) -> bool:
    """Whether whole milliseconds decide if a time is in a range."""
    start = recorded.start
    if recorded.recurrence is not None:
        return False
    return start is None or to_milliseconds(start) == up_to_milliseconds(start)


def _ordered(rows: RowIndex, conditions: Conditions, where: Where | None) -> Iterator[Candidate]:
    """The memories that fulfil conditions, by recorded time.

    The order is that of this moment. A row that is replaced before its turn is read as it then is;
    a deleted one is left out. One that is superseded by then is listed: what supersedes it is not.
    """
    table = rows.table
    slots, created = _selected(table, conditions, where)
    conditions = replace(conditions, standing=conditions.standing._replace(include_superseded=True))
    for ids in conditions.pages(_in_order(table, slots, created, conditions)):
        table = rows.table  # rows as they are now; those that are gone are left out
        there = table.slots_of(ids)
        for memory in table.memories(there[there >= 0].tolist(), where):
            if memory is not None and conditions.admits(memory):
                yield memory


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


def _in_order(
    table: Table, slots: Slots, created: NDArray[np.int64], conditions: Conditions
) -> Iterator[str]:
    """The ids of rows in order; ids are read only where they decide, or are wanted."""
    if conditions.after is not None:
        at = conditions.after[0]
        rest = created <= at if conditions.newest else created >= at
        slots, created = slots[rest], created[rest]
    order = np.argsort(-created if conditions.newest else created, kind="stable")
    slots, created = slots[order], created[order]
    ends = np.append(np.flatnonzero(np.diff(created)) + 1, len(slots))  # of equal times
    first = 0
    while first < len(slots):
        parts = ends[np.searchsorted(ends, first, side="right") :][:_PART]
        known = table.ids_at(slots[first : parts[-1]].tolist())
        for start, end in pairwise([first, *parts.tolist()]):
            moment = int(created[start])
            ids = [known[slot] for slot in slots[start:end].tolist() if slot in known]
            if conditions.after is not None:
                ids = [each for each in ids if conditions.follows((moment, each))]
            yield from sorted(ids, reverse=conditions.newest)
        first = int(parts[-1])
