"""The words of a collection's memories, in an index of tantivy on disk or in memory.

Chroma searches by vector only; its full-text filters scan every row and rank nothing. A commit to
disk takes 0.1 s, so a few new rows wait for it in a dictionary; see `word_search`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import tantivy

from recall_stages.core.candidate import Candidate
from recall_stages.store.chroma.epoch import event_hull, to_milliseconds
from recall_stages.store.rows.columns import NEVER
from recall_stages.store.rows.word_search import NewRow, Snapshot

_HEAP = 50_000_000  # bytes in which tantivy gathers documents


class Words:
    """The words of rows, by place. Several threads may search; changes come from one at a time.

    Args:
        folder: The folder of the files. None = in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        if folder is None:
            self._index = tantivy.Index(_schema())
        else:
            folder.mkdir(exist_ok=True)
            self._index = tantivy.Index(_schema(), path=str(folder))
        self._searcher = self._index.searcher()
        self._new: dict[int, NewRow] = {}
        self._dropped: list[int] = []

    @property
    def waiting(self) -> int:
        """How many rows wait for the next commit."""
        return len(self._new)

    def put(
        self, place: int, memory: Candidate, counts: Counter[str], *, again: bool = False
    ) -> None:
        """Add a memory.

        Args:
            place: Its place.
            memory: The memory.
            counts: How often each word counts.
            again: Whether it has words already, which these replace.
        """
        row = NewRow(memory, counts, _rounded(counts.total()))
        if again:
            waiting = self._new.get(place)
            if waiting is None:
                self._dropped.append(place)
            row = replace(row, again=waiting is None or waiting.again)
        self._new[place] = row

    def drop(self, place: int) -> None:
        """Take a row out."""
        if self._new.pop(place, None) is None:
            self._dropped.append(place)

    def changes(self) -> tuple[dict[int, NewRow], list[int]]:
        """The rows that wait, and the places of those that were taken out."""
        return dict(self._new), list(self._dropped)

    def snapshot(self) -> Snapshot:
        """What a search reads: it stays as it is while rows change."""
        return Snapshot(self._searcher, self._index.schema, dict(self._new))

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
        self, searcher: tantivy.Searcher, new: Mapping[int, NewRow], dropped: Sequence[int]
    ) -> None:
        """Search what was committed from now on."""
        self._searcher = searcher
        gone = set(dropped)
        self._dropped = [place for place in self._dropped if place not in gone]
        for place, row in new.items():
            now = self._new.get(place)
            if now is row:
                del self._new[place]
            else:  # it was taken out meanwhile, or has other words
                self._dropped.append(place)
                if now is not None:
                    self._new[place] = replace(now, again=True)


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
    for name, value in memory.scope.fields().items():
        document.add_text("scope", f"{name}={value}")
    if memory.created_at is not None:
        document.add_integer("created_at", to_milliseconds(memory.created_at))
    for name, bound in event_hull(memory.events).items():
        document.add_integer(name, bound)
    expires = memory.expires_at
    document.add_integer("expires", NEVER if expires is None else to_milliseconds(expires))
    return document


def _rounded(length: int) -> int:
    """The length of a document as tantivy keeps it: four binary digits of what is above 24."""
    above = length - 24
    lost = above.bit_length() - 4 if above >= 16 else 0
    return 24 + (above >> lost << lost) if lost else length
