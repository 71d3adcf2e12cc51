"""RecallStore: memories in a Chroma collection, written and found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Never, Self

from recall_stages.core.memory import Memory, Scope, ScopeName, required_names
from recall_stages.core.stage import Search
from recall_stages.store.adding import Adder
from recall_stages.store.chroma.prepare import MemoryInput, distinct_ids
from recall_stages.store.chroma.row_fields import Fields
from recall_stages.store.conversation import conversation
from recall_stages.store.disk.repair import Repaired, repair_path
from recall_stages.store.embedding.bounded import BoundedEmbedding
from recall_stages.store.embedding.embedder import as_embedder
from recall_stages.store.live_collection import LiveCollection
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
    searched as it is, through ``fields``, and never written. An empty one becomes ours with the
    first memory that is added to it.

    Args:
        source: A path, a chromadb client (in memory, persistent, HTTP or Cloud), or a chromadb
            collection. None = a collection in memory, gone when it is closed. A path, and that of
            a persistent client, is locked for this process; that of a collection is not known.
        name: The collection, when the source is not one; made if it is not there.
        embedding: A LangChain ``Embeddings`` or a LlamaIndex ``BaseEmbedding``. None =
            all-MiniLM-L6-v2 on this machine, without a network. The collection remembers it.
        fields: Where a collection made by somebody else keeps text, time, type and scope.
        clock: Gives the time of a memory that comes without one.
        event_times: Whether to read the times that a text names when it is stored. "Two weeks ago",
            recorded on 20 March, is then found by "in early March". They are read in the time zone
            of ``created_at``. A memory with ``events`` of its own keeps them.
        require_scope: The fields of a scope that every use of this store must name, such as
            ``("user_id",)``: every search, every memory that is added, every `get`, `delete` and
            `memories`. Without them, the call is a `ScopeError`.
        read_only: Open what is there, and write nothing, not even a lock. A path is read from a
            private copy, as it was when it was opened.
        embed_timeout_s: Seconds that a call of your embedding model may take, for up to 250
            memories or for an awaited question. After that the call raises. None = no limit. The
            clients of paid models wait ten minutes, and a large model on a slow machine needs
            them. A question without ``await`` waits in your own thread as long as the model does.
            The default model has no limit.

    Raises:
        ScopeError: When ``require_scope`` names what is no field of a scope.
        StoreLockedError: When another process holds the path.
        StoreDamagedError: When files of the path are torn or missing; `repair` mends most damage.
        StoreUnavailableError: When the server does not answer; here and in every later call.
        StoreError: When Chroma cannot open it; so is whatever it raises later.
        EmbeddingMismatchError: When the collection was filled with another embedding model.

    Examples:
        >>> with RecallStore() as store:
        ...     ids = store.add(["The dentist is on Elm Street.", "Anna likes green tea."])
        ...     store.find([Search("Who drinks tea?", limit=1)])[0][0].content
        'Anna likes green tea.'
    """

    def __init__(  # noqa: PLR0913 - the settings of a store, each by name
        self,
        source: str | Path | ClientAPI | Collection | None = None,
        name: str = "memories",
        *,
        embedding: object = None,
        fields: Fields | Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = _now,
        event_times: bool = True,
        require_scope: Sequence[ScopeName] = (),
        read_only: bool = False,
        embed_timeout_s: float | None = 600.0,
    ) -> None:
        self._require_scope = required_names(require_scope)
        self._embedding = BoundedEmbedding(as_embedder(embedding), embed_timeout_s)
        self._clock = clock
        chosen = Fields.model_validate(fields or {})
        self._opened = LiveCollection(source, name, self._embedding, chosen, read_only=read_only)
        self._adder = Adder(self._opened, clock, event_times, self._require_scope)

    # -- what it is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._opened.collection.name

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
            "a RecallStore holds an open collection and can be neither pickled nor copied; hand on "
            "its path, or what its server is called, and open it where it is needed"
        )

    def count(self) -> int:
        """How many memories it holds."""
        self._opened.check_open()
        return self._opened.collection.count()

    # -- writing ------------------------------------------------------------------------------

    def add(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories. A memory with a known id replaces the old one completely.

        A memory that is stored already without any change is neither embedded nor written again. So
        you can run a long load of memories with ids again after it was killed: it goes on where it
        ended.

        A text is stored and returned whole. The first 50,000 characters are searched by words and
        embedded; the default model reads the first 256 tokens.

        Args:
            memories: Memories, mappings of their fields, or bare texts. In a mapping ``user_id``,
                ``agent_id``, ``session_id`` and ``workspace`` may stand at the top, as in a file.
            progress: Show progress bars on standard error, where that is a terminal: one while
                the memories are read, one while they are embedded and stored.

        Returns:
            Their ids, in order. Those that came without one get an id that sorts by time.

        Raises:
            ForeignCollectionError: When the collection was made by somebody else.
            MemoryFormatError: When a memory cannot be stored; then none is.
            ScopeError: When a field of a memory's scope is there and empty, or is required and
                not there, or when it would replace one of another owner; then none is stored.
            StoreError: When the embedding or the writing fails. Its ``stored`` are the ids of the
                memories that are stored all the same, its ``unsure`` of those that may be.
        """
        return self._adder.add(memories, progress=progress)

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        What several tasks add at once is embedded and written together. A task that is cancelled
        may have stored a part of its memories, in their order, and takes nothing from the others.
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
        """Store the turns of a conversation, each found by what was said before it too.

        The end of the turn before, in the same scope and less than an hour earlier, is searched
        with a turn by keyword search; what is returned is the turn alone. Storing the same turns
        again stores nothing twice. `add` stores memories as they are, whatever their session.

        Args:
            messages: The oldest first: LangChain messages, LlamaIndex ``ChatMessage``, mappings
                with ``role`` (or ``name``), ``content`` and, if you like, ``id`` and
                ``created_at``, or memories. Messages of system and tools are left out.
            scope: Whose conversation it is, and which one (``session_id``).
            created_at: When it took place, for messages that do not say; None = the clock.
            turn_before: The id of the turn before the first of these, where that was stored by an
                earlier call.
            progress: Show a progress bar on standard error, where that is a terminal.

        Returns:
            The ids of the turns, in order.

        Raises:
            ForeignCollectionError: When the collection was made by somebody else.
            MemoryFormatError: When a message cannot be stored; then none is.
            StoreError: When there is no turn with the id ``turn_before`` in the scope.
            ScopeError: As `add` does.

        Examples:
            >>> with RecallStore() as store:
            ...     asked = {"role": "assistant", "content": "Which pets do you have?"}
            ...     told = {"role": "user", "content": "Three of them, all cats."}
            ...     ids = store.add_conversation([asked, told], created_at="2024-03-12T15:20:00Z")
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

    def delete(self, ids: Sequence[str], *, scope: Scope | Mapping[str, str] | None = None) -> None:
        """Delete memories by id; ids that are not there are passed over.

        Args:
            ids: The ids.
            scope: Whose memories may be deleted; the ids of others are passed over as well.

        Raises:
            ForeignCollectionError: When the collection was made by somebody else.
            ScopeError: When the scope does not name what ``require_scope`` demands.
            StoreError: When the store was opened with ``read_only=True``.
        """
        self._opened.check_writable()
        owner = self._owner(scope)
        self._opened.identity.check_writable()
        wanted = distinct_ids(ids)
        if owner.fields():
            wanted = [memory.id for memory in self.get(wanted, scope=owner)]
        self._opened.writer.delete(wanted).result()

    def _owner(self, scope: Scope | Mapping[str, str] | None) -> Scope:
        """A scope that names all that is required of it."""
        self._opened.check_open()
        owner = Scope.model_validate(scope)
        owner.require(self._require_scope)
        return owner

    # -- reading ------------------------------------------------------------------------------

    def get(
        self, ids: Sequence[str], *, scope: Scope | Mapping[str, str] | None = None
    ) -> list[Memory]:
        """The memories with these ids, in the order asked for; missing ones are left out.

        Args:
            ids: The ids.
            scope: Whose memories; those of others are left out as well.

        Raises:
            ScopeError: When the scope does not name what ``require_scope`` demands.
        """
        owner = self._owner(scope)
        wanted = distinct_ids(ids)
        memories = self._opened.index.read(wanted, None)
        present = (memories[row_id] for row_id in wanted if row_id in memories)
        return [memory for memory in present if owner.holds(memory.scope)]

    def memories(self, *, scope: Scope | Mapping[str, str] | None = None) -> Iterator[Memory]:
        """All its memories, one after the other; rows without a text are passed over.

        Args:
            scope: Whose memories; those of others are passed over as well.

        Raises:
            ScopeError: When the scope does not name what ``require_scope`` demands.
        """
        owner = self._owner(scope)
        return (memory for memory in self._opened.index.memories() if owner.holds(memory.scope))

    def find(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """For each search the memories that answer it, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0; it is in the trace as ``similarity``. A keyword search scores by BM25, 0 and
        up, ``keyword`` in the trace.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
            ScopeError: When the scope of a search does not name what ``require_scope`` demands.
        """
        self._check_scopes(searches)
        vectors = {text: self._embedding.embed_query(text) for text in _texts(searches)}
        self._opened.identity.check_dimension(*vectors.values())
        return self._opened.answers(searches, vectors)

    async def afind(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """Search as `find` does, without blocking the event loop."""
        self._check_scopes(searches)
        texts = _texts(searches)
        embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
        vectors = dict(zip(texts, embedded, strict=True))
        self._opened.identity.check_dimension(*embedded)
        return await asyncio.to_thread(self._opened.answers, searches, vectors)

    def _check_scopes(self, searches: Sequence[Search]) -> None:
        self._opened.check_open()
        for search in searches:
            search.scope.require(self._require_scope)

    # -- repair -----------------------------------------------------------------------------------

    @staticmethod
    def repair(
        path: str | Path, *, embedding: object = None, progress: bool = False
    ) -> list[Repaired]:
        """Repair the collections in a Chroma path whose index is damaged.

        A process that is killed while Chroma saves an index can leave it torn; opening it raises
        `StoreDamagedError` then. Chroma keeps texts and metadata elsewhere, so a new index is built
        of the vectors that are left, and of the texts where there are none. It takes the place of
        the damaged one when it is whole. A repair that is killed has lost nothing: run it again.

        Args:
            path: The folder of Chroma. Nobody else may have it open; stop a `chroma run` on it.
            embedding: The model that filled the collections, as for `RecallStore`; it is asked for
                vectors that are lost, and for no others.
            progress: Show a progress bar on standard error, where that is a terminal.

        Returns:
            For each collection what was done.

        Raises:
            StoreLockedError: When another process holds the path.
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
        """Write what is waiting, and give back the path and the client that the store opened.

        It waits for a call of the embedding model until ``embed_timeout_s`` are over, and for a
        call of Chroma's a minute; where that hangs, the path is free when the process ends.
        Closing twice is fine.
        """
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _texts(searches: Sequence[Search]) -> list[str]:
    """What has to be embedded: each text once, though several searches ask for it."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))
