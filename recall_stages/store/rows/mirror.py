"""The rows of a collection in memory, so that a question need not ask Chroma for them.

The mirror has the owner and the times of each row (`Roster`), its words (`KeywordIndex`), its
memory (`CandidateCache`), and its vector once that was read or written (`Vectors`). The collection
is the truth, and `Follower` keeps the mirror in step with it. The first question that needs the
mirror builds it. The mirror of an empty collection is ready at once. A private collection in memory
has no other writers.

Memories take up to 256 MB a store and vectors up to 512 MB; further ones are read from Chroma. The
words take about 40 MB and the columns 25 MB for 100,000 rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.candidate import Candidate
from recall_stages.core.errors import StoreClosedError
from recall_stages.core.memory import Scope
from recall_stages.core.stage import Search
from recall_stages.store.chroma.index import Index, Similar
from recall_stages.store.chroma.row_fields import WRITTEN_AT
from recall_stages.store.rows.keyword_index import KeywordIndex
from recall_stages.store.rows.memory_cache import CandidateCache
from recall_stages.store.rows.owners import Roster
from recall_stages.store.rows.vectors import Vectors, unit
from recall_stages.timeline import TimeRange

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_PAGE = 250  # vectors a call: below every limit

# Two stores of one program may open the same collection. Both must see the writes of the other at
# once.
_open: WeakSet[Mirror] = WeakSet()
_opening = threading.Lock()


def mirrors_of(collection: Collection) -> list[Mirror]:
    """The mirrors of a collection in this process."""
    with _opening:
        return [each for each in _open if each.shows == collection.id]


class Mirror:
    """The rows of one collection. Several threads may use it at once.

    The lock is held while its own data is read or changed. It is never held while Chroma is read or
    the words are committed.

    Args:
        index: The collection, and the form of its rows.
        alone: Whether nobody else can write to it while this store is open.
        shared: Whether other processes can write to it.

    Attributes:
        ready: Whether all rows are known.
        doubtful: Whether rows may have been deleted, and it is not known yet which.
        shows: The id of the collection.
    """

    def __init__(self, index: Index, *, alone: bool, shared: bool) -> None:
        self.index = index
        self.alone = alone
        self.shared = shared
        self._collection: Any = index.collection
        self._lock = threading.Lock()
        self._readings: dict[int, set[str]] = {}
        self._empty()
        self._closed = False
        self.doubtful = False
        self.shows = self._collection.id
        self._begun = True  # so that writes of other stores count while the rows are counted
        with _opening:
            _open.add(self)
        self.ready = self._begun = not self._collection.count()

    def _empty(self) -> None:
        self._roster = Roster()
        self._words = KeywordIndex()
        self._memories = CandidateCache()
        self._vectors = Vectors()

    def close(self) -> None:
        """Forget all rows, and ignore further writes of this process.

        A search that still runs raises `StoreClosedError` as soon as it reads rows.
        """
        with _opening:
            _open.discard(self)
        with self._lock:
            self._closed, self._begun, self.ready = True, False, False
            self._empty()

    # -- reading the collection, by `Follower` ----------------------------------------------------

    def begin(self) -> None:
        """Forget all rows, and follow the writes of this process from now on."""
        with self._lock:
            self._empty()
            self._begun = True

    @contextmanager
    def reading(self) -> Iterator[AbstractSet[str]]:
        """Collect the ids of the rows that change here while rows are read from the collection.

        The version of such a row that was read may be old.
        """
        changed: set[str] = set()
        with self._lock:
            self._readings[id(changed)] = changed
        try:
            yield changed
        finally:
            with self._lock:
                del self._readings[id(changed)]

    def take(self, page: Mapping[str, Any], changed: AbstractSet[str]) -> None:
        """Take over rows that were read, except those that changed here meanwhile."""
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        with self._lock:
            if self._closed:
                raise StoreClosedError("the store was closed while its rows were read")
            for row_id, document, metadata in rows:
                if row_id not in changed:
                    written = (metadata or {}).get(WRITTEN_AT)
                    written = written if isinstance(written, int) else 0
                    self._note(row_id, changed)
                    self._put(row_id, self.index.candidate((row_id, document, metadata)), written)

    def forget(self, ids: Iterable[str], changed: AbstractSet[str]) -> None:
        """Forget rows that are gone, except those that changed here meanwhile."""
        with self._lock:
            for row_id in ids:
                if row_id not in changed:
                    self._note(row_id, changed)
                    self._forget(row_id)

    def ids(self) -> list[str]:
        """The ids of all rows, in the order in which they were stored if that is known."""
        with self._lock:
            return self._roster.ids()

    def arrange(self, ids: Iterable[str]) -> None:
        """Put the rows into the order in which they were stored."""
        with self._lock:
            self._roster.arrange(ids)

    def written_otherwise(self, written: Mapping[str, int]) -> list[str]:
        """The ids of rows whose time of writing differs from the one here."""
        with self._lock:
            return [x for x, time in written.items() if self._roster.written(x) != time]

    def _note(self, row_id: str, mine: AbstractSet[str] | None = None) -> None:
        """Note a change for all readings that are under way, except the one that has read it."""
        for changed in self._readings.values():
            if changed is not mine:
                changed.add(row_id)

    def _put(self, row_id: str, memory: Candidate | None, written: int) -> int:
        if row_id in self._roster:
            self._words.drop(row_id)
        place = self._roster.put(row_id, memory, written)
        self._vectors.forget(place)
        self._memories.forget(place)
        if memory is not None:
            if not self.index.foreign:  # rows of others may change without a mark
                self._memories.keep(place, memory)
            self._words.put(place, memory)
        return place

    def _forget(self, row_id: str) -> None:
        place = self._roster.drop(row_id)
        if place is not None:
            self._vectors.forget(place)
            self._memories.forget(place)
            self._words.drop(row_id)

    # -- questions --------------------------------------------------------------------------------

    def __len__(self) -> int:
        with self._lock:  # so that no page of rows is half counted
            return len(self._roster)

    def survey(self, scope: Scope, within: Sequence[TimeRange]) -> tuple[int, int]:
        """The number of rows in a scope and a time, and of those whose vector is not here.

        Args:
            scope: The scope.
            within: If not empty, the recorded time or the hull of the events must touch a range.

        Returns:
            The number of these rows, and the number of those whose vector has to be read.
        """
        with self._lock:
            if not within and not scope.fields():
                return len(self._roster), len(self._roster) - len(self._vectors)
            places = self._roster.matching(scope, within)
            return len(places), int(np.count_nonzero(self._vectors.missing(places)))

    def ranked(
        self, vector: NDArray[np.float32], most: int, scope: Scope, within: Sequence[TimeRange]
    ) -> list[Similar]:
        """The rows most similar to a vector in a scope and a time; all of them are compared."""
        wanted_vector = unit(vector)
        read: dict[str, float] = {}
        while True:
            with self._lock:
                places = self._roster.matching(scope, within)
                missing = self._vectors.missing(places)
                wanted = self._roster.ids_at(places[missing])
                unread = [row_id for row_id in wanted if row_id not in read]
                if not unread:
                    cosines = np.empty(len(places), dtype=np.float32)
                    cosines[~missing] = self._vectors.cosines(places[~missing], wanted_vector)
                    cosines[missing] = [read[row_id] for row_id in wanted]
                    few = most < len(places)
                    best = np.argpartition(-cosines, most - 1)[:most] if few else slice(None)
                    ids = self._roster.ids_at(places[best])
                    break
            read |= self._read_cosines(unread, wanted_vector)
        nearest = sorted(zip((-cosines[best]).tolist(), ids, strict=True))
        return [(row_id, -distance) for distance, row_id in nearest if distance <= 1]

    def _read_cosines(self, ids: Sequence[str], vector: NDArray[np.float32]) -> dict[str, float]:
        """The cosines of rows to a vector of length 1; -2 for a row that is gone."""
        cosines = dict.fromkeys(ids, -2.0)
        with self.reading() as changed:
            for start in range(0, len(ids), _PAGE):
                part = list(ids[start : start + _PAGE])
                page = self._collection.get(ids=part, include=["embeddings"])
                if page["ids"]:
                    vectors = unit(np.asarray(page["embeddings"], dtype=np.float32))
                    cosines |= zip(page["ids"], (vectors @ vector).tolist(), strict=True)
                    self._keep(page["ids"], vectors, changed)
        return cosines

    def _keep(
        self, ids: Sequence[str], vectors: NDArray[np.float32], changed: AbstractSet[str]
    ) -> None:
        """Keep vectors that were read, except those of rows that changed here meanwhile."""
        with self._lock:
            places = self._roster.places(ids)
            current = (places >= 0) & [each not in changed for each in ids]
            self._vectors.keep(places[current], vectors[current])

    def fitting(
        self, similar: Sequence[Similar], scope: Scope, within: Sequence[TimeRange]
    ) -> list[Similar]:
        """The rows that are in a scope and a time, or are unknown here."""
        with self._lock:
            places = self._roster.places(row_id for row_id, _ in similar)
            fits = (places < 0) | self._roster.fitting(places, scope, within)
        return [each for each, fit in zip(similar, fits.tolist(), strict=True) if fit]

    def read(self, ids: Sequence[str]) -> tuple[dict[str, Candidate], list[str]]:
        """Memories by id, and the ids of the rows that have to be read from the collection."""
        if self.doubtful:
            return {}, list(ids)
        with self._lock:
            known = self._memories.at(self._roster.places(ids).tolist())
        pairs = zip(ids, known, strict=True)
        memories = {row_id: memory for row_id, memory in pairs if memory is not None}
        return memories, [row_id for row_id in ids if row_id not in memories]

    def by_words(self, search: Search, limit: int) -> list[tuple[str, float]]:
        """The ids of the best rows by BM25, with their scores."""
        while True:
            with self.reading() as changed:
                with self._lock:
                    words, roster = self._words, self._roster
                hits = words.search(search.text, limit, search.scope, search.within)
                with self._lock:
                    ids = roster.ids_at(np.array([place for place, _ in hits], dtype=np.intp))
            if changed.isdisjoint(ids):  # else a place may have another row now
                break
        # Equal scores are sorted by id: the order of storing may differ in another process.
        ordered = sorted(zip([-score for _, score in hits], ids, strict=True))
        return [(row_id, -negative) for negative, row_id in ordered]

    # -- writes of this process -------------------------------------------------------------------

    def put(
        self, memories: Sequence[Candidate], written: int, vectors: NDArray[np.float32]
    ) -> None:
        """Take over memories that were just stored, and their time of writing in milliseconds."""
        with self._lock:
            if self._begun:
                for memory in memories:
                    self._note(memory.id)
                places = [self._put(memory.id, memory, written) for memory in memories]
                self._vectors.keep(np.array(places, dtype=np.intp), vectors)

    def drop(self, ids: Iterable[str]) -> None:
        """Forget rows that were just deleted."""
        with self._lock:
            if self._begun:
                for row_id in ids:
                    self._note(row_id)
                    self._forget(row_id)
