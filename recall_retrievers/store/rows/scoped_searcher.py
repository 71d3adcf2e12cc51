"""Searches a collection; on a server, each search reads the rows of its own scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.rows.scoped_rows import ScopedRows, let_go
from recall_retrievers.store.rows.searcher import Searcher
from recall_retrievers.store.rows.table import Table


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
    ) -> list[list[Hit]]:
        """The hits of each search, best first; see `Searcher.answers`."""
        vectors = {text: each.vectors[0] for text, each in embedded.items()}
        answers: dict[int, list[Hit]] = {}
        parts: dict[Scope, list[int]] = {}
        for place, search in enumerate(searches):
            scope = search.scope if self._rows.by_scope else ANYBODY
            parts.setdefault(scope, []).append(place)
        for scope, places in parts.items():
            with self._rows.using(scope) as rows:
                searcher = Searcher(self._index, rows, self._threads)
                found = searcher.answers([searches[place] for place in places], vectors)
                compared = _with_tokens([searches[n] for n in places], found, embedded, rows.table)
            answers |= zip(places, compared, strict=True)
        return [answers[place] for place in range(len(searches))]

    def close(self) -> None:
        """Stop the threads, and let the rows go."""
        self._threads.shutdown()
        let_go(self._rows)


def _with_tokens(
    searches: Sequence[Search],
    answers: Sequence[list[Hit]],
    embedded: Mapping[str, Embedded],
    table: Table,
) -> list[list[Hit]]:
    """The hits, compared token by token where their row and the question have token vectors."""
    likeness: dict[str, dict[str, float]] = {}
    for text, question in embedded.items():
        compared = [n for n, each in enumerate(searches) if each.by_tokens and each.text == text]
        if compared and question.tokens is not None:
            ids = {hit.memory.id: None for n in compared for hit in answers[n]}
            likeness[text] = table.likenesses([*ids], question.tokens[0])
    return [
        _measured(hits, search, likeness[search.text])
        if search.by_tokens and search.text in likeness
        else hits
        for search, hits in zip(searches, answers, strict=True)
    ]


def _measured(hits: list[Hit], search: Search, likeness: Mapping[str, float]) -> list[Hit]:
    name = "similarity" if search.method == "semantic" else "keyword"
    return [
        Hit(memory, score, {name: score, **measures, "token_similarity": likeness[memory.id]})
        if memory.id in likeness
        else Hit(memory, score, measures)
        for memory, score, measures in hits
    ]
