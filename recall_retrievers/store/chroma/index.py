"""The search of a collection: coarse in Chroma, then exact here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.row_fields import Fields, Row, TimeUnit
from recall_retrievers.store.chroma.row_times import note_unread, sample_of, time_unit
from recall_retrievers.store.chroma.rows import to_candidate
from recall_retrievers.store.chroma.where import (
    Where,
    all_of,
    any_of,
    filter_where,
    living_where,
    scope_where,
)
from recall_retrievers.store.chroma.window import foreign_where, window_where
from recall_retrievers.store.embedding.token_vectors import unit
from recall_retrievers.timeline import TimeRange

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

Similar = tuple[str, float]
"""A row's id and its cosine to a question."""

_Row = tuple[str, float, Candidate | None]  # id, similarity, memory; None if the row has no text

_READ = ("ids", "documents", "metadatas")
_PAGE = 250  # rows a call, below every limit
_MOST_RESULTS = 30_000  # a call: SQLite takes 32,766 variables in one statement

_search_again = retry(
    # A filtered search reads ids from SQLite and then looks them up in the index, without a
    # snapshot. A row that is deleted in between is an error, which is gone at the next try.
    retry=retry_if_exception(lambda error: "Error finding id" in str(error)),
    stop=stop_after_attempt(3),
    wait=wait_random(0.005, 0.05),
    reraise=True,
)


