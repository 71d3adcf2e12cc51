"""Answers searches: by meaning and by words in the row index, or in Chroma; each row exactly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.pool import Arm, Facts, Found, Keys, arms_of, keys_of
from recall_retrievers.core.scope import Scope
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
    """Rows by their slot.

    Rows are read in the collection once the table is closed. Owners are compared as numbers there;
    here the scopes that are searched are compared as they are.
    """

    def __init__(self, table: Table, index: Collection, scopes: Iterable[Scope]) -> None:
        super().__init__()
        self._table = table
        self._index = index
        self._scopes = set(scopes)
        self._facts: dict[bytes, Facts] = {}
        self._read: dict[int, Candidate | None] = {}  # several stages look at the same rows

    def candidates(self, keys: Keys) -> Sequence[Candidate | None]:
        """The memories of rows; None where a row is gone, or outside of the scopes."""
        new = [key for key in keys.tolist() if key not in self._read]
        try:
            read = self._table.memories(new, None)
        except StoreClosedError:  # nobody searches the scope any more, or its rows are read anew
            known = [zip(x.keys.tolist(), x.ids, strict=True) for x in self._facts.values()]
            ids = dict(chain(*known))
            there = self._index.read([ids[key] for key in new], None)
            read = [there.get(ids[key]) for key in new]
        for key, memory in zip(new, read, strict=True):
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
            self._facts[known] = self._table.facts_of(keys, self)
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
        parts.setdefault(rows.key(each.scope), []).append(n)
    for scope, numbers in parts.items():
        with rows.using(scope) as here:
            mine = [searches[n] for n in numbers]
            arms = _arms(index, here, mine, embedded)
            if mine[0].in_columns:  # read while the rows are in use
                arms[0].source.facts(keys_of(arms))
            hits = [arm if x.in_columns else [*arm] for x, arm in zip(mine, arms, strict=True)]
        found |= zip(numbers, hits, strict=True)
    return [found[n] for n in range(len(searches))]


def _arms(
    index: Collection,
    rows: RowIndex,
    searches: Sequence[Search],
    embedded: Mapping[str, Embedded],
) -> list[Arm]:
    vectors = {text: each.vectors[0] for text, each in embedded.items()}
    by_word = [search for search in searches if search.method == "keyword"]
    patient = any(search.text not in vectors for search in by_word)
    rows.prepare(build=bool(by_word), patient=patient)
    if not rows.ready:  # then words are looked for among the hits by meaning
        near = [index.nearest(vectors[x.text], x, index.filter_where(x)) for x in searches]
        found = zip(searches, near, strict=True)
        return arms_of([by_words(x.text, y) if x.method == "keyword" else y for x, y in found])
    table = rows.table
    source = FoundRows(table, index, [each.scope for each in searches])
    # The searches of a question share conditions, which are looked up once.
    keys = [(x.scope, x.within, x.standing, id(x.filter), x.timezone) for x in searches]
    first = dict(zip(keys, searches, strict=True))
    wheres = {key: index.filter_where(x) for key, x in first.items()}
    wanted = [(Wanted(x.scope, x.within, x.standing), wheres[key]) for key, x in first.items()]
    selected = dict(zip(first, table.select(wanted), strict=True))
    arms = [
        _OneSearch(index, table, source, x, wheres[key], selected[key]).arm(vectors.get(x.text))
        for key, x in zip(keys, searches, strict=True)
    ]
    return _with_tokens(searches, arms, embedded, table)


@dataclass(frozen=True, slots=True)
class _OneSearch:
    index: Collection
    table: Table
    source: FoundRows
    search: Search
    where: Where | None  # what its filter says
    rows: Selection  # that may be wanted

    def arm(self, vector: NDArray[np.float32] | None) -> Arm:
        search, rows, table, words = self.search, self.rows, self.table, None
        if search.method == "keyword":
            vector = None
        elif vector is not None and (len(rows.slots) > _MOST_HERE or not table.has_vectors(rows)):
            return self._by_chroma(vector)
        most, compared = search.limit, _COMPARED.get(self.index.model, _COMPARED_ELSE)
        while True:
            if vector is None:
                slots, scores, words = table.by_words(
                    search.text, most, rows, with_lacking=search.with_lacking
                )
            else:
                among = max(compared, _A_WANTED * most)
                slots, scores = table.nearest(rows.slots, unit(vector), most, among)
            fits = self._fitting(slots)[: search.limit]
            if len(fits) >= search.limit or len(slots) < most:
                return Arm(self.source, slots[fits], scores[fits], words=words)
            most = round(most * max(_MORE, 1.5 * search.limit / max(len(fits), 1)))

    def _by_chroma(self, vector: NDArray[np.float32]) -> Arm:
        """The hits as Chroma finds them; it returns ids, where the rows say all else of enough."""
        arm = self._known(*self.index.nearest_ids(vector, self.search, self.where))
        if len(arm) < min(self.search.limit, len(self.rows.slots)):  # some are in the way
            hits = self.index.nearest(vector, self.search, self.where)
            arm = self._known([hit.id for hit in hits], np.array([hit.score for hit in hits]))
        return arm

    def _known(self, ids: Sequence[str], cosines: NDArray[np.floating]) -> Arm:
        """Those of some rows that are known here and fit, the most similar first."""
        slots = self.table.slots_of(ids)
        known = slots >= 0
        known[known] = self.rows.holds(slots[known])
        order = np.flatnonzero(known)[np.argsort(-cosines[known], kind="stable")]
        slots, scores = slots[order], cosines[order].clip(0, 1).astype(np.float64)
        fits = self._fitting(slots)[: self.search.limit]
        return Arm(self.source, slots[fits], scores[fits])

    def _fitting(self, slots: Slots) -> NDArray[np.intp]:
        """The numbers of those of some rows that fit exactly.

        The columns decide about owner and end. Where a filter or a time has let too many rows
        through, more of the rows is read.
        """
        within = self.search.within
        if self.where is None and not within:
            return np.flatnonzero(self.table.column("memory_type", slots))  # 0 = it has no text
        if self.where is not None:
            fulfilling = self.table.fulfilling(slots.tolist(), self.where)
            slots = np.array([slot if slot in fulfilling else -1 for slot in slots.tolist()])
        facts = self.source.facts(slots[slots >= 0])
        fits = [not within or any(matching) for matching in facts.matches(within)]
        return np.flatnonzero(np.isin(slots, facts.keys[fits]))


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
        slots = keys_of([arms[n] for n in alike])
        if len(slots) and question.tokens is not None:
            near = table.likenesses(slots, question.tokens[0])
            for n in alike:
                own = "similarity" if searches[n].method == "semantic" else "keyword"
                tokens = near[np.searchsorted(slots, arms[n].keys)]
                scores = np.where(np.isnan(tokens), np.nan, arms[n].scores)
                measures = {own: scores, "token_similarity": tokens}
                measured[n] = replace(arms[n], measures=measures)
    return measured
