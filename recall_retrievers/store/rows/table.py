"""The rows of a collection: all that a question needs."""

import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from heapq import heappop, heappush
from operator import itemgetter
from pathlib import Path
from typing import Any

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
from recall_retrievers.store.rows import cells, words
from recall_retrievers.store.rows.columns import (
    NEVER,
    RECORD,
    SEGMENT,
    Columns,
    Selection,
    Slots,
    Wanted,
    record,
)
from recall_retrievers.store.rows.database import Database, hashed, listed
from recall_retrievers.store.rows.turns import Turns
from recall_retrievers.store.rows.vectors import Vectors, coded, likeness
from recall_retrievers.text.words import rarity, telling_words, wanted_words
from recall_retrievers.text.words import words as stems

Read = Sequence[Candidate | None]  # the memories of rows; None where a row has no text

_RESTS_S = 60.0  # seconds until a slot has another row: no search takes so long
_PART = 1_000  # rows at once
_NAMES = 10_000  # types and authors
_FILTERS = 64  # whose rows are kept until a row changes
_IN = "IN (SELECT value FROM json_each(?))"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


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
        self._names: dict[int, str] = {}  # the types and authors that have these numbers

    def __len__(self) -> int:
        return self._columns.count

    # -- changes ----------------------------------------------------------------------------------

    def put(self, rows: Sequence[Row], memories: Read, embedded: Embedded | None = None) -> None:
        if not rows:
            return
        tokens = [b""] * len(rows)
        if embedded is not None and embedded.tokens is not None:
            tokens = [coded(each) for each in embedded.tokens]
        with self._changing() as connection:
            ids = [row[0] for row in rows]
            before = _slots(connection, ids)
            tokens = [
                token or self._tokens_of(connection, before.get(row_id), memory)
                for token, row_id, memory in zip(tokens, ids, memories, strict=True)
            ]
            beside = self._take_out(connection, before.values())
            new_slots = iter(self._new_slots(len(rows) - len(before)))
            slots = [before[x] if x in before else next(new_slots) for x in ids]
            texts, found, coded_tokens = list[tuple[object, ...]](), [], []
            for slot, row, memory, token in zip(slots, rows, memories, tokens, strict=True):
                row_id, document, metadata = row
                written = (metadata or {}).get(WRITTEN_AT)
                at = written if isinstance(written, int) else None
                answers = (memory.turn_before or None) if memory else None
                texts.append((slot, row_id, at, answers, document, _ENCODER.encode(metadata)))
                if memory is not None:
                    found += [(*cell, slot) for cell in cells.cells_of(metadata or {})]
                if token:
                    coded_tokens.append((slot, token))
            connection.executemany("INSERT INTO row VALUES (?, ?, ?, ?, ?, ?)", texts)
            connection.executemany("INSERT OR IGNORE INTO cell VALUES (?, ?, ?)", found)
            connection.executemany("INSERT INTO token VALUES (?, ?)", coded_tokens)
            new = np.array([record(*x) for x in zip(ids, memories, strict=True)], dtype=RECORD)
            new["check"] = self._keep(slots, None if embedded is None else embedded.vectors)
            self._coming |= zip(slots, new, strict=True)
            self._count_words(connection, dict(zip(slots, memories, strict=True)), beside)

    def drop(self, ids: Iterable[str]) -> None:
        """Take rows out; ids that are not there are passed over."""
        with self._changing() as connection:
            before = _slots(connection, [*ids])
            beside = self._take_out(connection, before.values())
            self._coming |= dict.fromkeys(before.values(), np.zeros(1, dtype=RECORD)[0])
            self._count_words(connection, {}, beside)
        self._resting += [(time.monotonic() + _RESTS_S, slot) for slot in before.values()]

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

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A change of rows; the columns that it has put into ``_coming`` are written and shown."""
        slots, records = list[int](), np.empty(0, dtype=RECORD)

        def show() -> None:
            with self._lock:
                self._columns.take(slots, records)
                self._filtered = {}

        with self.data.changing(show) as connection:
            self._coming = {}
            yield connection
            if self._coming:
                slots, records = [*self._coming], np.array([*self._coming.values()], dtype=RECORD)
                self._columns.write(connection, slots, records)
                with self._lock:  # a search that sees the new rows finds room for them
                    self._columns.grow(slots)

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
        self, slots: Sequence[int], vectors: NDArray[np.float32] | None
    ) -> NDArray[np.uint32] | int:
        """Keep vectors, and return their checksums; 0 where there are none."""
        if vectors is None or not len(vectors):
            return 0
        room = max(len(self._columns), max(slots) + 1)
        before = self._vectors.dimension
        checks = self._vectors.put(np.array(slots), vectors, -(-room // SEGMENT) * SEGMENT)
        if self._vectors.dimension != before:
            self.data.note(dimension=self._vectors.dimension)
        return checks

    def _take_out(self, connection: sqlite3.Connection, slots: Iterable[int]) -> set[int]:
        """Take rows out of the database, and return the slots of those around them."""
        gone = list(slots)
        if not gone:
            return set()
        beside = self._turns.around(connection, gone).difference(gone)
        words.put(connection, dict.fromkeys(gone, words.NONE))
        kept = _found(connection, "SELECT slot, metadata FROM row WHERE slot", gone)
        of_rows = [
            (*cell, n) for n, data in kept for cell in cells.cells_of(json.loads(data) or {})
        ]
        connection.executemany("DELETE FROM cell WHERE key = ? AND value = ? AND slot = ?", of_rows)
        for name in ("row", "token"):
            connection.execute(f"DELETE FROM {name} WHERE slot {_IN}", (listed(gone),))
        return beside

    def _tokens_of(
        self, connection: sqlite3.Connection, slot: int | None, memory: Candidate | None
    ) -> bytes:
        """The tokens of a row before it changed, where its text is the same."""
        if slot is None or memory is None:
            return b""
        before = self._memory_at(connection, slot)
        if before is None or index_text(before) != index_text(memory):
            return b""
        found = connection.execute("SELECT vectors FROM token WHERE slot = ?", (slot,)).fetchone()
        return found[0] if found else b""

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
            return dict(_found(connection, "SELECT slot, id FROM row WHERE slot", slots))

    def differing(self, page: Mapping[str, Any]) -> list[str]:
        """The ids of the rows of a page of Chroma's whose text or metadata is another one here."""
        with self.data.reading() as connection:
            query = "SELECT id, document, metadata FROM row WHERE id"
            known = {row_id: rest for row_id, *rest in _found(connection, query, page["ids"])}
        there = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        return [
            row_id
            for row_id, document, metadata in there
            if row_id not in known
            or known[row_id][0] != document
            or (json.loads(known[row_id][1]) or {}) != (metadata or {})
        ]

    def written(self, ids: Sequence[str]) -> dict[str, int]:
        """When rows were written, in epoch milliseconds, by their id; without unknown ones."""
        with self.data.reading() as connection:
            return dict(_found(connection, "SELECT id, written FROM row WHERE id", ids))

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
                        known[key] = cells.fitting(connection, where, len(fits))
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
            tokens = dict(_found(connection, query, slots.tolist()))
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
            query = "SELECT slot, id, ifnull(answers, '') FROM row WHERE slot"
            found = _found(connection, query, slots.tolist())
        found.sort(key=itemgetter(1))
        at, ids, answers = zip(*found, strict=True) if found else ((), (), ())
        with self._lock:
            records = self._columns.at(at)
        types, authors = records["memory_type"].tolist(), records["author"].tolist()
        names = self._named(at, types, authors)
        return Facts(
            source,
            np.array(at, dtype=np.intp),
            ids,
            answers,
            [names.get(each, "") for each in types],
            [names.get(each, "") for each in authors],
            [*zip(*(records[name].tolist() for name in Scope.model_fields), strict=True)],
            [None if x == NEVER else from_milliseconds(x) for x in records["created"].tolist()],
            (records["event_start"] != NEVER).tolist(),
            records["short"].astype(bool).tolist(),
            records["profile"],
        )

    def _named(
        self, slots: Sequence[int], types: Sequence[int], authors: Sequence[int]
    ) -> Mapping[int, str]:
        """Types and authors by their number; of those not seen before, a row is read."""
        if len(self._names) > _NAMES:
            self._names = {}
        pairs = dict(zip(zip(types, authors, strict=True), slots, strict=True))
        new = [slot for pair, slot in pairs.items() if not self._names.keys() >= {*pair}]
        for memory in self.memories(new, None):
            if memory is not None:
                for name in (memory.memory_type, memory.author):
                    self._names[hashed(name)] = name
        return self._names

    def close(self) -> None:
        """Let everything go. A search that still runs raises `StoreClosedError`."""
        self.data.close()
        self._vectors.close()

    def _memory_at(self, connection: sqlite3.Connection, slot: int) -> Candidate | None:
        row = _rows_at(connection, [slot]).get(slot)
        return None if row is None else self._read(row)


def _rows_at(connection: sqlite3.Connection, slots: Sequence[int]) -> dict[int, Row]:
    """The rows at slots, as Chroma returned them."""
    query = "SELECT slot, id, document, metadata FROM row WHERE slot"
    return {n: (*row, json.loads(data)) for n, *row, data in _found(connection, query, slots)}


def _slots(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    return dict(_found(connection, "SELECT id, slot FROM row WHERE id", ids))


def _found(
    connection: sqlite3.Connection, query: str, values: Iterable[object]
) -> list[tuple[Any, ...]]:
    """What a query finds that ends in the column in which one of the values must be."""
    return connection.execute(f"{query} {_IN}", (listed(values),)).fetchall()


def _rarities(connection: sqlite3.Connection, texts: Sequence[str]) -> list[float]:
    """How rare words are, as they are written; one that no row has is the rarest."""
    terms = [stems(each) for each in texts]
    distinct = list({term for each in terms for term in each})
    having = dict(zip(distinct, words.having(connection, distinct), strict=True))
    [[rows]] = connection.execute("SELECT value FROM fact WHERE name = 'rows'")
    return [rarity(rows, min([having[x] for x in each], default=0)) for each in terms]
