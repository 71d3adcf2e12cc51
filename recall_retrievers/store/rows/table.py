"""The rows of a collection: all that a question needs."""

import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import heappop, heappush
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Standing
from recall_retrievers.core.pool import Facts, Found, Scores, WordsInScope
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.fields import WRITTEN_AT, Row, from_milliseconds
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.chroma.where import Where, fulfils
from recall_retrievers.store.embedding.local_model import Embedded, TokenVectors
from recall_retrievers.store.rows import words
from recall_retrievers.store.rows.columns import (
    NEVER,
    RECORD,
    SEGMENT,
    Columns,
    Selection,
    Slots,
    Wanted,
    cells_of,
    may_fulfil,
    record,
)
from recall_retrievers.store.rows.database import IN, Database, listed, select_in
from recall_retrievers.store.rows.turns import Turns
from recall_retrievers.store.rows.vectors import Vectors, coded, likeness
from recall_retrievers.text.words import rarity, telling_words, wanted_words
from recall_retrievers.text.words import words as stems

_RESTS_S = 60.0  # seconds until a slot has another row: no search takes so long
_PART = 1_000  # rows at once
_FILTERS = 64  # whose rows are kept until a row changes
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Change:
    """Rows that are new or were replaced, and the ids of rows that are gone."""

    rows: Sequence[Row] = ()
    embedded: Embedded | None = None  # None = the vectors are not known
    gone: Sequence[str] = ()

    @property
    def ids(self) -> list[str]:
        return [*(row[0] for row in self.rows), *self.gone]

    def part(self, places: Sequence[int], gone: Sequence[str]) -> "Change":
        """Some of the rows, without token vectors, and other ids of rows that are gone."""
        vectors = self.embedded and Embedded(self.embedded.vectors[[*places]])
        return Change([self.rows[n] for n in places], vectors, gone)


class _New(NamedTuple):
    slot: int
    row: Row
    memory: Candidate | None  # None where the row has no text
    tokens: bytes  # as `coded` writes them


