"""`RecallStore`: memories in a Chroma collection, added and searched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Never, Self

from recall_stages.core.candidate import Hit
from recall_stages.core.errors import EmbeddingMismatchError
from recall_stages.core.memory import Memory
from recall_stages.core.scope import Scope, ScopeName, required_names
from recall_stages.core.stage import Search
from recall_stages.store.adding import Adder
from recall_stages.store.chroma.prepare import MemoryInput, distinct_ids
from recall_stages.store.chroma.row_fields import Fields
from recall_stages.store.chroma.where import filter_where
from recall_stages.store.conversation import conversation
from recall_stages.store.copying import copy_collection
from recall_stages.store.disk.repair import Repaired, repair_path
from recall_stages.store.embedding.bounded import BoundedEmbedding
from recall_stages.store.embedding.embedder import as_embedder
from recall_stages.store.named_collection import NamedCollection
from recall_stages.store.rows.scoped_rows import ServerRows
from recall_stages.timeline.parse_time import parse_time, resolve_timezone

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection


def _now() -> datetime:
    # In the machine's zone, as a time without one is read: its days are the writer's.
    return datetime.now(resolve_timezone(None))


class RecallStore:
    """Memories in a Chroma collection: embedded, on a server or in Chroma Cloud.

    One collection serves both LangChain and LlamaIndex. A collection that somebody else made is
    searched as it is, through ``fields``. It is never written to, unless it is empty: then the
    first memory that you add makes it a collection of RecallStore.

    To open a store makes nothing. The first memory makes the collection, and the folder of a path.
    Until then the collection is empty. If the client or the path has other collections, its name
    may be mistyped: a question then raises a `MissingCollectionError` that lists the names. With
    ``fields`` the collection must be there already, or opening raises that error.

    Args:
        source: A path, a chromadb client (in memory, persistent, HTTP or Cloud), or a chromadb
            collection. None = a collection in memory, gone when it is closed. A path with files of
            Chroma is locked for this process, any other path from its first memory on. The path of
            a persistent client is locked, too. The path of a collection is not known.
        name: The collection, when the source is not one.
        embedding: A LangChain ``Embeddings`` or a LlamaIndex ``BaseEmbedding``. None =
            all-MiniLM-L6-v2 on this machine, without a network. The collection remembers it.
        fields: The metadata keys of text, time, type and scope in a collection that somebody else
            made.
        clock: Gives the time of a memory that comes without one, and the moment at which memories
            are listed: those that have expired by then are left out.
        event_times: Whether to read the times that a text names when it is stored. "Two weeks ago",
            recorded on 20 March, is then found by "in early March". They are read in the time zone
            of ``created_at``. A memory with ``events`` of its own keeps them.
        require_scope: The fields that every scope must name, such as ``("user_id",)``: in every
            search, in every memory that is added, and in every `get`, `delete` and `memories`. A
            call without them raises `ScopeError`.
        create: Whether the first memory makes a collection that does not exist. None = yes; a
            question before that is an error if there are other collections. True = yes; a question
            before that finds nothing. False = no: opening is an error.
        read_only: Open an existing collection and write nothing, not even a lock. A path is copied
            when it is opened, and the copy is read.
        embed_timeout_s: Seconds that a call of your embedding model may take, for up to 250
            memories or for an awaited question. After that the call raises. None = no limit. The
            clients of paid models wait ten minutes, and a large model on a slow machine needs
            them. A question without ``await`` waits in your own thread as long as the model does.
            The default model has no limit.
        index_rows: For a collection on a server: how many rows the store may keep in memory, about
            1 KB each. A question reads the rows of its scope, and no others. The scopes that were
            not asked for the longest are let go.
        index_dir: For a collection on a server: a folder that keeps these rows. The next process
            then reads only what has changed. One process at a time uses a folder; another one
            keeps its rows in memory.

    Raises:
        ScopeError: When ``require_scope`` names something that is no field of a scope.
        MissingCollectionError: When the collection must be there, and is not.
        StoreLockedError: When another process has the path open.
        StoreDamagedError: When files of the path are torn or missing; `repair` mends most damage.
        StoreUnavailableError: When the server does not answer, here or in a later call.
        StoreError: When Chroma fails, here or in a later call.
        EmbeddingMismatchError: When the collection was filled with another embedding model.

    Examples:
        >>> with RecallStore() as store:
        ...     ids = store.add(["The dentist is on Elm Street.", "Anna likes green tea."])
        ...     store.find([Search("Who drinks tea?", limit=1)])[0][0].memory.content
        'Anna likes green tea.'
    """

    def __init__(  # noqa: PLR0913 - the settings of a store, each by name
        self,
        source: str | Path | ClientAPI | Collection | None = None,
        name: str = "memories",
        *,
        embedding: object = None,
        fields: Fields | Mapping[str, str | bool] | None = None,
        clock: Callable[[], datetime] = _now,
        event_times: bool = True,
        require_scope: Sequence[ScopeName] = (),
        create: bool | None = None,
        read_only: bool = False,
        embed_timeout_s: float | None = 600.0,
        index_rows: int = 200_000,
        index_dir: str | Path | None = None,
    ) -> None:
        self._require_scope = required_names(require_scope)
        self._embedding = BoundedEmbedding(as_embedder(embedding), embed_timeout_s)
        self._clock = clock
        chosen = Fields.model_validate(fields or {})
        self._opened = NamedCollection(
            source,
            name,
            self._embedding,
            chosen,
            create=create,
            read_only=read_only,
            server=ServerRows(index_rows, None if index_dir is None else Path(index_dir)),
        )
        self._adder = Adder(self._opened, clock, event_times, self._require_scope)

    # -- what it is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._opened.name

    @property
    def embedding_model(self) -> str:
        """The name of the model that makes its vectors."""
        return self._embedding.model_name

    @property
    def require_scope(self) -> tuple[ScopeName, ...]:
        """The fields that a scope must name here."""
        return self._require_scope

    def __repr__(self) -> str:
        return f"RecallStore(name={self.name!r}, embedding_model={self.embedding_model!r})"

    def __reduce__(self) -> Never:
        raise TypeError(
            "a RecallStore holds an open collection and can be neither pickled nor copied; pass on "
            "its path, or the address of its server, and open it where it is needed"
        )

    def count(self) -> int:
        """How many memories it holds."""
        live = self._opened.found()
        return 0 if live is None else live.collection.count()

    # -- writing ------------------------------------------------------------------------------

    def add(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories. A memory with a known id replaces the old one completely.

        A memory that is stored already, without any change, is neither embedded nor written again.
        So a long load of memories with ids can be run again after it was killed: it goes on where
        it ended.

        A text is stored and returned whole. Its first 50,000 characters are embedded and searched
        by words; the default model reads the first 256 tokens.

        Args:
            memories: Memories, mappings of their fields, or bare texts. In a mapping ``user_id``,
                ``agent_id``, ``session_id`` and ``workspace`` may stand at the top, as in a file.
            progress: Show progress bars on standard error if it is a terminal: one while the
                memories are checked, one while they are embedded and stored.

        Returns:
            Their ids, in order. A memory without an id gets one that sorts by time.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            MemoryFormatError: When a memory cannot be stored; then none is.
            ScopeError: When a field of a memory's scope is empty, or a required one is missing, or
                the memory would replace one of another owner; then none is stored.
            StoreError: When the embedding or the writing fails. Its ``stored`` has the ids of the
                memories that are stored nevertheless, its ``unsure`` of those that may be.
        """
        return self._adder.add(memories, progress=progress)

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        The memories of several tasks are embedded and written together. A task that is cancelled
        may have stored the first of its memories. The other tasks are not affected.
        """
        return await self._adder.aadd(memories, progress=progress)

    def add_conversation(
        self,
        messages: Iterable[object],
        *,
        scope: Scope | Mapping[str, str] | None = None,
        created_at: float | str | datetime | None = None,
        turn_before: str = "",
        progress: bool = False,
    ) -> list[str]:
        """Store the turns of a conversation; the words before a turn find it, too.

        Keyword search reads a turn together with the end of the turn that it answers: the last one
        of another speaker, in the same scope and less than an hour older. Only the turn itself is
        returned. Notes are not linked: the turns of one speaker alone, or texts without a speaker
        that have one date and no clock time. Storing the same turns again stores nothing twice.
        `add` links nothing.

        Args:
            messages: The oldest first: LangChain messages, LlamaIndex ``ChatMessage``, mappings
                with ``role`` (or ``name``), ``content`` and, if you like, ``id`` and
                ``created_at``, or memories. Messages of system and tools are left out.
            scope: The owner of the conversation, and its ``session_id``.
            created_at: When it took place, for messages without a time; None = the clock.
            turn_before: The id of the turn before the first of these, if an earlier call stored
                it.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The ids of the turns, in order.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            MemoryFormatError: When a message cannot be stored; then none is.
            StoreError: When there is no turn with the id ``turn_before`` in the scope.
            ScopeError: As `add` does.

        Examples:
            >>> with RecallStore() as store:
            ...     question = {"role": "assistant", "content": "Which pets do you have?"}
            ...     reply = {"role": "user", "content": "Three of them, all cats."}
            ...     ids = store.add_conversation([question, reply], created_at="2024-03-12")
            ...     store.get(ids)[1].content
            'Three of them, all cats.'
        """
        self._opened.check_writable()
        turns = conversation(
            messages,
            scope=Scope.model_validate(scope),
            created_at=None if created_at is None else parse_time(created_at, name="created_at"),
            now=self._clock(),
            turn_before=turn_before,
            stored=partial(self.get, scope=scope),
        )
        return self.add(turns, progress=progress)

    async def aadd_conversation(
        self,
        messages: Iterable[object],
        *,
        scope: Scope | Mapping[str, str] | None = None,
        created_at: float | str | datetime | None = None,
        turn_before: str = "",
        progress: bool = False,
    ) -> list[str]:
        """Store a conversation as `add_conversation` does, without blocking the event loop."""
        return await asyncio.to_thread(
            self.add_conversation,
            messages,
            scope=scope,
            created_at=created_at,
            turn_before=turn_before,
            progress=progress,
        )

    def copy_to(self, other: RecallStore, *, progress: bool = False) -> int:
        """Copy all memories into another store, with their vectors; nothing is embedded again.

        So a collection moves from a folder to a server, and from there to Chroma Cloud. Memories
        that the other store has already, without any change, are not written again: a copy that
        was interrupted goes on where it ended. What the other store has besides stays.

        Args:
            other: The store to copy to, with the same embedding model.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The number of memories.

        Raises:
            EmbeddingMismatchError: When the other store has another embedding model.
            ForeignCollectionError: When somebody else made the other collection.
            MemoryFormatError: When a memory is too large for Chroma Cloud; then none is copied.
            StoreError: When reading or writing fails.

        Examples:
            >>> with RecallStore() as store, RecallStore() as other:
            ...     ids = store.add(["The dentist is on Elm Street."])
            ...     store.copy_to(other), other.count()
            (1, 1)
        """
        if other.embedding_model != self.embedding_model:
            raise EmbeddingMismatchError(
                f"the vectors of {self.embedding_model!r} are of no use to a store that searches "
                f"with {other.embedding_model!r}; embed the memories again: "
                "other.add(store.memories())"
            )
        live = self._opened.found()
        return 0 if live is None else copy_collection(live, other._adder, progress=progress)

    def delete(self, ids: Sequence[str], *, scope: Scope | Mapping[str, str] | None = None) -> None:
        """Delete memories by id; unknown ids are ignored.

        Args:
            ids: The ids.
            scope: Delete only memories in this scope; the other ids are ignored.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the store was opened with ``read_only=True``.
        """
        self._opened.check_writable()
        owner = self._owner(scope)
        wanted = distinct_ids(ids)
        live = self._opened.found()
        if live is not None:
            live.identity.check_writable()
            if owner.fields():
                wanted = [memory.id for memory in self.get(wanted, scope=owner)]
            live.writer.delete(wanted).result()

    def _owner(self, scope: Scope | Mapping[str, str] | None) -> Scope:
        """The scope, checked for the fields that it must name."""
        self._opened.check_open()
        owner = Scope.model_validate(scope)
        owner.require(self._require_scope)
        return owner

    # -- reading ------------------------------------------------------------------------------

    def get(
        self, ids: Sequence[str], *, scope: Scope | Mapping[str, str] | None = None
    ) -> list[Memory]:
        """The memories with these ids, in the order of the ids; unknown ids are ignored.

        Args:
            ids: The ids.
            scope: Return only memories in this scope.

        Raises:
            ScopeError: When the scope lacks a field of ``require_scope``.
        """
        owner = self._owner(scope)
        wanted = distinct_ids(ids)
        live = self._opened.found()
        memories = {} if live is None else live.index.read(wanted, None)
        now = self._clock()
        present = (memories[row_id] for row_id in wanted if row_id in memories)
        mine = [each for each in present if owner.holds(each.scope) and not each.expired(now)]
        return [memory.memory() for memory in mine]

    def memories(self, *, scope: Scope | Mapping[str, str] | None = None) -> Iterator[Memory]:
        """All memories, one after the other; rows without a text are left out.

        Args:
            scope: Return only memories in this scope.

        Raises:
            ScopeError: When the scope lacks a field of ``require_scope``.
        """
        owner = self._owner(scope)
        live = self._opened.found()
        found = () if live is None else live.index.memories()
        now = self._clock()
        mine = (each for each in found if owner.holds(each.scope) and not each.expired(now))
        return (memory.memory() for memory in mine)

    def find(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """The memories that answer each search, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0. A keyword search scores by BM25, 0 and up.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
            ScopeError: When the scope of a search lacks a field of ``require_scope``.
            MissingCollectionError: When the collection does not exist, and others do; see
                ``create``.
        """
        searches = self._checked(searches)
        live = self._opened.to_search()
        if live is None:
            return _nothing(searches)
        vectors = {text: self._embedding.embed_query(text) for text in _texts(searches)}
        live.identity.check_dimension(*vectors.values())
        return live.answers(searches, vectors)

    async def afind(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        searches = self._checked(searches)
        live = self._opened.live or await asyncio.to_thread(self._opened.to_search)
        if live is None:
            return _nothing(searches)
        texts = _texts(searches)
        embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
        vectors = dict(zip(texts, embedded, strict=True))
        live.identity.check_dimension(*embedded)
        return await asyncio.to_thread(live.answers, searches, vectors)

    def _checked(self, searches: Sequence[Search]) -> list[Search]:
        """The searches, with a moment, checked for the fields that their scopes must name."""
        self._opened.check_open()
        for search in searches:
            search.scope.require(self._require_scope)
        now = self._clock()
        return [search.at(now) for search in searches]

    # -- repair -----------------------------------------------------------------------------------

    @staticmethod
    def repair(
        path: str | Path, *, embedding: object = None, progress: bool = False
    ) -> list[Repaired]:
        """Repair the collections in a Chroma path whose index is damaged.

        A process that is killed while Chroma saves an index can leave it torn. To open it then
        raises `StoreDamagedError`. Chroma keeps texts and metadata elsewhere. So a new index is
        built from the vectors that are left, and the other texts are embedded again. It replaces
        the damaged index when it is whole. A repair that is killed loses nothing: run it again.

        Args:
            path: The folder of Chroma. Nobody else may have it open; stop a `chroma run` on it.
            embedding: The model that filled the collections, as for `RecallStore`. It embeds the
                texts whose vectors are lost, and no others.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            What was done to each collection.

        Raises:
            StoreLockedError: When another process has the path open.
            StoreDamagedError: When the database with the texts is damaged itself.
            EmbeddingMismatchError: When vectors are lost, and another model made the others.

        Examples:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as path:
            ...     with RecallStore(path) as store:
            ...         ids = store.add(["The dentist is on Elm Street."])
            ...     print(*RecallStore.repair(path))
            memories: 1 memories, nothing to repair
        """
        return repair_path(path, as_embedder(embedding), progress=progress)

    # -- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish all writes, and close the client and the path that the store opened.

        It waits ``embed_timeout_s`` for a call of the embedding model, and a minute for a call of
        Chroma. If that hangs, the path is free when the process ends. Closing twice is fine.
        """
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _texts(searches: Sequence[Search]) -> list[str]:
    """The texts to embed, each of them once."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))


def _nothing(searches: Sequence[Search]) -> list[list[Hit]]:
    """The answers of a collection that does not exist yet; a wrong filter is wrong there, too."""
    for search in searches:
        filter_where(search.filter, timezone=search.timezone)
    return [[] for _ in searches]
