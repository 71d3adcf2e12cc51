"""The searcher: answers searches by the routes of `planner`, and checks every row exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection, Similar
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.embedding.token_vectors import unit
from recall_retrievers.store.rows.neighbour_query import Graph
from recall_retrievers.store.rows.planner import RowCounts
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.table import Table
from recall_retrievers.store.rows.wanted import Places, Selection, Wanted

_FEW = 20_000  # rows: of more, the graph finds the nearest of all more quickly
_NOT_COUNTED = RowCounts(0, 0, None, 0)
_NOT_THERE = -1.5  # the score of a row that is gone is lower
_ID, _SCORE = attrgetter("memory.id"), attrgetter("score")
_MORE = 4  # times as many rows by words, where too few of them fit exactly


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for one search.

    Attributes:
        place: The place of the search among the searches.
        search: The search.
        where: The condition that its filter sets.
        rows: The rows that fulfil its conditions; None = it has none, or only Chroma checks them.
        places: The places of these rows, or of all; None = they are too many to look at.
        table: The rows of the collection.
        graph: The neighbours of its vector; None = it is a search by words.
        counts: The numbers of rows that decide its routes; those of a search by words are not used.
    """

    place: int
    search: Search
    where: Where | None
    rows: Selection | None
    places: Places | None
    table: Table
    graph: Graph | None
    counts: RowCounts

    @property
    def begins_with_graph(self) -> bool:
        """Whether Chroma's graph is asked first."""
        return self.graph is not None and self.counts.routes[0] == "graph"


