"""The searcher: answers searches by the routes of `planner`, and checks every row exactly."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.pool import Arm, Facts, Found, Keys, Scores, arms_of, keys_of
from recall_retrievers.core.requests import Method
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection, Similar
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.embedding.token_vectors import Embedded, unit
from recall_retrievers.store.rows.columns import Places, Selection, Wanted
from recall_retrievers.store.rows.planner import Graph, RowCounts
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.scoped_rows import ScopedRows, let_go
from recall_retrievers.store.rows.table import Table


class FoundRows(Found):
    """Rows by their place. Rows that the row index does not have are at hand.

    Rows are read in the collection once the table is closed. Owners are compared as numbers there;
    here the scopes that are searched are compared as they are.
    """

    def __init__(self, table: Table, index: Collection, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._table = table
        self._index = index
        self._scopes = set(scopes)
        self._ids: dict[int, str] = {}
        self._facts: dict[bytes, Facts] = {}
        self._read: dict[int, Candidate | None] = {}  # several stages look at the same rows

    def keys(self, ids: Sequence[str]) -> list[int]:
        """The places of rows; a number below 0 where the row index does not have one."""
        places = self._table.places_of(ids).tolist()
        others = iter(super().keys([x for x, n in zip(ids, places, strict=True) if n < 0]))
        return [next(others) if place < 0 else place for place in places]

    def ids(self, keys: Keys) -> dict[int, str]:
        """The ids of rows by their key; without those that are gone."""
        unknown = {key: row_id for row_id, key in self._keys.items() if key in keys}
        return self._table.ids_at(keys[keys >= 0].tolist()) | unknown

    def candidates(self, keys: Keys) -> Sequence[Candidate | None]:
        """The memories of rows; None where a row is gone, or outside of the scopes."""
        new = [key for key in keys.tolist() if key not in self._read]
        others = [key for key in new if key not in self.memories]
        try:
            read = dict(zip(others, self._table.memories(others, None), strict=True))
        except StoreClosedError:  # nobody searches the scope any more, or its rows are read anew
            there = self._index.read([self._ids[key] for key in others], None)
            read = {key: there.get(self._ids[key]) for key in others}
        for key in new:
            memory = self.memories.get(key) or read.get(key)
            mine = memory and any(scope.holds(memory.scope) for scope in self._scopes)
            self._read[key] = memory if mine else None
        return [self._read[key] for key in keys.tolist()]

    def at_hand(self, _: Keys) -> Sequence[Candidate]:
        """Nothing: a row has no steps."""
        return ()

    def facts(self, keys: Keys) -> Facts:
        """What ranking reads of rows; it is read once."""
        known = keys.tobytes()
        if known not in self._facts:
            facts = super().facts(keys) if self.memories else self._table.facts_of(keys, self)
            self._ids |= zip(facts.keys.tolist(), facts.ids, strict=True)
            self._facts[known] = facts
        return self._facts[known]


_FEW = 20_000  # rows: of more, the graph finds the nearest of all more quickly
_NOT_COUNTED = RowCounts(0, 0, None, 0)
_NOT_THERE = -1.5  # the score of a row that is gone is lower
_MORE = 4  # times as many rows by words, where too few of them fit exactly


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for one search."""

    place: int  # among the searches
    search: Search
    where: Where | None  # the condition that its filter sets
    rows: Selection | None  # that fulfil its conditions; None = Chroma checks them
    places: Places | None  # of these rows; None = they are too many to look at
    table: Table
    graph: Graph | None  # the neighbours of its vector; None = it is a search by words
    counts: RowCounts  # that decide its routes; those of a search by words are not used

    @property
    def begins_with_graph(self) -> bool:
        """Whether Chroma's graph is asked first."""
        return self.graph is not None and self.counts.routes[0] == "graph"


