"""RecallStore: memories in a Chroma collection, written and found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Never, Self

from recall_stages.errors import StoreClosedError
from recall_stages.memory import Memory, Scope
from recall_stages.progress import progress_bar
from recall_stages.stage import Search
from recall_stages.store.conversation import conversation
from recall_stages.store.embedding import as_embedder
from recall_stages.store.identity import Identity
from recall_stages.store.index import Index
from recall_stages.store.intake import MemoryInput, Ready, distinct_ids, make_ready
from recall_stages.store.mirror import Mirror
from recall_stages.store.opening import FORMAT, MARK, open_collection
from recall_stages.store.rows import OWN_FIELDS, Fields
from recall_stages.store.searcher import Searcher
from recall_stages.store.writer import BATCH, Writer
from recall_stages.timeline.parse_time import parse_time, resolve_timezone

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray
    from tqdm import tqdm


def _now() -> datetime:
    # In the machine's zone, as a time without one is read: its days are the writer's.
    return datetime.now(resolve_timezone(None))


class RecallStore:
    """Memories in a Chroma collection: embedded, on a server or in Chroma Cloud.

    One collection serves LangChain and LlamaIndex alike. A collection that somebody else made is
    searched as it is, through ``fields``, and never written; an empty one becomes ours with the
    first memory that is added to it.

    Args:
        source: A path, a chromadb client (in memory, persistent, HTTP or Cloud), or a chromadb
            collection. None = a collection in memory, gone when it is closed.
        name: The collection, when the source is not one; made if it is not there.
        embedding: A LangChain ``Embeddings`` or a LlamaIndex ``BaseEmbedding``. None =
            all-MiniLM-L6-v2 on this machine, without a network. The collection remembers it.
        fields: Where a collection made by somebody else keeps text, time, type and scope.
        clock: What tells the time of a memory that comes without one.
        event_times: Read from a memory's text, when it is stored, the times that it tells of: "two
            weeks ago", recorded on 20 March, is then found by "in early March". They are read in
            the time zone of its ``created_at``. A memory that brings ``events`` keeps those.

    Raises:
        StoreLockedError: When another process holds the path.
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
    ) -> None:
        self._embedding = as_embedder(embedding)
        self._clock = clock
        self._event_times = event_times
        self._closed = False
        model = self._embedding.model_name
        self._opened = open_collection(source, name, {MARK: FORMAT, "embedding_model": model})
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
        """Store memories; one with an id that is there already replaces it wholly.

        One that is there already as it is, is neither embedded nor written again. So a long load
        of memories that have ids may be killed, and done again: it goes on where it ended.

        Args:
            memories: Memories, mappings of their fields, or bare texts.
            progress: Show progress bars on standard error, where that is a terminal: one while
                the memories are read, one while they are embedded and stored.

        Returns:
            Their ids, in order. Those that came without one get an id that sorts by time.

        Raises:
            ForeignCollectionError: When the collection was made by somebody else.
            MemoryFormatError: When a memory cannot be stored; then none is.
        """
        ready = self._ready(memories, progress)
        made = [each.memory.id for each in ready]
        with _bar(ready, progress) as bar:
            for batch in _batches(ready):
                self._writer.write(batch).result()
                bar.update(len(batch))
        return made

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        What several tasks add at once is embedded and written together. A task that is cancelled
        may have stored a part of its memories, in their order, and takes nothing from the others.
        """
        ready = await asyncio.to_thread(self._ready, memories, progress)
        made = [each.memory.id for each in ready]
        with _bar(ready, progress) as bar:
            for batch in _batches(ready):
                await asyncio.wrap_future(self._writer.write(batch))
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
            StoreError: When there is no turn with the id ``turn_before``.

        Examples:
            >>> with RecallStore() as store:
            ...     asked = {"role": "assistant", "content": "Which pets do you have?"}
            ...     told = {"role": "user", "content": "Three of them, all cats."}
            ...     ids = store.add_conversation([asked, told], created_at="2024-03-12T15:20:00Z")
            ...     store.get(ids)[1].content
            'Three of them, all cats.'
        """
        self._check_open()
        turns = conversation(
            messages,
            scope=Scope.model_validate(scope or {}),
            created_at=None if created_at is None else parse_time(created_at, name="created_at"),
            now=self._clock(),
            turn_before=turn_before,
            stored=self.get,
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

    def delete(self, ids: Sequence[str]) -> None:
        """Delete memories by id; ids that are not there are passed over."""
        self._check_open()
        self._identity.check_writable()
        self._writer.delete(distinct_ids(ids)).result()

    def _ready(self, memories: Iterable[MemoryInput], progress: bool) -> list[Ready]:
        self._check_open()
        ready = make_ready(memories, self._clock, read_events=self._event_times, progress=progress)
        if ready and self._identity.foreign and self._index.fields == OWN_FIELDS:
            self._adopt_if_empty()
        self._identity.check_writable()
        return ready

    def _adopt_if_empty(self) -> None:
        """Take an empty collection of the caller's for ours, now that it gets its first memory."""
        if self.count() == 0:
            self._identity.adopt()
            self._learn(OWN_FIELDS)

    # -- reading ------------------------------------------------------------------------------

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in the order asked for; missing ones are left out."""
        self._check_open()
        wanted = distinct_ids(ids)
        found = self._index.read(wanted, None)
        return [found[each] for each in wanted if each in found]

    def memories(self) -> Iterator[Memory]:
        """All its memories, one after the other; rows without a text are passed over."""
        self._check_open()
        return self._index.memories()

    def find(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """For each search the memories that answer it, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0; it is in the trace as ``similarity``. A keyword search scores by BM25, 0 and
        up, ``keyword`` in the trace.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
        """
        self._check_open()
        vectors = {text: self._embedding.embed_query(text) for text in _texts(searches)}
        self._identity.check_dimension(*vectors.values())
        return self._answers(searches, vectors)

    async def afind(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """Search as `find` does, without blocking the event loop."""
        self._check_open()
        texts = _texts(searches)
        embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
        vectors = dict(zip(texts, embedded, strict=True))
        self._identity.check_dimension(*embedded)
        return await asyncio.to_thread(self._answers, searches, vectors)

    def _answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Memory]]:
        try:
            return self._searcher.answers(searches, vectors)
        except Exception:
            self._check_open()  # closed meanwhile, which says more than what Chroma stumbled over
            raise

    # -- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what is waiting, and give back the path and the client that the store opened.

        Closing twice is fine.
        """
        if not self._closed:
            self._closed = True
            if os.getpid() == self._opened.process:  # the threads are not in a fork
                self._writer.close()
                self._searcher.close()
            self._opened.close()

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


def _bar(ready: Sequence[Ready], progress: bool) -> tqdm[None]:
    return progress_bar(total=len(ready), desc="storing", unit="memories", wanted=progress)


def _batches(ready: list[Ready]) -> Iterator[list[Ready]]:
    """What is ready, part by part; what has been written is let go, for a load may be large."""
    while ready:
        yield ready[:BATCH]
        del ready[:BATCH]


def _texts(searches: Sequence[Search]) -> list[str]:
    """What has to be embedded: each text once, though several searches ask for it."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))
