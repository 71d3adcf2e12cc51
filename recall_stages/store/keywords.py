"""Keyword search: BM25 over the words of a collection's memories, in an index of its own.

Chroma searches by vector only (its full-text filters scan every row and rank nothing). The words
are indexed by tantivy, in memory, about 40 MB for 100,000 memories; k1 is 1.2 and b 0.75.

The collection is the truth, and the index follows it. It is built from the collection at the first
keyword search, so a restart loses nothing. What this store writes and deletes is passed on at once.
What others write is noticed before a search: when the number of rows is not the one expected, and
else, for rows that were replaced in place, once a second by asking for what was written since. A
collection that somebody else made carries no such mark: replaced texts are seen when it is
opened anew. A private collection in memory has no other writers, and is not asked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tantivy

from recall_stages.memory import Memory, MetadataValue, Scope
from recall_stages.store.moments import EARLIEST, LATEST, to_milliseconds, up_to_milliseconds
from recall_stages.store.rows import (
    WRITTEN_AT,
    Fields,
    TimeUnit,
    event_hull,
    keyword_text,
    to_memory,
)
from recall_stages.store.words import words
from recall_stages.timeline import TimeRange

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

Hit = tuple[str, float]
"""A row's id and its BM25 score."""

_PAGE = 250  # rows a call, below every limit
_POLL = 1.0  # seconds between two looks for rows that others have replaced
_SKEW = 300_000  # milliseconds by which another machine's clock may be late
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_MOST_WORDS = 64  # of a question; a pasted page has its first ones looked up


