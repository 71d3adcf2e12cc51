"""What this process knows of a collection's rows, so that a question need not ask Chroma for it.

Whose a row is and of when (`Roster`), its words and its text (`KeywordIndex`), and its vector, once
it has been seen (`Vectors`). The collection is the truth, and the mirror follows it. It is built
from the collection when it is first needed, so a restart loses nothing; for a collection that is
still empty it is there at once. What the stores of this process write and delete is passed on to
all mirrors of the collection. What others write is looked for before a search, once a second: by
the number of rows (which is looked at each time while they are few) and, where other processes may
write, by asking for what was written since. Rows that others replace in place without
`RecallStore` carry no mark of it: their new text is seen when the collection is opened anew. A
private collection in memory has no other writers, and is not asked.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from recall_stages.memory import Memory, MetadataValue, Scope
from recall_stages.stage import Search
from recall_stages.store.index import Index, Similar
from recall_stages.store.kept_memories import KeptMemories
from recall_stages.store.keywords import KeywordIndex
from recall_stages.store.moments import to_milliseconds
from recall_stages.store.roster import Places, Roster
from recall_stages.store.rows import WRITTEN_AT, Row
from recall_stages.store.vectors import Vectors, unit
from recall_stages.timeline import TimeRange

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

_POLL = 1.0  # seconds between two looks for what other processes have written
_COUNTED_AT_ONCE = 5000  # rows; up to here counting them is quick enough to do for each question
_RESTS = 3  # times as long as a look took: after a large load of others that is some seconds
_SKEW = 60_000  # milliseconds by which another machine's clock may be late
_LARGEST_PAGE = 5000  # rows
_FULL = 300  # rows: what the Cloud returns at the most; after fewer there is nothing more
_PAGE = 250  # vectors a call: below every limit

# Two stores of one program may have one collection open, and each shall see at once what the
# other writes. The mirrors of closed stores drop out by themselves.
_open: WeakSet[Mirror] = WeakSet()
_opening = threading.Lock()


def mirrors_of(collection: Collection) -> list[Mirror]:
    """All mirrors in this process that show a collection."""
    with _opening:
        return [each for each in _open if each.shows == collection.id]


class Mirror:
    """The rows of one collection; threads may use it side by side.

    Args:
        index: The collection, and how its rows are written.
        alone: Whether nobody else can write to it while this store is open.
        shared: Whether other processes can.
    """

    def __init__(self, index: Index, *, alone: bool, shared: bool) -> None:
        self._collection: Any = index.collection
        self._index = index
        self._alone = alone
        self._shared = shared
        self._page = min(index.most_results, _LARGEST_PAGE)
        self._lock = threading.Lock()
        self._roster = Roster()
        self._words = KeywordIndex()
        self._memories = KeptMemories()
        self._vectors = Vectors()
        self._look_at = 0.0
        self._seen = _now()
        self.ready = not self._collection.count()
        self.shows = self._collection.id
        with _opening:
            _open.add(self)

    # -- in step with the collection --------------------------------------------------------------

    def refresh(self, *, build: bool) -> None:
        """Learn what others have written; where there is no mirror yet, build it if that is asked.

        Reading 100,000 rows takes ten to twenty seconds.
        """
        with self._lock:
            if not self.ready and build:
                started, clock = _now(), time.monotonic()
                _log.info("reading %d rows for the first search", self._collection.count())
                for page in self._pages(["documents", "metadatas"]):
                    self._take(page)
                self._seen, self.ready = started, True
                _log.info("read %d rows in %.1f s", len(self), time.monotonic() - clock)
            elif self.ready and not self._alone:
                self._catch_up()

    def _catch_up(self) -> None:
        started = time.monotonic()
        due = started >= self._look_at
        if due and self._shared:
            now, since = _now(), self._seen - _SKEW
            for page in self._pages(["metadatas"], {WRITTEN_AT: {"$gte": since}}):
                rows = zip(page["ids"], page["metadatas"], strict=True)
                self._fetch([x for x, row in rows if row[WRITTEN_AT] != self._roster.written(x)])
            self._seen = now
        if (due or len(self) <= _COUNTED_AT_ONCE) and self._collection.count() != len(self):
            there = {row_id for page in self._pages([]) for row_id in page["ids"]}
            for row_id in self._roster.ids - there:
                self._forget(row_id)
            self._fetch(sorted(there - self._roster.ids))
        if due:
            took = time.monotonic() - started
            self._look_at = time.monotonic() + max(_POLL, _RESTS * took)

    def _fetch(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _PAGE):
            part = ids[start : start + _PAGE]
            self._take(self._collection.get(ids=part, include=["documents", "metadatas"]))

    def _pages(self, include: list[str], where: object = None) -> Iterator[Mapping[str, Any]]:
        offset = 0
        while True:
            page = self._collection.get(
                where=where, include=include, limit=self._page, offset=offset
            )
            yield page
            offset += len(page["ids"])
            if len(page["ids"]) < _FULL:  # a collection handed in may be of the Cloud as well
                return

    def _take(self, page: Mapping[str, Any]) -> None:
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        for row_id, document, metadata in rows:
            written = (metadata or {}).get(WRITTEN_AT)
            self._put(row_id, document, metadata, written if isinstance(written, int) else 0)

    def _put(
        self,
        row_id: str,
        document: str | None,
        metadata: Mapping[str, MetadataValue] | None,
        written: int,
    ) -> int:
        self._forget(row_id)
        memory = self._index.memory((row_id, document, metadata))
        place = self._roster.put(row_id, memory, written)
        if memory is not None:
            self._memories.keep(place, memory)
            self._words.put(place, memory)
        return place

    def _forget(self, row_id: str) -> None:
        place = self._roster.drop(row_id)
        if place is not None:
            self._vectors.forget(place)
            self._memories.forget(place)
            self._words.drop(row_id)

    # -- what it knows ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._roster)

    def survey(self, scope: Scope, within: Sequence[TimeRange]) -> tuple[int, int]:
        """How many rows are in a scope and may be of a time, and how many vectors it would take.

        Args:
            scope: Whose memories.
            within: Where not empty, the recorded time, or the hull of the events, must touch one.

        Returns:
            The number of these rows, and of those among them whose vector has to be fetched.
        """
        with self._lock:
            if not within and not scope.fields():
                return len(self), len(self) - len(self._vectors)
            places = self._roster.matching(scope, within)
            return len(places), int(np.count_nonzero(self._vectors.missing(places)))

    def ranked(
        self, vector: NDArray[np.float32], most: int, scope: Scope, within: Sequence[TimeRange]
    ) -> list[Similar]:
        """The rows most similar to a vector in a scope and a time, each of them compared."""
        with self._lock:
            places = self._roster.matching(scope, within)
            cosines = self._cosines(places, unit(vector))
            best = np.argpartition(-cosines, most - 1)[:most] if most < len(places) else slice(None)
            ids = self._roster.ids_at(places[best])
        found = zip(ids, cosines[best].tolist(), strict=True)
        return sorted((each for each in found if each[1] >= -1), key=lambda x: (-x[1], x[0]))

    def fitting(
        self, found: Sequence[Similar], scope: Scope, within: Sequence[TimeRange]
    ) -> list[Similar]:
        """Those of some rows that are in a scope and may be of a time, or are not known here."""
        with self._lock:
            places = self._roster.places(row_id for row_id, _ in found)
            fits = (places < 0) | self._roster.fitting(places, scope, within)
        return [each for each, fit in zip(found, fits.tolist(), strict=True) if fit]

    def read(self, ids: Sequence[str]) -> tuple[dict[str, Memory], list[str]]:
        """Memories by id; and the ids of those rows that are not kept here."""
        with self._lock:
            places = self._roster.places(ids).tolist()
            kept = {
                row_id: memory
                for row_id, place in zip(ids, places, strict=True)
                if (memory := self._memories.get(place)) is not None
            }
        return kept, [row_id for row_id in ids if row_id not in kept]

    def by_words(self, search: Search, limit: int) -> list[tuple[str, float]]:
        """The ids of rows that share most of a question's words, with their BM25 scores."""
        with self._lock:
            hits = self._words.search(search.text, limit, search.scope, search.within)
            ids = self._roster.ids_at(np.array([place for place, _ in hits], dtype=np.intp))
        # Equal scores come in the order of storing, which another process may not share.
        scored = zip(ids, (score for _, score in hits), strict=True)
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))

    def _cosines(self, places: Places, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """How similar rows are to a vector of length 1; -2 where one has gone meanwhile."""
        cosines = np.full(len(places), -2, dtype=np.float32)
        missing = self._vectors.missing(places)
        wanted = self._roster.ids_at(places[missing])
        for start in range(0, len(wanted), _PAGE):
            page = self._collection.get(ids=wanted[start : start + _PAGE], include=["embeddings"])
            if page["ids"]:
                there = self._roster.places(page["ids"])
                vectors = unit(np.asarray(page["embeddings"], dtype=np.float32))
                self._vectors.keep(there, vectors)
                cosines[np.searchsorted(places, there)] = vectors @ vector
        cosines[~missing] = self._vectors.cosines(places[~missing], vector)
        return cosines

    # -- what its own process writes --------------------------------------------------------------

    def put(self, rows: Sequence[Row], written: int, vectors: NDArray[np.float32]) -> None:
        """Take over rows that were just written, with the epoch milliseconds of the writing."""
        with self._lock:
            if self.ready:
                places = [self._put(*row, written) for row in rows]
                self._vectors.keep(np.array(places, dtype=np.intp), vectors)

    def drop(self, ids: Iterable[str]) -> None:
        """Forget rows that were just deleted."""
        with self._lock:
            if self.ready:
                for row_id in ids:
                    self._forget(row_id)


def _now() -> int:
    return to_milliseconds(datetime.now(UTC))
