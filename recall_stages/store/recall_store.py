"""RecallStore: memories in a Chroma collection, written and found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Never, Self

from recall_stages.core.errors import RecallError, ScopeError, StoreClosedError, StoreError
from recall_stages.core.memory import Memory, Scope, ScopeName, required_names
from recall_stages.core.progress import progress_bar
from recall_stages.core.stage import Search
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.open_collection import FORMAT, MARK, Facts, open_collection
from recall_stages.store.chroma.ownership import Identity
from recall_stages.store.chroma.prepare import MemoryInput, Ready, distinct_ids, make_ready
from recall_stages.store.chroma.rows import OWN_FIELDS, Fields
from recall_stages.store.chroma.writer import BATCH, Writer
from recall_stages.store.conversation import conversation
from recall_stages.store.disk.repair import Repaired, repair_path
from recall_stages.store.embedding.bounded import BoundedEmbedding
from recall_stages.store.embedding.embedder import as_embedder
from recall_stages.store.rows.mirror import Mirror
from recall_stages.store.rows.searcher import Searcher
from recall_stages.timeline.parse_time import parse_time, resolve_timezone

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray
    from tqdm import tqdm

_FIRST_SEEN = 16  # memories of the first batch where a progress bar is wanted


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
        self._event_times = event_times
        self._read_only = read_only
        self._closed = False
        model = self._embedding.model_name
        facts: Facts = {MARK: FORMAT, "embedding_model": model}
        self._opened = open_collection(source, name, facts, read_only=read_only)
        try:
            chosen = Fields.model_validate(fields or {})
            self._identity = Identity(self._opened.collection, model, chosen)
            self._learn(chosen)
        except BaseException:
            self._opened.close()
            raise
        self._writer = Writer(self._opened.collection, self._embedding, self._identity)

    def _learn(self, fields: Fields) -> None:
        """Learn how the rows of the collection are written."""
        opened, foreign = self._opened, self._identity.foreign
        self._index = Index.of(opened.collection, fields, foreign=foreign, cloud=opened.cloud)
        mirror = Mirror(self._index, alone=opened.private, shared=opened.shared)
        self._searcher = Searcher(self._index, mirror)

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
        self._check_open()
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
        ready = self._ready(memories, progress)
        made = [each.memory.id for each in ready]
        with _bar(ready, progress) as bar, _counting(made) as done:
            for batch in _batches(ready, progress):
                self._writer.write(batch).result()
                done.append(len(batch))
                bar.update(len(batch))
        return made

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        What several tasks add at once is embedded and written together. A task that is cancelled
        may have stored a part of its memories, in their order, and takes nothing from the others.
        """
        ready = await asyncio.to_thread(self._ready, memories, progress)
        made = [each.memory.id for each in ready]
        with _bar(ready, progress) as bar, _counting(made) as done:
            for batch in _batches(ready, progress):
                await asyncio.wrap_future(self._writer.write(batch))
                done.append(len(batch))
                bar.update(len(batch))
        return made

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
        self._check_writable()
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
        self._check_writable()
        whose = self._whose(scope)
        self._identity.check_writable()
        wanted = distinct_ids(ids)
        if whose.fields():
            wanted = [memory.id for memory in self.get(wanted, scope=whose)]
        self._writer.delete(wanted).result()

    def _ready(self, memories: Iterable[MemoryInput], progress: bool) -> list[Ready]:
        self._check_writable()
        ready = make_ready(memories, self._clock, read_events=self._event_times, progress=progress)
        if ready and self._identity.foreign and self._index.fields == OWN_FIELDS:
            self._adopt_if_empty()
        self._identity.check_writable()
        if self._require_scope:
            self._check_owners(ready)
        return ready

    def _check_owners(self, ready: Sequence[Ready]) -> None:
        """Refuse memories of nobody in particular, and those that would replace another's."""
        owners: dict[str, Scope] = {}
        for each in ready:
            owners[each.memory.id] = each.memory.scope
            each.memory.scope.require(self._require_scope)
        named = [each.memory.id for each in ready if not each.is_new]
        for row_id, stored in self._index.read(named, None).items():
            for name in self._require_scope:
                if getattr(stored.scope, name) != getattr(owners[row_id], name):
                    raise ScopeError(
                        f"a memory with the id {row_id!r} is there already, of another {name}; "
                        "give the new one another id"
                    )

    def _whose(self, scope: Scope | Mapping[str, str] | None) -> Scope:
        """A scope that names all that is required of it."""
        self._check_open()
        whose = Scope.model_validate(scope)
        whose.require(self._require_scope)
        return whose

    def _adopt_if_empty(self) -> None:
        """Take an empty collection of the caller's for ours, now that it gets its first memory."""
        if self.count() == 0:
            self._identity.adopt()
            self._learn(OWN_FIELDS)

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
        whose = self._whose(scope)
        wanted = distinct_ids(ids)
        found = self._index.read(wanted, None)
        return [found[each] for each in wanted if each in found and whose.holds(found[each].scope)]

    def memories(self, *, scope: Scope | Mapping[str, str] | None = None) -> Iterator[Memory]:
        """All its memories, one after the other; rows without a text are passed over.

        Args:
            scope: Whose memories; those of others are passed over as well.

        Raises:
            ScopeError: When the scope does not name what ``require_scope`` demands.
        """
        whose = self._whose(scope)
        return (memory for memory in self._index.memories() if whose.holds(memory.scope))

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
        self._identity.check_dimension(*vectors.values())
        return self._answers(searches, vectors)

    async def afind(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """Search as `find` does, without blocking the event loop."""
        self._check_scopes(searches)
        texts = _texts(searches)
        embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
        vectors = dict(zip(texts, embedded, strict=True))
        self._identity.check_dimension(*embedded)
        return await asyncio.to_thread(self._answers, searches, vectors)

    def _check_scopes(self, searches: Sequence[Search]) -> None:
        self._check_open()
        for search in searches:
            search.scope.require(self._require_scope)

    def _answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Memory]]:
        try:
            return self._searcher.answers(searches, vectors)
        except Exception:
            self._check_open()  # closed meanwhile, which says more than what Chroma stumbled over
            raise

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
        if not self._closed:
            self._closed = True
            if os.getpid() == self._opened.process:  # the threads are not in a fork
                idle = self._writer.close()
                self._searcher.close()
                self._opened.close(idle=idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosedError(f"store {self.name!r} is closed; open it again with RecallStore")
        if os.getpid() != self._opened.process:
            raise StoreClosedError(
                f"store {self.name!r} was opened in process {self._opened.process}, and Chroma "
                f"hangs in a fork of it; start this process ({os.getpid()}) with spawn, and open "
                "it there"
            )

    def _check_writable(self) -> None:
        self._check_open()
        if self._read_only:
            raise StoreError(
                f"store {self.name!r} was opened with read_only=True, and nothing is written to "
                "it; open it without that"
            )


@contextmanager
def _counting(ids: Sequence[str]) -> Iterator[list[int]]:
    """Take the sizes of batches as they are stored; an error then says which memories are."""
    done: list[int] = []
    try:
        yield done
    except RecallError as error:
        error.stored = (*ids[: sum(done)], *error.stored)
        if error.stored or error.unsure:
            doubt = f"; of {len(error.unsure):,} more it is not known (`unsure`)"
            said = (
                f"{error}. Of {len(ids):,} memories {len(error.stored):,} are stored; the error "
                f"has their ids (`stored`){doubt if error.unsure else ''}. Delete those before you "
                "add all again; memories that have ids of your own need not be deleted"
            )
            error.args = (said,)
        raise


def _bar(ready: Sequence[Ready], progress: bool) -> tqdm[None]:
    return progress_bar(total=len(ready), desc="storing", unit="memories", wanted=progress)


def _batches(ready: list[Ready], progress: bool) -> Iterator[list[Ready]]:
    """What is ready, part by part; what has been written is let go, for a load may be large.

    Where somebody looks on, the parts are small at first and grow while one takes less than a
    second, so that the bar moves with a slow model, too.
    """
    size = _FIRST_SEEN if progress else BATCH
    while ready:
        started = monotonic()
        yield ready[:size]
        del ready[:size]
        if monotonic() - started < 1:
            size = min(2 * size, BATCH)


def _texts(searches: Sequence[Search]) -> list[str]:
    """What has to be embedded: each text once, though several searches ask for it."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))
