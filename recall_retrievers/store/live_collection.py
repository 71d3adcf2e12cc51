"""A collection while it is open: what searches it, lists and counts its memories, and deletes them.

Memories are listed from the row index where there is one, else from Chroma. Chroma cannot sort. So
where rows are not kept here, the times of all rows that fit are read first, and then the rows, page
by page, as they are wanted.
"""

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
from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.memory import Standing
from recall_retrievers.core.requests import Spans
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.ranking.relevance import PAUSE
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import bounds_of, to_milliseconds, up_to_milliseconds
from recall_retrievers.store.chroma.place import Place
from recall_retrievers.store.chroma.where import Where, all_of, ended_where, scope_where
from recall_retrievers.store.conditions import UNDATED, Conditions, place_of
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

_ROWS = 5_000  # without their texts, a call
_A_FEW = 100  # of these, where one of them answers
_PART = 500  # moments: the ids of their rows are read at once
_UNREAD = "-"  # stands for the text of a row, where it is not read


class LiveCollection:
    """A collection that is open in this process: what searches, lists and writes it, and its end.

    ``place`` is None where the caller passed the collection. A ``private`` one is in memory, under
    a name that nobody else knows. ``check_open`` raises an error once the store is closed.
    """

    def __init__(  # noqa: PLR0913 - what it is made of
        self,
        collection: Collection,
        place: Place | None,
        embedding: BoundedEmbedding,
        index_dir: Path | None,
        *,
        private: bool,
        check_open: Callable[[], None],
    ) -> None:
        self.collection = collection
        self._check_open = check_open
        folder = None if place is None else place.folder
        shared = place is None or place.shared  # whether other processes may write to it
        self.rows = open_rows(collection, folder, index_dir, alone=private, shared=shared)
        self.writer = Writer(collection, folder, embedding)

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        """The hits of each search, best first."""
        self.collection.check_dimension(*(each.vectors for each in embedded.values()))
        with self._while_open():
            found = search(self.collection, self.rows, searches, embedded)
        self._check_open()
        return found

    def memories(self, conditions: Conditions) -> Iterator[Candidate]:
        """The memories that fulfil conditions, by recorded time."""
        where = self._filter(conditions)
        with self._while_open(), self._indexed(conditions.scope) as rows:
            if rows is None:
                found = _ordered_in_chroma(self.collection, conditions, where)
            else:
                found = _ordered(rows, conditions, where)
            for memory in islice(found, conditions.limit):
                self._check_open()
                yield memory

    def count(self, conditions: Conditions) -> int:
        """How many memories fulfil conditions."""
        collection, recorded, standing = self.collection, conditions.recorded, conditions.standing
        dated = recorded is not None or standing.as_it_stood
        everything = not (dated or conditions.limited or conditions.scope.fields())
        with self._while_open():
            if everything and collection.foreign:
                return collection.count()
            with self._indexed(conditions.scope) as rows:
                if rows is None:
                    if everything:
                        return collection.count() - len(_ended(collection, standing))
                    if not dated and not collection.foreign:  # each row of ours has a text
                        ids = collection.ids(_where(collection, conditions))
                        return len(set(ids).difference(_ended(collection, standing)))
                    return sum(1 for _ in _fitting_in_chroma(collection, conditions))
                where = self._filter(conditions)
                # The columns and cells of a row decide most conditions; no row has to be read.
                known = not collection.foreign and (where is None or decided(where))
                if known and (recorded is None or _decided_by_column(recorded)):
                    return len(_selected(rows.table, conditions, where)[0])
                return sum(1 for _ in _ordered(rows, conditions, where))

    def scopes(self, moment: datetime) -> Counter[Scope]:
        """How many memories each scope has at a moment."""
        counts: Counter[Scope] = Counter()
        with self._while_open(), self._indexed(Scope()) as rows:
            if rows is None:
                found = _fitting_in_chroma(self.collection, Conditions(standing=Standing(moment)))
                counts.update(each.scope for each in found)
                return counts
            table = rows.table
            for slot, count in zip(*table.owners(moment), strict=True):
                [memory] = table.memories([int(slot)], None)
                counts[Scope() if memory is None else memory.scope] += int(count)
        return counts

    def several_users(self, scope: Scope) -> bool:
        """Whether memories in a scope are of more than one user."""
        rows = self.rows.at_hand(scope)
        if rows is not None:
            return rows.table.several_users(scope)
        first = self._a_user(Conditions(scope))
        if first is None:
            return False
        key = self.collection.fields.user_id  # few rows are left, or none, where there is one user
        return self._a_user(Conditions(scope, filter={key: {"$ne": first}})) is not None

    def _a_user(self, conditions: Conditions) -> str | None:
        """The user of a row that fulfils conditions; None if none of them has one."""
        rows = _fitting_in_chroma(self.collection, conditions, most=_A_FEW)
        return next((row.scope.user_id for row in rows if row.scope.user_id), None)

    def sessions(self, scope: Scope, moment: datetime) -> Spans:
        """The sessions of a scope by a moment: of turns of conversations, else of all memories."""
        conditions = Conditions(scope, standing=Standing(moment, include_superseded=True))
        with self._while_open(), self._indexed(scope) as rows:
            if rows is not None:
                slots, created = _selected(rows.table, conditions, None)
                turns = rows.table.column("memory_type", slots) == hashed("conversation")
            else:
                found = [*islice(_fitting_in_chroma(self.collection, conditions), _ROWS + 1)]
                if len(found) > _ROWS:
                    raise StoreError(
                        f"sessions are counted among {_ROWS:,} memories at most where there is no "
                        "row index; name the day, or a narrower scope"
                    )
                created = np.array([place_of(each)[0] for each in found], dtype=np.int64)
                turns = np.array([each.memory_type == "conversation" for each in found], dtype=bool)
        recorded = created[turns] if turns.any() else created
        begun = (recorded > UNDATED) & (recorded <= to_milliseconds(moment))
        return _spans(np.sort(recorded[begun]))

    def fitting(self, ids: Sequence[str] | None, conditions: Conditions) -> list[str]:
        """The ids of the memories that fulfil conditions, of these or of all."""
        collection, limited = self.collection, conditions.limited or bool(conditions.scope.fields())
        if ids is None and limited:
            return [memory.id for memory in self.memories(conditions)]
        if ids is None:
            return collection.ids(_where(collection, conditions))
        if limited:
            found = collection.read(ids, self._filter(conditions)).values()
            return [memory.id for memory in found if conditions.admits(memory)]
        return [row_id for page in collection.by_id(ids, []) for row_id in page["ids"]]

    def purge(self, moment: datetime, scope: Scope) -> int:
        """Delete the memories of a scope that have expired by a moment; return their number."""
        standing = Standing(moment, include_superseded=True)  # what is only superseded stays
        expired = _ended(self.collection, standing, scope)
        if expired:
            self.writer.delete(expired).result()
        return len(expired)

    def close(self) -> bool:
        """Write what is waiting; False if a call of Chroma hangs."""
        idle = self.writer.close()
        let_go(self.rows)
        return idle

    def _filter(self, conditions: Conditions) -> Where | None:
        """The condition that their filter sets."""
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
    def _indexed(self, scope: Scope) -> Iterator[RowIndex | None]:
        """The row index that has all rows of a scope; None if Chroma has to be read."""
        if self.rows.by_scope and not scope.fields():
            yield None
            return
        with self.rows.using(scope) as rows:
            rows.prepare(build=True, patient=True)
            yield rows if rows.knows_all else None


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