class KeywordIndex:
    """The words of one collection.

    Args:
        collection: Chroma's own object.
        fields: Where its rows keep what a memory needs.
        unit: How its rows write their times.
        alone: Whether nobody else can write to it while this store is open.
    """

    def __init__(
        self, collection: Collection, fields: Fields, unit: TimeUnit, *, alone: bool
    ) -> None:
        self._collection: Any = collection
        self._fields = fields
        self._unit = unit
        self._alone = alone
        self._lock = threading.Lock()
        self._schema = _schema()
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter
        self._known: dict[str, int] = {}  # the ids indexed, and when each was written
        self._looked = 0.0
        self._stale = False

    def put(self, rows: Iterable[tuple[Memory, int]]) -> None:
        """Take over rows that were just written, with the epoch milliseconds of the writing."""
        with self._lock:
            if self._index is not None:
                self._put(rows)

    def drop(self, ids: Iterable[str]) -> None:
        """Forget rows that were just deleted."""
        with self._lock:
            if self._index is not None:
                self._drop(ids)

    def search(self, text: str, limit: int, scope: Scope, within: Sequence[TimeRange]) -> list[Hit]:
        """The rows that share most of a question's words, the best first.

        Args:
            text: The question.
            limit: How many at the most.
            scope: Whose memories.
            within: Where not empty, the recorded time, or the hull of the events, must touch one.
        """
        asked = list(dict.fromkeys(words(text)))[:_MOST_WORDS]
        if not asked:
            return []
        with self._lock:
            index = self._in_step()
            found = index.searcher()
            hits = found.search(self._query(asked, scope, within), limit=limit, count=False).hits
            # Equal scores come in the order of storing, which another process may not share.
            named = [(str(found.doc(address)["id"][0]), float(score)) for score, address in hits]
        return sorted(named, key=lambda hit: (-hit[1], hit[0]))

    # -- in step with the collection ------------------------------------------------------------

    def _in_step(self) -> tantivy.Index:
        if self._index is None:
            self._index = tantivy.Index(self._schema)
            self._writer = self._index.writer(heap_size=50_000_000, num_threads=1)
            self._add_all(self._collection.get(include=[])["ids"])
            self._looked = time.monotonic()
        elif not self._alone:
            self._catch_up()
        if self._stale:
            self._writer.commit()
            self._index.reload()
            self._stale = False
        return self._index

    def _catch_up(self) -> None:
        count = self._collection.count()
        if count == len(self._known) and time.monotonic() - self._looked < _POLL:
            return
        self._looked = time.monotonic()
        since = max(self._known.values(), default=0) - _SKEW
        if since > 0:
            changed = self._collection.get(
                where={WRITTEN_AT: {"$gte": since}}, include=["metadatas"]
            )
            rows = zip(changed["ids"], changed["metadatas"], strict=True)
            self._add_all(
                [row_id for row_id, row in rows if self._known.get(row_id) != row[WRITTEN_AT]]
            )
        if count != len(self._known):
            there = set(self._collection.get(include=[])["ids"])
            self._drop(self._known.keys() - there)
            self._add_all(sorted(there - self._known.keys()))

    def _add_all(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _PAGE):
            page = self._collection.get(
                ids=ids[start : start + _PAGE], include=["documents", "metadatas"]
            )
            self._put(self._read(page["ids"], page["documents"], page["metadatas"]))

    def _read(
        self,
        ids: Sequence[str],
        documents: Sequence[str | None],
        metadatas: Sequence[Mapping[str, MetadataValue] | None],
    ) -> Iterator[tuple[Memory, int]]:
        for row_id, document, metadata in zip(ids, documents, metadatas, strict=True):
            memory = to_memory(row_id, document, metadata, self._fields, self._unit)
            written = (metadata or {}).get(WRITTEN_AT, 0)
            # A row without text is known, so that the numbers agree, and found by no word.
            memory = memory or Memory.model_construct(content="", id=row_id, memory_type="")
            yield memory, written if isinstance(written, int) else 0

    def _put(self, rows: Iterable[tuple[Memory, int]]) -> None:
        for memory, written in rows:
            if memory.id in self._known:
                self._writer.delete_documents_by_term("id", memory.id)
            self._known[memory.id] = written
            self._writer.add_document(_document(memory))
            self._stale = True

    def _drop(self, ids: Iterable[str]) -> None:
        for row_id in ids:
            if self._known.pop(row_id, None) is not None:
                self._writer.delete_documents_by_term("id", row_id)
                self._stale = True

    # -- the question -----------------------------------------------------------------------------

    def _query(
        self, asked: Sequence[str], scope: Scope, within: Sequence[TimeRange]
    ) -> tantivy.Query:
        said = [self._term("words", word) for word in asked]
        conditions = [self._term("scope", f"{k}={v}") for k, v in scope.fields().items()]
        if within:
            conditions.append(_any([query for each in within for query in self._touching(each)]))
        # A condition only admits: it must not add to the score.
        admitted = [tantivy.Query.const_score_query(each, 0.0) for each in conditions]
        return tantivy.Query.boolean_query(
            [(_MUST, _any(said)), *((_MUST, each) for each in admitted)]
        )

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, index_option="freq")

    def _touching(self, time_range: TimeRange) -> Iterator[tantivy.Query]:
        first = EARLIEST if time_range.start is None else to_milliseconds(time_range.start)
        last = LATEST if time_range.end is None else up_to_milliseconds(time_range.end) - 1
        yield self._between("created_at", first, last)
        yield tantivy.Query.boolean_query(
            [
                (_MUST, self._between("event_start", EARLIEST, last)),
                (_MUST, self._between("event_end", first, LATEST)),
            ]
        )

    def _between(self, field: str, low: int, high: int) -> tantivy.Query:
        kind = tantivy.FieldType.Integer
        return tantivy.Query.range_query(self._schema, field, kind, low, high)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("scope", tokenizer_name="raw", index_option="basic")
    for name in ("created_at", "event_start", "event_end"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _document(memory: Memory) -> tantivy.Document:
    document = tantivy.Document()
    document.add_text("id", memory.id)
    document.add_text("words", " ".join(words(keyword_text(memory))))
    for name, value in memory.scope.fields().items():
        document.add_text("scope", f"{name}={value}")
    if memory.created_at is not None:
        document.add_integer("created_at", to_milliseconds(memory.created_at))
    for name, bound in event_hull(memory.events).items():
        document.add_integer(name, bound)
    return document


def _any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])
