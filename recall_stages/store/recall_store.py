"""RecallStore: memories in a Chroma collection, written and found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random
from tqdm import tqdm

from recall_stages.errors import (
    EmbeddingMismatchError,
    ForeignCollectionError,
    MemoryFormatError,
    StoreClosedError,
)
from recall_stages.memory import Memory, MetadataValue
from recall_stages.stage import Search
from recall_stages.store.embedding import as_embedder
from recall_stages.store.opening import FORMAT, MARK, open_collection
from recall_stages.store.rows import (
    OWN_FIELDS,
    Fields,
    TimeUnit,
    index_text,
    new_id,
    to_memory,
    to_metadata,
)
from recall_stages.store.where import Where, all_of, filter_where, scope_where
from recall_stages.store.window import foreign_window_where, window_where

if TYPE_CHECKING:
    from pathlib import Path

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

MemoryInput = Memory | Mapping[str, object] | str
_Row = tuple[str, float, Memory | None]  # its id, its similarity; None where it holds no text

# Rows a call: below every limit (Cloud takes 300, SQLite 5,461), and short enough that the
# interpreter, which Chroma holds while it writes, pauses for no more than 0.15 s.
_BATCH = 250
_SAMPLE = 100  # rows looked at to learn how a collection of others writes its times

_search_again = retry(
    # A filtered search reads ids from SQLite and then looks them up in the index, with no
    # snapshot between: a row deleted meanwhile is an error, which is gone at the next try.
    retry=retry_if_exception(lambda error: "Error finding id" in str(error)),
    stop=stop_after_attempt(3),
    wait=wait_random(0.005, 0.05),
    reraise=True,
)


def _now() -> datetime:
    return datetime.now(UTC)


class RecallStore:
    """Memories in a Chroma collection: embedded, on a server or in Chroma Cloud.

    One collection serves LangChain and LlamaIndex alike. A collection that somebody else made is
    searched as it is, through ``fields``, and never written.

    Args:
        source: A path, a chromadb client (in memory, persistent, HTTP or Cloud), or a chromadb
            collection. None = a collection in memory, gone when it is closed.
        name: The collection, when the source is not one; made if it is not there.
        embedding: A LangChain ``Embeddings`` or a LlamaIndex ``BaseEmbedding``. None =
            all-MiniLM-L6-v2 on this machine, without a network. The collection remembers it.
        fields: Where a collection made by somebody else keeps text, time, type and scope.
        clock: What tells the time of a memory that comes without one.

    Raises:
        StoreLockedError: When another process holds the path.
        EmbeddingMismatchError: When the collection was filled with another embedding model.

    Examples:
        >>> with RecallStore() as store:
        ...     ids = store.add(["The dentist is on Elm Street.", "Anna likes green tea."])
        ...     store.find([Search("Who drinks tea?", limit=1)])[0][0].content
        'Anna likes green tea.'
    """

    def __init__(
        self,
        source: str | Path | ClientAPI | Collection | None = None,
        name: str = "memories",
        *,
        embedding: object = None,
        fields: Fields | Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._embedding = as_embedder(embedding)
        self._clock = clock
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
        self._foreign = MARK not in known
        self._fields = Fields.model_validate(fields or {})
        self._unit: TimeUnit = "milliseconds"
        self._dimension: int | None = known.get("embedding_dimension")
        index = self._collection.configuration_json
        # Chroma Cloud has another index, "spann"; its "hnsw" is None.
        self._cosine = (index.get("hnsw") or index.get("spann") or {}).get("space") == "cosine"
        if self._foreign:
            self._sample_rows()
        elif self._fields != OWN_FIELDS:
            raise ForeignCollectionError(
                f"collection {self.name!r} was made by RecallStore, which knows its fields; leave "
                "`fields` out"
            )
        else:
            self._check_model(known.get("embedding_model"))

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
        self._check_writable()
        if isinstance(memories, str | Mapping | Memory):
            raise MemoryFormatError(
                f"add takes a list of memories; got one {type(memories).__name__}: put it in a list"
            )
        given = [_as_memory(memory) for memory in memories]
        # A new id cannot be there yet, so only the others can leave stale metadata behind.
        may_exist = {memory.id for memory in given if memory.id}
        ready = [self._complete(memory) for memory in given]
        _check_distinct(ready)
        rows = [(memory, to_metadata(memory)) for memory in ready]
        with tqdm(total=len(rows), unit=" memories", disable=None if progress else True) as bar:
            for start in range(0, len(rows), _BATCH):
                batch = rows[start : start + _BATCH]
                self._write(batch, may_exist)
                bar.update(len(batch))
        return [memory.id for memory in ready]

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop."""
        return await asyncio.to_thread(self.add, memories, progress=progress)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete memories by id; ids that are not there are passed over."""
        self._check_writable()
        unwanted = _distinct_ids(ids)
        for start in range(0, len(unwanted), _BATCH):
            self._collection.delete(ids=unwanted[start : start + _BATCH])

    # -- reading ------------------------------------------------------------------------------

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in the order asked for; missing ones are left out."""
        self._open_collection()
        found: dict[str, Memory] = {}
        wanted = _distinct_ids(ids)
        for start in range(0, len(wanted), _BATCH):
            page = self._collection.get(
                ids=wanted[start : start + _BATCH], include=["documents", "metadatas"]
            )
            rows = zip(page["ids"], page["documents"] or [], page["metadatas"] or [], strict=True)
            for row_id, document, metadata in rows:
                memory = to_memory(row_id, document, metadata, self._fields, self._unit)  # type: ignore[arg-type]  # a list of one scalar type each
                if memory is not None:
                    found[row_id] = memory
        return [found[each] for each in wanted if each in found]

    def find(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """For each search the memories nearest in meaning, most similar first.

        The similarity is the cosine between question and memory, 0 to 1; negative ones count 0.
        It is each memory's score, and ``similarity`` in its trace.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
        """
        self._open_collection()
        texts = list(dict.fromkeys(search.text for search in searches))
        vectors = {text: self._embedding.embed_query(text) for text in texts}
        return [self._nearest(vectors[search.text], search) for search in searches]

    async def afind(self, searches: Sequence[Search]) -> list[list[Memory]]:
        """Search as `find` does, without blocking the event loop."""
        self._open_collection()
        texts = list(dict.fromkeys(search.text for search in searches))
        embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
        vectors = dict(zip(texts, embedded, strict=True))
        return list(
            await asyncio.gather(
                *(asyncio.to_thread(self._nearest, vectors[each.text], each) for each in searches)
            )
        )

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
        if self._foreign:
            raise ForeignCollectionError(
                f"collection {self.name!r} was not made by RecallStore: it is searched, never "
                "written. Add memories to one of its own: RecallStore(client, 'memories')"
            )

    def _check_model(self, model: object) -> None:
        if model != self.embedding_model:
            raise EmbeddingMismatchError(
                f"collection {self.name!r} holds vectors of {model!r}; it cannot be searched with "
                f"{self.embedding_model!r}. Open it with that model, or add its memories to a new "
                "collection"
            )

    def _check_dimension(self, vectors: NDArray[np.float32]) -> None:
        dimension = vectors.shape[-1]
        if self._dimension is not None and dimension != self._dimension:
            raise EmbeddingMismatchError(
                f"collection {self.name!r} holds vectors of {self._dimension} numbers; "
                f"{self.embedding_model!r} makes {dimension}. Open it with the model it was "
                "filled with"
            )

    def _sample_rows(self) -> None:
        """See how a collection of others writes vectors and times."""
        head = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        if head is not None and len(head):
            self._dimension = len(head[0])
        sample = self._collection.get(limit=_SAMPLE, include=["metadatas"])["metadatas"] or []
        self._unit = _time_unit([(row or {}).get(self._fields.created_at) for row in sample])

    def _complete(self, memory: Memory) -> Memory:
        created_at = memory.created_at or self._clock()
        return memory.model_copy(
            update={"created_at": created_at, "id": memory.id or new_id(created_at)}
        )

    def _write(
        self, batch: Sequence[tuple[Memory, dict[str, MetadataValue]]], may_exist: set[str]
    ) -> None:
        vectors = self._embedding.embed_documents([index_text(memory) for memory, _ in batch])
        self._check_dimension(vectors)
        stale = self._stale_keys(batch, may_exist)
        metadatas: Any = [{**stale.get(memory.id, {}), **row} for memory, row in batch]
        self._collection.upsert(
            ids=[memory.id for memory, _ in batch],
            embeddings=vectors,
            documents=[memory.content for memory, _ in batch],
            metadatas=metadatas,
        )
        if self._dimension is None:
            self._dimension = int(vectors.shape[1])
            self._collection.modify(
                metadata={**self._collection.metadata, "embedding_dimension": self._dimension}
            )

    def _stale_keys(
        self, batch: Sequence[tuple[Memory, dict[str, MetadataValue]]], may_exist: set[str]
    ) -> dict[str, dict[str, None]]:
        """For rows that are there, their old keys as None: Chroma merges and does not replace."""
        ids = [memory.id for memory, _ in batch if memory.id in may_exist]
        if not ids:
            return {}
        present = self._collection.get(ids=ids, include=["metadatas"])
        rows = zip(present["ids"], present["metadatas"] or [], strict=True)
        return {row_id: dict.fromkeys(row or {}) for row_id, row in rows}

    def _nearest(self, vector: NDArray[np.float32], search: Search) -> list[Memory]:
        """The exact answer to one search: asked coarsely, looked at closely, asked again if few."""
        self._check_dimension(vector)
        where = all_of(
            [
                filter_where(search.filter, self._fields, self._unit),
                scope_where(search.scope, self._fields),
                self._window(search),
            ]
        )
        most = self._opened.most_results
        # Another space than cosine ranks in another order: look further than asked, then sort.
        coarse = bool(search.within) or not self._cosine
        wanted = min(2 * search.limit if coarse else search.limit, most)
        while True:
            rows = self._query(vector, wanted, where)
            exhausted = len(rows) < wanted
            if exhausted:
                rows = sorted(rows + self._unreached(vector, where, rows), key=_by_similarity)
            memories = [
                memory
                for _, _, memory in rows
                if memory is not None
                and (not search.within or any(memory.matches(each) for each in search.within))
            ]
            if len(memories) >= search.limit or exhausted or wanted == most:
                return memories[: search.limit]
            wanted = min(4 * wanted, most)

    def _window(self, search: Search) -> Where | None:
        if self._foreign:
            return foreign_window_where(search.within, self._fields, self._unit)
        return window_where(search.within)

    @_search_again
    def _query(self, vector: NDArray[np.float32], limit: int, where: Where | None) -> list[_Row]:
        """The rows nearest to a vector, as Chroma's index finds them."""
        # Distances of another space than cosine say little about similarity: take the vectors.
        measure = "distances" if self._cosine else "embeddings"
        collection: Any = self._collection  # its types know no filter that is made at run time
        page = collection.query(
            query_embeddings=vector[None, :],
            n_results=limit,
            where=where,
            include=["documents", "metadatas", measure],
        )
        measured = np.asarray(page[measure][0], dtype=np.float32)
        similarities = 1 - measured if self._cosine else _cosines(vector, measured)
        return self._rows(page["ids"][0], page["documents"][0], page["metadatas"][0], similarities)

    @_search_again
    def _unreached(
        self, vector: NDArray[np.float32], where: Where | None, rows: Sequence[_Row]
    ) -> list[_Row]:
        """The rows that match and that Chroma's index did not reach, measured one by one.

        The index is a graph; a row unlike a crowd of others can have no way to it, and is then in
        no answer, though the filter holds for it alone.
        """
        if where is None and self._collection.count() == len(rows):
            return []
        reached = {row_id for row_id, _, _ in rows}
        collection: Any = self._collection
        matching = collection.get(where=where, include=[])["ids"]
        missing = [row_id for row_id in matching if row_id not in reached]
        found: list[_Row] = []
        for start in range(0, len(missing), _BATCH):
            page = collection.get(
                ids=missing[start : start + _BATCH],
                include=["documents", "metadatas", "embeddings"],
            )
            cosines = _cosines(vector, np.asarray(page["embeddings"], dtype=np.float32))
            found += self._rows(page["ids"], page["documents"], page["metadatas"], cosines)
        return found

    def _rows(
        self,
        row_ids: Sequence[str],
        documents: Sequence[str | None],
        metadatas: Sequence[Mapping[str, MetadataValue] | None],
        similarities: NDArray[np.float32],
    ) -> list[_Row]:
        """Rows with their similarity and the memory they hold, most similar first."""
        clipped = np.clip(similarities, 0, 1).tolist()
        rows: list[_Row] = []
        for row_id, document, metadata, similarity in zip(
            row_ids, documents, metadatas, clipped, strict=True
        ):
            memory = to_memory(row_id, document, metadata, self._fields, self._unit)
            scored = memory and memory.scored(similarity, similarity=similarity)
            rows.append((row_id, similarity, scored))
        return sorted(rows, key=_by_similarity)


def _by_similarity(row: _Row) -> float:
    return -row[1]


def _distinct_ids(ids: Sequence[str]) -> list[str]:
    if isinstance(ids, str):
        raise TypeError(f"expected a list of ids; got the text {ids!r}: put it in a list")
    return list(dict.fromkeys(ids))


def _as_memory(given: MemoryInput) -> Memory:
    if not isinstance(given, str | Mapping | Memory):
        raise MemoryFormatError(
            f"a memory is a Memory, a mapping of its fields or a text; got {type(given).__name__}"
        )
    fields = {"content": given} if isinstance(given, str) else dict(given)
    fields |= {"score": None, "trace": {}, "source": None}  # what a search said is not stored
    try:
        return Memory.model_validate(fields)
    except (ValueError, TypeError) as error:  # pydantic lets a validator's TypeError through
        raise MemoryFormatError(f"not a memory that can be stored: {error}") from error


def _check_distinct(memories: Sequence[Memory]) -> None:
    seen: set[str] = set()
    for memory in memories:
        if memory.id in seen:
            raise MemoryFormatError(
                f"two memories of one call have the id {memory.id!r}; give each its own"
            )
        seen.add(memory.id)


def _cosines(vector: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    if not len(rows):
        return np.empty(0, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    cosines: NDArray[np.float32] = rows @ vector / np.maximum(lengths, np.float32(1e-12))
    return cosines


def _time_unit(sample: Sequence[object]) -> TimeUnit:
    """What the times of a collection of others are: numbers compare in Chroma, text does not."""
    values = [value for value in sample if value is not None]
    numbers = [abs(value) for value in values if isinstance(value, int | float)]
    if not numbers:
        return "iso"
    if len(numbers) < len(values):
        return "mixed"
    return "milliseconds" if max(numbers) >= 1e11 else "seconds"
