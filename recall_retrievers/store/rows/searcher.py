"""Answers searches: by meaning and by words in the row index, or in Chroma; each row exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.pool import Arm, Facts, Found, Keys, Scores, arms_of, keys_of
from recall_retrievers.core.requests import Method
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.embedding.local_model import Embedded, unit
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.rows.columns import Selection, Slots, Wanted
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.scoped_rows import ScopedRows
from recall_retrievers.store.rows.table import Table


class FoundRows(Found):
    """Rows by their slot. Rows that the row index does not have are at hand.

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
        """The slots of rows; a number below 0 where the row index does not have one."""
        slots = self._table.slots_of(ids).tolist()
        others = iter(super().keys([x for x, n in zip(ids, slots, strict=True) if n < 0]))
        return [next(others) if slot < 0 else slot for slot in slots]

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


_COMPARED = {MiniLM.model_name: 2_000}  # rows, exactly: .99 of the ten nearest are among them
_COMPARED_ELSE = 8_000  # with a model under which all texts are near each other, such as E5
_A_WANTED = 40  # rows compared for each that is wanted
_MOST_HERE = 300_000  # rows: among more, Chroma's graph is quicker
_MORE = 4  # times as many rows, where too few of them fit exactly


def search(
    index: Collection,
    rows: ScopedRows,
    searches: Sequence[Search],
    embedded: Mapping[str, Embedded],
) -> list[Sequence[Hit]]:
    """The hits of each search, best first; with the embedded texts of those by meaning."""
    found: dict[int, Sequence[Hit]] = {}
    parts: dict[Scope, list[int]] = {}
    for n, each in enumerate(searches):
        parts.setdefault(each.scope if rows.by_scope else ANYBODY, []).append(n)
    for scope, numbers in parts.items():
        with rows.using(scope) as here:
            mine = [searches[n] for n in numbers]
            arms = _with_tokens(mine, Searcher(index, here).arms(mine, embedded), embedded, here)
            if mine[0].in_columns:  # read while the rows are in use
                arms[0].source.facts(keys_of(arms))
            hits = [arm if x.in_columns else [*arm] for x, arm in zip(mine, arms, strict=True)]
        found |= zip(numbers, hits, strict=True)
    return [found[n] for n in range(len(searches))]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A search, the condition that its filter sets, and the rows that may be wanted."""

    search: Search
    where: Where | None
    rows: Selection


class Searcher:
    """Answers searches in one row index, once."""

    def __init__(self, index: Collection, rows: RowIndex) -> None:
        self._index = index
        self._rows = rows

    def arms(self, searches: Sequence[Search], embedded: Mapping[str, Embedded]) -> list[Arm]:
        vectors = {text: each.vectors[0] for text, each in embedded.items()}
        by_word = [search for search in searches if search.method == "keyword"]
        patient = any(search.text not in vectors for search in by_word)
        self._rows.prepare(build=bool(by_word), patient=patient)
        if not self._rows.ready:
            return arms_of([self._in_chroma(each, vectors[each.text]) for each in searches])
        self._table = self._rows.table
        self._found = FoundRows(self._table, self._index, [each.scope for each in searches])
        return [self._arm(plan, vectors.get(plan.search.text)) for plan in self._plans(searches)]

    def _in_chroma(self, search: Search, vector: NDArray[np.float32]) -> list[Hit]:
        """The hits while the row index is built: words are looked for among those by meaning."""
        hits = self._index.nearest(vector, search, self._index.filter_where(search))
        return hits if search.method == "semantic" else by_words(search.text, hits)

    def _plans(self, searches: Sequence[Search]) -> list[_Plan]:
        # The searches of a question share conditions, which are looked up once.
        keys = [(x.scope, x.within, x.standing, id(x.filter), x.timezone) for x in searches]
        first = dict(zip(keys, searches, strict=True))
        wheres = {key: self._index.filter_where(x) for key, x in first.items()}
        conditions = [
            (Wanted(x.scope, x.within, x.standing), wheres[key]) for key, x in first.items()
        ]
        rows = dict(zip(first, self._table.select(conditions), strict=True))
        return [_Plan(x, wheres[key], rows[key]) for key, x in zip(keys, searches, strict=True)]

    def _arm(self, plan: _Plan, vector: NDArray[np.float32] | None) -> Arm:
        search, rows, words = plan.search, plan.rows, None
        if search.method == "keyword":
            vector = None
        elif vector is not None and (
            len(rows.slots) > _MOST_HERE or not self._table.has_vectors(rows)
        ):
            return self._by_chroma(plan, vector)
        most, compared = search.limit, _COMPARED.get(self._index.model, _COMPARED_ELSE)
        while True:
            if vector is None:
                slots, scores, words = self._table.by_words(
                    search.text, most, rows, with_lacking=search.with_lacking
                )
            else:
                among = max(compared, _A_WANTED * most)
                slots, scores = self._table.nearest(rows.slots, unit(vector), most, among)
            fits = self._fitting(slots, plan)[: search.limit]
            if len(fits) >= search.limit or len(slots) < most:
                return Arm(self._found, slots[fits], scores[fits], words=words)
            most = round(most * max(_MORE, 1.5 * search.limit / max(len(fits), 1)))

    def _by_chroma(self, plan: _Plan, vector: NDArray[np.float32]) -> Arm:
        """The hits as Chroma finds them; it returns ids, where the rows say all else of enough."""
        search, rows = plan.search, plan.rows
        ids, cosines = self._index.nearest_ids(vector, search, plan.where)
        slots = self._table.slots_of(ids)
        known = slots >= 0
        known[known] = rows.holds(slots[known])
        order = np.flatnonzero(known)[np.argsort(-cosines[known], kind="stable")]
        slots, scores = slots[order], cosines[order].clip(0, 1).astype(np.float64)
        fits = self._fitting(slots, plan)[: search.limit]
        if len(fits) < min(search.limit, len(rows.slots)):  # some are in the way, or not found
            return self._found.arm(self._index.nearest(vector, search, plan.where))
        return Arm(self._found, slots[fits], scores[fits])

    def _fitting(self, slots: Slots, plan: _Plan) -> NDArray[np.intp]:
        """The numbers of those of some rows that fit exactly.

        The columns decide about owner and end. Where a filter or a time has let too many rows
        through, more of the rows is read.
        """
        within = plan.search.within
        if plan.where is None and not within:
            return np.flatnonzero(self._table.column("memory_type", slots))  # 0 = it has no text
        if plan.where is not None:
            fulfilling = self._table.fulfilling(slots.tolist(), plan.where)
            slots = np.array([slot if slot in fulfilling else -1 for slot in slots.tolist()])
        facts = self._found.facts(slots[slots >= 0])
        fits = [not within or any(matching) for matching in facts.matches(within)]
        return np.flatnonzero(np.isin(slots, facts.keys[fits]))


def _with_tokens(
    searches: Sequence[Search],
    arms: Sequence[Arm],
    embedded: Mapping[str, Embedded],
    rows: RowIndex,
) -> list[Arm]:
    """The hits, compared token by token where their row and the question have token vectors."""
    measured = list(arms)
    for text, question in embedded.items():
        alike = [n for n, each in enumerate(searches) if each.by_tokens and each.text == text]
        slots = keys_of([arms[n] for n in alike])
        slots = slots[slots >= 0]
        if len(slots) and question.tokens is not None:
            near = rows.table.likenesses(slots, question.tokens[0])
            for n in alike:
                measured[n] = _measured(arms[n], searches[n].method, slots, near)
    return measured


def _measured(arm: Arm, method: Method, slots: Slots, near: Scores) -> Arm:
    known, tokens = arm.keys >= 0, np.full(len(arm), np.nan)
    tokens[known] = near[np.searchsorted(slots, arm.keys[known])]
    name = "similarity" if method == "semantic" else "keyword"
    own = {name: np.where(np.isnan(tokens), np.nan, arm.scores)}
    return replace(arm, measures={**own, **arm.measures, "token_similarity": tokens})
