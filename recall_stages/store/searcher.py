"""The answers to searches: the way chosen by `planner`, everything found looked at exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recall_stages.memory import Memory
from recall_stages.stage import Search
from recall_stages.store.index import Index, Similar
from recall_stages.store.mirror import Mirror
from recall_stages.store.planner import Conditions, neighbours, routes


class Searcher:
    """Searches one collection.

    Args:
        index: How to ask Chroma.
        mirror: What is known of its rows here.
    """

    def __init__(self, index: Index, mirror: Mirror) -> None:
        self._index = index
        self._mirror = mirror

    def answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Memory]]:
        """The answer to each search, the best first.

        Args:
            searches: What is asked.
            vectors: The vector of each text that is searched for by meaning.
        """
        if searches:
            by_words = any(search.method == "keyword" for search in searches)
            self._mirror.refresh(build=by_words)
        answers: dict[int, list[Memory]] = {}
        read: dict[str, Memory] = {}
        # Those by meaning first: their memories come with a similarity.
        for place, search in sorted(enumerate(searches), key=lambda x: x[1].method, reverse=True):
            if search.method == "semantic":
                answers[place] = self._nearest(vectors[search.text], search)
                read |= {memory.id: memory for memory in answers[place]}
            else:
                answers[place] = self._worded(search, read)
        return [answers[place] for place in range(len(searches))]

    # -- by meaning -------------------------------------------------------------------------------

    def _nearest(self, vector: NDArray[np.float32], search: Search) -> list[Memory]:
        given = self._conditions(search)
        found: list[Memory] = []
        for route in routes(given):
            if route == "graph":
                found = self._by_graph(vector, search, neighbours(given))
            elif route == "rows":
                found = self._by_rows(vector, search)
            else:
                found = self._index.nearest(vector, search)
            if len(found) >= search.limit:
                break
        return found

    def _conditions(self, search: Search) -> Conditions:
        # Rows of others may change without a mark, and the Cloud has its conditions indexed.
        mirrored = self._mirror.ready and not self._index.foreign and not self._index.cloud
        if not mirrored or self._index.filter_where(search) is not None:
            return Conditions(search.limit, len(self._mirror), matching=None, unread=0)
        matching, unread = self._mirror.survey(search.scope, search.within)
        return Conditions(search.limit, len(self._mirror), matching, unread)

    def _by_graph(self, vector: NDArray[np.float32], search: Search, nearest: int) -> list[Memory]:
        found = self._index.neighbours(vector, nearest)
        return self._read(self._mirror.fitting(found, search.scope, search.within), search)

    def _by_rows(self, vector: NDArray[np.float32], search: Search) -> list[Memory]:
        most = search.limit
        while True:
            ranked = self._mirror.ranked(vector, most, search.scope, search.within)
            found = self._read(ranked, search)
            if len(found) >= search.limit or len(ranked) < most:
                return found
            most *= 4

    def _read(self, similar: Sequence[Similar], search: Search) -> list[Memory]:
        """The memories of rows, best first, as many as are wanted; those that do not fit left out.

        What is known of the rows here is coarse: of events it is the hull, and the last second's
        writing of other processes is not in it.
        """
        found: list[Memory] = []
        for start in range(0, len(similar), search.limit):
            part = similar[start : start + search.limit]
            memories, unknown = self._mirror.read(part)
            if unknown:
                memories |= self._index.similar([each for each in part if each[0] in unknown])
            found += [
                memories[row_id]
                for row_id, _ in part
                if row_id in memories and _fits(memories[row_id], search)
            ]
            if len(found) >= search.limit:
                break
        return found[: search.limit]

    # -- by words ---------------------------------------------------------------------------------

    def _worded(self, search: Search, read: Mapping[str, Memory]) -> list[Memory]:
        where = self._index.filter_where(search)
        narrowed = bool(search.within) or where is not None
        wanted = 2 * search.limit if narrowed else search.limit
        while True:
            hits = self._mirror.by_words(search, wanted, read)
            if where is not None or self._index.foreign:
                fresh = self._index.read([memory.id for memory, _ in hits], where)
                hits = [(fresh[each.id], score) for each, score in hits if each.id in fresh]
            found = [
                memory.scored(score, keyword=score)
                for memory, score in hits
                if _fits(memory, search)
            ]
            if len(found) >= search.limit or len(hits) < wanted:
                return found[: search.limit]
            wanted *= 4


def _fits(memory: Memory, search: Search) -> bool:
    if search.within and not any(memory.matches(each) for each in search.within):
        return False
    scope = search.scope.fields()
    return all(getattr(memory.scope, name) == value for name, value in scope.items())
