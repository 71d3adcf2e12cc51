"""Keyword search: BM25 over the words of a collection's memories.

Chroma searches by vector only; its full-text filters scan every row and rank nothing. So tantivy
indexes the words, on disk or in memory; k1 is 1.2 and b 0.75. A commit to disk takes 0.1 s, so a
few new rows wait for it in a dictionary, where they are searched with the same formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log
from operator import itemgetter
from pathlib import Path

import tantivy

from recall_stages.core.candidate import Candidate
from recall_stages.core.scope import Scope
from recall_stages.store.chroma.epoch import (
    EARLIEST,
    LATEST,
    bounds_of,
    event_hull,
    to_milliseconds,
)
from recall_stages.store.rows.cells import Cell
from recall_stages.store.rows.columns import NEVER, Places
from recall_stages.text.stems import words
from recall_stages.text.telling_words import telling_words
from recall_stages.timeline import TimeRange

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_HEAP = 50_000_000  # bytes in which tantivy gathers documents
_K1, _B = 1.2, 0.75  # tantivy's
_FEW = 500  # rows that are named one by one
_DIGITS = 4  # of a score, after the point

Scored = list[tuple[int, float]]
"""The places of rows, with their scores."""


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row that is not committed yet.

    Attributes:
        memory: The memory.
        counts: How often it has each word.
        length: The number of its words, as tantivy rounds it.
        cells: Its metadata.
        again: Whether it is committed with other words.
    """

    memory: Candidate
    counts: Counter[str]
    length: int
    cells: Sequence[Cell]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rows that a search by words may return.

    Attributes:
        scope: The scope.
        within: If not empty, the recorded time or the hull of the events must touch a range.
        moment: When they must not have expired. None = none of them has.
        places: The places of the only rows that may be returned; None = of all.
        cells: A row has one of each of these cells.
    """

    scope: Scope
    within: Sequence[TimeRange]
    moment: datetime | None = None
    places: Places | None = None
    cells: Sequence[Sequence[Cell]] = ()

    @property
    def limited(self) -> bool:
        """Whether owner, time or expiry keep rows out."""
        return bool(self.within or self.moment is not None or self.scope.fields())


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
        self,
        place: int,
        memory: Candidate,
        counts: Counter[str],
        cells: Sequence[Cell],
        *,
        again: bool = False,
    ) -> None:
        """Add a memory.

        Args:
            place: Its place.
            memory: The memory.
            counts: How often each word counts.
            cells: Its metadata.
            again: Whether it has words already, which these replace.
        """
        row = NewRow(memory, counts, _rounded(counts.total()), cells)
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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The words of all rows at one moment.

    Attributes:
        searcher: The committed rows.
        schema: The fields of their documents.
        new: The rows that wait for a commit.
    """

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    new: Mapping[int, NewRow]

    def search(
        self, text: str, limit: int, wanted: Wanted, new: Places, counted: tuple[int, int]
    ) -> Scored:
        """The best rows by BM25, among them rows that were taken out since the last commit.

        Args:
            text: The question.
            limit: How many at most.
            wanted: The rows that may be returned.
            new: The places of the rows that wait and may be returned.
            counted: How many rows there are, and how many words they have.
        """
        searcher, waiting = self.searcher, self.new
        terms = telling_words(words(text), self._rows_with)
        if not terms:
            return []
        rows, total = counted
        having = {term: searcher.doc_freq("words", term) for term in terms}
        weights = dict.fromkeys(terms, 1.0)
        if waiting:
            known = [row.counts for row in waiting.values() if not row.again]
            before = max(searcher.num_docs, 1)
            for term in terms:
                old, all_rows = having[term], max(rows, before)
                now = old + sum([term in counts for counts in known])
                weights[term] = _rarity(all_rows, now) / _rarity(before, old)
                having[term] = now
        hits = searcher.search(self._query(weights, wanted), limit=limit, count=False).hits
        places = searcher.fast_field_values("place", [address for _, address in hits])
        # Rounded, because tantivy calculates with 32 bits: a commit must not change the order.
        scored = [
            (int(place or 0), round(float(hit[0]), _DIGITS))
            for place, hit in zip(places, hits, strict=True)
            if place not in waiting
        ]
        mean = total / (rows or 1) or 1.0
        most = {term: (_K1 + 1) * _rarity(rows, number) for term, number in having.items()}
        for place in new.tolist():
            row = waiting.get(place)
            shared = None if row is None else most.keys() & row.counts.keys()
            if row is not None and shared:
                damping = _K1 * (1 - _B + _B * row.length / mean)
                score = 0.0
                for term in shared:
                    score += most[term] * row.counts[term] / (row.counts[term] + damping)
                scored.append((place, round(score, _DIGITS)))
        scored.sort(key=itemgetter(1), reverse=True)
        return scored[:limit]

    def rarity(self, word: str, rows: int) -> float:
        """How rare a word of a question is, as it counts for the score.

        Args:
            word: The word as it is written; a word that no row has is the rarest.
            rows: How many rows there are.
        """
        return _rarity(rows, min([self._rows_with(term) for term in words(word)], default=0))

    def _rows_with(self, word: str) -> int:
        waiting = sum([word in row.counts for row in self.new.values() if not row.again])
        return self.searcher.doc_freq("words", word) + waiting

    def _query(self, weights: Mapping[str, float], wanted: Wanted) -> tantivy.Query:
        terms = [
            self._term("words", term)
            if weight == 1
            else tantivy.Query.boost_query(self._term("words", term), weight)
            for term, weight in weights.items()
        ]
        owners = wanted.scope.fields().items()
        conditions = [self._term("scope", f"{key}={value}") for key, value in owners]
        if wanted.within:
            touching = [query for each in wanted.within for query in self._touching(each)]
            conditions.append(_any(touching))
        if wanted.moment is not None:
            conditions.append(self._between("expires", to_milliseconds(wanted.moment) + 1, NEVER))
        conditions += [_any([self._term("cell", _named(x)) for x in each]) for each in wanted.cells]
        if wanted.places is not None and len(wanted.places) <= _FEW:
            places = wanted.places.tolist()
            conditions.append(tantivy.Query.term_set_query(self.schema, "place", places))
        # A condition must not add to the score.
        admitted = [tantivy.Query.const_score_query(each, 0.0) for each in conditions]
        return tantivy.Query.boolean_query(
            [(_MUST, _any(terms)), *((_MUST, each) for each in admitted)]
        )

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self.schema, field, value, index_option="freq")

    def _touching(self, time_range: TimeRange) -> Iterator[tantivy.Query]:
        first, last = bounds_of(time_range)
        yield self._between("created_at", first, last)
        yield tantivy.Query.boolean_query(
            [
                (_MUST, self._between("event_start", EARLIEST, last)),
                (_MUST, self._between("event_end", first, LATEST)),
            ]
        )

    def _between(self, field: str, low: int, high: int) -> tantivy.Query:
        kind = tantivy.FieldType.Integer
        return tantivy.Query.range_query(self.schema, field, kind, low, high)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    for name in ("scope", "cell"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("created_at", "event_start", "event_end", "expires", "place"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _document(place: int, row: NewRow) -> tantivy.Document:
    memory, document = row.memory, tantivy.Document()
    document.add_integer("place", place)
    document.add_text("words", " ".join(row.counts.elements()))
    for name, value in memory.scope.fields().items():
        document.add_text("scope", f"{name}={value}")
    for cell in row.cells:
        document.add_text("cell", _named(cell))
    if memory.created_at is not None:
        document.add_integer("created_at", to_milliseconds(memory.created_at))
    for name, bound in event_hull(memory.events).items():
        document.add_integer(name, bound)
    expires = memory.expires_at
    document.add_integer("expires", NEVER if expires is None else to_milliseconds(expires))
    return document


def _named(cell: Cell) -> str:
    key, value = cell
    return f"{key:x}={value:x}"


def _any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])


def _rarity(rows: int, having: int) -> float:
    return log(1 + (max(rows - having, 0) + 0.5) / (having + 0.5))


def _rounded(length: int) -> int:
    """The length of a document as tantivy keeps it: four binary digits of what is above 24."""
    above = length - 24
    lost = above.bit_length() - 4 if above >= 16 else 0
    return 24 + (above >> lost << lost) if lost else length
