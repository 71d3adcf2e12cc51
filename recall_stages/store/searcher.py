"""The answers to searches: the way chosen by `planner`, everything found looked at exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall_stages.memory import Memory
from recall_stages.stage import Search
from recall_stages.store.graph import Graph
from recall_stages.store.index import Index
from recall_stages.store.mirror import Mirror
from recall_stages.store.planner import Conditions, Route, neighbours, routes
from recall_stages.store.reader import Reader


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a search by meaning is answered.

    Attributes:
        place: Which of the searches.
        widest: How many neighbours it looks at where the graph is asked.
        ways: The ways to try, in order.
    """

    place: int
    widest: int
    ways: list[Route]


class Searcher:
    """Searches one collection.

    Args:
        index: How to ask Chroma.
        mirror: What is known of its rows here.
    """

    def __init__(self, index: Index, mirror: Mirror) -> None:
        self._index = index
        self._mirror = mirror
        # Neither Chroma nor the index of words holds Python up while it searches: side by side.
        self._beside = ThreadPoolExecutor(2, thread_name_prefix="recall-search")

    def answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Memory]]:
        """The answer to each search, the best first.

        Args:
            searches: What is asked.
            vectors: The vector of each text that is searched for by meaning.
        """
        if searches:
            words = any(search.method == "keyword" for search in searches)
            self._mirror.refresh(build=words)
        readers = self._readers(searches)
        graphs = {text: Graph(self._index, vector) for text, vector in vectors.items()}
        # Before the words are looked up, which keeps the mirror busy.
        plans = self._plans(searches, readers)
        if plans and plans[0].ways[0] == "rows":
            self._begin(graphs, searches, plans)
        by_words = {
            place: self._beside.submit(self._worded, search, readers[place])
            for place, search in enumerate(searches)
            if search.method == "keyword"
        }
        answers: dict[int, list[Memory]] = {}
        similar: dict[str, float] = {}
        for plan in plans:
            search, reader = searches[plan.place], readers[plan.place]
            found_near = self._nearest(graphs[search.text], search, plan, reader)
            similar |= {each.id: each.score or 0.0 for each in found_near}
            answers[plan.place] = found_near
        for place, found in by_words.items():
            answers[place] = [
                memory.scored(score, **_similarity(memory, similar), keyword=score)
                for memory, score in found.result()
            ]
        return [answers[place] for place in range(len(searches))]

    def close(self) -> None:
        """Let the threads go."""
        self._beside.shutdown()

    def _readers(self, searches: Sequence[Search]) -> list[Reader]:
        """A reader for each search; those with one filter have one together."""
        wheres = [self._index.filter_where(search) for search in searches]
        readers = {repr(where): Reader(self._index, self._mirror, where) for where in wheres}
        return [readers[repr(where)] for where in wheres]

    # -- by meaning -------------------------------------------------------------------------------

    def _plans(self, searches: Sequence[Search], readers: Sequence[Reader]) -> list[_Plan]:
        """The searches by meaning in the order of work.

        First those for which rows are compared here: Chroma may search meanwhile. Of those that ask
        the graph, the one that looks furthest may see what the others look for.
        """
        plans = []
        for place, (search, reader) in enumerate(zip(searches, readers, strict=True)):
            if search.method == "semantic":
                given = self._conditions(search, reader)
                plans.append(_Plan(place, neighbours(given), routes(given)))
        return sorted(plans, key=lambda plan: (plan.ways[0] != "rows", -plan.widest))

    def _begin(
        self, graphs: Mapping[str, Graph], searches: Sequence[Search], plans: Sequence[_Plan]
    ) -> None:
        """Let Chroma search, as far as will be looked, while rows are compared here."""
        asking = [plan for plan in plans if plan.ways[0] == "graph"]
        widest = {searches[plan.place].text: plan.widest for plan in reversed(asking)}
        for text, most in widest.items():
            graphs[text].begin(most, self._beside)

    def _nearest(self, graph: Graph, search: Search, plan: _Plan, reader: Reader) -> list[Memory]:
        found: list[Memory] = []
        for way in plan.ways:
            if way == "graph":
                found = self._by_graph(graph, search, plan.widest, reader)
            elif way == "rows":
                found = self._by_rows(graph.vector, search, reader)
            else:
                found = self._index.nearest(graph.vector, search)
            if len(found) >= search.limit:
                break
        return found

    def _conditions(self, search: Search, reader: Reader) -> Conditions:
        # Rows of others may change without a mark, and the Cloud has its conditions indexed.
        mirrored = self._mirror.ready and not self._index.foreign and not self._index.cloud
        if not mirrored or reader.filtered:
            return Conditions(search.limit, len(self._mirror), matching=None, unread=0)
        matching, unread = self._mirror.survey(search.scope, search.within)
        return Conditions(search.limit, len(self._mirror), matching, unread)

    def _by_graph(self, graph: Graph, search: Search, nearest: int, reader: Reader) -> list[Memory]:
        found = graph.nearest(nearest)
        if nearest > search.limit:  # more than are wanted, because there are conditions
            found = self._mirror.fitting(found, search.scope, search.within)
        return _with_similarity(_looked_at(found, search, reader))

    def _by_rows(self, vector: NDArray[np.float32], search: Search, reader: Reader) -> list[Memory]:
        most = search.limit
        while True:
            ranked = self._mirror.ranked(vector, most, search.scope, search.within)
            found = _looked_at(ranked, search, reader)
            if len(found) >= search.limit or len(ranked) < most:
                return _with_similarity(found)
            most *= 4

    # -- by words ---------------------------------------------------------------------------------

    def _worded(self, search: Search, reader: Reader) -> list[tuple[Memory, float]]:
        # Of rows that Chroma is to filter, more than are wanted: to ask again takes longer.
        wanted = 4 * search.limit if reader.filtered else search.limit
        while True:
            hits = self._mirror.by_words(search, wanted)
            found = _looked_at(hits, search, reader)
            if len(found) >= search.limit or len(hits) < wanted:
                return found
            wanted *= 4


def _looked_at(
    found: Sequence[tuple[str, float]], search: Search, reader: Reader
) -> list[tuple[Memory, float]]:
    """The memories of rows that were found, as many as are wanted; those that do not fit out.

    What is known of the rows here is coarse: of events it is the hull, and the last second's
    writing of other processes is not in it.
    """
    kept: list[tuple[Memory, float]] = []
    admitted = search.admitting()
    at_once = len(found) or 1 if reader.filtered else search.limit
    for start in range(0, len(found), at_once):
        part = found[start : start + at_once]
        memories = reader.read([row_id for row_id, _ in part])
        kept += [
            (memory, score)
            for row_id, score in part
            if (memory := memories.get(row_id)) is not None and admitted(memory)
        ]
        if len(kept) >= search.limit:
            break
    return kept[: search.limit]


def _with_similarity(found: Sequence[tuple[Memory, float]]) -> list[Memory]:
    scored = ((memory, min(max(cosine, 0.0), 1.0)) for memory, cosine in found)
    return [memory.scored(score, similarity=score) for memory, score in scored]


def _similarity(memory: Memory, similar: Mapping[str, float]) -> dict[str, float]:
    return {"similarity": similar[memory.id]} if memory.id in similar else {}