class Table:
    """Rows by slot. Several threads may use it.

    A row keeps its slot while its id stays: whoever has found it reads the old or the new one. The
    columns of a change are shown together, once it is committed. The slot of a row that is gone is
    used again. A search that has begun with the old row does not take the new one for it: a slot
    rests a minute. Without a folder they are in memory; see `Database` for what is raised.
    """

    def __init__(self, read: Callable[[Row], Candidate | None], folder: Path | None = None) -> None:
        self._read = read  # makes a memory of a row; None where it has no text
        self.data = Database(folder)
        self.as_closed = self.data.noted  # whether it was closed as it should be
        try:
            with self.data.reading() as connection:
                self._columns = Columns(connection)
            dimension: int = self.data.facts()["dimension"]
            self._vectors = Vectors(folder, dimension, len(self._columns))
        except BaseException:
            self.data.close()
            raise
        self._lock = threading.Lock()  # while columns change, or are compared
        self._turns = Turns(self._memory_at, self._order)
        self._coming: dict[int, np.void] = {}  # the columns of a change that is not committed yet
        self._free: list[int] = np.flatnonzero(~self._columns.live).tolist()  # a heap
        self._end = len(self._columns)  # of the slots that are used, or free
        self._resting: deque[tuple[float, int]] = deque()
        self._filtered: dict[str, NDArray[np.bool_]] = {}  # the rows that filters let through

    def __len__(self) -> int:
        return self._columns.count

    # -- changes ----------------------------------------------------------------------------------

    def take(self, change: Change) -> None:
        """Take a change over: all of it, or nothing. Ids that are not there are passed over."""
        if not change.ids:
            return
        with self.data.writing:  # until the columns are shown
            with self.data.changing() as connection:
                before = _slots(connection, change.ids)
                old = _rows_at(connection, before.values())
                new = self._new(connection, change, before, old)
                beside = self._take_out(connection, old)
                _insert(connection, new)
                self._coming = dict.fromkeys(old, np.zeros(1, dtype=RECORD)[0])
                columns = [record(each.row[0], each.memory) for each in new]
                records, slots = np.array(columns, dtype=RECORD), [each.slot for each in new]
                records["check"] = self._keep(connection, slots, change.embedded)
                self._coming |= zip(slots, records, strict=True)
                self._count_words(connection, {each.slot: each.memory for each in new}, beside)
                changed, records = [*self._coming], np.array([*self._coming.values()], dtype=RECORD)
                written = [(slot, row.tobytes()) for slot, row in self._coming.items()]
                connection.executemany("INSERT OR REPLACE INTO record VALUES (?, ?)", written)
                with self._lock:  # a search that sees the new rows finds room for them
                    self._columns.grow(changed)
            with self._lock:
                self._columns.take(changed, records)
                self._filtered = {}
            rests = time.monotonic() + _RESTS_S
            self._resting += [(rests, slot) for slot in old.keys() - {*slots}]

    def _new(
        self,
        connection: sqlite3.Connection,
        change: Change,
        before: Mapping[str, int],
        old: Mapping[int, Row],
    ) -> list[_New]:
        """The new rows, with their slots; a row whose text stays keeps its tokens."""
        given = None if change.embedded is None else change.embedded.tokens
        coming = [coded(each) for each in given or ()] or [b""] * len(change.rows)
        known = dict(select_in(connection, "SELECT slot, vectors FROM token WHERE slot", old))
        new_slots = iter(self._new_slots(sum(row[0] not in before for row in change.rows)))
        new = []
        for row, tokens in zip(change.rows, coming, strict=True):
            memory = self._read(row)
            slot = before[row[0]] if row[0] in before else next(new_slots)
            stays = not tokens and slot in known and _text(memory) == _text(self._read(old[slot]))
            new.append(_New(slot, row, memory, known[slot] if stays else tokens))
        return new

    @property
    def vector_bytes(self) -> int:
        return 4 * self._vectors.dimension * len(self._columns)

    def torn_vectors(self) -> Slots:
        """The slots of the rows whose vector has other bytes than were written."""
        slots = self._with_vectors()
        return self._vectors.torn(slots, self.column("check", slots))

    def _with_vectors(self) -> Slots:
        with self._lock:
            return np.flatnonzero(self._columns["check"])

    def living(self) -> Slots:
        with self._lock:
            return np.flatnonzero(self._columns.live)

    def _count_words(
        self,
        connection: sqlite3.Connection,
        memories: Mapping[int, Candidate | None],
        beside: Iterable[int],
    ) -> None:
        """Give new rows their words, and those around them and around those that are gone."""
        for slot, length in self._turns.put(connection, memories, beside).items():
            if slot not in self._coming:
                self._coming[slot] = self._columns.at([slot])[0]
            self._coming[slot]["length"] = min(length, words.MOST)

    def _new_slots(self, count: int) -> list[int]:
        """Slots for new rows; those that were used lately still rest."""
        now = time.monotonic()
        while self._resting and self._resting[0][0] <= now:
            heappush(self._free, self._resting.popleft()[1])
        while len(self._free) < count:  # what is larger than all of a heap may be appended
            self._free += range(self._end, self._end + SEGMENT)
            self._end += SEGMENT
        return [heappop(self._free) for _ in range(count)]

    def _keep(
        self, connection: sqlite3.Connection, slots: Sequence[int], embedded: Embedded | None
    ) -> NDArray[np.uint32] | int:
        """Keep vectors, and return their checksums; 0 where there are none."""
        if embedded is None or not slots:
            return 0
        checks = self._vectors.put(np.array(slots), embedded.vectors)
        query = "UPDATE fact SET value = ? WHERE name = 'dimension'"
        connection.execute(query, (self._vectors.dimension,))
        return checks

    def _take_out(self, connection: sqlite3.Connection, old: Mapping[int, Row]) -> set[int]:
        """Take rows out of the database, and return the slots of those around them."""
        beside = self._turns.around(connection, old).difference(old)
        words.put(connection, dict.fromkeys(old, words.NONE))
        of_rows = [(*cell, n) for n, row in old.items() for cell in cells_of(row[2] or {})]
        connection.executemany("DELETE FROM cell WHERE key = ? AND value = ? AND slot = ?", of_rows)
        for name in ("row", "token"):
            connection.execute(f"DELETE FROM {name} WHERE slot {IN}", (listed(old),))
        return beside

    def _order(self, slot: int) -> tuple[int, int]:
        """What turns are sorted by: their time, and then their id."""
        row = self._coming[slot] if slot in self._coming else self._columns.at([slot])[0]
        return int(row["created"]), int(row["id"])

    # -- questions --------------------------------------------------------------------------------

    def ids(self) -> list[str]:
        with self.data.reading() as connection:
            return [row_id for (row_id,) in connection.execute("SELECT id FROM row")]

    def slots_of(self, ids: Sequence[str]) -> Slots:
        """The slots of rows; -1 for an unknown one."""
        with self.data.reading() as connection:
            known = _slots(connection, ids)
        return np.array([known.get(row_id, -1) for row_id in ids], dtype=np.intp)

    def ids_at(self, slots: Sequence[int]) -> dict[int, str]:
        """Without those that are gone."""
        with self.data.reading() as connection:
            return dict(select_in(connection, "SELECT slot, id FROM row WHERE slot", slots))

    def differing(self, rows: Sequence[Row]) -> list[str]:
        """The ids of those of Chroma's rows whose text or metadata is another one here."""
        query = "SELECT id, document, metadata FROM row WHERE id"
        with self.data.reading() as connection:
            read = select_in(connection, query, [row[0] for row in rows])
        known = {row_id: (document, json.loads(data) or {}) for row_id, document, data in read}
        return [x for x, document, data in rows if known.get(x) != (document, data or {})]

    def written(self, ids: Sequence[str]) -> dict[str, int]:
        """When rows were written, in epoch milliseconds, by their id; without unknown ones."""
        with self.data.reading() as connection:
            return dict(select_in(connection, "SELECT id, written FROM row WHERE id", ids))

    def column(self, name: str, slots: Slots) -> NDArray[Any]:
        with self._lock:
            return self._columns[name][slots]

    def owners(self, moment: datetime | None) -> tuple[Slots, NDArray[np.intp]]:
        """A row of each owner, such as a user in a session, and how many it has at a moment."""
        with self._lock:
            slots = self._columns.fitting(Wanted(Scope(), standing=Standing(moment))).slots
            columns = [self._columns[name][slots] for name in Scope.model_fields]
        # As one number each, of 64 bits as the columns: rows are sorted ten times as slowly.
        owners = sum(column * np.uint64(2 * n + 1) for n, column in enumerate(columns))
        _, first, counts = np.unique(owners, return_index=True, return_counts=True)
        return slots[first], counts

    def several_users(self, scope: Scope) -> bool:
        with self._lock:
            users = self._columns["user_id"][self._columns.fitting(Wanted(scope)).slots]
        named = users[users != 0]
        return bool((named != named[:1]).any())

    def select(self, conditions: Sequence[tuple[Wanted, Where | None]]) -> list[Selection]:
        """The rows that may be wanted, and may fulfil a filter; all as of one state of the rows."""
        with self._lock:
            now = datetime.now(UTC)
            selected = [self._columns.fitting(wanted.at(now)) for wanted, _ in conditions]
            known = self._filtered
        for n, (_, where) in enumerate(conditions):
            if where is not None:
                key, fits = repr(where), selected[n].fits
                if key not in known or len(known[key]) != len(fits):
                    if len(known) >= _FILTERS:
                        known.clear()
                    with self.data.reading() as connection:
                        known[key] = may_fulfil(connection, where, len(fits))
                selected[n] = Selection(fits & known[key], whole=False)
        return selected

    def has_vectors(self, rows: Selection) -> bool:
        with self._lock:
            missing = self._columns["check"][: len(rows.fits)] == 0
        return not (missing & rows.fits).any()

    def nearest(
        self, slots: Slots, vector: NDArray[np.float32], limit: int, compared: int
    ) -> tuple[Slots, Scores]:
        """Of these rows, in order, those nearest to a vector of length 1, and how similar they are.

        Where there are more than that, about so many are compared. Each must have a vector.
        """
        if len(slots) > compared:
            if 2 * self._vectors.sketched < len(self):  # the mean of so few may be another
                self._vectors.make_sketches(self.living())
            slots = self._vectors.near(slots, vector, compared)
        cosines = self._vectors.cosines(slots, vector)
        few = limit < len(slots)
        best = np.argpartition(-cosines, limit - 1)[:limit] if few else np.arange(len(slots))
        ranked = best[np.argsort(-cosines[best], kind="stable")]
        return slots[ranked], cosines[ranked].clip(0, 1).astype(np.float64)

    def vectors(self) -> Iterator[tuple[dict[str, str | None], NDArray[np.float32]]]:
        """The texts, by id, and vectors of the rows that have a whole one, a thousand at a time."""
        slots = np.setdiff1d(self._with_vectors(), self.torn_vectors())
        for start in range(0, len(slots), _PART):
            with self.data.reading() as connection:
                rows = _rows_at(connection, slots[start : start + _PART].tolist())
            texts = {row_id: document for row_id, document, _ in rows.values()}
            yield texts, self._vectors.at(np.array([*rows], dtype=np.intp))

    def likenesses(self, slots: Slots, question: TokenVectors) -> Scores:
        """How near rows come to the tokens of a question; not a number where that is not known.

        The rows are in the order of their slots. A rare word of the question counts more than a
        common one.
        """
        with self.data.reading() as connection:
            query = "SELECT slot, vectors FROM token WHERE slot"
            tokens = dict(select_in(connection, query, slots.tolist()))
            weights = _rarities(connection, question.words)
        near = np.full(len(slots), np.nan)
        near[np.searchsorted(slots, [*tokens])] = likeness(
            [*tokens.values()], question.vectors, np.array(weights, dtype=np.float32)
        )
        return near

    def by_words(
        self, text: str, limit: int, rows: Selection, *, with_lacking: bool = False
    ) -> tuple[Slots, Scores, WordsInScope | None]:
        """Of these rows the best by BM25, their scores, and how they use words, if that is asked.

        The best come first.
        """
        with self.data.reading() as connection:
            terms = telling_words(wanted_words(text), lambda each: words.having(connection, each))
            counts = dict(zip(terms, words.having(connection, terms), strict=True))
            with self._lock:
                lengths, hashes = self._columns["length"], self._columns["id"]
            slots, scores = words.best(connection, counts, limit, lengths, rows)
            known = None
            if with_lacking:
                [[number]] = connection.execute("SELECT value FROM fact WHERE name = 'rows'")
                together = sum(rarity(number, each) for each in counts.values())
                known = WordsInScope(words.lacking(connection, counts, rows), together)
        living = hashes[slots] != 0
        slots, scores = slots[living], scores[living]
        if len(slots) > limit:
            best = scores >= np.partition(scores, -limit)[-limit]
            slots, scores = slots[best], scores[best]
        # The order of equal rows must not depend on the order in which they came.
        order = np.lexsort((hashes[slots], -scores))[:limit]
        return slots[order], scores[order], known

    # -- memories ---------------------------------------------------------------------------------

    def memories(self, slots: Sequence[int], where: Where | None) -> list[Candidate | None]:
        """The memories of rows; None if one is gone, has no text, or does not fit a filter."""
        rows = self.fulfilling(slots, where)
        return [self._read(rows[slot]) if slot in rows else None for slot in slots]

    def fulfilling(self, slots: Sequence[int], where: Where | None) -> dict[int, Row]:
        if not slots:
            return {}
        with self.data.reading() as connection:
            rows = _rows_at(connection, slots)
        return {n: row for n, row in rows.items() if fulfils(where, row[1] or "", row[2] or {})}

    def facts_of(self, slots: Slots, source: Found) -> Facts:
        """What ranking reads of rows, sorted by id; those that are gone are left out."""
        with self.data.reading() as connection:
            query = "SELECT slot, id, ifnull(answers, ''), memory_type, author FROM row WHERE slot"
            read = select_in(connection, query, slots.tolist())
        read.sort(key=itemgetter(1))
        at, ids, answers, types, authors = zip(*read, strict=True) if read else ((),) * 5
        with self._lock:
            records = self._columns.at(at)
        return Facts(
            source,
            np.array(at, dtype=np.intp),
            ids,
            answers,
            types,
            authors,
            [*zip(*(records[name].tolist() for name in Scope.model_fields), strict=True)],
            [None if x == NEVER else from_milliseconds(x) for x in records["created"].tolist()],
            (records["event_start"] != NEVER).tolist(),
            records["profile"],
        )

    def close(self) -> None:
        """Let everything go. A search that still runs raises `StoreClosedError`."""
        self.data.close()
        self._vectors.close()

    def _memory_at(self, connection: sqlite3.Connection, slot: int) -> Candidate | None:
        row = _rows_at(connection, [slot]).get(slot)
        return None if row is None else self._read(row)


