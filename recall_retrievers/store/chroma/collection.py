"""One collection of Chroma: whose it is, the form of its rows, and reading and searching them.

A search is coarse in Chroma, and then exact here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import EmbeddingMismatchError, ForeignCollectionError, StoreError
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.errors import LOST
from recall_retrievers.store.chroma.fields import (
    OWN_FIELDS,
    SUPERSEDED_BY,
    Fields,
    Row,
    note_unread,
    sample_of,
    time_unit,
)
from recall_retrievers.store.chroma.place import FORMAT, MARK
from recall_retrievers.store.chroma.rows import to_candidate
from recall_retrievers.store.chroma.where import (
    Where,
    all_of,
    any_of,
    filter_where,
    foreign_where,
    living_where,
    scope_where,
    window_where,
)
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.local_model import unit
from recall_retrievers.timeline import TimeRange

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

_READ = ("documents", "metadatas")
_PAGE = 250  # rows a call, below every limit
_MOST_RESULTS = 30_000  # a call: SQLite takes 32,766 variables in one statement
_MOST_IDS = 500_000  # a call
_CLOUD_KEY, _CLOUD_ROWS = "x-chroma-token", 300  # a call: Chroma Cloud's quota

_search_again = retry(
    # A filtered search reads ids from SQLite and then looks them up in the index, without a
    # snapshot. A row that is deleted in between is an error, which is gone at the next try.
    retry=retry_if_exception(lambda error: LOST in str(error)),
    stop=stop_after_attempt(3),
    wait=wait_random(0.005, 0.05),
    reraise=True,
)


class Collection:
    """One collection of Chroma."""

    def __init__(self, chroma: ChromaCollection, embedding: Embedder, fields: Fields) -> None:
        # Every failure of it is a `StoreError`. Its types are narrower.
        self.chroma: Any = chroma
        headers: Any = getattr(chroma._client, "get_request_headers", dict)()  # noqa: SLF001
        self.most_rows = _CLOUD_ROWS if _CLOUD_KEY in headers else _MOST_IDS  # a call
        self.fields = fields
        self.model = embedding.model_name
        known = chroma.metadata or {}
        self.foreign = MARK not in known  # made by somebody else; its rows have no days
        # That of one of ours is noted after the first write. While that is under way, Chroma
        # cannot read vectors.
        self._dimension: int | None = known.get("embedding_dimension")
        if self.foreign:
            head = chroma.get(limit=1, include=["embeddings"])["embeddings"]
            self._dimension = len(head[0]) if head is not None and len(head) else None
        else:
            self._check_own(known)
        if embedding.dimension is not None:  # without a call, which may cost money
            self._check_length(embedding.dimension)
        # Chroma Cloud has another index, "spann"; its "hnsw" is None.
        index = chroma.configuration_json
        self._cosine = (index.get("hnsw") or index.get("spann") or {}).get("space") == "cosine"
        self._unit: int | None = 1  # of the times of its rows, in milliseconds
        if self.foreign:
            sample = sample_of(self.chroma)
            self._unit = time_unit(sample, fields)
            note_unread(chroma.name, sample, fields)

    # -- whose it is ------------------------------------------------------------------------------

    def check_writable(self) -> None:
        if self.foreign:
            raise ForeignCollectionError(
                f"collection {self.chroma.name!r} was not made by RecallStore: it is "
                "searched, never written. Add memories to one of its own: RecallStore(client, "
                "'memories')"
            )

    def check_dimension(self, *vectors: NDArray[np.float32]) -> None:
        for each in vectors:
            self._check_length(each.shape[-1])

    def learn_dimension(self, vectors: NDArray[np.float32]) -> None:
        if self._dimension is None:
            self._dimension = int(vectors.shape[1])
            self._note({"embedding_dimension": self._dimension})

    def adopt(self) -> None:
        """Make an empty collection of the caller one of ours; it may be in use meanwhile."""
        if self.foreign and self.fields == OWN_FIELDS and not self.chroma.count():
            self._note({MARK: FORMAT, "embedding_model": self.model})
            self.foreign, self._unit = False, 1

    def _check_own(self, known: Mapping[str, object]) -> None:
        name = self.chroma.name
        if known[MARK] != FORMAT:
            raise StoreError(
                f"collection {name!r} was made by a newer version of this library: update it"
            )
        if self.fields != OWN_FIELDS:
            raise ForeignCollectionError(
                f"collection {name!r} was made by RecallStore, which knows its fields; leave "
                "`fields` out"
            )
        made_by = known.get("embedding_model")
        if made_by != self.model:
            raise EmbeddingMismatchError(
                f"collection {name!r} holds vectors of {made_by!r}; it cannot be searched with "
                f"{self.model!r}. Open it with that model, or add its memories to a new "
                "collection",
                made_by,
            )

    def _check_length(self, dimension: int) -> None:
        if self._dimension not in (None, dimension):
            raise EmbeddingMismatchError(
                f"collection {self.chroma.name!r} holds vectors of {self._dimension} "
                f"numbers; {self.model!r} makes {dimension}. Open it with the model that filled "
                "it: RecallStore(..., embedding=...)"
            )

    def _note(self, facts: Mapping[str, str | int]) -> None:
        """Add facts to the metadata of the collection; its space cannot be written again."""
        old = {k: v for k, v in (self.chroma.metadata or {}).items() if k[:5] != "hnsw:"}
        self.chroma.modify(metadata={**old, **facts})

    # -- searching --------------------------------------------------------------------------------

    def nearest(
        self, vector: NDArray[np.float32], search: Search, filtering: Where | None
    ) -> list[Hit]:
        """The exact hits of one search: Chroma searches coarsely, and again if too few rows fit."""
        where, wanted = self._asked(search, filtering)
        most = min(_MOST_RESULTS, self.most_rows)
        ours = None if self.foreign else search.moment
        while True:
            page, cosines = self._query(vector, wanted, where)
            hits = self._hits(page, cosines, search)
            if len(page["ids"]) < wanted:
                # A row that differs from all others may have no way to it in Chroma's graph.
                unreached = [x for x in self.ids(where) if x not in {*page["ids"]}]
                hits += self.among(vector, search, unreached) if unreached else []
            elif len(hits) < search.limit and (wanted < most or ours):
                # Rows that have ended may be in the way.
                where = all_of([where, living_where(search, ours) if ours else None])
                ours = None
                wanted = min(4 * wanted, most)
                continue
            return sorted(hits, key=lambda hit: -hit.score)[: search.limit]

    def nearest_ids(
        self, vector: NDArray[np.float32], search: Search, filtering: Where | None
    ) -> tuple[list[str], NDArray[np.float32]]:
        """The ids of the rows that Chroma finds first, and their cosines; some may not fit."""
        where, wanted = self._asked(search, filtering)
        page, cosines = self._query(vector, wanted, where, ())
        return page["ids"], cosines

    def _asked(self, search: Search, filtering: Where | None) -> tuple[Where | None, int]:
        """The condition of a search, and how many rows Chroma is asked for."""
        scope, times = scope_where(search.scope, self.fields), any_of(self._times(search.within))
        where = all_of([filtering, scope, times, self._recorded_where(search)])
        # A space other than cosine has another order: query more rows, then sort.
        coarse = bool(search.within) or not self._cosine
        wanted = 2 * search.limit if coarse else search.limit
        return where, min(wanted, _MOST_RESULTS, self.most_rows)

    @_search_again
    def among(self, vector: NDArray[np.float32], search: Search, ids: Sequence[str]) -> list[Hit]:
        """The rows with these ids that fit a search, the nearest first; no other row is read."""
        hits: list[Hit] = []
        for page in self.by_id(ids, [*_READ, "embeddings"], self.filter_where(search)):
            hits += self._hits(page, _cosines(vector, page["embeddings"]), search)
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    @_search_again
    def _query(
        self,
        vector: NDArray[np.float32],
        limit: int,
        where: Where | None,
        read: Sequence[str] = _READ,
    ) -> tuple[Mapping[str, Any], NDArray[np.float32]]:
        """The rows nearest to a vector, as Chroma's index finds them, and their cosines."""
        # Distances of another space than cosine say little about similarity, so read the vectors.
        measure = "distances" if self._cosine else "embeddings"
        found = self.chroma.query(
            query_embeddings=vector[None, :],
            n_results=limit,
            where=where,
            include=[*read, measure],
        )
        page = {key: found[key][0] for key in ("ids", *read, measure)}
        if self._cosine:
            return page, 1 - np.asarray(page[measure], dtype=np.float32)
        return page, _cosines(vector, page[measure])

    def _hits(
        self, page: Mapping[str, Any], cosines: NDArray[np.float32], search: Search
    ) -> list[Hit]:
        admitted = search.admitting()
        rows = zip(self._candidates(page), np.clip(cosines, 0, 1).tolist(), strict=True)
        return [
            Hit(memory, cosine)
            for memory, cosine in rows
            if memory is not None and (admitted is None or admitted(memory))
        ]

    def filter_where(self, search: Search) -> Where | None:
        fields, zone, ours = self.fields, search.timezone, not self.foreign
        return filter_where(search.filter, fields, self._unit, zone, ours=ours)

    def _recorded_where(self, search: Search) -> Where | None:
        """The rows that were recorded by the moment of a search, if only they count."""
        if not search.as_it_stood or search.moment is None:
            return None
        return foreign_where(TimeRange(None, search.moment, "second"), self.fields, self._unit)

    def _times(self, ranges: Sequence[TimeRange]) -> list[Where | None]:
        if self.foreign:
            return [foreign_where(each, self.fields, self._unit) for each in ranges]
        return window_where(ranges)

    # -- reading ----------------------------------------------------------------------------------

    def candidate(self, row: Row) -> Candidate | None:
        """The memory of a row; None if the row has no text."""
        return to_candidate(*row, self.fields)

    def _candidates(self, page: Mapping[str, Any]) -> list[Candidate | None]:
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        return [self.candidate(row) for row in rows]

    def read(self, ids: Sequence[str], where: Where | None) -> dict[str, Candidate]:
        """Memories by id, without rows that do not fit the filter or have no text."""
        read = self.by_id(ids, _READ, where)
        found = (memory for page in read for memory in self._candidates(page))
        return {memory.id: memory for memory in found if memory is not None}

    def superseded_by(self, ids: Sequence[str]) -> list[Candidate]:
        """The memories that are superseded by those with these ids."""
        parts = [[*ids[start : start + _PAGE]] for start in range(0, len(ids), _PAGE)]
        wheres: list[Where] = [{SUPERSEDED_BY: {"$in": part}} for part in parts]
        pages = (page for where in wheres for page in self.pages(_READ, where=where))
        return [memory for page in pages for memory in self._candidates(page) if memory]

    def newest(self, memory: Candidate) -> Candidate:
        """The last of the memories that supersede one another, from this one on."""
        newest, seen = memory, {""}
        while (later := newest.superseded_by) not in seen:
            seen.add(later)
            newest = self.read([later], None).get(later, newest)
        return newest

    def rows(self, ids: Sequence[str]) -> dict[str, Row]:
        """Rows by id; ids that are not there are left out."""
        rows: dict[str, Row] = {}
        for page in self.by_id(ids, _READ):
            read = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
            rows |= {row[0]: row for row in read}
        return rows

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of rows by id, without those that are not there.

        Chroma keeps texts apart from them. A server that was killed may have lost some: then none
        is returned.
        """
        vectors: dict[str, NDArray[np.float32]] = {}
        try:
            for page in self.by_id(ids, ["embeddings"]):
                read = np.asarray(page["embeddings"], dtype=np.float32)
                vectors |= zip(page["ids"], read, strict=True)
        except StoreError as error:
            if LOST not in str(error):
                raise
            _log.warning("of %d rows some have no vector in Chroma", len(ids))
            return {}
        return vectors

    def by_id(
        self, ids: Sequence[str], include: Sequence[str], where: Where | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Rows by id, page by page; ids that are not there are left out."""
        for start in range(0, len(ids), _PAGE):
            part = list(ids[start : start + _PAGE])
            yield self.chroma.get(ids=part, where=where, include=[*include])

    def pages(
        self,
        include: Sequence[str],
        *,
        most: int = _PAGE,
        where: Where | None = None,
        start: int = 0,
    ) -> Iterator[Mapping[str, Any]]:
        """The rows from a place on, page by page; the last page is not full, and may be empty."""
        most = min(most, self.most_rows)
        while True:
            page = self.chroma.get(where=where, include=[*include], limit=most, offset=start)
            yield page
            start += len(page["ids"])
            if len(page["ids"]) < most:
                return

    def ids(self, where: Where | None = None, start: int = 0) -> list[str]:
        # In small pages it takes five times as long, because Chroma sorts anew for each.
        pages = self.pages([], most=_MOST_IDS, where=where, start=start)
        return [row_id for page in pages for row_id in page["ids"]]

    def memories(
        self, *, vectors: bool
    ) -> Iterator[tuple[list[Candidate], NDArray[np.float32] | None]]:
        """All memories, page by page, with their vectors or without; rows need a text."""
        for page in self.pages([*_READ, *["embeddings"] * vectors]):
            memories = self._candidates(page)
            present = [memory is not None for memory in memories]
            if any(present):
                read = np.asarray(page["embeddings"], np.float32)[present] if vectors else None
                yield [memory for memory in memories if memory is not None], read


def _cosines(vector: NDArray[np.float32], rows: object) -> NDArray[np.float32]:
    vectors = np.asarray(rows, dtype=np.float32).reshape(-1, len(vector))
    cosines: NDArray[np.float32] = unit(vectors) @ unit(vector)
    return cosines
