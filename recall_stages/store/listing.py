"""The memories that fulfil conditions: from the row index where there is one, else from Chroma."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from recall_stages.core.candidate import Candidate
from recall_stages.core.scope import Scope
from recall_stages.store.chroma.epoch import to_milliseconds, up_to_milliseconds
from recall_stages.store.chroma.index import Index
from recall_stages.store.conditions import Conditions
from recall_stages.store.ordered_pages import (
    expired_in_chroma,
    fitting_in_chroma,
    ids_in_chroma,
    ordered_in_chroma,
)
from recall_stages.store.position import Walk
from recall_stages.store.rows.cells import decided
from recall_stages.store.rows.open_indexes import OpenIndex
from recall_stages.store.rows.ordered_rows import ordered, selected
from recall_stages.store.rows.row_index import RowIndex
from recall_stages.timeline import TimeRange

_WALK = Walk()


class Listing:
    """Lists one collection.

    Args:
        index: The collection in Chroma.
        opened: Its row index, or those of its scopes. None = it has none, as in the cloud.
    """

    def __init__(self, index: Index, opened: OpenIndex | None) -> None:
        self._index = index
        self._opened = opened

    def memories(self, conditions: Conditions, walk: Walk = _WALK) -> Iterator[Candidate]:
        """The memories that fulfil conditions, by recorded time.

        Args:
            conditions: The conditions.
            walk: How they are read.
        """
        with self._rows(conditions.scope) as rows:
            if rows is None:
                yield from ordered_in_chroma(self._index, conditions, walk)
            else:
                where = self._index.filter_where(conditions.search(self._index.fields))
                yield from ordered(rows, conditions, where, walk)

    def count(self, conditions: Conditions) -> int:
        """How many memories fulfil conditions."""
        index, recorded, moment = self._index, conditions.recorded, conditions.moment
        if not conditions.limited and not conditions.scope.fields():
            if moment is None or index.foreign:
                return index.collection.count()
            return index.collection.count() - len(expired_in_chroma(index, moment))
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
            return sum(1 for _ in ordered(rows, conditions, where, _WALK))

    def scopes(self, moment: datetime) -> Counter[Scope]:
        """How many memories each scope has, as memories have them; what has expired is not counted.

        Args:
            moment: When it is asked.
        """
        counts: Counter[Scope] = Counter()
        with self._rows(Scope()) as rows:
            if rows is None:
                counts.update(
                    each.scope for each in fitting_in_chroma(self._index, Conditions(moment=moment))
                )
                return counts
            table = rows.table
            for place, count in zip(*table.owners(moment), strict=True):
                memory = self._index.candidate(table.row(int(place)))
                counts[Scope() if memory is None else memory.scope] += int(count)
        return counts

    @contextmanager
    def _rows(self, scope: Scope) -> Iterator[RowIndex | None]:
        """The row index that has all rows of a scope; None if Chroma has to be read."""
        if self._opened is None or (self._opened.by_scope and not scope.fields()):
            yield None
            return
        with self._opened.using(scope) as rows:
            rows.prepare(build=True, patient=True)
            yield rows if rows.knows_all else None


def _decided_by_column(recorded: TimeRange) -> bool:
    """Whether whole milliseconds decide if a time is in a range."""
    start = recorded.start
    if recorded.recurrence is not None:
        return False
    return start is None or to_milliseconds(start) == up_to_milliseconds(start)
