"""RecallStore: memories in a Chroma collection, written and found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from recall_stages.errors import (
    EmbeddingMismatchError,
    ForeignCollectionError,
    StoreClosedError,
    StoreError,
)
from recall_stages.memory import Memory, Scope
from recall_stages.stage import Search
from recall_stages.store.conversation import conversation
from recall_stages.store.embedding import as_embedder
from recall_stages.store.index import Index
from recall_stages.store.intake import MemoryInput, Ready, distinct_ids, make_ready
from recall_stages.store.keywords import KeywordIndex
from recall_stages.store.moments import to_milliseconds
from recall_stages.store.opening import FORMAT, MARK, open_collection
from recall_stages.store.rows import OWN_FIELDS, WRITTEN_AT, Fields, index_text, to_memory
from recall_stages.timeline.parse_time import parse_time, resolve_timezone

if TYPE_CHECKING:
    from pathlib import Path

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection


# Rows a call: below every limit (Cloud takes 300, SQLite 5,461), and short enough that the
# interpreter, which Chroma holds while it writes, pauses for no more than 0.15 s.
_BATCH = 250


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
            self._read_collection(fields)
        except BaseException:
            self._opened.close()
            raise

    def _read_collection(self, fields: Fields | Mapping[str, str] | None) -> None:
        """Learn whose collection it is, and how its rows are written."""
        known = self._collection.metadata or {}
        chosen = Fields.model_validate(fields or {})
        self._dimension: int | None = known.get("embedding_dimension") or self._stored_dimension()
        if MARK in known:
            self._check_own(known, chosen)
        self._index = Index.of(
            self._collection,
            chosen,
            foreign=MARK not in known,
            most_results=self._opened.most_results,
        )
        self._keywords = KeywordIndex(
            self._collection, self._index.fields, self._index.unit, alone=self._opened.private
        )

    # -- what it is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._collection.name

    @property
    def embedding_model(self) -> str:
        """The name of the model that makes its vectors."""
        return self._embedding.model_name

    def __repr__(self) -> str:
        return f"RecallStore(name={self.name!r}, embedding_model={self.embedding_model!r})"

    def count(self) -> int:
        """How many memories it holds."""
        return self._open_collection().count()

    # -- writing ------------------------------------------------------------------------------

    def add(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories; one with an id that is there already replaces it wholly.

        Args:
            memories: Memories, mappings of their fields, or bare texts.
            progress: Show a progress bar on standard error, where that is a terminal.

        Returns:
            Their ids, in order. Those that came without one get an id that sorts by time.

        Raises:
            ForeignCollectionError: When the collection was made by somebody else.
            MemoryFormatError: When a memory cannot be stored; then none is.
        """
        self._open_collection()
        ready = make_ready(memories, self._clock, read_events=self._event_times)
        if ready:
            self._adopt_if_empty()
        self._check_writable()
        with tqdm(total=len(ready), unit=" memories", disable=None if progress else True) as bar:
            for start in range(0, len(ready), _BATCH):
                batch = ready[start : start + _BATCH]
                self._write(batch)
                bar.update(len(batch))
        return [each.memory.id for each in ready]

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop."""
        return await asyncio.to_thread(self.add, memories, progress=progress)

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
        self._open_collection()
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
        self._check_writable()
        unwanted = distinct_ids(ids)
        for start in range(0, len(unwanted), _BATCH):
            self._collection.delete(ids=unwanted[start : start + _BATCH])
        self._keywords.drop(unwanted)

    # -- reading ------------------------------------------------------------------------------

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in the order asked for; missing ones are left out."""
        self._open_collection()
        found: dict[str, Memory] = {}
        wanted = distinct_ids(ids)
        for start in range(0, len(wanted), _BATCH):
            page = self._collection.get(
                ids=wanted[start : start + _BATCH], include=["documents", "metadatas"]
            )
            rows = zip(page["ids"], page["documents"] or [], page["metadatas"] or [], strict=True)
            for row_id, document, metadata in rows:
                memory = to_memory(row_id, document, metadata, self._index.fields, self._index.unit)  # type: ignore[arg-type]  # a list of one scalar type each
                if memory is not None:
                    found[row_id] = memory
        return [found[each] for each in wanted if each in found]

    def find(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """For each search the memories that answer it, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0; it is in the trace as ``similarity``. A keyword search scores by BM25, 0 and
        up, ``keyword`` in the trace.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
        """
        self._open_collection()
        vectors = {text: self._embedding.embed_query(text) for text in _texts(searches)}
        self._check_dimension(*vectors.values())
        return self._answers(searches, vectors)

    async def afind(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """Search as `find` does, without blocking the event loop."""
        self._open_collection()
        texts = _texts(searches)
        embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
        vectors = dict(zip(texts, embedded, strict=True))
        self._check_dimension(*embedded)
        return await asyncio.to_thread(self._answers, searches, vectors)

    def _answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Memory]]:
        """The answer to each search; what one of them has read, the others do not read again."""
        read: dict[str, Memory] = {}
        answers: dict[int, list[Memory]] = {}
        # Those by meaning first: their memories come with a similarity.
        for place, search in sorted(
            enumerate(searches), key=lambda each: each[1].method, reverse=True
        ):
            if search.method == "semantic":
                found = self._index.nearest(vectors[search.text], search)
            else:
                found = self._index.worded(self._keywords.search, search, read)
            read |= {memory.id: memory for memory in found if memory.id not in read}
            answers[place] = found
        return [answers[place] for place in range(len(searches))]

    # -- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Give back the path and the client that the store opened. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside -------------------------------------------------------------------------------

    @property
    def _collection(self) -> Collection:
        return self._opened.collection

    def _open_collection(self) -> Collection:
        if self._closed:
            raise StoreClosedError(f"store {self.name!r} is closed; open it again with RecallStore")
        if os.getpid() != self._opened.process:
            raise StoreClosedError(
                f"store {self.name!r} was opened in process {self._opened.process}, and Chroma "
                f"hangs in a fork of it; start this process ({os.getpid()}) with spawn, and open "
                "it there"
            )
        return self._collection

    def _check_writable(self) -> None:
        self._open_collection()
        if self._index.foreign:
            raise ForeignCollectionError(
                f"collection {self.name!r} was not made by RecallStore: it is searched, never "
                "written. Add memories to one of its own: RecallStore(client, 'memories')"
            )

    def _adopt_if_empty(self) -> None:
        """Take an empty collection of the caller's for ours, now that it gets its first memory."""
        if self._index.foreign and self.count() == 0 and self._index.fields == OWN_FIELDS:
            self._note({MARK: FORMAT, "embedding_model": self.embedding_model})
            self._read_collection(None)

    def _check_own(self, known: Mapping[str, object], fields: Fields) -> None:
        if known[MARK] != FORMAT:
            raise StoreError(
                f"collection {self.name!r} was made by a newer version of this library (format "
                f"{known[MARK]}; this one knows {FORMAT}); update it"
            )
        if fields != OWN_FIELDS:
            raise ForeignCollectionError(
                f"collection {self.name!r} was made by RecallStore, which knows its fields; leave "
                "`fields` out"
            )
        if known.get("embedding_model") != self.embedding_model:
            raise EmbeddingMismatchError(
                f"collection {self.name!r} holds vectors of {known.get('embedding_model')!r}; it "
                f"cannot be searched with {self.embedding_model!r}. Open it with that model, or "
                "add its memories to a new collection"
            )

    def _stored_dimension(self) -> int | None:
        head = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        return len(head[0]) if head is not None and len(head) else None

    def _check_dimension(self, *vectors: NDArray[np.float32]) -> None:
        for dimension in (each.shape[-1] for each in vectors):
            if self._dimension is not None and dimension != self._dimension:
                raise EmbeddingMismatchError(
                    f"collection {self.name!r} holds vectors of {self._dimension} numbers; "
                    f"{self.embedding_model!r} makes {dimension}. Open it with the model it was "
                    "filled with"
                )

    def _write(self, batch: Sequence[Ready]) -> None:
        vectors = self._embedding.embed_documents([index_text(each.memory) for each in batch])
        self._check_dimension(vectors)
        stale = self._stale_keys(batch)
        written = to_milliseconds(datetime.now(UTC))
        metadatas: Any = [
            {**stale.get(each.memory.id, {}), **each.metadata, WRITTEN_AT: written}
            for each in batch
        ]
        self._collection.upsert(
            ids=[each.memory.id for each in batch],
            embeddings=vectors,
            documents=[each.memory.content for each in batch],
            metadatas=metadatas,
        )
        self._keywords.put((each.memory, written) for each in batch)
        if self._dimension is None:
            self._dimension = int(vectors.shape[1])
            self._note({"embedding_dimension": self._dimension})

    def _stale_keys(self, batch: Sequence[Ready]) -> dict[str, dict[str, None]]:
        """For rows that are there, their old keys as None: Chroma merges and does not replace."""
        ids = [each.memory.id for each in batch if not each.is_new]
        if not ids:
            return {}
        present = self._collection.get(ids=ids, include=["metadatas"])
        rows = zip(present["ids"], present["metadatas"] or [], strict=True)
        return {row_id: dict.fromkeys(row or {}) for row_id, row in rows}

    def _note(self, facts: Mapping[str, str | int]) -> None:
        """Keep facts about the collection with it; its space was said once and for all."""
        old = {k: v for k, v in (self._collection.metadata or {}).items() if k[:5] != "hnsw:"}
        self._collection.modify(metadata={**old, **facts})


def _texts(searches: Sequence[Search]) -> list[str]:
    """What has to be embedded: each text once, though several searches ask for it."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))
