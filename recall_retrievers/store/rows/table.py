"""The rows of a collection on disk or in memory: all that a question needs beside Chroma's graph.

A row gets the next place. A new version of it gets a new place, and the old place is dead. So every
file but that of the words is only ever appended, and a state that fits its first bytes is whole.

- ``rows``: the row as Chroma has it, as JSON;
- ``columns``: its owner, its times, the turn that it answers, where it is in ``rows``;
- ``counts`` and ``terms``: how often it has each word;
- ``cells``: its metadata, for filters;
- ``vectors`` and ``slots``: the vectors that are known, and the rows that they belong to;
- ``tokens`` and ``spans``: the vectors of the tokens of rows; the index is whole without them;
- ``dead``: the places of old versions and deleted rows;
- ``words``: tantivy's files.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.filter_match import fulfils
from recall_retrievers.store.chroma.row_fields import WRITTEN_AT, Row
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.embedding.token_vectors import Embedded, TokenVectors
from recall_retrievers.store.rows.append_file import AppendFile, Mark
from recall_retrievers.store.rows.cache import Cache
from recall_retrievers.store.rows.cells import Cell, Cells, cells_of
from recall_retrievers.store.rows.columns import Columns, hashed, record
from recall_retrievers.store.rows.indexed_words import IndexedWords
from recall_retrievers.store.rows.row_texts import RowTexts
from recall_retrievers.store.rows.token_rows import Coded, TokenRows, coded
from recall_retrievers.store.rows.vectors import Vectors
from recall_retrievers.store.rows.wanted import Places, Selection, Wanted

TOKENS = ("tokens", "spans")
COUNTS = ("counts", "terms")
FILES = ("rows", "columns", "cells", "vectors", "slots", "dead", *COUNTS, *TOKENS)
WORDS = "words"

GATHERED = 20_000  # rows whose words are committed together, while all rows are read
_MOST_WAITING = 500  # rows that are searched by words before they are committed


class Table:
    """Rows by place. Several threads may use it.

    Args:
        read: Makes a memory of a row; None where it has no text.
        folder: The folder of its files. None = in memory.
        marks: How much of each file is whole; empty for a new table.
        dimension: The length of its vectors; 0 = not known yet.
        cache: The memory that it may take. None = next to none.

    Attributes:
        files: Its files by name, except those of words.
        folder: Their folder.
        texts: The rows as Chroma returned them.
        changed: Whether it has changed since the last commit.
    """

    def __init__(
        self,
        read: Callable[[Row], Candidate | None],
        folder: Path | None = None,
        marks: Mapping[str, Mark] | None = None,
        dimension: int = 0,
        cache: Cache | None = None,
    ) -> None:
        marks = marks or {}
        self.files = {
            name: AppendFile(folder and folder / name, marks.get(name, (0, 0))) for name in FILES
        }
        self.folder = folder
        self._read = read
        self._lock = threading.Lock()
        self._committing = threading.Lock()
        dead = self.files["dead"].view().view(np.int64)
        self._columns = Columns(self.files["columns"], dead)
        self.texts = RowTexts(self.files["rows"], self._columns)
        counts, terms = (self.files[name] for name in COUNTS)
        words = folder and folder / WORDS
        self._words = IndexedWords(self._columns, (counts, terms), self._memory, words)
        self._cells = Cells(self.files["cells"])
        self._cache = cache or Cache(0)
        self._owner = object()  # of what is in the cache
        self._let_go = finalize(self, self._cache.clear, self._owner)
        room = partial(self._cache.take, self._owner) if folder is None else None
        numbers, slots = self.files["vectors"], self.files["slots"]
        self._vectors = Vectors(numbers, slots, dimension, room)
        codes, spans = (self.files[name] for name in TOKENS)
        self._tokens = TokenRows(codes, spans, len(self._columns), room)
        self._closed = self._retired = False
        self.changed = False

    def __len__(self) -> int:
        return self._columns.alive

    @property
    def places(self) -> int:
        """How many places there are, dead ones as well."""
        return len(self._columns)

    @property
    def has_words(self) -> bool:
        """Whether all rows can be found by words; see `read_words`."""
        return self._words.whole

    @property
    def waiting(self) -> int:
        """How many rows wait for the next commit of their words."""
        return self._words.index.waiting

    @property
    def dimension(self) -> int:
        """The length of its vectors; 0 = not known yet."""
        return self._vectors.dimension

    # -- changes ----------------------------------------------------------------------------------

    def put(
        self,
        rows: Sequence[Row],
        memories: Sequence[Candidate | None] | None = None,
        embedded: Embedded | None = None,
        tokens: Sequence[Coded] = (),
    ) -> int:
        """Add rows, or new versions of them, and return their number.

        Args:
            rows: The rows, as Chroma returns them.
            memories: Their memories, if they are known.
            embedded: Their vectors, if they are known.
            tokens: The coded vectors of their tokens, if those were coded before.
        """
        if embedded is not None and embedded.tokens is not None:
            tokens = [coded(each) for each in embedded.tokens]
        if memories is None:
            memories = [self._read(row) for row in rows]
        with self._lock:
            self._check_open()
            before = self._columns.places([hashed(row[0]) for row in rows])
            tokens = tokens or self._kept_tokens(before, memories)
            beside = self._drop_at(before)
            first = len(self._columns)
            records: list[tuple[int, ...]] = []
            cells: dict[int, Sequence[Cell]] = {}
            spans = self.texts.append(rows)
            for n, (row, memory, span) in enumerate(zip(rows, memories, spans, strict=True)):
                written = (row[2] or {}).get(WRITTEN_AT)
                if memory is not None:
                    cells[first + n] = cells_of(row[2] or {})
                at = written if isinstance(written, int) else 0
                records.append(record(row[0], memory, at, span))
            if cells:
                self._cells.append(cells)
            self._columns.append(records)
            self._words.put(dict(enumerate(memories, first)), beside)
            self._tokens.append(tokens, len(rows))
            if embedded is not None:
                self._vectors.keep(np.arange(first, first + len(rows)), embedded.vectors)
            self.changed = True
        return len(rows)

    def drop(self, hashes: Iterable[int]) -> int:
        """Take rows out, by the hash of their id, and return how many there were."""
        with self._lock:
            places = self._columns.places(hashes)
            self._words.put({}, self._drop_at(places))
            return int(np.count_nonzero(np.unique(places) >= 0))

    def keep_vectors(self, places: Places, vectors: NDArray[np.float32]) -> None:
        """Keep vectors that were read, of rows that have none yet."""
        with self._lock:
            self._check_open()
            mine = self._columns.live[places] & self._vectors.missing(places)
            if mine.any():
                self._vectors.keep(places[mine], vectors[mine])
                self.changed = True

    def _kept_tokens(self, places: Places, memories: Sequence[Candidate | None]) -> Sequence[Coded]:
        """The tokens of rows before they changed, of those whose text is the same."""
        old = [place for place in places.tolist() if place >= 0]
        if not old or self._tokens.missing(np.array(old)).all():
            return ()
        kept: list[Coded] = []
        for place, memory in zip(places.tolist(), memories, strict=True):
            before = None if place < 0 else self._read(self.texts.at(place))
            same = before and memory and index_text(before) == index_text(memory)
            kept.append(self._tokens.at(place) if same else (b"", 0, 0))
        return kept

    def _drop_at(self, places: Places) -> set[int]:
        """Take rows out, and return the places of those around them."""
        self._check_open()
        dead = np.unique(places[places >= 0])
        beside = self._words.drop(dead)
        for place in dead.tolist():
            self._columns.kill(place)
            self._cache.forget(self._owner, place)
        if len(dead):
            self.files["dead"].append(dead.astype(np.int64).tobytes())
            self.changed = True
        return beside

    # -- questions --------------------------------------------------------------------------------

    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the ids of all rows, in the order in which they came."""
        with self._lock:
            return self._columns["id"][self._columns.live].astype(np.uint64)

    def ids_of(self, hashes: Iterable[int]) -> list[str]:
        """The ids of rows by their hashes; unknown ones are passed over."""
        with self._lock:
            places = self._columns.places(hashes)
        return [self.texts.id_at(place) for place in places[places >= 0].tolist()]

    def places_of(self, ids: Iterable[str]) -> Places:
        """The places of rows; -1 for an unknown one."""
        with self._lock:
            return self._columns.places([hashed(each) for each in ids])

    def written(self, places: Places) -> list[int]:
        """When rows were written, in epoch milliseconds; 0 if that is not known."""
        with self._lock:
            return [int(each) for each in self._columns["written"][places]]

    def have_expired(self, moment: datetime | None) -> bool:
        """Whether a row has expired by a moment."""
        with self._lock:
            return self._columns.have_expired(moment)

    def created(self, places: Places) -> NDArray[np.int64]:
        """When rows were recorded, in epoch milliseconds; `NEVER` if that is not known."""
        with self._lock:
            self._check_open()
            return self._columns["created"][places]

    def owners(self, moment: datetime | None) -> tuple[Places, NDArray[np.intp]]:
        """A row of each owner, such as a user in a session, and how many of its rows are left.

        Args:
            moment: When the rows must not have expired.
        """
        with self._lock:
            self._check_open()
            places = np.flatnonzero(self._columns.fitting(Wanted(Scope(), moment=moment)))
            owners = np.stack([self._columns[name][places] for name in Scope.model_fields], axis=1)
        _, first, counts = np.unique(owners, axis=0, return_index=True, return_counts=True)
        return places[first], counts

    def select(self, wanted: Wanted, where: Where | None) -> Selection:
        """The rows that may be wanted, and may fulfil a filter."""
        with self._lock:
            self._check_open()
            fits = self._columns.fitting(wanted)
            among = int(np.count_nonzero(fits))
            if where is not None:
                fits &= self._cells.fitting(where, len(fits))
        return Selection(fits, np.flatnonzero(fits), among)

    def living(self) -> Places:
        """The places of all rows."""
        with self._lock:
            return np.flatnonzero(self._columns.live)

    def missing(self, places: Places) -> NDArray[np.bool_]:
        """Whether the vector of each row is missing."""
        with self._lock:
            return self._vectors.missing(places)

    def cosines(self, places: Places, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of rows to a vector of length 1; none of their vectors may be missing."""
        return self._vectors.cosines(places, vector)

    def vectors(self, places: Places) -> NDArray[np.float32]:
        """The vectors of rows, of length 1; none may be missing."""
        return self._vectors.at(places)

    def likenesses(self, ids: Iterable[str], question: TokenVectors) -> dict[str, float]:
        """How near rows come to the tokens of a question, by their id; without those not known.

        A rare word of the question counts more than a common one.
        """
        names = list(ids)
        places = self.places_of(names)
        known = places >= 0
        with self._lock:
            self._check_open()
            known[known] = ~self._tokens.missing(places[known])
            words = self._words.index.snapshot()
        rarities = np.array(words.rarities(question.words), dtype=np.float32)
        likeness = self._tokens.likeness(places[known], question.vectors, rarities)
        there = [names[place] for place in np.flatnonzero(known).tolist()]
        return dict(zip(there, likeness.tolist(), strict=True))

    def by_words(
        self, text: str, limit: int, wanted: Wanted, rows: Selection | None = None
    ) -> list[tuple[int, float]]:
        """The places of the best rows by BM25, with their scores, best first.

        Args:
            text: The question.
            limit: How many at most.
            wanted: The conditions on owner and time.
            rows: The rows that fulfil these, and a filter, where they were selected before.
        """
        if rows is None and wanted.limited:
            rows = self.select(wanted, None)
        if self.waiting > _MOST_WAITING:
            self.commit()
        with self._lock:
            self._check_open()
            words = self._words.index.snapshot()
        places, scores = words.search(text, limit, wanted, rows)
        with self._lock:
            living = self._columns.live[places]
            places, scores = places[living], scores[living]
            # The order of equal rows must not depend on the order in which they came.
            best = np.lexsort((self._columns["id"][places], -scores))[:limit]
        return list(zip(places[best].tolist(), scores[best].tolist(), strict=True))

    # -- memories ---------------------------------------------------------------------------------

    def _memory(self, place: int) -> Candidate | None:
        return self._read(self.texts.at(place))

    def memories(self, places: Sequence[int], where: Where | None) -> list[Candidate | None]:
        """The memories of rows; None if one is gone, has no text, or does not fit a filter."""
        with self._lock:
            self._check_open()
            live = self._columns.live
            found = self._cache.found(self._owner, places)  # a row that is gone is not in it
        wanted = [
            place
            for place, known in found.items()
            if (live[place] if known is None else where is not None)
        ]
        for place, row, size in self.texts.each(wanted) if wanted else ():
            if not fulfils(where, row[1] or "", row[2] or {}):
                found[place] = None
            elif found[place] is None:
                found[place] = self._keep(place, self._read(row), size)
        return [found.get(place) for place in places]

    def _keep(self, place: int, memory: Candidate | None, size: int) -> Candidate | None:
        with self._lock:
            if memory is not None and self._columns.live[place]:
                self._cache.keep(self._owner, place, memory, size)
        return memory

    # -- copies -----------------------------------------------------------------------------------

    def copy_to(self, other: Table, first: int, last: int) -> None:
        """Put the living rows from one place to another into another table."""
        places = first + np.flatnonzero(self._columns.live[first:last])
        missing = self.missing(places)
        for part, vectors in ((places[missing], None), (places[~missing], self.vectors)):
            if len(part):
                rows = [self.texts.at(place) for place in part.tolist()]
                tokens = [self._tokens.at(place) for place in part.tolist()]
                other.put(rows, None, vectors and Embedded(vectors(part)), tokens)

    def replaced(self, hashes: NDArray[np.uint64], end: int) -> list[int]:
        """Which of these rows are gone, or have a new version from a place on."""
        with self._lock:
            places = self._columns.places(hashes.tolist())
        return [int(each) for each in hashes[(places < 0) | (places >= end)]]

    def read_words(self) -> None:
        """Read the words of the rows whose words were lost."""
        while True:
            with self._lock:
                self._check_open()
                if not self._words.read_some():
                    return
                self.changed = True
            if self.waiting > GATHERED:
                self.commit()

    # -- the end ----------------------------------------------------------------------------------

    def commit(self, save: Callable[[dict[str, Mark]], None] | None = None) -> None:
        """Write the words of new rows.

        Args:
            save: Called with how much of each file belongs to these words, before they change.
        """
        with self._committing:
            if self._retired:
                return
            with self._lock:
                self._check_open()
                new, dropped = self._words.index.changes()
                marks = {name: file.mark for name, file in self.files.items()}
                self.changed = self.changed and save is None
            if new or dropped:
                searcher = self._words.index.commit(new, dropped)
                with self._lock:
                    self._words.index.take(searcher, new, dropped)
            if save is not None:
                save(marks)

    def retire(self) -> None:
        """Commit no more: another table replaces it, and its folder goes.

        A search that has begun with it goes on, on files that are open already.
        """
        with self._committing:
            self._retired = True

    def close(self) -> None:
        """Let everything go. A search that still runs raises `StoreClosedError`."""
        with self._lock:
            self._closed = True
            self._let_go()
            for file in self.files.values():
                file.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosedError("the store was closed while it was searched")
