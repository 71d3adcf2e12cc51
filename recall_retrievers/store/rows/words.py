"""The words of rows in SQLite, and the best rows by BM25.

The rows that have a word are its postings: a blob for each segment of 4,096 slots, with a number
for each row, its slot in the segment and how often the word counts for it. So a search reads a few
blobs, and calculates with numpy. What is replaced or deleted leaves the postings at once: equal
collections answer equally.

Of a million rows half may have a common word. The rare words are looked at first (MaxScore: Turtle
and Flood 1995). As soon as the words that are left cannot bring up a row that has none of these,
they are counted only for the rows that have a chance.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.rows.columns import SEGMENT, Selection, Slots
from recall_retrievers.store.rows.database import hashed, listed
from recall_retrievers.text.words import MOST_FREQUENT, frequency, rarity

_SHIFT = 16  # bits for how often a word counts, in a posting, and for the segment in its key
MOST = (1 << _SHIFT) - 1
_FEW = 2_000  # rows whose own words are read, in place of all postings; or postings of a word
_A_ROW = 150  # postings are counted in the time in which the words of one row are read
_DIGITS = 4  # of a score: sums of floats depend on their order
_MARGIN = 10.0**-_DIGITS

NONE = Counter[str]()  # the words of a row that has none

Scores = NDArray[np.float64]
Scored = tuple[Slots, Scores]


def _term(word: str) -> int:
    """A word as 47 bits that are the same in every process."""
    return hashed(word) >> (_SHIFT + 1)


def put(connection: sqlite3.Connection, rows: Mapping[int, Counter[str]]) -> dict[int, int]:
    """Give rows, by slot, their words in place of the old, and return how many each has."""
    old = _of_rows(connection, list(rows))
    added, gone = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    blobs: list[tuple[int, bytes]] = []
    lengths: dict[int, int] = {}
    total = rows_with_words = 0
    for slot, counts in rows.items():
        segment, offset = divmod(slot, SEGMENT)
        before = _counts(old.get(slot, b""))
        after = {_term(word): min(times, MOST) for word, times in counts.items()}
        for term in before.keys() | after.keys():
            if before.get(term) != after.get(term):
                key = term << _SHIFT | segment
                if term in before:
                    gone[key].append(offset)
                if term in after:
                    added[key].append(offset << _SHIFT | after[term])
        if after:
            terms = [term << _SHIFT | times for term, times in after.items()]
            blobs.append((slot, np.array(terms, dtype="<u8").tobytes()))
        lengths[slot] = sum(after.values())
        total += lengths[slot] - sum(before.values())
        rows_with_words += bool(after) - bool(before)
    _write_postings(connection, added, gone)
    lost = [(slot,) for slot in rows if slot in old]
    connection.executemany("DELETE FROM said WHERE slot = ?", lost)
    connection.executemany("INSERT INTO said VALUES (?, ?)", blobs)
    changes = [(rows_with_words, "rows"), (total, "words")]
    connection.executemany("UPDATE fact SET value = value + ? WHERE name = ?", changes)
    return lengths


def _of_rows(connection: sqlite3.Connection, slots: Sequence[int]) -> dict[int, bytes]:
    """The words of rows, each with how often it counts; without rows that have none."""
    query = "SELECT slot, words FROM said WHERE slot IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (listed(slots),)).fetchall())


def _counts(words: bytes) -> dict[int, int]:
    terms = np.frombuffer(words, dtype="<u8")
    return dict(zip((terms >> _SHIFT).tolist(), (terms & MOST).tolist(), strict=True))


def _write_postings(
    connection: sqlite3.Connection,
    added: Mapping[int, Sequence[int]],
    gone: Mapping[int, Sequence[int]],
) -> None:
    query = "SELECT key, rows FROM posting WHERE key IN (SELECT value FROM json_each(?))"
    read = connection.execute(query, (listed(gone),)).fetchall()
    written: list[tuple[bytes, int]] = []
    for key, blob in read:
        there = np.frombuffer(blob, dtype="<u4")
        left = there[~np.isin(there >> _SHIFT, np.array(gone[key], dtype="<u4"))]
        new = np.array(added.get(key, ()), dtype="<u4")
        written.append((left.tobytes() + new.tobytes(), key))
    connection.executemany("UPDATE posting SET rows = ? WHERE key = ?", written)
    emptied = [(key,) for blob, key in written if not blob]
    connection.executemany("DELETE FROM posting WHERE key = ?", emptied)
    new_rows = [
        (key, np.array(new, dtype="<u4").tobytes())
        for key, new in sorted(added.items())
        if key not in gone
    ]
    connection.executemany(
        "INSERT INTO posting VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET rows = CAST(rows || excluded.rows AS BLOB)",
        new_rows,
    )


# -- questions ------------------------------------------------------------------------------------


def having(connection: sqlite3.Connection, words: Sequence[str]) -> list[int]:
    query = "SELECT ifnull(sum(length(rows)), 0) / 4 FROM posting WHERE key BETWEEN ? AND ?"
    return [connection.execute(query, _keys(_term(word))).fetchone()[0] for word in words]


def lacking(
    connection: sqlite3.Connection, counts: Mapping[str, int], rows: Selection
) -> frozenset[str]:
    """The words, with how many rows of all have each, that none of these rows has.

    The postings of a common word are not read: it counts as one that some of the rows have.
    """
    missing = {word for word, count in counts.items() if not count}
    for word, count in counts.items():
        if 0 < count <= _FEW and not rows.whole:
            slots, _ = _postings(connection, _term(word), None)
            if not rows.holds(slots).any():
                missing.add(word)
    return frozenset(missing)


def best(
    connection: sqlite3.Connection,
    counts: Mapping[str, int],
    limit: int,
    lengths: NDArray[np.uint16],
    rows: Selection,
) -> Scored:
    """The best of some rows by BM25, and perhaps more, in no order.

    All that are as good as the last one that is wanted are among them. ``counts`` has how
    many rows have each word of the question, ``lengths`` how many words each row has.
    """
    facts = dict(connection.execute("SELECT name, value FROM fact").fetchall())
    terms = [_Term(_term(word), rarity(facts["rows"], n), n) for word, n in counts.items() if n]
    terms.sort(key=lambda each: -each.rarity)
    if not terms:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    relative = _ROUNDED / (facts["words"] / max(facts["rows"], 1) or 1.0)
    search = _Search(connection, lengths, relative)
    few = len(rows.slots) <= _FEW
    if few and _A_ROW * len(rows.slots) < sum(each.rows for each in terms):
        slots, scores = search.counted(rows.slots, np.zeros(len(rows.slots)), terms)
    else:
        slots, scores = search.postings(terms, limit, rows)
    return slots[scores > 0], scores[scores > 0].round(_DIGITS)


@dataclass(frozen=True, slots=True)
class _Term:
    key: int
    rarity: float
    rows: int


@dataclass(frozen=True, slots=True)
class _Search:
    connection: sqlite3.Connection
    lengths: NDArray[np.uint16]  # how many words each row has
    relative: Scores  # what each number of words is to the mean of all rows

    def postings(self, terms: Sequence[_Term], limit: int, rows: Selection) -> Scored:
        fits, inside = rows.fits, rows.fits.reshape(-1, SEGMENT).any(axis=1)
        # A segment that has come since then has no slot among these.
        whole = inside.all() and len(fits) == len(self.lengths)
        segments = None if whole else np.flatnonzero(inside)
        scores, found, number = np.zeros(len(self.lengths)), list[Slots](), 0
        left = sum(each.rows for each in terms)
        rest = MOST_FREQUENT * sum(each.rarity for each in terms)
        for n, term in enumerate(terms):
            if number >= limit and left > _A_ROW * limit:
                seen = np.concatenate(found)
                least = np.partition(scores[seen], -limit)[-limit] - _MARGIN
                if rest < least:
                    chance = seen[scores[seen] + rest >= least]
                    if len(chance) <= _FEW and _A_ROW * len(chance) < left:
                        return self.counted(chance, scores[chance], terms[n:])
                    found, fits = [chance], np.zeros(len(scores), dtype=np.bool_)
                    fits[chance] = True
            slots, times = _postings(self.connection, term.key, segments)
            wanted = fits[slots]
            slots, times = slots[wanted], times[wanted]
            before = scores[slots]
            found.append(slots[before == 0])
            number += len(found[-1])
            relative = self.relative[self.lengths[slots]]
            scores[slots] = before + term.rarity * frequency(times, relative)
            left -= term.rows
            rest -= MOST_FREQUENT * term.rarity
        seen = np.concatenate(found)
        return seen, scores[seen]

    def counted(self, slots: Slots, scores: Scores, terms: Iterable[_Term]) -> Scored:
        """The scores of a few rows, with what these words add, out of the words of each row."""
        read = _of_rows(self.connection, slots.tolist())
        blobs = [read.get(slot, b"") for slot in slots.tolist()]
        row = np.repeat(np.arange(len(blobs)), [len(blob) >> 3 for blob in blobs])
        words = np.frombuffer(b"".join(blobs), dtype="<u8")
        scores, key, times = scores.copy(), words >> _SHIFT, (words & MOST).astype(np.float64)
        relative = self.relative[self.lengths[slots]]
        for term in terms:
            hits = np.flatnonzero(key == term.key)
            at = row[hits]
            scores[at] += term.rarity * frequency(times[hits], relative[at])
        return slots, scores


def _postings(connection: sqlite3.Connection, term: int, segments: Slots | None) -> Scored:
    """The rows that have a word, in all segments or in some, and how often it counts."""
    asked, values = "BETWEEN ? AND ?", tuple[int | str, ...](_keys(term))
    if segments is not None:
        keys = [term << _SHIFT | segment for segment in segments.tolist()]
        asked, values = "IN (SELECT value FROM json_each(?))", (listed(keys),)
    read = connection.execute(f"SELECT key, rows FROM posting WHERE key {asked}", values).fetchall()
    first = np.array([(key & MOST) * SEGMENT for key, _ in read], dtype=np.intp)
    postings = np.frombuffer(b"".join([blob for _, blob in read]), dtype="<u4")
    slots = np.repeat(first, [len(blob) >> 2 for _, blob in read]) + (postings >> _SHIFT)
    return slots, (postings & MOST).astype(np.float64)


def _keys(term: int) -> tuple[int, int]:
    return term << _SHIFT, term << _SHIFT | MOST


def _rounded(lengths: NDArray[np.int64]) -> Scores:
    """Lengths with four binary digits of what is above 24: long texts count in steps."""
    above = np.maximum(lengths - 24, 0)
    lost = above % (1 << np.maximum(np.frexp(above)[1] - 4, 0))
    kept: Scores = (lengths - lost).astype(np.float64)
    return kept


_ROUNDED = _rounded(np.arange(MOST + 1))
