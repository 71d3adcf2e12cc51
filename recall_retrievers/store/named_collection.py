"""The collection of a store, which need not exist yet: nothing is made before the first memory."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from recall_retrievers.core.errors import MissingCollectionError, StoreClosedError, StoreError
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
from recall_retrievers.store.doctor import examine
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.multilingual import Multilingual
from recall_retrievers.store.opened import Opened
from recall_retrievers.store.rows.scoped_rows import let_go
from recall_retrievers.text.words import share_of_other_scripts

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

_FIRST = 100  # memories of a new collection choose its model
_MAKES_IT = (
    "The first memory that you add makes it. Until then RecallStore(..., create=True) reads it as "
    "an empty collection"
)


class NamedCollection:
    """A collection by its name, with the settings of a `RecallStore`; ``live`` while it is open.

    With ``by_script`` a new collection chooses between the models on this machine, and one that is
    there keeps its own; ``embedding`` is the default until then.
    """

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
        self.live: Opened | None = None
        self._fields = fields
        self._create = create or source is None  # nobody mistypes a name that nobody knows
        self._by_script = by_script
        self._index_dir = index_dir
        self._process = os.getpid()
        self._closed = False
        self._changing = Lock()
        self._source = source
        self._place: Place | None = None
        self._private = source is None
        self._adopted: Opened | None = None  # as it was read before the first memory
        try:
            if isinstance(source, ChromaCollection):
                self.name = source.name
                self.live = self._alive(guarded(source, Event()))
            else:
                self._open(must_exist=create is False or fields != OWN_FIELDS)
        except BaseException:
            if self._place is not None:
                self._place.close()
            raise

    def found(self) -> Opened | None:
        self.check_open()
        if self.live is not None:
            return self.live
        with self._changing:
            self.check_open()
            return self._find()

    def to_search(self) -> Opened | None:
        """The collection for a question; None if it does not exist yet.

        It is an error if others do, as its name may be mistyped; not where ``create`` is set.
        """
        live = self.found()
        if live is None and self._place is not None and not self._create:
            names = self._place.names()
            if names and self.name not in names:
                raise missing(self.name, names, _MAKES_IT)
        return live

    def to_change(self) -> Opened | None:
        live = self.found()
        if live is not None:
            live.collection.check_writable()
        return live

    def made(self, first: Sequence[Ready] = ()) -> Opened:
        """The collection for the first memories; it is made if it does not exist.

        Their script chooses its model. An empty one of the caller's becomes one of ours.
        """
        live = self.found()
        if live is not None and not live.collection.foreign:
            return live
        with self._changing:
            self.check_open()
            if self.live is None:
                self._choose(first)
                self.live = self._alive(self._reached().make(self.name, self.embedding.model_name))
                return self.live
            with self._place.writing() if self._place else nullcontext():
                ours = self.live.collection.adopted()
            if ours is not None:
                self._adopted = self.live  # a question may be searching it
                self.live = self._with(ours)
            return self.live

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
            self._closed = True
            if self._adopted is not None:
                let_go(self._adopted.rows)
            idle = self.live is None or self.live.close()
            if self._place is not None:
                self._place.close(idle=idle, drop=self.name if self._private and self.live else "")

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
        if self._find() is not None:
            return
        if must_exist:
            if self._place is None:
                raise MissingCollectionError(f"there is no Chroma path {folder}. Check the path")
            raise missing(self.name, self._place.names(), "Check the name")
        check_may_be_made(folder, self.name)

    def _find(self) -> Opened | None:
        source = self._source
        if self.live is not None:  # another thread has found it meanwhile
            return self.live
        if self._place is None and isinstance(source, Path) and not is_chroma_path(source):
            return None
        chroma = self._reached().find(self.name)
        if chroma is not None:
            self.live = self._alive(chroma)
        return self.live

    def _choose(self, first: Sequence[Ready]) -> None:
        """Take the multilingual model for memories whose script the default does not know."""
        foreign = [share_of_other_scripts(each.memory.content) > 0.5 for each in first[:_FIRST]]
        if not self._by_script or 2 * sum(foreign) <= len(foreign):
            return
        default = self.embedding.model_name
        try:
            self.take(Multilingual.model_name)
        except StoreError as lacking:
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

    def _reached(self) -> Place:
        """Where the collection is; a path is made if it does not exist."""
        if self._place is None and isinstance(self._source, Path):
            self._place = Place.of_path(self._source)
        elif self._place is None:
            self._place = Place.of_client(self._source)
        return self._place

    def _alive(self, chroma: ChromaCollection) -> Opened:
        examine(None if self._place is None else self._place.held, chroma)
        self.take(str((chroma.metadata or {}).get("embedding_model")))
        return self._with(Collection(chroma, self.embedding, self._fields))

    def _with(self, collection: Collection) -> Opened:
        return Opened(
            collection,
            self._place,
            self.embedding,
            self._index_dir,
            private=self._private,
            check_open=self.check_open,
        )
