"""The hits of a hybrid search, compared with the question token by token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recall_stages.core.candidate import Hit
from recall_stages.core.stage import Search
from recall_stages.store.embedding.token_vectors import Embedded
from recall_stages.store.rows.table import Table


def with_tokens(
    searches: Sequence[Search],
    answers: Sequence[list[Hit]],
    embedded: Mapping[str, Embedded],
    table: Table,
) -> list[list[Hit]]:
    """The hits with a further measure, where their row and the question have token vectors.

    Args:
        searches: The searches.
        answers: The hits of each search.
        embedded: Each text that is searched for by meaning, embedded.
        table: The rows.
    """
    likeness: dict[str, dict[str, float]] = {}
    for text, question in embedded.items():
        compared = [n for n, each in enumerate(searches) if each.by_tokens and each.text == text]
        if compared and question.tokens is not None:
            ids = {hit.memory.id: None for n in compared for hit in answers[n]}
            likeness[text] = table.likenesses(ids, question.tokens[0])
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
