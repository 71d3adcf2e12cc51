"""The turns around a turn, by the links of the rows: their words find it, too.

A turn that comes changes the words of those around it, so these are counted anew. Whoever reads the
rows, and in whatever order, the words are the same in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from recall_stages.core.candidate import Candidate
from recall_stages.store.chroma.turn_words import AFTER, BEFORE, Spoken, counted
from recall_stages.store.rows.columns import Columns
from recall_stages.store.rows.turns import Turns
from recall_stages.store.rows.wanted import Places

_KEPT = 4096  # rows whose words are kept: those around the next turns


class Context:
    """The words of rows with those around them.

    Args:
        columns: The rows.
        read: Reads the memory at a place; None where it has no text.
    """

    def __init__(self, columns: Columns, read: Callable[[int], Candidate | None]) -> None:
        self._turns = Turns(columns)
        self._read = read
        self._kept: dict[int, Spoken | None] = {}

    def take(self, place: int, memory: Candidate | None) -> None:
        """Take note of the memory of a new row."""
        if len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[place] = None if memory is None else Spoken(memory)

    def counts(self, places: Sequence[int]) -> list[Counter[str]]:
        """How often each word counts for the rows at some places."""
        before = self._before(places)
        after = [
            [said.opening if (said := self._spoken(place)) else () for place in level.tolist()]
            for level in self._after(places, len(AFTER))
        ]
        return [
            counted(
                mine.own if (mine := self._spoken(place)) else (),
                [level[n] for level in before],
                [level[n] for level in after],
            )
            for n, place in enumerate(places)
        ]

    def around(self, places: Sequence[int]) -> set[int]:
        """The places of the rows whose words change when these rows come or go."""
        changed = set[int]()
        at = np.array(places, dtype=np.intp)
        for _ in AFTER:
            at, _beside = self._turns.before(at)
            changed.update(at.tolist())
        for level in self._after(places, len(BEFORE)):
            changed.update(level.tolist())
        return changed - {-1}

    def _before(self, places: Sequence[int]) -> list[list[Sequence[str]]]:
        """The ends of the turns before turns, of the turns before these, and so on."""
        found = list[list[Sequence[str]]]()
        at = np.array(places, dtype=np.intp)
        for _ in BEFORE:
            earlier, beside = self._turns.before(at)
            rows = zip(at.tolist(), earlier.tolist(), beside.tolist(), strict=True)
            found.append([self._end_before(*row) for row in rows])
            at = earlier
        return found

    def _end_before(self, place: int, earlier: int, beside: bool) -> Sequence[str]:
        if beside:
            said = self._spoken(earlier)
            return said.ending if said else ()
        mine = self._spoken(place)  # it has the end of the turn that it answers
        return mine.before if mine else ()

    def _after(self, places: Sequence[int], levels: int) -> list[Places]:
        """The turns after turns, the turns after these, and so on; -1 for none."""
        found, at = list[Places](), np.array(places, dtype=np.intp)
        for _ in range(levels):
            at = self._turns.after(at)
            found.append(at)
        return found

    def _spoken(self, place: int) -> Spoken | None:
        if place < 0:
            return None
        if place not in self._kept:
            self.take(place, self._read(place))
        return self._kept[place]
