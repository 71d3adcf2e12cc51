"""Searches a collection; on a server, each search reads the rows of its own scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.pool import Arm, Scores, keys_of
from recall_retrievers.core.requests import Method
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.rows.scoped_rows import ScopedRows, let_go
from recall_retrievers.store.rows.searcher import Searcher
from recall_retrievers.store.rows.table import Table
from recall_retrievers.store.rows.wanted import Places


class ScopedSearcher:
    """Searches one collection.

    Args:
        index: The collection in Chroma.
        rows: Its row indexes.
    """

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
