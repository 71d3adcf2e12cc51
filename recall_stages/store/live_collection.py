"""A collection while a store has it open: what searches it, what writes to it, and its end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from recall_stages.core.candidate import Candidate, Hit
from recall_stages.core.errors import StoreClosedError, StoreError
from recall_stages.core.stage import Search
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.open_collection import Opened
from recall_stages.store.chroma.ownership import Identity
from recall_stages.store.chroma.prepare import Ready
from recall_stages.store.chroma.row_fields import OWN_FIELDS, Fields
from recall_stages.store.cloud.limits import check_fits
from recall_stages.store.cloud.searcher import CloudSearcher
from recall_stages.store.conditions import Conditions
from recall_stages.store.embedding.bounded import BoundedEmbedding
from recall_stages.store.embedding.token_vectors import Embedded
from recall_stages.store.listing import Listing, ids_in_chroma
from recall_stages.store.position import Walk
from recall_stages.store.rows.open_indexes import OpenIndex
from recall_stages.store.rows.scoped_rows import ServerRows
from recall_stages.store.rows.scoped_searcher import ScopedSearcher
from recall_stages.store.writing.writer import Writer

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection


_WALK = Walk()


@dataclass(frozen=True, slots=True)
class _Reading:
    """What reads the collection; all parts are replaced at the same moment."""

    index: Index
    searcher: ScopedSearcher | CloudSearcher
    listing: Listing


class LiveCollection:
    """A collection that is open in this process.

    Args:
        opened: The collection. It is not closed when this raises.
        embedding: The model that makes its vectors.
        fields: Where the rows of a collection of others keep what a memory needs.
        read_only: Whether nothing may be written.
        server: What to keep of a collection on a server.

    Attributes:
        identity: Whose collection it is.
        writer: The only one that writes to it.
    """

    def __init__(
        self,
        opened: Opened,
        embedding: BoundedEmbedding,
        fields: Fields,
        *,
        read_only: bool,
        server: ServerRows,
    ) -> None:
        self._read_only = read_only
        self._server = server
        self._closed = False
        self._adopting = Lock()
        self._opened = opened
        self.identity = Identity(opened.collection, embedding, fields)
        self._reading = self._read_as(fields)
        self.writer = Writer(opened, embedding, self.identity)

    @property
    def collection(self) -> Collection:
        """Chroma's own object; every failure of it is a `StoreError`."""
        return self._opened.collection

    @property
    def index(self) -> Index:
        """How to ask Chroma for its rows."""
        return self._reading.index

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[list[Hit]]:
        """The answers to searches; see `Searcher.answers`.

        Args:
            searches: The searches.
            embedded: Each text that is searched for by meaning, embedded.

        Raises:
            EmbeddingMismatchError: When the collection holds vectors of another length.
            StoreClosedError: When the store is closed meanwhile.
        """
        self.identity.check_dimension(*(each.vectors for each in embedded.values()))
        reading = self._reading
        try:
            found = reading.searcher.answers(searches, embedded)
        except Exception:
            self.check_open()  # this says more than the error that Chroma raised
            with self._adopting:
                adopted = reading is not self._reading
            if not adopted:
                raise
            found = self._reading.searcher.answers(searches, embedded)
        self.check_open()
        return found

    @contextmanager
    def listing(self) -> Iterator[Listing]:
        """What lists the collection.

        Raises:
            StoreClosedError: When the store is closed meanwhile.
        """
        try:
            yield self._reading.listing
        except Exception:
            self.check_open()  # this says more than the error that Chroma raised
            raise

    def listed(
        self,
        conditions: Conditions,
        walk: Walk = _WALK,
        limit: int | None = None,
    ) -> Iterator[Candidate]:
        """The memories that fulfil conditions, by recorded time, at most so many."""
        with self.listing() as listing:
            for memory in islice(listing.memories(conditions, walk), limit):
                self.check_open()
                yield memory

    def delete(self, ids: Sequence[str] | None, conditions: Conditions) -> int:
        """Delete the memories that fulfil conditions, and return their number.

        Args:
            ids: Only those with these ids. None = all that fulfil the conditions.
            conditions: The conditions.
        """
        index, limited = self.index, conditions.limited or bool(conditions.scope.fields())
        if ids is None and limited:
            wanted = [memory.id for memory in self.listed(conditions)]
        elif ids is None:
            wanted = ids_in_chroma(index, conditions)
        elif limited:
            where = index.filter_where(conditions.search(index.fields))
            found = index.read(ids, where).values()
            wanted = [memory.id for memory in found if conditions.admits(memory)]
        else:
            wanted = [row_id for page in index.by_id(ids, []) for row_id in page["ids"]]
        if wanted:
            self.writer.delete(wanted).result()
        return len(wanted)

    def adopt_if_empty(self) -> None:
        """Take over an empty collection of the caller's, before its first memory is written."""
        with self._adopting:
            foreign = self.identity.foreign and self.index.fields == OWN_FIELDS
            if foreign and self.collection.count() == 0:
                self.identity.adopt()
                self._reading.searcher.close()  # a search that runs now is made again
                self._reading = self._read_as(OWN_FIELDS)

    @property
    def limited(self) -> bool:
        """Whether there are limits to the size of a memory."""
        return self._opened.cloud

    def check_fits(self, rows: Iterable[Ready]) -> None:
        """Refuse memories that are too large for where the collection lies.

        Raises:
            MemoryFormatError: When one is too large.
        """
        if self.limited:
            check_fits(rows)

    def check_open(self) -> None:
        """Refuse to go on after the store was closed, or in a fork of its process."""
        check_not_closed(self.collection.name, closed=self._closed, process=self._opened.process)

    def check_writable(self) -> None:
        """Refuse to write where the store was opened to read only."""
        self.check_open()
        if self._read_only:
            raise StoreError(
                f"store {self.collection.name!r} was opened with read_only=True, and nothing is "
                "written to it; open it without that"
            )

    def close(self) -> None:
        """Write what is waiting, and give back what was opened; twice is fine."""
        if not self._closed:
            self._closed = True
            if os.getpid() == self._opened.process:  # the threads are not in a fork
                idle = self.writer.close()
                self._reading.searcher.close()
                self._opened.close(idle=idle)

    def _read_as(self, fields: Fields) -> _Reading:
        opened, foreign = self._opened, self.identity.foreign
        index = Index.of(opened.collection, fields, foreign=foreign, cloud=opened.cloud)
        if opened.cloud:
            searcher = CloudSearcher(index, words=self.identity.with_words)
            return _Reading(index, searcher, Listing(index, None))
        rows = OpenIndex(
            index, opened.folder, self._server, alone=opened.private, shared=opened.shared
        )
        return _Reading(index, ScopedSearcher(index, rows), Listing(index, rows))


def check_not_closed(name: str, *, closed: bool, process: int) -> None:
    """Refuse to go on with a store that is closed, or in a fork of its process.

    Args:
        name: The name of its collection.
        closed: Whether it was closed.
        process: The process that opened it.
    """
    if closed:
        raise StoreClosedError(f"store {name!r} is closed; open it again with RecallStore")
    if os.getpid() != process:
        raise StoreClosedError(
            f"store {name!r} was opened in process {process}, and Chroma hangs in a fork of it; "
            f"start this process ({os.getpid()}) with spawn, and open it there"
        )