class Searcher:
    """Searches one collection.

    Args:
        index: The collection in Chroma.
        rows: Its row index.
        threads: The pool in which Chroma searches.
    """

    def __init__(self, index: Collection, rows: RowIndex, threads: Executor) -> None:
        self._index = index
        self._rows = rows
        self._threads = threads

    def answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[list[Hit]]:
        """The hits of each search, best first.

        Args:
            searches: The searches.
            vectors: The vector of each text that is searched for by meaning.
        """
        by_word = [search for search in searches if search.method == "keyword"]
        patient = any(search.text not in vectors for search in by_word)
        if searches:
            self._rows.prepare(build=bool(by_word), patient=patient)
        if not self._rows.ready:
            return [self._in_chroma(search, vectors[search.text]) for search in searches]
        graphs = {text: Graph(self._index, x, self._threads) for text, x in vectors.items()}
        plans = self._plans(searches, graphs)
        for plan in plans:
            if plan.graph is not None and plan.begins_with_graph:
                plan.graph.begin(plan.counts.neighbours)
        # While Chroma searches the graph, rows are compared and words looked up here.
        answers: dict[int, list[Hit]] = {}
        for plan in sorted(plans, key=lambda plan: plan.begins_with_graph):
            if plan.graph is None:
                answers[plan.place] = self._by_words(plan)
            else:
                answers[plan.place] = self._nearest(plan, plan.graph)
        return [answers[place] for place in range(len(searches))]

    def _in_chroma(self, search: Search, vector: NDArray[np.float32]) -> list[Hit]:
        """The hits while the row index is built: words are looked for among those by meaning."""
        hits = self._index.nearest(vector, search, self._index.filter_where(search))
        return hits if search.method == "semantic" else by_words(search.text, hits)

    def _plans(self, searches: Sequence[Search], graphs: Mapping[str, Graph]) -> list[_Plan]:
        """The plans, the widest first.

        The neighbours of the widest contain those of a narrower one with the same text.
        """
        table, plans = self._rows.table, list[_Plan]()
        for place, search in enumerate(searches):
            # The searches of a question share conditions, which are looked up once.
            alike = next((x for x in plans if _alike(x.search, search)), None)
            if alike is not None:
                where, rows = alike.where, alike.rows
            else:
                where = self._index.filter_where(search)
                wanted = _wanted(search, table)
                limited = search.filter is not None or wanted.limited
                rows = table.select(wanted, where) if limited and self._knows_all() else None
            graph, counts = None, _NOT_COUNTED
            places = None if rows is None else rows.places
            if search.method == "semantic":
                if rows is None and self._knows_all() and len(table) <= _FEW:
                    places = table.living()
                graph, counts = graphs[search.text], self._counted(search, places, table)
            plans.append(_Plan(place, search, where, rows, places, table, graph, counts))
        return sorted(plans, key=lambda plan: -plan.counts.neighbours)

    def _knows_all(self) -> bool:
        """Whether the row index decides which rows fulfil a condition."""
        return self._rows.follower.sees_all and self._index.cosine

    def _counted(self, search: Search, places: Places | None, table: Table) -> RowCounts:
        count, follower = len(table), self._rows.follower
        if not self._knows_all():
            return RowCounts(search.limit, count, matching=None, unread=0)
        if places is None:  # the graph is the quickest way
            return RowCounts(search.limit, count, matching=count, unread=count)
        unread = int(np.count_nonzero(table.missing(places)))
        if unread > follower.most_vectors:
            return RowCounts(search.limit, count, matching=None, unread=0)
        return RowCounts(search.limit, count, len(places), unread, graph=not follower.scoped)

    # -- by meaning -------------------------------------------------------------------------------

    def _nearest(self, plan: _Plan, graph: Graph) -> list[Hit]:
        hits: list[Hit] = []
        for route in plan.counts.routes:
            if route == "graph":
                widest: int | None = plan.counts.neighbours
                while widest and len(hits) < plan.search.limit:
                    hits = self._by_graph(plan, graph.nearest(widest))
                    widest = plan.counts.wider(widest, len(hits))
            elif route == "rows":
                hits = self._by_rows(plan, unit(graph.vector))
            else:
                hits = self._index.nearest(graph.vector, plan.search, plan.where)
            if len(hits) >= plan.search.limit:
                break
        return hits

    def _by_graph(self, plan: _Plan, rows: Sequence[Similar]) -> list[Hit]:
        places = plan.table.places_of([row_id for row_id, _ in rows])
        if plan.rows is not None:
            fits = places < 0
            fits[~fits] = plan.rows.holds(places[~fits])
            rows = [row for row, fit in zip(rows, fits.tolist(), strict=True) if fit]
            places = places[fits]
        unknown = {place: row[0] for place, row in enumerate(rows) if places[place] < 0}
        places = np.where(places < 0, -1 - np.arange(len(places)), places)
        scored = [(int(place), score) for place, (_, score) in zip(places, rows, strict=True)]
        return self._exact(scored, plan, {-1 - n: x for n, x in unknown.items()})

    def _by_rows(self, plan: _Plan, vector: NDArray[np.float32]) -> list[Hit]:
        table = plan.table
        places = table.living() if plan.places is None else plan.places
        if plan.places is not None and not plan.counts.unread:
            cosines = table.cosines(places, vector)
        else:
            missing = table.missing(places)
            cosines = np.empty(len(places), dtype=np.float32)
            cosines[~missing] = table.cosines(places[~missing], vector)
            unread = places[missing]
            cosines[missing] = self._rows.read_cosines(table, unread, vector)
        most = plan.search.limit
        while True:
            few = most < len(places)
            best = np.argpartition(-cosines, most - 1)[:most] if few else np.arange(len(places))
            ranked = best[np.argsort(-cosines[best], kind="stable")]
            scored = list(zip(places[ranked].tolist(), cosines[ranked].tolist(), strict=True))
            hits = self._exact(scored, plan)
            if len(hits) >= plan.search.limit or not few:
                return hits
            most *= 4

    # -- by words ---------------------------------------------------------------------------------

    def _by_words(self, plan: _Plan) -> list[Hit]:
        search, most = plan.search, plan.search.limit
        fitting, wanted = plan.rows, _wanted(search, plan.table)
        if fitting is None and wanted.limited:
            fitting = plan.table.select(wanted, None)
        while True:
            rows = plan.table.by_words(search.text, most, fitting)
            hits = self._exact(rows, plan)
            if len(hits) >= search.limit or len(rows) < most:
                return hits
            most = round(most * max(_MORE, 1.5 * search.limit / max(len(hits), 1)))

    # -- memories ---------------------------------------------------------------------------------

    def _exact(
        self,
        rows: Sequence[tuple[int, float]],
        plan: _Plan,
        unknown: Mapping[int, str] | None = None,
    ) -> list[Hit]:
        """The memories of the rows that fit exactly, as many as the search wants.

        The row index has only the hull of the events, and a filter may let too many rows through.

        Args:
            rows: The places of rows with their scores, best first.
            plan: The plan.
            unknown: The ids of the rows that are only in Chroma, by a place of their own.
        """
        hits: list[Hit] = []
        limit = plan.search.limit
        # Where nothing is limited, only a row that the index does not have may have expired.
        free = plan.rows is None and not unknown and self._knows_all()
        admitted = None if free else plan.search.admitting()
        for start in range(0, len(rows), limit):
            part = rows[start : start + limit]
            memories = self._memories([place for place, _ in part], plan, unknown or {})
            found = [
                Hit(memory, score)
                for memory, (_, score) in zip(memories, part, strict=True)
                if memory is not None and score >= _NOT_THERE
            ]
            if len({score for _, score in part}) < len(part):
                # Equal scores are sorted by id: the order of storing differs between processes.
                found.sort(key=_ID)
                found.sort(key=_SCORE, reverse=True)
            hits += found if admitted is None else [hit for hit in found if admitted(hit.memory)]
            if len(hits) >= limit:
                break
        if plan.graph is None or not hits or 0 <= hits[-1].score <= hits[0].score <= 1:
            return hits[:limit]
        return [Hit(memory, min(max(score, 0.0), 1.0)) for memory, score, _ in hits[:limit]]

    def _memories(
        self, places: Sequence[int], plan: _Plan, unknown: Mapping[int, str]
    ) -> Iterator[Candidate | None]:
        if not self._rows.follower.sees_all:  # the row may have changed
            ids = plan.table.ids_at([place for place in places if place >= 0]) | dict(unknown)
            there = self._index.read([ids[place] for place in places if place in ids], plan.where)
            return iter([there.get(ids.get(place, "")) for place in places])
        if not unknown:
            return iter(plan.table.memories(places, plan.where))
        fresh = self._index.read(list(unknown.values()), plan.where)
        known = plan.table.memories([place for place in places if place >= 0], plan.where)
        rest = iter(known)
        return iter([next(rest) if x >= 0 else fresh.get(unknown[x]) for x in places])


def _wanted(search: Search, table: Table) -> Wanted:
    """The rows that a search may return, whatever its filter."""
    moment = search.moment if table.have_expired(search.moment) else None
    return Wanted(search.scope, search.within, moment)


def _alike(one: Search, other: Search) -> bool:
    """Whether two searches have the same conditions; filters are not compared deeply."""
    same = one.filter is other.filter and one.timezone is other.timezone
    same = same and one.moment == other.moment
    return same and one.within == other.within and one.scope == other.scope
