"""The collection of a store: opened where it is there, made for the first memory, and closed.

It need not exist yet: nothing is made before the first memory.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from itertools import islice
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import MissingCollectionError, StoreClosedError, StoreError
from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.core.requests import Spans
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import listing
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.errors import guarded
from recall_retrievers.store.chroma.fields import OWN_FIELDS, Fields
from recall_retrievers.store.chroma.place import (
    Place,
    check_chroma_is_installed,
    check_may_be_made,
    is_chroma_path,
    missing,
)
from recall_retrievers.store.chroma.rows import Ready
from recall_retrievers.store.chroma.where import Where, all_of, expired_where, scope_where
from recall_retrievers.store.conditions import Conditions
from recall_retrievers.store.doctor import examine
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.local_model import Embedded
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual
from recall_retrievers.store.listing import in_order
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.scoped_rows import ScopedRows, let_go, open_rows
from recall_retrievers.store.rows.searcher import search
from recall_retrievers.store.writing import Writer
from recall_retrievers.text.words import in_english, share_of_other_scripts

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

_FIRST = 100  # memories of a new collection choose its model
_A_FEW = 100  # rows without their texts, a call, where one of them answers
_MAKES_IT = (
    "The first memory that you add makes it. Until then RecallStore(..., create=True) reads it as "
    "an empty collection"
)


class Opened:
    """The collection of a `RecallStore`; with its parts once it is ``there``.

    With ``by_script`` a new collection chooses between the models on this machine, and one that is
    there keeps its own; ``embedding`` is the default until then.
    """

    collection: Collection  # in Chroma
    rows: ScopedRows
    writer: Writer

    def __init__(  # noqa: PLR0913 - what a store is opened with
        self,
        source: object,
        name: str,
        embedding: Embedder,
        fields: Fields,
        *,
        by_script: bool,
        create: bool | None,
        index_dir: Path | None,
    ) -> None:
        check_chroma_is_installed()
        # A second to import, so only once a store is opened.
        from chromadb.api.models.Collection import Collection as ChromaCollection  # noqa: PLC0415

        if create and fields != OWN_FIELDS:
            raise TypeError("fields are for a collection that is there; leave create=True out")
        self.name = name
        self.embedding = embedding
        self.there = False
        self._fields = fields
        self._create = create or source is None  # nobody mistypes a name that nobody knows
        self._by_script, self._told = by_script, False
        self._index_dir = index_dir
        self._process = os.getpid()
        self._closed = False
        self._changing = Lock()
        self._source = source
        self._place: Place | None = None  # None = not reached yet, or the caller's collection
        self._private = source is None  # in memory, under a name that nobody else knows
        try:
            if isinstance(source, ChromaCollection):
                self.name = source.name
                self._begin(guarded(source, Event()))
            else:
                self._open(must_exist=create is False or fields != OWN_FIELDS)
        except BaseException:
            if self._place is not None:
                self._place.close()
            raise

    def found(self) -> bool:
        """Whether the collection is there; if so, it is open."""
        self.check_open()
        if self.there:
            return True
        with self._changing:
            self.check_open()
            return self._find()

    def to_search(self) -> bool:
        """Whether it is there, for a question: an error if only others are.

        The name may be mistyped then; it is no error where ``create`` is set.
        """
        if self.found():
            return True
        if self._place is not None and not self._create:
            names = self._place.names()
            if names and self.name not in names:
                raise missing(self.name, names, _MAKES_IT)
        return False

    def to_change(self) -> bool:
        """Whether it is there; an error if it is somebody else's."""
        if self.found():
            self.collection.check_writable()
        return self.there

    def make(self, first: Sequence[Ready] = ()) -> None:
        """Make the collection for the first memories, if it does not exist.

        Their script chooses its model. An empty one of the caller's becomes one of ours.
        """
        if self.found() and not self.collection.foreign:
            return
        with self._changing:
            self.check_open()
            if self.there:
                with self._place.writing() if self._place else nullcontext():
                    self.collection.adopt()
            else:
                self._choose(first)
                self._begin(self._reached().make(self.name, self.embedding.model_name))

    def take(self, model_name: str) -> None:
        """Take the multilingual model, if this is its name and the collection may choose."""
        if self._by_script and model_name == Multilingual.model_name:
            self.embedding = Embedder(Multilingual())

    @property
    def broken(self) -> bool:
        """Whether Chroma has failed so that it is called no more until all is opened anew."""
        return self._place is not None and self._place.stuck.is_set()

    def check_open(self) -> None:
        """Refuse to go on after the store was closed, or in a fork of its process."""
        if self._closed:
            raise StoreClosedError(f"store {self.name!r} is closed; open it again with RecallStore")
        if os.getpid() != self._process:
            raise StoreClosedError(
                f"store {self.name!r} was opened in process {self._process}, and Chroma hangs in a "
                f"fork of it; start this process ({os.getpid()}) with spawn, and open it there"
            )

    def close(self) -> None:
        """Write what is waiting, and give back what was opened; twice is fine.

        A fork of the process closes nothing: all belongs to the process that opened it.
        """
        if os.getpid() != self._process:  # the lock may be held by a thread that is not here
            self._closed = True
            return
        with self._changing:
            if self._closed:
                return
            self._closed, idle = True, True
            if self.there:
                idle = self.writer.close()
                let_go(self.rows)
            if self._place is not None:
                drop = self.name if self._private and self.there else ""
                self._place.close(idle=idle, drop=drop)

    # -- opening ----------------------------------------------------------------------------------

    def _open(self, *, must_exist: bool) -> None:
        if self._source is None:
            if must_exist:
                raise TypeError(
                    "create=False and fields open a collection that is there; name a path, or pass "
                    "a client"
                )
            # One in-memory system serves the whole process: a name of its own keeps it private.
            self.name = f"{self.name}-{uuid.uuid4().hex[:12]}"
            self._place = Place.in_memory()
            return
        folder = None
        if isinstance(self._source, str | Path):
            # One spelling for each path: Chroma keeps one index a spelling; the last to save wins.
            # It stays the same folder when the program changes its own.
            self._source = folder = Path(os.path.realpath(self._source))
        if self._find():
            return
        if must_exist:
            if self._place is None:
                raise MissingCollectionError(f"there is no Chroma path {folder}. Check the path")
            raise missing(self.name, self._place.names(), "Check the name")
        check_may_be_made(folder, self.name)

    def _find(self) -> bool:
        source = self._source
        if self.there:  # another thread has found it meanwhile
            return True
        if self._place is None and isinstance(source, Path) and not is_chroma_path(source):
            return False
        chroma = self._reached().find(self.name)
        if chroma is not None:
            self._begin(chroma)
        return self.there

    def _choose(self, first: Sequence[Ready]) -> None:
        """Take the multilingual model for memories whose script the default does not know."""
        foreign = [share_of_other_scripts(each.memory.content) > 0.5 for each in first[:_FIRST]]
        if not self._by_script or 2 * sum(foreign) <= len(foreign):
            return
        default = self.embedding.model_name
        try:
            self.take(Multilingual.model_name)
        except StoreError as lacking:
            self._told = True
            _log.warning(
                "collection %r is made with %s, which does not know the script of most of its "
                "first memories: they are found by their words. %s. Then call "
                "store.copy_to(RecallStore(path, 'another name', embedding='multilingual'))",
                *(self.name, default, lacking),
            )
        else:
            _log.info(
                "collection %r is made with %s: most of its first memories are in a script that %s "
                "does not know",
                *(self.name, self.embedding.model_name, default),
            )

    def tell_language(self, ready: Sequence[Ready]) -> None:
        """Log once that memories are in a language that the default model does not know."""
        texts = [each.memory.content for each in ready[:_FIRST]]
        english = self.embedding.model_name == MiniLM.model_name and not self._told
        if english and any(share_of_other_scripts(x) > 0.5 or not in_english(x) for x in texts):
            self._told = True
            _log.warning(
                "some memories of collection %r are in a language that %s does not know: they are "
                "found by their words. store.copy_to(RecallStore(path, 'another name', "
                "embedding='multilingual')) finds them by meaning too",
                *(self.name, self.embedding.model_name),
            )

    def _reached(self) -> Place:
        """Where the collection is; a path is made if it does not exist."""
        if self._place is None and isinstance(self._source, Path):
            self._place = Place.of_path(self._source)
        elif self._place is None:
            self._place = Place.of_client(self._source)
        return self._place

    def _begin(self, chroma: ChromaCollection) -> None:
        place = self._place
        examine(None if place is None else place.held, chroma)
        self.take(str((chroma.metadata or {}).get("embedding_model")))
        self.collection = Collection(chroma, self.embedding, self._fields)
        self.rows = open_rows(self.collection, place, self._index_dir, alone=self._private)
        folder = None if place is None else place.folder
        self.writer = Writer(self.collection, folder, self.embedding)
        self.there = True  # last: another thread may ask

    # -- searching and listing --------------------------------------------------------------------

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        self.collection.check_dimension(*(each.vectors for each in embedded.values()))
        with self._while_open():
            found = search(self.collection, self.rows, searches, embedded)
        self.check_open()
        return found

    def memories(self, conditions: Conditions) -> Iterator[Candidate]:
        where = conditions.where(self.collection)
        with self._read(conditions.scope) as rows:
            for memory in islice(in_order(rows, conditions, where), conditions.limit):
                self.check_open()
                yield memory

    def count(self, conditions: Conditions) -> int:
        """How many memories fulfil conditions; no row is read where columns and cells decide."""
        where = conditions.where(self.collection)
        exact = where is None or not self.collection.foreign
        with self._read(conditions.scope) as rows:
            known = listing.count(rows.table, conditions, where) if exact else None
            return sum(1 for _ in in_order(rows, conditions, where)) if known is None else known

    def scopes(self, moment: datetime) -> Counter[Scope]:
        counts: Counter[Scope] = Counter()
        with self._read(ANYBODY) as rows:
            for slot, count in zip(*rows.table.owners(moment), strict=True):
                [memory] = rows.table.memories([int(slot)], None)
                counts[ANYBODY if memory is None else memory.scope] += int(count)
        return counts

    def several_users(self, scope: Scope) -> bool:
        rows = self.rows.at_hand(scope)
        if rows is not None:
            return rows.table.several_users(scope)
        first = next(self._users(scope, None), None)
        if first is None:
            return False
        key = self.collection.fields.user_id  # few rows are left, or none, where there is one user
        return next(self._users(scope, {key: {"$ne": first}}), None) is not None

    def _users(self, scope: Scope, where: Where | None) -> Iterator[MetadataValue]:
        """The users of rows in a scope, as Chroma has them; rows of nobody are passed over."""
        fields = self.collection.fields
        where = all_of([where, scope_where(scope, fields)])
        for page in self.collection.pages(["metadatas"], most=_A_FEW, where=where):
            users = [(row or {}).get(fields.user_id) for row in page["metadatas"]]
            yield from (user for user in users if user not in (None, ""))

    def sessions(self, scope: Scope, moment: datetime) -> Spans:
        with self._read(scope) as rows:
            return listing.sessions(rows.table, scope, moment)

    def fitting(self, ids: Sequence[str] | None, conditions: Conditions) -> list[str]:
        collection, limited = self.collection, conditions.limited or bool(conditions.scope.fields())
        if ids is None:
            return [x.id for x in self.memories(conditions)] if limited else collection.ids()
        if limited:
            return [memory.id for memory in self.among(ids, conditions)]
        return [row_id for page in collection.by_id(ids, []) for row_id in page["ids"]]

    def among(self, ids: Sequence[str], conditions: Conditions) -> list[Candidate]:
        """The memories with these ids that fulfil conditions, in the order of the ids."""
        read = self.collection.read(ids, conditions.where(self.collection))
        present = (read[row_id] for row_id in ids if row_id in read)
        return [memory for memory in present if conditions.admits(memory)]

    def purge(self, moment: datetime, scope: Scope) -> int:
        """Delete the memories of a scope that have expired by a moment; return their number."""
        owned = scope_where(scope, self.collection.fields)
        expired = self.collection.ids(all_of([expired_where(moment), owned]))
        if expired:
            self.writer.delete(expired).result()
        return len(expired)

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Let an error say that the store was closed meanwhile: that says more than Chroma's."""
        try:
            yield
        except Exception:
            self.check_open()
            raise

    @contextmanager
    def _read(self, scope: Scope) -> Iterator[RowIndex]:
        """The rows of a scope, all of them known."""
        with self._while_open(), self.rows.using(scope) as rows:
            rows.prepare(build=True, patient=True)
            yield rows
