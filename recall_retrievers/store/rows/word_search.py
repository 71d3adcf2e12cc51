"""Keyword search: BM25 over the words of a collection's memories.

tantivy finds the best of the rows that are committed. Their scores are calculated here, as those of
the rows that wait for a commit are; see `word_counts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.epoch import EARLIEST, LATEST, bounds_of, to_milliseconds
from recall_retrievers.store.rows.columns import NEVER
from recall_retrievers.store.rows.wanted import Places, Selection, Wanted
from recall_retrievers.store.rows.word_counts import Found, WordCounts
from recall_retrievers.text.bm25 import rarity, telling_words
from recall_retrievers.text.stems import wanted_words, words
from recall_retrievers.timeline import TimeRange

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_DIGITS = 4  # of a score, after the point
_READ = 2  # times as many rows as are wanted: the order of tantivy is not exact, and rows may tie
_NOISE = 2e-4  # of a score: it is rounded, and tantivy calculates with 32 bits
_WIDEST = 20  # times as many rows as are wanted, to tell apart those that are equally good
_MARGIN = 2  # times as many rows are read as the share of a filter suggests
_FEW = 2_000  # rows that are all scored, in the time in which tantivy finds the best

ALL = "all"
"""What each row has in the field of its scope, so that tantivy says how many rows it counts."""


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row that is not committed yet.

    Attributes:
        memory: The memory.
        counts: How often it has each word.
        record: The record of these.
    """

    memory: Candidate
    counts: Counter[str]
    record: int


class Committed:
    """The rows that tantivy has.

    Args:
        searcher: The rows at one moment.

    Attributes:
        searcher: The same.
        counted: How many tantivy counts: until it merges files, rows that are gone as well.
    """

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self.searcher = searcher
        self.counted = searcher.doc_freq("scope", ALL)
        self._having: dict[str, int] = {}

    def having(self, term: str, schema: tantivy.Schema) -> int:
        """How many rows have a word, without those that are gone."""
        if self.counted == self.searcher.num_docs:
            return self.searcher.doc_freq("words", term)
        if term not in self._having:
            query = tantivy.Query.term_query(schema, "words", term, index_option="basic")
            found: Any = self.searcher.search(query, limit=1, count=True)
            self._having[term] = found.count
        return self._having[term]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The words of all rows at one moment.

    Attributes:
        committed: The rows that tantivy has.
        schema: The fields of their documents.
        counts: How often each row has each word.
        rows: How many rows have words.
        mean: How many words they have on average.
        new: The rows that wait for a commit.
        dropped: The committed rows that are gone or have other words, and the record of the old.
    """

    committed: Committed
    schema: tantivy.Schema
    counts: WordCounts
    rows: int
    mean: float
    new: Mapping[int, NewRow]
    dropped: Mapping[int, int]

    def search(
        self, text: str, limit: int, wanted: Wanted, rows: Selection | None
    ) -> tuple[Places, NDArray[np.float64]]:
        """The best rows by BM25, and more, in no order; with their scores.

        Args:
            text: The question.
            limit: How many are wanted.
            wanted: The conditions on owner and time.
            rows: The rows that fulfil these, and a filter. None = there are no conditions.
        """
        terms = telling_words(wanted_words(text), self._having)
        if not terms:
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        new = self._found_new(terms) if self.new else None
        rarities = [rarity(self.rows, having) for having in self._having(terms, new)]
        weights = dict(zip(terms, rarities, strict=True))
        if rows is not None and len(rows.places) <= _FEW:
            places, scores = rows.places, self._scores(rows.places, weights)
        else:
            places, scores = self._best_committed(weights, limit, wanted, rows)
            if new is not None:
                waiting = np.array([*self.new], dtype=np.intp)
                own = self.counts.scores(new, rarities, self.mean)
                own = own if rows is None else own * rows.holds(waiting)
                places, scores = np.concatenate([waiting, places]), np.concatenate([own, scores])
        # Rounded, as sums of floats depend on their order.
        return places[scores > 0], scores[scores > 0].round(_DIGITS)

    def rarities(self, texts: Sequence[str]) -> list[float]:
        """How rare each word of a question is, as it counts for the score.

        Args:
            texts: The words as they are written; one that no row has is the rarest.
        """
        terms = [words(each) for each in texts]
        distinct = list({term for each in terms for term in each})
        having = dict(zip(distinct, self._having(distinct), strict=True))
        return [rarity(self.rows, min([having[x] for x in each], default=0)) for each in terms]

    def _having(self, terms: Sequence[str], new: Found | None = None) -> list[int]:
        """How many rows have each word; ``new`` is what `_found_new` returns."""
        known = [self.committed.having(term, self.schema) for term in terms]
        if not self.new and not self.dropped:
            return known
        gone = self.counts.found(np.array([*self.dropped.values()], dtype=np.int64), terms)
        changes = (new or self._found_new(terms)).having - gone.having
        return [old + change for old, change in zip(known, changes.tolist(), strict=True)]

    def _found_new(self, terms: Sequence[str]) -> Found:
        records = [row.record for row in self.new.values()]
        return self.counts.found(np.array(records, dtype=np.int64), terms)

    def _best_committed(
        self, rarities: Mapping[str, float], limit: int, wanted: Wanted, rows: Selection | None
    ) -> tuple[Places, NDArray[np.float64]]:
        """The best rows that are committed: tantivy checks owner and time, and we the filter."""
        searcher, counted = self.committed.searcher, max(self.committed.counted, 1)
        most = _READ * limit
        if rows is not None and len(rows.places) < rows.among:
            most = max(most, round(_MARGIN * limit * rows.among / len(rows.places)))
        # As if tantivy did not count the rows that are gone, and counted those that wait.
        weights = {
            term: rare / rarity(counted, searcher.doc_freq("words", term))
            for term, rare in rarities.items()
        }
        query = self._query(weights, wanted)
        while True:
            hits = searcher.search(query, limit=min(most, counted), count=False).hits
            found = searcher.fast_field_values("place", [address for _, address in hits])
            places, theirs = np.array(found, dtype=np.intp), np.array([score for score, _ in hits])
            lowest = theirs.min(initial=np.inf)
            if rows is not None or self.dropped:
                fits = ~np.isin(places, [*self.dropped])
                fits = fits if rows is None else fits & rows.holds(places)
                places, theirs = places[fits], theirs[fits]
            enough = len(places) >= limit
            is_last = len(hits) < most or (enough and most > _WIDEST * limit)
            # Where the last ones are equally good, others may be: nothing is calculated yet.
            if is_last or (enough and theirs[limit - 1] > lowest + _NOISE):
                scores = self._scores(places, rarities)
                # The others may have as much more than tantivy says as any of these.
                if is_last or np.partition(scores, -limit)[-limit] > _NOISE + lowest * max(
                    (scores / theirs).max(), 1
                ):
                    return places, scores
            most *= 2

    def _scores(self, places: Places, rarities: Mapping[str, float]) -> NDArray[np.float64]:
        found = self.counts.found(self.counts.latest(places), [*rarities])
        return self.counts.scores(found, [*rarities.values()], self.mean)

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


def _any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])
