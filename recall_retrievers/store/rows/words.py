"""The words of a collection's memories, in an index of tantivy on disk or in memory.

Chroma searches by vector only; its full-text filters scan every row and rank nothing. A commit to
disk takes 0.1 s, so a few new rows wait for it in a dictionary; see `word_search`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import tantivy

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.epoch import event_hull, to_milliseconds
from recall_retrievers.store.rows.columns import NEVER
from recall_retrievers.store.rows.wanted import Places
from recall_retrievers.store.rows.word_counts import WordCounts
from recall_retrievers.store.rows.word_search import ALL, Committed, NewRow, Snapshot

_HEAP = 50_000_000  # bytes in which tantivy gathers documents


class Words:
    """The words of rows, by place. Several threads may search; changes come from one at a time.

    Args:
        folder: The folder of the files. None = in memory.
        counts: How often each row has each word.
    """

    def __init__(self, folder: Path | None, counts: WordCounts) -> None:
        if folder is None:
            self._index = tantivy.Index(_schema())
        else:
            folder.mkdir(exist_ok=True)
            self._index = tantivy.Index(_schema(), path=str(folder))
        self._counts = counts
        self._committed = Committed(self._index.searcher())
        self._new: dict[int, NewRow] = {}
        self._dropped: dict[int, int] = {}  # the record of each place that has other words, or none

    @property
    def waiting(self) -> int:
        """How many rows wait for the next commit."""
        return len(self._new) + len(self._dropped)

    def put(self, rows: Mapping[int, tuple[Candidate, Counter[str]]]) -> None:
        """Add rows, or give them other words.

        Args:
            rows: By place, the memory and how often each word counts.
        """
        self._forget(np.array([*rows], dtype=np.intp))
        records = self._counts.put({place: counts for place, (_, counts) in rows.items()})
        for (place, (memory, counts)), record in zip(rows.items(), records.tolist(), strict=True):
            self._new[place] = NewRow(memory, counts, record)

    def drop(self, places: Places) -> None:
        """Take rows out."""
        self._forget(places)
        self._counts.drop(places)

    def _forget(self, places: Places) -> None:
        for place, record in zip(
            places.tolist(), self._counts.latest(places).tolist(), strict=True
        ):
            if self._new.pop(place, None) is None and record >= 0:
                self._dropped[place] = record

    def changes(self) -> tuple[dict[int, NewRow], dict[int, int]]:
        """The rows that wait, and those whose words are gone."""
        return dict(self._new), dict(self._dropped)

    def snapshot(self) -> Snapshot:
        """What a search reads: it stays as it is while rows change."""
        counts = self._counts
        return Snapshot(
            self._committed, self._index.schema, counts, counts.rows, counts.mean, *self.changes()
        )

    def commit(self, new: Mapping[int, NewRow], dropped: Iterable[int]) -> tantivy.Searcher:
        """Write changes; meanwhile searches go on without them."""
        writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        for place in dropped:
            writer.delete_documents_by_term("place", place)
        for place, row in new.items():
            writer.add_document(_document(place, row))
        writer.commit()
        writer.wait_merging_threads()  # then the files stay as they are
        self._index.reload()
        return self._index.searcher()

    def take(
        self, searcher: tantivy.Searcher, new: Mapping[int, NewRow], dropped: Iterable[int]
    ) -> None:
        """Search what was committed from now on."""
        self._committed = Committed(searcher)
        for place in dropped:
            self._dropped.pop(place, None)
        for place, row in new.items():
            if self._new.get(place) is row:
                del self._new[place]
            else:  # it was taken out meanwhile, or has other words
                self._dropped[place] = row.record


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("scope", tokenizer_name="raw", index_option="basic")
    for name in ("created_at", "event_start", "event_end", "expires", "place"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _document(place: int, row: NewRow) -> tantivy.Document:
    memory, document = row.memory, tantivy.Document()
    document.add_integer("place", place)
    document.add_text("words", " ".join(row.counts.elements()))
    document.add_text("scope", ALL)
    for name, value in memory.scope.fields().items():
        document.add_text("scope", f"{name}={value}")
    if memory.created_at is not None:
        document.add_integer("created_at", to_milliseconds(memory.created_at))
    for name, bound in event_hull(memory.events).items():
        document.add_integer(name, bound)
    expires = memory.expires_at
    document.add_integer("expires", NEVER if expires is None else to_milliseconds(expires))
    return document