# -- from the row index --------------------------------------------------------------------------


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
        rest = (
            created <= conditions.after[0] if conditions.newest else created >= conditions.after[0]
        )
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


# -- from Chroma ----------------------------------------------------------------------------------


def _ordered_in_chroma(
    collection: Collection, conditions: Conditions, where: Where | None
) -> Iterator[Candidate]:
    """The memories that fulfil conditions, by recorded time; see `_ordered`."""
    places = sorted(
        map(place_of, _fitting_in_chroma(collection, conditions)), reverse=conditions.newest
    )
    names = [place[1] for place in places if conditions.follows(place)]
    for ids in conditions.pages(names):
        there = collection.read(ids, where)
        yield from (there[x] for x in ids if x in there and conditions.admits(there[x]))


def _fitting_in_chroma(
    collection: Collection, conditions: Conditions, most: int = _ROWS
) -> Iterator[Candidate]:
    """The memories that fulfil conditions, without their texts, as Chroma has them in order."""
    where = _where(collection, conditions)
    for page in collection.pages(["metadatas"], most=most, where=where):
        for row_id, metadata in zip(page["ids"], page["metadatas"], strict=True):
            memory = collection.candidate((row_id, _UNREAD, metadata))
            if memory is not None and conditions.admits(memory):
                yield memory


def _ended(collection: Collection, standing: Standing, scope: Scope = ANYBODY) -> list[str]:
    """The ids of the rows that have ended by a moment; for rows of ours."""
    if standing.moment is None:
        return []
    ended = ended_where(standing, standing.moment)
    return collection.ids(all_of([ended, scope_where(scope, collection.fields)]))


def _where(collection: Collection, conditions: Conditions) -> Where | None:
    """The condition for Chroma; of the time as much as it can compare."""
    search, recorded = conditions.search(collection.fields), conditions.recorded
    times = [] if recorded is None else collection.times([recorded])[:1]
    scope = scope_where(search.scope, collection.fields)
    return all_of([collection.filter_where(search), scope, *times])