class Searcher:
    """Answers searches in one collection, once; Chroma searches in the pool."""

    def __init__(self, index: Collection, rows: RowIndex, threads: Executor) -> None:
        self._index = index
        self._rows = rows
        self._threads = threads

    def answers(
        self, searches: Sequence[Search], vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[Arm]:
        """The hits of each search, best first; with the vectors of the texts for meaning."""
        by_word = [search for search in searches if search.method == "keyword"]
        patient = any(search.text not in vectors for search in by_word)
        if searches:
            self._rows.prepare(build=bool(by_word), patient=patient)
        if not self._rows.ready:
            return arms_of([self._in_chroma(each, vectors[each.text]) for each in searches])
        scopes = [search.scope for search in searches]
        self._found = FoundRows(self._rows.table, self._index, scopes)
        graphs = {text: Graph(self._index, x, self._threads) for text, x in vectors.items()}
        plans = self._plans(searches, graphs)
        for plan in plans:
            if plan.graph is not None and plan.begins_with_graph:
                plan.graph.begin(plan.counts.neighbours)
        # While Chroma searches the graph, rows are compared and words looked up here.
        answers: dict[int, Arm] = {}
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
        # The searches of a question share conditions, which are looked up once.
        alike = [next(n for n, x in enumerate(searches) if _alike(x, y)) for y in searches]
        wheres = {n: self._index.filter_where(searches[n]) for n in {*alike}}
        selected: dict[int, Selection] = {}
        if self._knows_all():
            conditions = [(_wanted(searches[n]), where) for n, where in wheres.items()]
            selected = dict(zip(wheres, table.select(conditions), strict=True))
        for place, (search, first) in enumerate(zip(searches, alike, strict=True)):
            rows, graph, counts = selected.get(first), None, _NOT_COUNTED
            many = rows is None or (rows.whole and len(table) > _FEW)
            places = None if many or rows is None else rows.places
            if search.method == "semantic":
                graph, counts = graphs[search.text], self._counted(search, places, table)
            plans.append(_Plan(place, search, wheres[first], rows, places, table, graph, counts))
        return sorted(plans, key=lambda plan: -plan.counts.neighbours)

    def _knows_all(self) -> bool:
        """Whether the row index decides which rows fulfil a condition."""
        return self._index.cosine

    def _counted(self, search: Search, places: Places | None, table: Table) -> RowCounts:
        count, follower = len(table), self._rows.follower
        if not self._knows_all():
            return RowCounts(search.limit, count, matching=None, unread=0)
        if places is None:  # the graph is the quickest way
            return RowCounts(search.limit, count, matching=count, unread=count)
        unread = int(np.count_nonzero(table.column("check", places) == 0))
        return RowCounts(search.limit, count, len(places), unread, graph=not follower.scoped)

    # -- by meaning -------------------------------------------------------------------------------

    def _nearest(self, plan: _Plan, graph: Graph) -> Arm:
        arm = self._found.arm([])
        for route in plan.counts.routes:
            if route == "graph":
                widest: int | None = plan.counts.neighbours
                while widest and len(arm) < plan.search.limit:
                    arm = self._by_graph(plan, graph.nearest(widest))
                    widest = plan.counts.wider(widest, len(arm))
            elif route == "rows":
                arm = self._by_rows(plan, unit(graph.vector))
            else:
                arm = self._found.arm(self._index.nearest(graph.vector, plan.search, plan.where))
            if len(arm) >= plan.search.limit:
                break
        return arm

    def _by_graph(self, plan: _Plan, rows: Sequence[Similar]) -> Arm:
        keys = np.array(self._found.keys([row_id for row_id, _ in rows]), dtype=np.intp)
        cosines = np.array([cosine for _, cosine in rows])
        if plan.rows is not None:
            fits = keys < 0
            fits[~fits] = plan.rows.holds(keys[~fits])
            keys, cosines = keys[fits], cosines[fits]
        return self._exact(keys, cosines, plan)

    def _by_rows(self, plan: _Plan, vector: NDArray[np.float32]) -> Arm:
        table = plan.table
        places = table.living() if plan.rows is None else plan.rows.places
        if plan.places is not None and not plan.counts.unread:
            cosines = table.cosines(places, vector)
        else:
            missing = table.column("check", places) == 0
            cosines = np.empty(len(places), dtype=np.float32)
            cosines[~missing] = table.cosines(places[~missing], vector)
            unread = places[missing]
            cosines[missing] = self._rows.read_cosines(table, unread, vector)
        most = plan.search.limit
        while True:
            few = most < len(places)
            best = np.argpartition(-cosines, most - 1)[:most] if few else np.arange(len(places))
            ranked = best[np.argsort(-cosines[best], kind="stable")]
            arm = self._exact(places[ranked], cosines[ranked].astype(np.float64), plan)
            if len(arm) >= plan.search.limit or not few:
                return arm
            most *= 4

    # -- by words ---------------------------------------------------------------------------------

    def _by_words(self, plan: _Plan) -> Arm:
        search, most, fitting = plan.search, plan.search.limit, plan.rows
        if fitting is None:
            [fitting] = plan.table.select([(_wanted(search), None)])
        while True:
            places, scores, words = plan.table.by_words(
                search.text, most, fitting, with_lacking=search.with_lacking
            )
            arm = self._exact(places, scores, plan)
            if len(arm) >= search.limit or len(places) < most:
                return replace(arm, words=words)
            most = round(most * max(_MORE, 1.5 * search.limit / max(len(arm), 1)))

    # -- memories ---------------------------------------------------------------------------------

    def _exact(self, keys: Keys, scores: Scores, plan: _Plan) -> Arm:
        """The rows that fit exactly, as many as the search wants.

        The columns decide about owner and end. Where a filter or a time has let too many rows
        through, more of the rows is read; rows that may have changed are read from Chroma.
        """
        there, limit = scores >= _NOT_THERE, plan.search.limit
        keys, scores = keys[there], scores[there]
        decided = plan.where is None and not plan.search.within and not self._may_have_changed()
        if decided and (keys >= 0).all():
            fits = np.flatnonzero(plan.table.column("memory_type", keys))  # 0 = it has no text
        else:
            fitting: list[int] = []
            for start in range(0, len(keys), limit):
                end = start + limit
                places = {key: place for place, key in enumerate(keys[start:end].tolist(), start)}
                found = [places[key] for key in self._fitting(keys[start:end], plan)]
                fitting += sorted(found, key=scores.__getitem__, reverse=True)
                if len(fitting) >= limit:
                    break
            fits = np.array(fitting, dtype=np.intp)
        if plan.graph is not None:
            scores = np.clip(scores, 0, 1)
        return Arm(self._found, keys[fits[:limit]], scores[fits[:limit]])

    def _fitting(self, keys: Keys, plan: _Plan) -> list[int]:
        """The rows that fit, by id: the order of storing differs between processes."""
        within, admitted = plan.search.within, plan.search.admitting()
        # The ids of what is read from Chroma.
        ids = self._found.ids(keys if self._may_have_changed() else keys[keys < 0])
        read = self._index.read([*ids.values()], plan.where) if ids else {}
        fresh = {key: read[x] for key, x in ids.items() if x in read}
        self._found.memories |= {
            key: memory for key, memory in fresh.items() if admitted is None or admitted(memory)
        }
        known = plan.table.fulfilling(np.setdiff1d(keys, [*ids]).astype(np.intp), plan.where)
        facts = self._found.facts(np.append(known, [*fresh]).astype(np.intp))
        matches = zip(facts.keys.tolist(), facts.matches(within), strict=True)
        return [key for key, matching in matches if any(matching) or not within]

    def _may_have_changed(self) -> bool:
        """Whether a row in Chroma may be newer than here."""
        return False


def _wanted(search: Search) -> Wanted:
    """The rows that a search may return, whatever its filter."""
    return Wanted(search.scope, search.within, search.standing)


def _alike(one: Search, other: Search) -> bool:
    """Whether two searches have the same conditions; filters are not compared deeply."""
    same = one.filter is other.filter and one.timezone is other.timezone
    same = same and one.standing == other.standing
    return same and one.within == other.within and one.scope == other.scope


class ScopedSearcher:
    """Searches one collection."""

    def __init__(self, index: Collection, rows: ScopedRows) -> None:
        self._index = index
        self._rows = rows
        self._threads = ThreadPoolExecutor(thread_name_prefix="recall-search")

    def answers(
        self, searches: Sequence[Search], embedded: Mapping[str, Embedded]
    ) -> list[Sequence[Hit]]:
        """The hits of each search, best first; see `Searcher.answers`."""
        vectors = {text: each.vectors[0] for text, each in embedded.items()}
        answers: dict[int, Sequence[Hit]] = {}
        parts: dict[Scope, list[int]] = {}
        for place, search in enumerate(searches):
            scope = search.scope if self._rows.by_scope else ANYBODY
            parts.setdefault(scope, []).append(place)
        for scope, places in parts.items():
            with self._rows.using(scope) as rows:
                searcher = Searcher(self._index, rows, self._threads)
                mine = [searches[place] for place in places]
                arms = _with_tokens(mine, searcher.answers(mine, vectors), embedded, rows.table)
                if mine[0].in_columns:  # read while the rows are in use
                    arms[0].source.facts(keys_of(arms))
                found = [a if s.in_columns else [*a] for s, a in zip(mine, arms, strict=True)]
            answers |= zip(places, found, strict=True)
        return [answers[place] for place in range(len(searches))]

    def close(self) -> None:
        """Stop the threads, and let the rows go."""
        self._threads.shutdown()
        let_go(self._rows)


def _with_tokens(
    searches: Sequence[Search],
    arms: Sequence[Arm],
    embedded: Mapping[str, Embedded],
    table: Table,
) -> list[Arm]:
    """The hits, compared token by token where their row and the question have token vectors."""
    measured = list(arms)
    for text, question in embedded.items():
        alike = [n for n, each in enumerate(searches) if each.by_tokens and each.text == text]
        places = keys_of([arms[n] for n in alike])
        places = places[places >= 0]
        if len(places) and question.tokens is not None:
            near = table.likenesses(places, question.tokens[0])
            for n in alike:
                measured[n] = _measured(arms[n], searches[n].method, places, near)
    return measured


def _measured(arm: Arm, method: Method, places: Places, near: Scores) -> Arm:
    """An arm with how near its rows come to the tokens of the question."""
    known, tokens = arm.keys >= 0, np.full(len(arm), np.nan)
    tokens[known] = near[np.searchsorted(places, arm.keys[known])]
    name = "similarity" if method == "semantic" else "keyword"
    own = {name: np.where(np.isnan(tokens), np.nan, arm.scores)}
    return replace(arm, measures={**own, **arm.measures, "token_similarity": tokens})