@dataclass(frozen=True, slots=True)
class Index:
    """One collection, and the form of its rows."""

    collection: Collection
    fields: Fields  # the metadata keys of the fields of a memory
    unit: TimeUnit  # of the times of its rows
    foreign: bool  # whether somebody else made it: then it has no buckets of days
    cloud: bool  # whether it has Chroma's Search API, and its quotas; see `CloudSearcher`
    cosine: bool  # whether its distances are cosine distances

    @classmethod
    def of(cls, collection: Collection, fields: Fields, *, foreign: bool, cloud: bool) -> Self:
        """Read the settings of a collection, and the form of its rows."""
        index = collection.configuration_json
        # Chroma Cloud has another index, "spann"; its "hnsw" is None.
        space = (index.get("hnsw") or index.get("spann") or {}).get("space")
        unit: TimeUnit = "milliseconds"
        if foreign:
            sample = sample_of(collection)
            unit = time_unit(sample, fields)
            note_unread(collection.name, sample, collection.count(), unit, fields)
        return cls(collection, fields, unit, foreign, cloud, cosine=space == "cosine")

    def nearest(
        self, vector: NDArray[np.float32], search: Search, filtering: Where | None
    ) -> list[Hit]:
        """The exact hits of one search: Chroma searches coarsely, and again if too few rows fit."""
        scope, times = scope_where(search.scope, self.fields), any_of(self.times(search.within))
        where = all_of([filtering, scope, times])
        admitted = search.admitting()
        # A space other than cosine has another order: query more rows, then sort.
        coarse = bool(search.within) or not self.cosine
        wanted = min(2 * search.limit if coarse else search.limit, _MOST_RESULTS)
        moment = None if self.foreign else search.moment
        while True:
            rows = self._query(vector, wanted, where)
            exhausted = len(rows) < wanted
            if exhausted:
                rows = sorted(rows + self._unreached(vector, where, rows), key=_by_similarity)
            hits = [
                Hit(memory, similarity)
                for _, similarity, memory in rows
                if memory is not None and (admitted is None or admitted(memory))
            ]
            if len(hits) >= search.limit or exhausted or wanted == _MOST_RESULTS:
                return hits[: search.limit]
            if moment is not None and any(each and each.expired(moment) for *_, each in rows):
                where, moment = all_of([where, living_where(moment)]), None
                continue
            wanted = min(4 * wanted, _MOST_RESULTS)

    def neighbours(self, vector: NDArray[np.float32], limit: int) -> list[Similar]:
        """The rows nearest to a vector, without a condition; only ids and cosines are read."""
        collection: Any = self.collection
        page = collection.query(
            query_embeddings=vector[None, :], n_results=limit, include=["distances"]
        )
        cosines = 1 - np.asarray(page["distances"][0], dtype=np.float32)
        ordered = sorted(zip((-cosines).tolist(), page["ids"][0], strict=True))
        return [(row_id, -negative) for negative, row_id in ordered]

    def candidate(self, row: Row) -> Candidate | None:
        """The memory of a row; None if the row has no text."""
        return to_candidate(*row, self.fields, self.unit)

    def _candidates(self, page: Mapping[str, Any]) -> list[Candidate | None]:
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        return [self.candidate(row) for row in rows]

    def filter_where(self, search: Search) -> Where | None:
        """The condition that a search sets on metadata."""
        return filter_where(
            search.filter,
            self.fields,
            self.unit,
            search.timezone,
            typed=self.cloud,
            ours=not self.foreign,
        )

    def read(self, ids: Sequence[str], where: Where | None) -> dict[str, Candidate]:
        """Memories by id, without rows that do not fit the filter or have no text."""
        read = self.by_id(ids, ["documents", "metadatas"], where)
        found = (memory for page in read for memory in self._candidates(page))
        return {memory.id: memory for memory in found if memory is not None}

    def row(self, row_id: str) -> Row | None:
        """A row by its id; None if it is not there."""
        [page] = self.by_id([row_id], ["documents", "metadatas"])
        return next(zip(page["ids"], page["documents"], page["metadatas"], strict=True), None)

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of rows by id; ids that are not there are left out."""
        vectors: dict[str, NDArray[np.float32]] = {}
        for page in self.by_id(ids, ["embeddings"]):
            read = np.asarray(page["embeddings"], dtype=np.float32)
            vectors |= zip(page["ids"], read, strict=True)
        return vectors

    def by_id(
        self, ids: Sequence[str], include: Sequence[str], where: Where | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Rows by id, page by page; ids that are not there are left out."""
        collection: Any = self.collection
        for start in range(0, len(ids), _PAGE):
            part = list(ids[start : start + _PAGE])
            yield collection.get(ids=part, where=where, include=[*include])

    def among(self, vector: NDArray[np.float32], search: Search, ids: Sequence[str]) -> list[Hit]:
        """The rows with these ids that fit a search, the nearest first; no other row is read."""
        admitted = search.admitting()
        read = self.read(ids, self.filter_where(search))
        fit = {k: memory for k, memory in read.items() if admitted is None or admitted(memory)}
        vectors = self.vectors(list(fit))
        cosines = np.clip(_cosines(vector, np.array([*vectors.values()])), 0, 1).tolist()
        hits = [Hit(fit[k], cosine) for k, cosine in zip(vectors, cosines, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def memories(self) -> Iterator[Candidate]:
        """All memories of the collection, read page by page."""
        for page in pages(self.collection, ["documents", "metadatas"]):
            yield from (memory for memory in self._candidates(page) if memory is not None)

    def with_vectors(self) -> Iterator[tuple[list[Candidate], NDArray[np.float32]]]:
        """All memories with their vectors, page by page; rows without a text are left out."""
        for page in pages(self.collection, ["documents", "metadatas", "embeddings"]):
            memories = self._candidates(page)
            present = [memory is not None for memory in memories]
            if any(present):
                vectors = np.asarray(page["embeddings"], dtype=np.float32)[present]
                yield [memory for memory in memories if memory is not None], vectors

    def times(self, ranges: Sequence[TimeRange]) -> list[Where | None]:
        """The conditions on time, one of which a row must fulfil; empty without a time."""
        if self.foreign:
            return [foreign_where(each, self.fields, self.unit) for each in ranges]
        return window_where(ranges)

    def recorded(self, time_range: TimeRange) -> Where | None:
        """The condition that a row was recorded in a time."""
        [where, *_] = self.times([time_range])
        return where

    @_search_again
    def _query(self, vector: NDArray[np.float32], limit: int, where: Where | None) -> list[_Row]:
        """The rows nearest to a vector, as Chroma's index finds them."""
        # Distances of another space than cosine say little about similarity, so read the vectors.
        measure = "distances" if self.cosine else "embeddings"
        collection: Any = self.collection  # its types do not allow a filter made at run time
        page = collection.query(
            query_embeddings=vector[None, :],
            n_results=limit,
            where=where,
            include=["documents", "metadatas", measure],
        )
        measured = np.asarray(page[measure][0], dtype=np.float32)
        similarities = 1 - measured if self.cosine else _cosines(vector, measured)
        return self._rows({key: page[key][0] for key in _READ}, similarities)

    @_search_again
    def _unreached(
        self, vector: NDArray[np.float32], where: Where | None, rows: Sequence[_Row]
    ) -> list[_Row]:
        """The matching rows that Chroma's index did not reach, with their similarity.

        The index is a graph. A row that differs from all others may have no path to it. Such a row
        is in no answer, even if it is the only one that fulfils the filter.
        """
        if where is None and self.collection.count() == len(rows):
            return []
        reached = {row_id for row_id, _, _ in rows}
        collection: Any = self.collection
        matching = collection.get(where=where, include=[])["ids"]
        missing = [row_id for row_id in matching if row_id not in reached]
        unreached: list[_Row] = []
        for page in self.by_id(missing, ["documents", "metadatas", "embeddings"]):
            cosines = _cosines(vector, np.asarray(page["embeddings"], dtype=np.float32))
            unreached += self._rows(page, cosines)
        return unreached

    def _rows(self, page: Mapping[str, Any], similarities: NDArray[np.float32]) -> list[_Row]:
        """Rows with their similarity and memory, the most similar first."""
        clipped = np.clip(similarities, 0, 1).tolist()
        rows = zip(page["ids"], clipped, self._candidates(page), strict=True)
        return sorted(rows, key=_by_similarity)


def pages(
    collection: Any,
    include: Sequence[str],
    *,
    most: int = _PAGE,
    where: Where | None = None,
    start: int = 0,
) -> Iterator[Mapping[str, Any]]:
    """The rows of a collection, page by page; the last page is not full, and may be empty.

    Args:
        collection: Chroma's own object; its types do not know what ``include`` does.
        include: What is read of a row beside its id.
        most: How many rows a page has.
        where: The condition on the rows.
        start: How many rows are passed over.
    """
    while True:
        page = collection.get(where=where, include=[*include], limit=most, offset=start)
        yield page
        start += len(page["ids"])
        if len(page["ids"]) < most:
            return


def _by_similarity(row: _Row) -> float:
    return -row[1]


def _cosines(vector: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    cosines: NDArray[np.float32] = unit(rows.reshape(-1, len(vector))) @ unit(vector)
    return cosines
