"""The collection of a store, which need not exist yet: nothing is made before the first memory."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from threading import Lock

from recall_retrievers.core.errors import MissingCollectionError, StoreClosedError, StoreError
from recall_retrievers.store.chroma.access import (
    Access,
    check_can_be_made,
    client_access,
    is_chroma_path,
    path_access,
)
from recall_retrievers.store.chroma.client import check_chroma_is_installed, memory_client
from recall_retrievers.store.chroma.open_collection import (
    FORMAT,
    MARK,
    Facts,
    Opened,
    check_name,
    find_collection,
    make_collection,
    missing,
    names_in,
    opened_as_it_is,
)
from recall_retrievers.store.chroma.row_fields import OWN_FIELDS, Fields
from recall_retrievers.store.doctor.check import examine
from recall_retrievers.store.embedding.bounded import BoundedEmbedding
from recall_retrievers.store.live_collection import LiveCollection
from recall_retrievers.store.rows.scoped_rows import ServerRows

_MAKES_IT = (
    "The first memory that you add makes it. Until then RecallStore(..., create=True) reads it as "
    "an empty collection"
)


class NamedCollection:
    """A collection by its name. It is opened if it exists, else made for the first memory.

    It is opened with the settings of a `RecallStore`.

    Attributes:
        name: The name of the collection.
        embedding: The model that makes its vectors.
    """

    def __init__(  # noqa: PLR0913 - what a store is opened with
        self,
        source: object,
        name: str,
        embedding: BoundedEmbedding,
        fields: Fields,
        *,
        create: bool | None,
        server: ServerRows,
    ) -> None:
        check_chroma_is_installed()
        # A second to import, so only once a store is opened.
        from chromadb.api.models.Collection import Collection  # noqa: PLC0415

        self._must_exist = _must_exist(fields, create)
        self.embedding = embedding
        self._fields = fields
        self._facts: Facts = {MARK: FORMAT, "embedding_model": embedding.model_name}
        self._create = create
        self._server = server
        self._process = os.getpid()
        self._closed = False
        self._changing = Lock()
        self._source = source
        self._access: Access | None = None
        self._live: LiveCollection | None = None
        self._adopted: LiveCollection | None = None  # as it was read before the first memory
        self.name = name
        if isinstance(source, Collection):
            self.name = source.name
            self._live = self._alive(opened_as_it_is(source))
        elif source is None:
            self._open_private()
        else:
            self._open()

    @property
    def live(self) -> LiveCollection | None:
        """The collection if it is open; Chroma is not called."""
        return self._live

    def found(self) -> LiveCollection | None:
        """The collection; None if it does not exist yet.

        Raises:
            StoreClosedError: When the store is closed, or in a fork.
            StoreLockedError: When another process has made its path meanwhile, and has it open.
        """
        self.check_open()
        if self._live is not None:
            return self._live
        with self._changing:
            self.check_open()
            return self._find()

    def to_search(self) -> LiveCollection | None:
        """The collection for a question; None if it does not exist yet.

        Raises:
            MissingCollectionError: When it does not exist, and others do: its name may be mistyped.
                Not where ``create`` is set.
            StoreError: As `found` does.
        """
        live = self.found()
        access = self._access
        if live is None and access is not None and not self._create:
            names = names_in(access)
            if names and self.name not in names:
                raise missing(self.name, names, _MAKES_IT)
        return live

    def to_change(self) -> LiveCollection | None:
        """The collection for a change of what is there; None if it does not exist yet.

        Raises:
            ForeignCollectionError: When somebody else made it.
            StoreError: As `found` does.
        """
        live = self.found()
        if live is not None:
            live.identity.check_writable()
        return live

    def made(self) -> LiveCollection:
        """The collection for the first memory; it is made if it does not exist.

        An empty one of the caller's becomes one of ours.

        Raises:
            StoreClosedError: When the store is closed, or in a fork.
            StoreLockedError: When another process has made the path meanwhile, and has it open.
            StoreError: When it cannot be made.
        """
        live = self.found()
        if live is not None and not live.identity.foreign:
            return live
        with self._changing:
            self.check_open()
            if self._live is None:
                access = self._reached(make=True)
                if access is None:  # cannot be: it was made
                    raise StoreError(f"collection {self.name!r} cannot be made")
                self._live = self._alive(make_collection(access, self.name, self._facts))
            elif self._live.identity.adopt_if_empty(self._fields):
                self._adopted = self._live  # a question may be searching it
                self._live = self._alive(self._live.opened)
            return self._live

    def beside(self, name: str) -> object:
        """What another collection in the same place is opened with.

        Raises:
            ValueError: When it would be this collection.
            StoreError: When the place is not known.
        """
        if name == self.name:
            raise ValueError(f"the new collection needs another name than {name!r}")
        if self._access is None and self._live is not None:
            raise StoreError(
                f"collection {self.name!r} was opened without its client, so none can be made "
                "beside it; open it with RecallStore(client, name)"
            )
        return self._source

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
        """Write what is waiting, and give back what was opened; twice is fine."""
        if os.getpid() != self._process:  # the lock may be held by a thread that is not here
            self._closed = True
            return
        with self._changing:
            if self._closed:
                return
            self._closed = True
            if self._adopted is not None:
                self._adopted.searcher.close()
            if self._live is not None:
                self._live.close()
            elif self._access is not None:
                self._access.close()

    # -- opening ----------------------------------------------------------------------------------

    def _open_private(self) -> None:
        if self._must_exist:
            raise TypeError(
                "create=False and fields open a collection that is there; name a path, or pass a "
                "client"
            )
        # One in-memory system serves the whole process, so a name of its own keeps it private.
        self.name = f"{self.name}-{uuid.uuid4().hex[:12]}"
        self._access = Access(memory_client(), own=True)
        try:
            opened = make_collection(self._access, self.name, self._facts, private=True)
            self._live = self._alive(opened)
        except BaseException:
            self._access.close()
            raise

    def _open(self) -> None:
        if isinstance(self._source, str | Path):
            # One spelling for each path: Chroma keeps one index a spelling; the last to save wins.
            # It stays the same folder when the program changes its own.
            self._source = Path(os.path.realpath(self._source))
        try:
            if self._find() is None:
                self._check_may_be_made()
        except BaseException:
            if self._access is not None:
                self._access.close()
            raise

    def _check_may_be_made(self) -> None:
        if self._must_exist and self._access is None:
            raise MissingCollectionError(f"there is no Chroma path {self._source}. Check the path")
        if self._must_exist and self._access is not None:
            raise missing(self.name, names_in(self._access), "Check the name")
        check_name(self.name)
        if isinstance(self._source, Path):
            check_can_be_made(self._source)

    def _find(self) -> LiveCollection | None:
        access = self._reached(make=False)
        opened = None if access is None else find_collection(access, self.name)
        if opened is not None:
            self._live = self._alive(opened)
        return self._live

    def _reached(self, *, make: bool) -> Access | None:
        """The way to the collection; None while its path does not exist."""
        if self._access is None:
            if not isinstance(self._source, Path):
                self._access = client_access(self._source)
            elif is_chroma_path(self._source) or make:
                self._access = path_access(self._source)
        return self._access

    def _alive(self, opened: Opened) -> LiveCollection:
        examine(None if opened.access is None else opened.access.held, opened.collection)
        return LiveCollection(
            opened,
            self.embedding,
            self._fields,
            server=self._server,
            check_open=self.check_open,
        )


def _must_exist(fields: Fields, create: bool | None) -> bool:
    if create and fields != OWN_FIELDS:
        raise TypeError("fields are for a collection that is there; leave create=True out")
    return create is False or fields != OWN_FIELDS
