"""The searcher: answers searches by the routes of `planner`, and checks every row exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.candidate import Hit
from recall_stages.core.stage import Search
from recall_stages.store.chroma.filtered_reader import Reader
from recall_stages.store.chroma.follower import Follower
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.neighbour_query import Graph
from recall_stages.store.rows.mirror import Mirror
from recall_stages.store.rows.planner import Conditions, Route, neighbours, routes


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for a search by meaning.

    Attributes:
        place: The place of the search among the searches.
        search: The search.
        reader: Reads the memories of rows.
        graph: The neighbours of the vector of the search.
        widest: The number of neighbours to check, if the graph is used.
        ways: The routes to try, in order.
    """

    place: int
    search: Search
    reader: Reader
    graph: Graph
    widest: int
    ways: list[Route]


class Searcher:
    """Searches one collection.

    Args:
        index: The collection in Chroma.
        mirror: Its rows in memory.
    """

    def __init__(self, index: Index, mirror: Mirror) -> None:
        self._index = index
        self._mirror = mirror
        self._follower = Follower(mirror)
        self._threads = ThreadPoolExecutor(thread_name_prefix="recall-search")

    def answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Hit]]:
        """The hits of each search, best first.

        Args:
            searches: The searches.
            vectors: The vector of each text that is searched for by meaning.
        """
        if searches:
            words = any(search.method == "keyword" for search in searches)
            self._follower.refresh(build=words)
        readers = self._readers(searches)
        graphs = {text: Graph(self._index, x, self._threads) for text, x in vectors.items()}
        plans = self._plans(searches, readers, graphs)
        for plan in plans:
            if plan.ways[0] == "graph":
                plan.graph.begin(plan.widest)
        # While Chroma searches the graph, rows are compared and words looked up here. Searches that
        # Chroma filters come before those by words, which then need not read the same rows again.
        answers = {plan.place: self._nearest(plan) for plan in plans if plan.ways[0] != "graph"}
        answers |= {
            place: self._by_words(search, readers[place])
            for place, search in enumerate(searches)
            if search.method == "keyword"
        }
        answers |= {plan.place: self._nearest(plan) for plan in plans if plan.ways[0] == "graph"}
        return [answers[place] for place in range(len(searches))]

    def close(self) -> None:
        """Stop the threads, and forget the rows."""
        self._threads.shutdown()
        self._mirror.close()

    def _readers(self, searches: Sequence[Search]) -> list[Reader]:
        """A reader for each search; searches with the same filter share one."""
        readers: list[Reader] = []
        for place, search in enumerate(searches):
            # The searches of a question share one filter, which is compiled once.
            alike = [n for n in range(place) if _one_filter(searches[n], search)]
            if alike:
                readers.append(readers[alike[0]])
            else:
                where = self._index.filter_where(search)
                readers.append(Reader(self._index, self._mirror, where))
        return readers

    # -- by meaning -------------------------------------------------------------------------------

    def _plans(
        self, searches: Sequence[Search], readers: Sequence[Reader], graphs: Mapping[str, Graph]
    ) -> list[_Plan]:
        """The plans of the searches by meaning, the widest first.

        The neighbours of the widest contain those of a narrower one with the same text.
        """
        plans = []
        for place, (search, reader) in enumerate(zip(searches, readers, strict=True)):
            if search.method == "semantic":
                conditions = self._conditions(search, reader)
                widest, ways = neighbours(conditions), routes(conditions)
                plans.append(_Plan(place, search, reader, graphs[search.text], widest, ways))
        return sorted(plans, key=lambda plan: -plan.widest)

    def _nearest(self, plan: _Plan) -> list[Hit]:
        hits: list[Hit] = []
        for way in plan.ways:
            if way == "graph":
                hits = self._by_graph(plan)
            elif way == "rows":
                hits = self._by_rows(plan)
            else:
                hits = self._index.nearest(plan.graph.vector, plan.search, plan.reader.where)
                plan.reader.take([hit.memory for hit in hits])
            if len(hits) >= plan.search.limit:
                break
        return hits

    def _conditions(self, search: Search, reader: Reader) -> Conditions:
        # Rows of others may change without a mark, and Chroma Cloud has an index for conditions.
        mirrored = self._mirror.ready and not self._index.foreign and not self._index.cloud
        if not mirrored or reader.filtered:
            return Conditions(search.limit, len(self._mirror), matching=None, unread=0)
        matching, unread = self._mirror.survey(search.scope, search.within)
        return Conditions(search.limit, len(self._mirror), matching, unread)

    def _by_graph(self, plan: _Plan) -> list[Hit]:
        search = plan.search
        rows = plan.graph.nearest(plan.widest)
        if plan.widest > search.limit:  # then there are conditions to check
            rows = self._mirror.fitting(rows, search.scope, search.within)
        return _similar(_exact(rows, search, plan.reader))

    def _by_rows(self, plan: _Plan) -> list[Hit]:
        search = plan.search
        most = search.limit
        while True:
            ranked = self._mirror.ranked(plan.graph.vector, most, search.scope, search.within)
            hits = _exact(ranked, search, plan.reader)
            if len(hits) >= search.limit or len(ranked) < most:
                return _similar(hits)
            most *= 4

    # -- by words ---------------------------------------------------------------------------------

    def _by_words(self, search: Search, reader: Reader) -> list[Hit]:
        # More rows if Chroma filters them: a second reading takes longer.
        wanted = 4 * search.limit if reader.filtered else search.limit
        while True:
            rows = self._mirror.by_words(search, wanted)
            hits = _exact(rows, search, reader)
            if len(hits) >= search.limit or len(rows) < wanted:
                return hits
            wanted *= 4


def _exact(rows: Sequence[tuple[str, float]], search: Search, reader: Reader) -> list[Hit]:
    """The memories of the rows that fit exactly, as many as the search wants.

    The mirror is coarse: it has the hull of the events, and not the writes of other processes in
    the last second.
    """
    hits: list[Hit] = []
    admitted = search.admitting()
    at_once = len(rows) or 1 if reader.filtered else search.limit
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        memories = reader.read([row_id for row_id, _ in part])
        for row_id, score in part:
            memory = memories.get(row_id)
            if memory is not None and (admitted is None or admitted(memory)):
                hits.append(Hit(memory, score))
        if len(hits) >= search.limit:
            break
    return hits[: search.limit]


def _similar(hits: Sequence[Hit]) -> list[Hit]:
    """The hits with cosines between 0 and 1."""
    return [Hit(memory, min(max(cosine, 0.0), 1.0)) for memory, cosine, _ in hits]


def _one_filter(one: Search, other: Search) -> bool:
    """Whether two searches have the same filter object; a deep comparison would take longer."""
    return one.filter is other.filter and one.timezone is other.timezone
