"""Keyword search: BM25 over the words of a collection's memories.

tantivy scores the rows that are committed. Those that wait for a commit are scored here, with the
same formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import tantivy

from recall_stages.core.candidate import Candidate
from recall_stages.store.chroma.epoch import EARLIEST, LATEST, bounds_of, to_milliseconds
from recall_stages.store.rows.columns import NEVER
from recall_stages.store.rows.wanted import Places, Selection, Wanted
from recall_stages.text.bm25 import frequency, rarity
from recall_stages.text.stems import wanted_words, words
from recall_stages.text.telling_words import telling_words
from recall_stages.timeline import TimeRange

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_DIGITS = 4  # of a score, after the point
_MARGIN = 2  # times as many rows are read as the share of a filter suggests
_A_NAMED_ROW = 10  # rows are read in the time in which tantivy looks for one that is named

Scored = list[tuple[int, float]]
"""The places of rows, with their scores."""


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row that is not committed yet.

    Attributes:
        memory: The memory.
        counts: How often it has each word.
        length: The number of its words, as tantivy rounds it.
        again: Whether it is committed with other words.
    """

    memory: Candidate
    counts: Counter[str]
    length: int
    again: bool = False


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
        self,
        text: str,
        limit: int,
        wanted: Wanted,
        rows: Selection | None,
        counted: tuple[int, int],
    ) -> Scored:
        """The best rows by BM25, among them rows that were taken out since the last commit.

        Args:
            text: The question.
            limit: How many at most.
            wanted: The conditions on owner and time.
            rows: The rows that fulfil these, and a filter. None = there are no conditions.
            counted: How many rows there are, and how many words they have.
        """
        terms = telling_words(wanted_words(text), self._rows_with)
        having = {term: self.searcher.doc_freq("words", term) for term in terms}
        if not terms or (rows is not None and not len(rows.places)):
            return []
        weights = dict.fromkeys(terms, 1.0)
        if self.new:
            known = [row.counts for row in self.new.values() if not row.again]
            before = max(self.searcher.num_docs, 1)
            for term in terms:
                old, all_rows = having[term], max(counted[0], before)
                now = old + sum([term in counts for counts in known])
                weights[term] = rarity(all_rows, now) / rarity(before, old)
                having[term] = now
        scored = self._committed(weights, limit, wanted, rows)
        scored += self._waiting(having, rows, counted)
        scored.sort(key=itemgetter(1), reverse=True)
        return scored[:limit]

    def _committed(
        self, weights: Mapping[str, float], limit: int, wanted: Wanted, rows: Selection | None
    ) -> Scored:
        """The best rows that are committed: tantivy checks owner and time, and we the filter."""
        most, named = limit, None
        if rows is not None and len(rows.places) < rows.among:
            most = round(_MARGIN * limit * rows.among / len(rows.places))
            if _A_NAMED_ROW * len(rows.places) < most:
                most, named = limit, rows.places
        query = self._query(weights, wanted, named)
        while True:
            hits = self.searcher.search(query, limit=most, count=False).hits
            found = self.searcher.fast_field_values("place", [address for _, address in hits])
            places = np.array(found, dtype=np.intp)
            fits = np.ones(len(places), np.bool_) if rows is None else rows.holds(places)
            if self.new:
                fits &= ~np.isin(places, [*self.new])
            best = np.flatnonzero(fits)[:limit].tolist()
            if len(best) == limit or len(hits) < most:
                # Rounded, as tantivy calculates with 32 bits: a commit must not change the order.
                return [(int(places[n]), round(float(hits[n][0]), _DIGITS)) for n in best]
            most *= 4

    def _waiting(
        self, having: Mapping[str, int], rows: Selection | None, counted: tuple[int, int]
    ) -> Scored:
        """The rows that wait for a commit and share a word with the question."""
        waiting = np.array([*self.new], dtype=np.intp)
        if rows is not None:
            waiting = waiting[rows.holds(waiting)]
        mean = counted[1] / (counted[0] or 1) or 1.0
        rare = {term: rarity(counted[0], number) for term, number in having.items()}
        scored: Scored = []
        for place in waiting.tolist():
            row = self.new[place]
            if shared := rare.keys() & row.counts.keys():
                length = row.length / mean
                score = sum([rare[x] * frequency(row.counts[x], length) for x in shared])
                scored.append((place, round(score, _DIGITS)))
        return scored

    def rarity(self, word: str, rows: int) -> float:
        """How rare a word of a question is, as it counts for the score.

        Args:
            word: The word as it is written; a word that no row has is the rarest.
            rows: How many rows there are.
        """
        return rarity(rows, min([self._rows_with(term) for term in words(word)], default=0))

    def _rows_with(self, word: str) -> int:
        waiting = sum([word in row.counts for row in self.new.values() if not row.again])
        return self.searcher.doc_freq("words", word) + waiting

    def _query(
        self, weights: Mapping[str, float], wanted: Wanted, named: Places | None
    ) -> tantivy.Query:
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
        if named is not None:
            conditions.append(tantivy.Query.term_set_query(self.schema, "place", named.tolist()))
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
