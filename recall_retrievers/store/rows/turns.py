"""Which turn of a conversation comes before a turn, and which after it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.rows.columns import Columns
from recall_retrievers.store.rows.wanted import Places

_MOST_NEW = 10_000  # links that are looked up in a dictionary; with more, all are sorted again


class Turns:
    """The turn before a turn of a conversation, and the turn after it.

    Args:
        columns: The rows.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._sorted = np.zeros(0, dtype=np.uint64)  # the turns that are answered
        self._linked = np.zeros(0, dtype=np.intp)  # the place of each answer
        self._new: dict[int, list[int]] = {}  # answers since then: turn to places
        self._read = 0  # places whose links are known

    def before(self, places: Places) -> tuple[Places, NDArray[np.bool_]]:
        """The place of the turn before each turn, and whether it answers the same turn.

        Several turns of one speaker answer one turn. So the turn before is the last of these, or
        else the turn that is answered.

        Returns:
            The places, -1 for none and for the place -1; and whether they answer the same turn.
        """
        answers = np.where(places < 0, np.uint64(0), self._columns["answers"][places])
        found = self._columns.places(answers.tolist())
        beside = np.zeros(len(places), dtype=np.bool_)
        for n, turns in enumerate(self._answering(answers)):
            if len(turns) > 1 and (own := turns.index(places[n])):
                found[n], beside[n] = turns[own - 1], True
        return found, beside

    def after(self, places: Places) -> Places:
        """The place of the turn after each turn; -1 for none and for the place -1."""
        after = np.full(len(places), -1, dtype=np.intp)
        answers = np.where(places < 0, np.uint64(0), self._columns["answers"][places])
        own = np.where(places < 0, np.uint64(0), self._columns["id"][places])
        alike, replies = self._answering(answers), self._answering(own)
        for n, (turns, later) in enumerate(zip(alike, replies, strict=True)):
            rest = turns[turns.index(places[n]) + 1 :] if len(turns) > 1 else []
            if rest or later:
                after[n] = (rest or later)[0]
        return after

    def _answering(self, hashes: NDArray[np.uint64]) -> list[list[int]]:
        """The places of the turns that answer the turns with these ids, the oldest first."""
        answers, ids = self._columns["answers"], self._columns["id"]
        created, live = self._columns["created"], self._columns.live
        new = self._read + np.flatnonzero(answers[self._read :])
        if len(self._new) + len(new) > _MOST_NEW + len(answers) // 2:
            linked = np.flatnonzero(answers)
            self._linked = linked[np.argsort(answers[linked], kind="stable")]
            self._sorted, self._new = answers[self._linked].astype(np.uint64), {}
        else:
            for place, answered in zip(new.tolist(), answers[new].tolist(), strict=True):
                self._new.setdefault(answered, []).append(place)
        self._read = len(answers)
        firsts = np.searchsorted(self._sorted, hashes).tolist()
        lasts = np.searchsorted(self._sorted, hashes, side="right").tolist()
        found = [
            [*self._linked[first:last].tolist(), *self._new.get(one, ())]
            for one, first, last in zip(hashes.tolist(), firsts, lasts, strict=True)
        ]
        for turns in found:
            if turns:
                turns[:] = [place for place in turns if live[place]]
            if len(turns) > 1:
                turns.sort(key=lambda place: (int(created[place]), int(ids[place])))
        return found
