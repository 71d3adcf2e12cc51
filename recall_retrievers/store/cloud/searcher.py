"""The searcher for collections that search by words themselves: nothing is kept here.

The searches of a question go to the collection together, each with its scope, filter and time as a
condition. Their scores come back apart, so fusion, trace and explanation are the same as elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.errors import KeywordSearchError
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.filter_match import fulfils
from recall_retrievers.store.chroma.index import Index
from recall_retrievers.store.chroma.row_fields import KEYWORD_VECTOR
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.cloud.keyword_vector import question_vector
from recall_retrievers.store.cloud.limits import RESULTS, SEARCHES, conditions
from recall_retrievers.store.embedding.token_vectors import Embedded, unit

if TYPE_CHECKING:
    from chromadb import Search as ChromaSearch
    from chromadb.base_types import SparseVector

_AMONG = 4  # times as many are searched by meaning, where words only weigh among these
_NO_WORD = 1e-6  # a BM25 score below it is none: the cloud fills up with rows that share no word

_Page = list[tuple[str, str | None, Mapping[str, Any], float]]
"""Rows: id, text, metadata, and similarity or BM25 score."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The requests that answer one search."""

    search: Search
    vector: NDArray[np.float32] | SparseVector  # of the meaning of its text, or of its words
    wheres: Sequence[Where | None]  # of each request; their rows together are the answer
    first: int  # how many rows of each request are read at first
    pooled: bool = False  # whether words weigh only among what is found by meaning
    living: bool = False  # whether the cloud leaves out what has expired


@dataclass(frozen=True, slots=True)
class CloudSearcher:
    """Searches one collection."""

    index: Index
    words: bool  # whether its rows have sparse vectors of their words

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        """The hits of each search, best first.

        Raises:
            KeywordSearchError: When a search is by words alone, and the rows have no words.
            FilterError: When scope and filter have more conditions than the collection takes.
        """
        vectors = {text: each.vectors[0] for text, each in embedded.items()}
        planned = [self._plan(search, vectors) for search in searches]
        plans = {n: plan for n, plan in enumerate(planned) if plan is not None}
        hits: dict[int, list[Hit]] = {}
        waiting, times = list(plans), 1
        while waiting:
            asked = {n: min(times * plans[n].first, RESULTS) for n in waiting}
            pages = self._pages([(plans[n], w, asked[n]) for n in waiting for w in plans[n].wheres])
            short = []
            for n in waiting:
                mine = [next(pages) for _ in plans[n].wheres]
                hits[n] = self._hits(plans[n], [row for page in mine for row in page])
                full = any(len(page) == asked[n] for page in mine)
                last = asked[n] == RESULTS and plans[n].living
                if full and not last and len(hits[n]) < plans[n].search.limit:
                    plans[n] = self._among_living(plans[n])
                    short.append(n)
            waiting, times = short, 4 * times
        return [_best(plans[n], hits[n]) if n in plans else [] for n in range(len(searches))]

    def close(self) -> None:
        """There is nothing to close."""

    def _plan(self, search: Search, vectors: Mapping[str, NDArray[np.float32]]) -> _Plan | None:
        """The plan for a search; None if its text has no words to search for."""
        # Times are coarse in a condition; a space other than cosine has another order.
        coarse = bool(search.within) or not self.index.cosine
        first = 2 * search.limit if coarse else search.limit
        wheres = conditions(search, self.index)
        if search.method == "keyword" and self.words:
            vector = question_vector(search.text)
            return None if vector is None else _Plan(search, vector, wheres, first)
        if search.text not in vectors:
            raise KeywordSearchError(
                f"collection {self.index.collection.name!r} has no words to search for: it was "
                'made by an older version of this library, or by others. Search with "hybrid" or '
                '"semantic", or copy it with `recall migrate`'
            )
        pooled = search.method == "keyword"
        return _Plan(
            search, vectors[search.text], wheres, _AMONG * first if pooled else first, pooled
        )

    def _among_living(self, plan: _Plan) -> _Plan:
        """The plan with rows that have expired left out, as they may take the place of others."""
        wheres = conditions(plan.search, self.index, living=True)
        return replace(plan, wheres=wheres, living=True)

    # -- reading ----------------------------------------------------------------------------------

    def _pages(self, requests: Sequence[tuple[_Plan, Where | None, int]]) -> Iterator[_Page]:
        """The rows of each request; as many requests go together as the collection takes."""
        for start in range(0, len(requests), SEARCHES):
            together = requests[start : start + SEARCHES]
            collection: Any = self.index.collection
            found = collection.search([self._request(*request) for request in together])
            for n, (plan, _, _) in enumerate(together):
                yield self._page(plan, {key: found[key][n] for key in found if found[key]})

    def _request(self, plan: _Plan, where: Where | None, limit: int) -> ChromaSearch:
        from chromadb import Knn, Search  # noqa: PLC0415 - it takes a second to import

        keys = ["#document", "#metadata", "#score"]
        if isinstance(plan.vector, np.ndarray):
            rank = Knn(query=plan.vector, limit=limit)
            if not self.index.cosine:
                keys.append("#embedding")
        else:
            rank = Knn(query=plan.vector, key=KEYWORD_VECTOR, limit=limit)
        return Search(where=where, rank=rank, limit=limit, select=keys)

    def _page(self, plan: _Plan, found: Mapping[str, Sequence[Any]]) -> _Page:
        if not found["ids"]:
            return []
        scores = 1 - np.asarray(found["scores"], dtype=np.float32)
        if isinstance(plan.vector, np.ndarray):
            if not self.index.cosine:
                rows = np.asarray(found["embeddings"], dtype=np.float32)
                scores = unit(rows) @ unit(plan.vector)
            scores = np.clip(scores, 0, 1)
        columns = (found["ids"], found["documents"], found["metadatas"], scores.tolist())
        return list(zip(*columns, strict=True))

    def _hits(self, plan: _Plan, rows: _Page) -> list[Hit]:
        """The rows that fit exactly, each of them once, best first."""
        search = plan.search
        where, admitted = self.index.filter_where(search), search.admitting()
        lowest = 0.0 if isinstance(plan.vector, np.ndarray) else _NO_WORD
        hits: dict[str, Hit] = {}
        for row_id, text, metadata, score in rows:
            memory = self.index.candidate((row_id, text, metadata))
            if (
                memory is not None
                and score >= lowest
                and (admitted is None or admitted(memory))
                and fulfils(where, text or "", metadata or {})
            ):
                hits[row_id] = Hit(memory, score)
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.id))


def _best(plan: _Plan, hits: list[Hit]) -> list[Hit]:
    if plan.pooled:
        hits = by_words(plan.search.text, hits)
    return hits[: plan.search.limit]
