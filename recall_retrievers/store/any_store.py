"""AnyStore: a vector store or a retriever of the framework in the place of a `RecallStore`.

Such a store returns one list, best first. Nothing else is assumed: it may not filter, and its
scores may have any meaning. Scope, filter and times are checked here, on what comes back.
"""

import asyncio
import inspect
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Never, Self, TypedDict, TypeVar

from pydantic import Field, model_validator

from recall_retrievers.core.candidate import Candidate, Hit, Hits
from recall_retrievers.core.errors import (
    ForeignCollectionError,
    IdLookupError,
    KeywordSearchError,
    StoreError,
)
from recall_retrievers.core.memory import Memory, digest, is_reserved
from recall_retrievers.core.settings import MOST_RESULTS, Count, Settings
from recall_retrievers.core.stage import Search
from recall_retrievers.core.world import completed, settled
from recall_retrievers.ranking.fusion import rank_score
from recall_retrievers.store.chroma.fields import OWN_FIELDS, Fields, to_milliseconds
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import filter_where, fulfils

_log = logging.getLogger(__name__)

Found = TypeVar("Found")
PushDown = Callable[[Search], Mapping[str, object]]

_AT_FIRST = 4  # times its limit: a search by words among them wants more than the most similar
_MORE = 10  # if too few of them fit, so many times as many are read
_ROUNDING = 1e-6  # the tolerance for a similarity above 1
# The squared distance of unrelated vectors of length 1, so that squared distances become cosines.
# Cosine distances are half as large, and plain ones are not squared: their order stays.
_ORTHOGONAL = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    memory: Candidate
    metadata: Mapping[str, object]  # in the form of the store
    score: float | None = None  # as the store gives it, if it does


class AnyStoreOptions(TypedDict, total=False):
    """The options of an `AnyStore`, apart from its source and its search by words."""

    fields: Fields | Mapping[str, str]
    similarity: Callable[[float], float] | None
    push_down: PushDown | None
    fetch_limit: int


