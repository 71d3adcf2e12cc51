"""The turns around a turn of a conversation, and the words by which it is then found.

A turn that comes changes the words of those around it, so these are counted anew. Whoever reads the
rows, and in whatever order, the words are the same in the end.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.search_text import AFTER, BEFORE, Spoken, counted
from recall_retrievers.store.rows import words

Order = Callable[[int], tuple[int, int]]

_KEPT = 4096  # rows whose words are kept: those around the next turns


class Turns:
    """The words of rows, with those of the turns around them. One thread at a time may use it.

    Turns that answer one turn are sorted by ``order``, the oldest first.
    """

    def __init__(
        self, read: Callable[[sqlite3.Connection, int], Candidate | None], order: Order
    ) -> None:
        self._read = read
        self._order = order
        self._spoken: OrderedDict[int, Spoken | None] = OrderedDict()

    def put(
        self,
        connection: sqlite3.Connection,
        memories: Mapping[int, Candidate | None],
        beside: Iterable[int],
    ) -> dict[int, int]:
        """Give new rows their words, and those around them, and around those that are gone, anew.

        The database is in a transaction that has the new rows. By slot: how many words each has.
        """
        for slot, memory in memories.items():
            self._keep(slot, memory)
        look = _Look(connection, self._order)
        changed = {*beside, *self.around(connection, memories)} | memories.keys()
        found = {slot: self._said(connection, slot) for slot in sorted(changed)}
        counts = {
            slot: words.NONE if own is None else self._counts(look, slot, own)
            for slot, own in found.items()
        }
        return words.put(connection, counts)

    def around(self, connection: sqlite3.Connection, slots: Iterable[int]) -> set[int]:
        """The slots of the rows whose words change when these rows come or go."""
        look, changed = _Look(connection, self._order), set[int | None]()
        for slot in slots:
            at: int | None = slot
            for _ in AFTER:
                at = None if at is None else look.before(at)[0]
                changed.add(at)
            at = slot
            for _ in BEFORE:
                at = None if at is None else look.after(at)
                changed.add(at)
        return {slot for slot in changed if slot is not None}

    def _counts(self, look: _Look, slot: int, own: Spoken) -> Counter[str]:
        before, after = list[Sequence[str]](), list[Sequence[str]]()
        at: int | None = slot
        for _ in BEFORE:
            earlier, beside = (None, False) if at is None else look.before(at)
            # A turn has the end of the turn that it answers. One beside it is read.
            turn = None if at is None else self._said(look.connection, earlier if beside else at)
            before.append((turn.ending if beside else turn.before) if turn else ())
            at = earlier
        at = slot
        for _ in AFTER:
            at = None if at is None else look.after(at)
            turn = None if at is None else self._said(look.connection, at)
            after.append(turn.opening if turn else ())
        return counted(own.own, before, after)

    def _said(self, connection: sqlite3.Connection, slot: int | None) -> Spoken | None:
        if slot is None:
            return None
        if slot not in self._spoken:
            self._keep(slot, self._read(connection, slot))
        return self._spoken[slot]

    def _keep(self, slot: int, memory: Candidate | None) -> None:
        if len(self._spoken) >= _KEPT:
            self._spoken.popitem(last=False)
        self._spoken[slot] = None if memory is None else Spoken(memory)


class _Look:
    """Looks up which turn comes before a turn, and which after it, in one state of the rows."""

    def __init__(self, connection: sqlite3.Connection, order: Order) -> None:
        self.connection = connection
        self._order = order
        self._rows: dict[int, tuple[str, str | None]] = {}
        self._replies: dict[str, list[int]] = {}

    def before(self, slot: int) -> tuple[int | None, bool]:
        """The turn before a turn, and whether it answers the same turn.

        Several turns of one speaker answer one turn. So the turn before is the last of these, or
        else the turn that is answered.
        """
        _, answers = self._row(slot)
        if answers is None:
            return None, False
        turns = self._answering(answers)
        if own := turns.index(slot):
            return turns[own - 1], True
        found = self.connection.execute("SELECT slot FROM row WHERE id = ?", (answers,)).fetchone()
        return (found[0] if found else None), False

    def after(self, slot: int) -> int | None:
        row_id, answers = self._row(slot)
        turns = [] if answers is None else self._answering(answers)
        rest = turns[turns.index(slot) + 1 :] if turns else []
        return next(iter(rest or self._answering(row_id)), None)

    def _row(self, slot: int) -> tuple[str, str | None]:
        if slot not in self._rows:
            self._rows[slot] = self.connection.execute(
                "SELECT id, answers FROM row WHERE slot = ?", (slot,)
            ).fetchone()
        return self._rows[slot]

    def _answering(self, row_id: str) -> list[int]:
        """The slots of the turns that answer a turn, the oldest first."""
        if row_id not in self._replies:
            found = self.connection.execute(
                "SELECT slot FROM row WHERE answers = ?", (row_id,)
            ).fetchall()
            turns = [slot for (slot,) in found]
            self._replies[row_id] = sorted(turns, key=self._order) if found[1:] else turns
        return self._replies[row_id]
