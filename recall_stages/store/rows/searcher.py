"""The answers to searches: the way chosen by `planner`, everything found looked at exactly."""

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
    """How a search by meaning is answered.

    Attributes:
        place: Which of the searches it is.
        search: The search.
        reader: What reads the memories found.
        graph: The neighbours of what is searched for.
        widest: How many of them to look at, where the graph is asked.
        ways: The ways to try, in order.
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
        index: How to ask Chroma.
        mirror: What is known of its rows here.
    """

    def __init__(self, index: Index, mirror: Mirror) -> None:
        self._index = index
        self._mirror = mirror
        self._follower = Follower(mirror)
        self._beside = ThreadPoolExecutor(thread_name_prefix="recall-search")

    def answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Hit]]:
        """The answer to each search, the best first.

        Args:
            searches: What is asked.
            vectors: The vector of each text that is searched for by meaning.
        """
        if searches:
            words = any(search.method == "keyword" for search in searches)
            self._follower.refresh(build=words)
        readers = self._readers(searches)
        graphs = {text: Graph(self._index, x, self._beside) for text, x in vectors.items()}
        plans = self._plans(searches, readers, graphs)
        for plan in plans:
            if plan.ways[0] == "graph":
                plan.graph.begin(plan.widest)
        # While Chroma searches: rows compared, words looked up. What Chroma is to filter comes
        # before the words too, which need not ask again for what it has read.
        answers = {plan.place: self._nearest(plan) for plan in plans if plan.ways[0] != "graph"}
        answers |= {
            place: self._worded(search, readers[place])
            for place, search in enumerate(searches)
            if search.method == "keyword"
        }
        answers |= {plan.place: self._nearest(plan) for plan in plans if plan.ways[0] == "graph"}
        return [answers[place] for place in range(len(searches))]

    def close(self) -> None:
        """Let the threads go, and all that is known of the rows."""
        self._beside.shutdown()
        self._mirror.close()

    def _readers(self, searches: Sequence[Search]) -> list[Reader]:
        """A reader for each search; those with one filter have one together."""
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
        """The searches by meaning; of one text the one first that looks furthest.

        What the others look for, it may see as well.
        """
        plans = []
        for place, (search, reader) in enumerate(zip(searches, readers, strict=True)):
            if search.method == "semantic":
                given = self._conditions(search, reader)
                plan = _Plan(
                    place, search, reader, graphs[search.text], neighbours(given), routes(given)
                )
                plans.append(plan)
        return sorted(plans, key=lambda plan: -plan.widest)

    def _nearest(self, plan: _Plan) -> list[Hit]:
        found: list[Hit] = []
        for way in plan.ways:
            if way == "graph":
                found = self._by_graph(plan)
            elif way == "rows":
                found = self._by_rows(plan)
            else:
                found = self._index.nearest(plan.graph.vector, plan.search, plan.reader.where)
                plan.reader.take([hit.memory for hit in found])
            if len(found) >= plan.search.limit:
                break
        return found

    def _conditions(self, search: Search, reader: Reader) -> Conditions:
        # Rows of others may change without a mark, and the Cloud has its conditions indexed.
        mirrored = self._mirror.ready and not self._index.foreign and not self._index.cloud
        if not mirrored or reader.filtered:
            return Conditions(search.limit, len(self._mirror), matching=None, unread=0)
        matching, unread = self._mirror.survey(search.scope, search.within)
        return Conditions(search.limit, len(self._mirror), matching, unread)

    def _by_graph(self, plan: _Plan) -> list[Hit]:
        search = plan.search
        found = plan.graph.nearest(plan.widest)
        if plan.widest > search.limit:  # more than are wanted, because there are conditions
            found = self._mirror.fitting(found, search.scope, search.within)
        return _similar(_looked_at(found, search, plan.reader))

    def _by_rows(self, plan: _Plan) -> list[Hit]:
        search = plan.search
        most = search.limit
        while True:
            ranked = self._mirror.ranked(plan.graph.vector, most, search.scope, search.within)
            found = _looked_at(ranked, search, plan.reader)
            if len(found) >= search.limit or len(ranked) < most:
                return _similar(found)
            most *= 4

    # -- by words ---------------------------------------------------------------------------------

    def _worded(self, search: Search, reader: Reader) -> list[Hit]:
        # Of rows that Chroma is to filter, more than are wanted: to ask again takes longer.
        wanted = 4 * search.limit if reader.filtered else search.limit
        while True:
            hits = self._mirror.by_words(search, wanted)
            found = _looked_at(hits, search, reader)
            if len(found) >= search.limit or len(hits) < wanted:
                return found
            wanted *= 4


def _looked_at(found: Sequence[tuple[str, float]], search: Search, reader: Reader) -> list[Hit]:
    """The memories of rows that were found, as many as are wanted; those that do not fit out.

    What is known of the rows here is coarse: of events it is the hull, and the last second's
    writing of other processes is not in it.
    """
    kept: list[Hit] = []
    admitted = search.admitting()
    at_once = len(found) or 1 if reader.filtered else search.limit
    for start in range(0, len(found), at_once):
        part = found[start : start + at_once]
        memories = reader.read([row_id for row_id, _ in part])
        for row_id, score in part:
            memory = memories.get(row_id)
            if memory is not None and (admitted is None or admitted(memory)):
                kept.append(Hit(memory, score))
        if len(kept) >= search.limit:
            break
    return kept[: search.limit]


def _similar(found: Sequence[Hit]) -> list[Hit]:
    """With cosines between 0 and 1."""
    return [Hit(memory, min(max(cosine, 0.0), 1.0)) for memory, cosine, _ in found]


def _one_filter(one: Search, other: Search) -> bool:
    """Whether two searches share a filter; to compare two filters takes longer than to compile."""
    return one.filter is other.filter and one.timezone is other.timezone