class AnyStore(Settings):
    """A store of your own in the place of a `RecallStore`: searched, never written.

    Scope, filter and times always hold: every memory that comes back is checked here. If too few
    fit, more are read, until enough fit, the store has no more, or ``fetch_limit`` is reached. If
    fewer than k fit and the store may have more, the trace says so. The times of a memory are its
    recorded time and its ``event_ranges``.

    Without ``keyword`` the store searches by meaning alone. In a "hybrid" search, the words weigh
    among the memories that the meaning found, and the trace says so. A "keyword" search raises an
    error.

    Scores that fall from the first answer to the last, and do not exceed 1, count as similarities.
    Rising scores count as distances on an unknown scale. Of other scores, only the order counts.
    These two are a "nearness" in the trace. A ``threshold_score`` cannot be compared with a
    nearness; set ``similarity`` to turn the scores into similarities.

    Args:
        source: The vector store, index or retriever. In LlamaIndex, a vector store without an index
            embeds with ``Settings.embed_model``.
        fields: The metadata keys of text, time, type, author and scope, as for a collection of
            somebody else.
        similarity: Turns a score into a similarity, 0 to 1: ``lambda distance: 1 - distance``
            for cosine distances, ``lambda squared: 1 - squared / 2`` for FAISS over vectors of
            length 1. None = as described above.
        push_down: Lets a vector store filter while it searches. The function gets the `Search` and
            returns further arguments for the store's own search:
            ``lambda search: {"filter": {"user_id": search.scope.user_id}}``. They may find too
            much, never too little. None = the store searches without a filter.
        keyword: The store's own search by words, such as BM25: a retriever, a vector store, or a
            function that gets the `Search` and returns documents or nodes, best first. It is used
            for searches by words. Its answers are checked as all others are.
        fetch_limit: How many memories of the store are checked at most for one search. A retriever
            without such a setting keeps its own limit.
    """

    searched: ClassVar[type]
    """The class of the framework's vector stores, which take further arguments."""

    limited: ClassVar[tuple[type, ...]]
    """The classes of what returns as many answers as it is told to."""

    source: object = Field(repr=False, exclude=True)
    fields: Fields = OWN_FIELDS
    similarity: Callable[[float], float] | None = Field(default=None, exclude=True)
    push_down: PushDown | None = Field(default=None, exclude=True)
    keyword: Any = Field(default=None, repr=False, exclude=True)
    fetch_limit: Count = MOST_RESULTS

    def find(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """The hits of each search, best first.

        Raises:
            KeywordSearchError: When all searches are by words, and there is no ``keyword``.
            FilterError: When a filter cannot match anything.
        """
        return completed(self._found(searches, asynchronous=False))

    async def afind(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        return await self._found(searches, asynchronous=True)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids; missing ones are left out.

        Raises:
            IdLookupError: When the store does not look up by id.
        """
        if not isinstance(self.source, self.searched):
            raise IdLookupError(f"{self._name} finds by questions; it looks up nothing by id")
        try:
            return [answer.memory.memory() for answer in self._by_id(ids)]
        except NotImplementedError as error:
            raise IdLookupError(f"{self._name} does not look up by id: {error}") from error

    def add(self, memories: Iterable[Memory]) -> Never:
        """Raise an error: only the owner of the store knows how to write to it."""
        raise ForeignCollectionError(
            f"{self._name} is searched, never written: {sum(1 for _ in memories)} memories were "
            "not stored. Add them by its own methods, or keep memories in a RecallStore"
        )

    async def _ask(
        self, source: Any, search: Search, further: Mapping[str, Any], *, asynchronous: bool
    ) -> list[Answer]:
        """Search as the framework does; nothing is waited for where it may block."""
        raise NotImplementedError

    def _by_id(self, ids: Sequence[str]) -> list[Answer]:
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return type(self.source).__name__

    @model_validator(mode="after")
    def _takes_arguments(self) -> Self:
        if self.push_down is not None and not isinstance(self.source, self.searched):
            raise ValueError(
                f"push_down is for the search of a vector store; {self._name} takes no arguments: "
                "hand over the vector store itself, or a retriever that is narrow already"
            )
        return self

    async def _found(self, searches: Sequence[Search], *, asynchronous: bool) -> list[list[Hit]]:
        """The hits of each search; searches that ask the store the same share its answers."""
        if searches and all(s.method == "keyword" for s in searches) and self.keyword is None:
            raise KeywordSearchError(
                f"{self._name} cannot be searched for words; leave method out, make it "
                '"semantic", or set keyword to a search that can: AnyStore(..., keyword=...)'
            )
        now = datetime.now(UTC)
        groups = defaultdict[str, list[tuple[int, Search]]](list)
        for place, search in enumerate(searches):
            method = "semantic" if self.keyword is None else search.method
            alike = replace(search, method=method, limit=1, with_lacking=False)
            if self.push_down is None and not (method == "keyword" and callable(self.keyword)):
                alike = replace(alike, within=(), filter=None)  # they are checked here alone
            groups[repr(alike)].append((place, search.at(now)))
        answers: list[list[Hit]] = [[] for _ in searches]
        for group in groups.values():
            found = await self._read([search for _, search in group], asynchronous=asynchronous)
            for (place, _), hits in zip(group, found, strict=True):
                answers[place] = hits
        return answers

    async def _read(self, searches: Sequence[Search], *, asynchronous: bool) -> list[Hits]:
        """The hits of searches with one text: more is read until enough fits each of them."""
        words = self.keyword is not None and searches[0].method == "keyword"
        source = self.keyword if words else self.source
        pushed = self.push_down if type(source) is type(self.source) else None  # of one language
        limit = max(search.limit for search in searches)
        most = max(limit, self.fetch_limit)
        wanted = min(_AT_FIRST * limit, most)
        fitting = [_fitting(search, self.fields) for search in searches]
        limited = callable(source) or isinstance(source, self.limited)
        while True:
            asked = replace(searches[0], limit=wanted)
            further = {} if pushed is None else pushed(asked)
            try:
                found = await self._ask(source, asked, further, asynchronous=asynchronous)
            except Exception as error:
                error.add_note(
                    f"{type(source).__name__} was asked for {wanted} answers; "
                    "AnyStore(fetch_limit=...) bounds how many"
                )
                raise
            ranked = self._ranked(found, words=words)
            fit = [[hit for hit, row in ranked if fits(hit.memory, row)] for fits in fitting]
            few = any(
                len(hits) < search.limit
                for search, hits in zip(searches, fit, strict=True)
                if words or search.method == "semantic"
            )
            whole = len(found) < wanted if limited else all(len(x) == len(ranked) for x in fit)
            if not few or whole or wanted == most or not limited:
                break
            wanted = min(_MORE * wanted, most)
        looked_through = None if whole else len(found)
        return [
            self._cut(search, hits, looked_through, among=not words and search.method == "keyword")
            for search, hits in zip(searches, fit, strict=True)
        ]

    def _cut(self, search: Search, hits: list[Hit], looked: int | None, *, among: bool) -> Hits:
        if among:
            return Hits(by_words(search.text, hits)[: search.limit])  # which say it themselves
        if looked is not None and not hits:  # then no result can say it
            problem = "%s: none of the first %d memories fits the search; more may be there"
            _log.warning(problem, self._name, looked)
        found = Hits(hits[: search.limit])
        found.looked_through = looked if len(hits) < search.limit else None
        return found

    def _ranked(
        self, found: Sequence[Answer], *, words: bool
    ) -> list[tuple[Hit, Mapping[str, object]]]:
        """The answers without repetition, with an id, a comparable score, and the metadata."""
        name, values = comparable([answer.score for answer in found], self.similarity, words=words)
        ranked: dict[str, tuple[Hit, Mapping[str, object]]] = {}
        for answer, value in zip(found, values, strict=True):
            memory = _named(answer.memory)
            if memory.content.strip() and memory.id not in ranked:
                ranked[memory.id] = (Hit(memory, value, {name: value}), answer.metadata)
        return list(ranked.values())


def _fitting(search: Search, fields: Fields) -> Callable[[Candidate, Mapping[str, object]], bool]:
    where = filter_where(search.filter, fields, timezone=search.timezone)
    admitted = search.admitting()

    def fits(memory: Candidate, metadata: Mapping[str, object]) -> bool:
        moment = memory.created_at
        recorded = {} if moment is None else {fields.created_at: to_milliseconds(moment)}
        fitting = fulfils(where, memory.content, {**metadata, **recorded})
        return fitting and (admitted is None or admitted(memory))

    return fits


def _named(memory: Candidate) -> Candidate:
    if memory.id:
        return memory
    stored = (memory.content, memory.author, memory.created_at, memory.scope, memory.metadata)
    return replace(memory, id=digest(repr(stored)))


def in_our_names(metadata: Mapping[str, object], fields: Fields) -> dict[str, object]:
    """Metadata with the fields of a memory under our names, and the store's other keys.

    Keys of our trace are left out, because the documents of the store are not results of ours.

    Examples:
        >>> in_our_names({"owner": "ann", "user_id": 7, "recall_x": 1}, Fields(user_id="owner"))
        {'owner': 'ann', 'user_id': 'ann'}
    """
    others = {name: key for name, key in fields if name not in ("content", key)}
    rest = {k: x for k, x in metadata.items() if k not in others and not is_reserved(k)}
    return {**rest, **{name: metadata[key] for name, key in others.items() if key in metadata}}


async def called(
    function: Callable[[Search], Found | Awaitable[Found]], search: Search, *, asynchronous: bool
) -> Found:
    """What a search finds that is a function of the user; a plain one is called in a thread."""
    found = await asyncio.to_thread(function, search) if asynchronous else function(search)
    if asynchronous or not inspect.isawaitable(found):
        return await settled(found)
    if inspect.iscoroutine(found):
        found.close()
    raise StoreError(
        "keyword is an async function; ask with the async method, or make it a plain one"
    )


def comparable(
    scores: Sequence[float | None],
    similarity: Callable[[float], float] | None = None,
    *,
    words: bool = False,
) -> tuple[str, list[float]]:
    """The scores of a store as one of three measures, and the name of the measure.

    Where they tell nothing, or only some answers have one, their order counts.

    Examples:
        >>> comparable([0.9, 0.4, -0.2]), comparable([0.5, 1.0])  # the latter rise: distances
        (('similarity', [0.9, 0.4, 0.0]), ('nearness', [0.75, 0.5]))
    """
    known = [float(score) for score in scores if score is not None]
    by_rank = [rank_score(rank) for rank in range(1, len(scores) + 1)]
    whole = len(known) == len(scores)
    falling = whole and known == sorted(known, reverse=True)
    rising = whole and known == sorted(known) and all(score >= 0 for score in known)
    if words:
        return "keyword", known if falling and all(score >= 0 for score in known) else by_rank
    if whole and similarity is not None:
        known, falling = [similarity(score) for score in known], True
    elif any(score > 1 + _ROUNDING for score in known):
        falling = False
    if falling:
        return "similarity", [min(max(score, 0.0), 1.0) for score in known]
    if not rising:
        return "nearness", by_rank
    longest = max(_ORTHOGONAL, *known)
    return "nearness", [1 - score / longest for score in known]
