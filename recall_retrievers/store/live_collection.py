"""A collection while a store has it open: what searches it, what writes to it, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.index import Index
from recall_retrievers.store.chroma.open_collection import Opened
from recall_retrievers.store.chroma.ownership import Identity
from recall_retrievers.store.chroma.row_fields import Fields
from recall_retrievers.store.cloud.searcher import CloudSearcher
from recall_retrievers.store.conditions import Conditions
from recall_retrievers.store.embedding.bounded import BoundedEmbedding
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.listing import Listing, ids_in_chroma
from recall_retrievers.store.rows.open_indexes import open_rows
from recall_retrievers.store.rows.scoped_rows import ServerRows
from recall_retrievers.store.rows.scoped_searcher import ScopedSearcher
from recall_retrievers.store.writing.writer import Writer


class LiveCollection:
    """A collection that is open in this process.

    Args:
        opened: The collection. It is not closed when this raises.
        embedding: The model that makes its vectors.
        fields: Where the rows of a collection of others keep what a memory needs.
        server: What to keep of a collection on a server.
        check_open: Raises an error once the store is closed.
    """

    def __init__(
        self,
        opened: Opened,
        embedding: BoundedEmbedding,
        fields: Fields,
        *,
        server: ServerRows,
        check_open: Callable[[], None],
    ) -> None:
        self.opened = opened
        self._check_open = check_open
        self.collection = opened.collection  # every failure of it is a `StoreError`
        self.identity = Identity(opened.collection, embedding, fields)
        foreign = self.identity.foreign
        self.index = Index.of(opened.collection, fields, foreign=foreign, cloud=opened.cloud)
        self.searcher: ScopedSearcher | CloudSearcher
        if opened.cloud:
            self.searcher = CloudSearcher(self.index, words=self.identity.with_words)
            self._listing = Listing(self.index)
        else:
            alone, shared = opened.private, opened.shared
            rows = open_rows(self.index, opened.folder, server, alone=alone, shared=shared)
            self.searcher, self._listing = (
                ScopedSearcher(self.index, rows),
                Listing(self.index, rows),
            )
        self.writer = Writer(opened, embedding, self.identity)

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        """The answers to searches; see `Searcher.answers`.

        Raises:
            EmbeddingMismatchError: When the collection holds vectors of another length.
            StoreClosedError: When the store is closed meanwhile.
        """
        self.identity.check_dimension(*(each.vectors for each in embedded.values()))
        with self.listing():
            found = self.searcher.answers(searches, embedded)
        self._check_open()
        return found

    @contextmanager
    def listing(self) -> Iterator[Listing]:
        """What lists the collection.

        Raises:
            StoreClosedError: When the store is closed meanwhile.
        """
        try:
            yield self._listing
        except Exception:
            self._check_open()  # this says more than the error that Chroma raised
            raise

    def listed(self, conditions: Conditions) -> Iterator[Candidate]:
        """The memories that fulfil conditions, by recorded time."""
        with self.listing() as listing:
            for memory in listing.memories(conditions):
                self._check_open()
                yield memory

    def delete(self, ids: Sequence[str] | None, conditions: Conditions) -> int:
        """Delete the memories that fulfil conditions, of these ids or all; return their number."""
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

    def close(self) -> None:
        """Write what is waiting, and give back what was opened."""
        idle = self.writer.close()
        self.searcher.close()
        self.opened.close(idle=idle)
