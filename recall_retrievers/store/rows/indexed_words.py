"""The words of the rows of a table, with those of the turns around them, as they are searched.

A turn that comes changes the words of those around it, so these are counted anew. Whoever reads the
rows, and in whatever order, the words are the same in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.turn_words import AFTER, BEFORE, Spoken, counted
from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.columns import Columns
from recall_retrievers.store.rows.turns import Turns
from recall_retrievers.store.rows.wanted import Places
from recall_retrievers.store.rows.word_counts import WordCounts
from recall_retrievers.store.rows.words import Words

_PART = 500  # rows whose words are read at once
_KEPT = 4096  # rows whose words are kept: those around the next turns


class IndexedWords:
    """The words of all rows. One thread at a time may use it; the table sees to that.

    Args:
        columns: The rows.
        counts: The files of how often each row has each word; see `WordCounts`.
        read: Reads the memory at a place; None where it has no text.
        folder: The folder of the index, which may be lost. None = in memory.

    Attributes:
        index: The index; see `read_some`.
    """

    def __init__(
        self,
        columns: Columns,
        counts: tuple[AppendFile, AppendFile],
        read: Callable[[int], Candidate | None],
        folder: Path | None,
    ) -> None:
        self._columns, self._read = columns, read
        self._turns = Turns(columns)
        self._spoken: dict[int, Spoken | None] = {}
        self._lost = len(columns) if folder is not None and not folder.is_dir() else 0
        self._read_again = 0  # of these
        self.index = Words(folder, WordCounts(*counts, columns.live))

    @property
    def whole(self) -> bool:
        """Whether all rows can be found by words."""
        return not self._lost

    def put(self, memories: Mapping[int, Candidate | None], beside: set[int]) -> None:
        """Index the words of new rows, and anew those of the turns around them.

        Args:
            memories: The memory of each new row.
            beside: The rows around those that are gone.
        """
        for place, memory in memories.items():
            self._keep(place, memory)
        new = {place: each for place, each in memories.items() if each is not None}
        around = (beside | self._around([*memories])) - new.keys()
        # Rows whose words are not read again yet will have those of the turns around them.
        known = [x for x in sorted(around) if not self._read_again <= x < self._lost]
        self._put(new)
        self._put(self._read_at(known))

    def drop(self, places: Places) -> set[int]:
        """Take rows out, and return the places of those around them."""
        beside = self._around(places.tolist())
        self.index.drop(places)
        return beside.difference(places.tolist())

    def read_some(self) -> bool:
        """Read the words of some rows whose words were lost; False if no more were."""
        if self._read_again == self._lost:
            self._lost = self._read_again = 0
            return False
        last = min(self._read_again + _PART, self._lost)
        living = self._read_again + np.flatnonzero(self._columns.live[self._read_again : last])
        self._put(self._read_at(living.tolist()))
        self._read_again = last
        return True

    def _read_at(self, places: Iterable[int]) -> dict[int, Candidate]:
        """The memories at some places; without rows that have no text."""
        read = {place: self._read(place) for place in places}
        return {place: each for place, each in read.items() if each is not None}

    def _put(self, rows: Mapping[int, Candidate]) -> None:
        parts = zip(rows.items(), self._counts([*rows]), strict=True)
        self.index.put({place: (memory, each) for (place, memory), each in parts})

    # -- the turns around a turn ------------------------------------------------------------------

    def _counts(self, places: Sequence[int]) -> list[Counter[str]]:
        """How often each word counts for the rows at some places."""
        before, at = list[list[Sequence[str]]](), np.array(places, dtype=np.intp)
        for _ in BEFORE:
            earlier, beside = self._turns.before(at)
            rows = zip(at.tolist(), earlier.tolist(), beside.tolist(), strict=True)
            before.append([self._end_before(*row) for row in rows])
            at = earlier
        after = [
            [said.opening if (said := self._said(place)) else () for place in level.tolist()]
            for level in self._after(places, len(AFTER))
        ]
        own = [mine.own if (mine := self._said(place)) else () for place in places]
        return [
            counted(x, [y[n] for y in before], [y[n] for y in after]) for n, x in enumerate(own)
        ]

    def _around(self, places: Sequence[int]) -> set[int]:
        """The places of the rows whose words change when these rows come or go."""
        changed, at = set[int](), np.array(places, dtype=np.intp)
        for _ in AFTER:
            at, _beside = self._turns.before(at)
            changed.update(at.tolist())
        for level in self._after(places, len(BEFORE)):
            changed.update(level.tolist())
        return changed - {-1}

    def _end_before(self, place: int, earlier: int, beside: bool) -> Sequence[str]:
        """The words of the end of the turn before a turn, which may answer the same turn."""
        if beside:
            said = self._said(earlier)
            return said.ending if said else ()
        mine = self._said(place)  # it has the end of the turn that it answers
        return mine.before if mine else ()

    def _after(self, places: Sequence[int], levels: int) -> list[Places]:
        """The turns after turns, the turns after these, and so on; -1 for none."""
        found, at = list[Places](), np.array(places, dtype=np.intp)
        for _ in range(levels):
            at = self._turns.after(at)
            found.append(at)
        return found

    def _said(self, place: int) -> Spoken | None:
        if place < 0:
            return None
        if place not in self._spoken:
            self._keep(place, self._read(place))
        return self._spoken[place]

    def _keep(self, place: int, memory: Candidate | None) -> None:
        if len(self._spoken) >= _KEPT:
            del self._spoken[next(iter(self._spoken))]
        self._spoken[place] = None if memory is None else Spoken(memory)
