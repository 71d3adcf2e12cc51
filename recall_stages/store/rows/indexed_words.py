"""The words of the rows of a table, with those of the turns around them, as they are searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from recall_stages.core.candidate import Candidate
from recall_stages.store.rows.append_file import AppendFile
from recall_stages.store.rows.columns import Columns
from recall_stages.store.rows.context import Context
from recall_stages.store.rows.wanted import Places
from recall_stages.store.rows.word_counts import WordCounts
from recall_stages.store.rows.words import Words

_PART = 500  # rows whose words are read at once


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
        self._context = Context(columns, read)
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
            self._context.take(place, memory)
        new = {place: each for place, each in memories.items() if each is not None}
        around = (beside | self._context.around([*memories])) - new.keys()
        # Rows whose words are not read again yet will have those of the turns around them.
        known = [x for x in sorted(around) if not self._read_again <= x < self._lost]
        self._put(new)
        self._put(self._read_at(known))

    def drop(self, places: Places) -> set[int]:
        """Take rows out, and return the places of those around them."""
        beside = self._context.around(places.tolist())
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
        counts = self._context.counts([*rows])
        parts = zip(rows.items(), counts, strict=True)
        self.index.put({place: (memory, each) for (place, memory), each in parts})
