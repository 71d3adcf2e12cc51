"""Chroma Cloud: collections that search by words themselves, and their quotas.

The searches of a question go to the collection together, each with its scope, filter and time as a
condition. Their scores come back apart, so fusion, trace and explanation are the same as elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import FilterError, KeywordSearchError, MemoryFormatError
from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import KEYWORD_VECTOR
from recall_retrievers.store.chroma.rows import Ready
from recall_retrievers.store.chroma.search_text import by_words, keyword_text
from recall_retrievers.store.chroma.where import (
    Where,
    all_of,
    any_of,
    fulfils,
    living_where,
    scope_where,
)
from recall_retrievers.store.embedding.token_vectors import Embedded, unit
from recall_retrievers.text.bm25 import frequency
from recall_retrievers.text.words import words

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
    living: bool = False  # whether the cloud leaves out what has ended


@dataclass(frozen=True, slots=True)
class CloudSearcher:
    """Searches one collection."""

    index: Collection
    words: bool  # whether its rows have sparse vectors of their words

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        """The hits of each search, best first."""
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
                    # What has ended is left out from now on: it may take the place of others.
                    wheres = conditions(plans[n].search, self.index, living=True)
                    plans[n] = replace(plans[n], wheres=wheres, living=True)
                    short.append(n)
            waiting, times = short, 4 * times
        for n, plan in plans.items():
            best = by_words(plan.search.text, hits[n]) if plan.pooled else hits[n]
            hits[n] = best[: plan.search.limit]
        return [hits.get(n, []) for n in range(len(searches))]

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
                f"collection {self.index.chroma.name!r} has no words to search for: it was "
                'made by an older version of this library, or by others. Search with "hybrid" or '
                '"semantic", or copy it with `recall migrate`'
            )
        pooled = search.method == "keyword"
        return _Plan(
            search, vectors[search.text], wheres, _AMONG * first if pooled else first, pooled
        )

    # -- reading ----------------------------------------------------------------------------------

    def _pages(self, requests: Sequence[tuple[_Plan, Where | None, int]]) -> Iterator[_Page]:
        """The rows of each request; as many requests go together as the collection takes."""
        for start in range(0, len(requests), SEARCHES):
            together = requests[start : start + SEARCHES]
            collection: Any = self.index.chroma
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


# -- the words of a memory as a sparse vector -----------------------------------------------------

# A memory's number for a word is its BM25 weight without the rarity of the word. The cloud
# multiplies it by the rarity, which it counts itself (``bm25=True``). So the score is that of the
# row index, with two differences:
#
# - BM25 compares the length of a memory with the mean length of all memories. A stored vector
#   cannot follow that mean, so it is a constant here.
# - A turn of a conversation has its own words and those of the turn that it answers, counted alike.
#   Those of the turns around these would need another write of each turn when the next one comes.

_MEAN_WORDS = 48.0  # of a turn with the end of the turn before it, without stop words
_MOST_WORDS = 256  # of a question; of a longer one, the first words count


def keyword_vector(memory: Candidate) -> SparseVector | None:
    """The sparse vector of a memory; None if it has no words.

    Examples:
        >>> vector = keyword_vector(Candidate(content="Tea, tea and bread."))
        >>> [round(weight, 2) for weight in vector.values]
        [1.87, 1.62]
    """
    parts = words(keyword_text(memory))
    length = len(parts) / _MEAN_WORDS
    counts = Counter(_number_of(word) for word in parts)
    return _sparse((number, frequency(count, length)) for number, count in counts.items())


def question_vector(text: str) -> SparseVector | None:
    """The sparse vector of a question; None if it has no words."""
    wanted = list(dict.fromkeys(words(text)))[:_MOST_WORDS]
    return _sparse(dict.fromkeys(map(_number_of, wanted), 1.0).items())


def _number_of(word: str) -> int:
    # 31 bits, as the numbers of Chroma's own function. Stored vectors depend on it: never change it
    # without another format of the collection.
    return crc32(word.encode("utf-8", "replace")) & 0x7FFF_FFFF


def _sparse(weights: Iterable[tuple[int, float]]) -> SparseVector | None:
    from chromadb.base_types import SparseVector  # noqa: PLC0415 - it takes a second to import

    ordered = sorted(weights)
    if not ordered:
        return None
    return SparseVector([n for n, _ in ordered], [weight for _, weight in ordered])


# -- the quotas -----------------------------------------------------------------------------------

# They are the default quotas of https://docs.trychroma.com/cloud/quotas-limits. `SEARCHES` is not
# there; it is the default of Chroma's source.
#
# A named time costs one predicate for the recorded time and two for the events. Several named times
# soon are more than the cloud takes. Then a search becomes several requests, each with a part of
# the times, and their rows are joined.

RESULTS = 300  # rows that one search, or one read, returns
SEARCHES = 5  # in one request
PREDICATES = 8  # in one condition; the values of an $in count as one

_BUCKETS = ("created_day", "created_month")
_DOCUMENT, _VALUE, _ID, _KEY = 16_384, 4_096, 128, 36  # bytes
_KEYS = 32
_ADDED = 2  # keys that a row gets when it is written: the time of writing, and its words


def predicates(where: Where | None) -> int:
    """The number of predicates of a condition.

    Examples:
        >>> predicates({"$and": [{"a": {"$eq": 1}}, {"b": {"$in": [1, 2, 3]}}]})
        2
    """
    if where is None:
        return 0
    [wanted] = where.values()  # `all_of` joins several
    return sum(map(predicates, wanted)) if isinstance(wanted, list) else 1


def conditions(search: Search, index: Collection, *, living: bool = False) -> list[Where | None]:
    """The condition of each request that together answer a search.

    They are coarse: the bounds of a time are whole days or months, so check the rows exactly. If
    scope and filter leave no room for a time, only the rows are checked.

    With ``living`` the cloud checks that a row has not ended, if there is room for it.
    """
    fixed = all_of([index.filter_where(search), scope_where(search.scope, index.fields)])
    room = PREDICATES - predicates(fixed)
    if room < 0:
        scope = len(search.scope.fields())
        raise FilterError(
            f"Chroma Cloud takes {PREDICATES} conditions in a search; the scope has {scope}, and "
            f"this filter {PREDICATES - room - scope}. Make the filter shorter: $in with a list of "
            "values counts as one"
        )
    further = [index.recorded_where(search)]
    if living and search.moment is not None and not index.foreign:
        further += [living_where(search.moment, include_superseded=search.include_superseded)]
    for each in further:
        if predicates(each) <= room:
            fixed, room = all_of([fixed, each]), room - predicates(each)
    times = _joined_buckets(index.times(search.within))
    if None in times or any(predicates(time) > room for time in times):
        return [fixed]
    groups: list[list[Where | None]] = [[]]
    for time in times:
        if predicates(any_of([*groups[-1], time])) > room:
            groups.append([])
        groups[-1].append(time)
    return [all_of([fixed, any_of(group)]) for group in groups]


def check_fits(rows: Iterable[Ready]) -> None:
    """Refuse memories that Chroma Cloud would refuse, before any of them is stored."""
    for row in rows:
        memory = row.memory
        for what, size, most in _sizes(memory.id, memory.content, row.metadata):
            if size > most:
                raise MemoryFormatError(
                    f"memory {memory.id[:_ID]!r} does not fit into Chroma Cloud: {what} "
                    f"{size:,}, and {most:,} is the most. Make it shorter, or divide the memory; "
                    "nothing was stored"
                )


def _sizes(
    row_id: str, text: str, metadata: Mapping[str, MetadataValue]
) -> Iterator[tuple[str, int, int]]:
    yield "the bytes of its id are", _bytes(row_id), _ID
    yield "the bytes of its text are", _bytes(text), _DOCUMENT
    yield "the keys of its row are", len(metadata) + _ADDED, _KEYS
    for key, value in metadata.items():
        yield f"the bytes of the key {got(key)} are", _bytes(key), _KEY
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield f"the bytes of {got(key)} are", _bytes(part), _VALUE


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _joined_buckets(times: Sequence[Where | None]) -> list[Where | None]:
    """The conditions on times, with all lists of days as one list, and all of months."""
    joined: list[Where | None] = []
    lists: dict[str, list[object]] = {}
    for time in times:
        key, wanted = next(iter(time.items())) if time else ("", None)
        values = wanted.get("$in") if isinstance(wanted, dict) and key in _BUCKETS else None
        if not isinstance(values, list):
            joined.append(time)
        elif key in lists:
            lists[key].extend(value for value in values if value not in lists[key])
        else:
            lists[key] = [*values]
            joined.append({key: {"$in": lists[key]}})
    return joined