def _text(memory: Candidate | None) -> str:
    return "" if memory is None else index_text(memory)


def _insert(connection: sqlite3.Connection, new: Sequence[_New]) -> None:
    rows, found = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for slot, (row_id, document, metadata), memory, _ in new:
        written = (metadata or {}).get(WRITTEN_AT)
        at = written if isinstance(written, int) else None
        named: tuple[str | None, ...] = (None, "", "")
        if memory is not None:
            named = memory.turn_before or None, memory.memory_type, memory.author
            found += [(*cell, slot) for cell in cells_of(metadata or {})]
        rows.append((slot, row_id, at, *named, document, _ENCODER.encode(metadata)))
    connection.executemany("INSERT INTO row VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.executemany("INSERT OR IGNORE INTO cell VALUES (?, ?, ?)", found)
    tokens = [(each.slot, each.tokens) for each in new if each.tokens]
    connection.executemany("INSERT INTO token VALUES (?, ?)", tokens)


def _rows_at(connection: sqlite3.Connection, slots: Iterable[int]) -> dict[int, Row]:
    """The rows at slots, as Chroma returned them."""
    query = "SELECT slot, id, document, metadata FROM row WHERE slot"
    return {n: (*row, json.loads(data)) for n, *row, data in select_in(connection, query, slots)}


def _slots(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    return dict(select_in(connection, "SELECT id, slot FROM row WHERE id", ids))


def _rarities(connection: sqlite3.Connection, texts: Sequence[str]) -> list[float]:
    """How rare words are, as they are written; one that no row has is the rarest."""
    terms = [stems(each) for each in texts]
    distinct = list({term for each in terms for term in each})
    having = dict(zip(distinct, words.having(connection, distinct), strict=True))
    [[rows]] = connection.execute("SELECT value FROM fact WHERE name = 'rows'")
    return [rarity(rows, min([having[x] for x in each], default=0)) for each in terms]
