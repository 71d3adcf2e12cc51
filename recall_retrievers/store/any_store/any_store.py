"""AnyStore: a vector store or a retriever of the framework in the place of a `RecallStore`.

Such a store returns one list, best first. Nothing else is assumed: it may not filter, and its
scores may have any meaning. Scope, filter and time are checked here, whatever the store checked.
"""

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, ClassVar, Never, Self, TypedDict

from pydantic import Field, PrivateAttr, model_validator

from recall_retrievers.core.candidate import Hit, Hits
from recall_retrievers.core.errors import (
    ForeignCollectionError,
    IdLookupError,
    KeywordSearchError,
    StoreError,
)
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.settings import Count, Settings
from recall_retrievers.core.stage import Search
from recall_retrievers.core.world import completed
from recall_retrievers.store.any_store.answers import (
    Answer,
    Lookup,
    comparable,
    fitting,
    is_conditional,
    named,
)
from recall_retrievers.store.any_store.coarse_filter import Dialect, written_unit
from recall_retrievers.store.chroma.fields import OWN_FIELDS, Fields, TimeUnit
from recall_retrievers.store.chroma.search_text import by_words

_log = logging.getLogger(__name__)


PushDown = Callable[[Search], Mapping[str, object]]
Push = PushDown | str | None
"""The setting ``push_down``: a function, the name of a filter language, or None."""

Ask = Callable[[Lookup], Awaitable[Sequence[Answer]]]
"""Searches the store, as the framework does."""

# A search by words reads this many times its limit: memories that share no word with the question
# make room for less similar ones that do.
_WORDS_AMONG = 4
_MORE = 4  # if too few of the answers fit, so many times as many are read


class AnyStoreOptions(TypedDict, total=False):
    """The options of an `AnyStore`, apart from its source and its search by words."""

    fields: Fields | Mapping[str, str]
    similarity: Callable[[float], float] | None
    push_down: Push
    times: TimeUnit
    fetch_limit: int


class AnyStore(Settings):
    """A store of your own in the place of a `RecallStore`: searched, never written.

    Scope, filter and time always hold: they are checked here. If the store can check them too, they
    are pushed down, so that a memory that fits is found among any number of others. If it cannot,
    up to ``fetch_limit`` of its memories are checked. If that was not enough for k memories, the
    trace says so. The times of a memory are its recorded time and its
    ``event_ranges``.

    Without ``keyword`` the store searches by meaning alone. In a "hybrid" search, the words weigh
    among the memories that the meaning found, and the trace says so. A "keyword" search raises an
    error.

    Scores that fall from the first answer to the last, and do not exceed 1, count as similarities.
    Rising scores count as distances on an unknown scale. Of other scores, only the order counts.
    These two are a "nearness" in the trace. A ``threshold_score`` cannot be compared with a
    nearness; set ``similarity`` to turn the scores into similarities.

    Errors of the store itself are raised as they are. If something was pushed down, a note of the
    error says so.

    Args:
        source: The vector store, index or retriever. In LlamaIndex, a vector store without an index
            embeds with ``Settings.embed_model``.
        fields: The metadata keys of text, time, type, author and scope, as for a collection of
            somebody else.
        similarity: Turns a score into a similarity, 0 to 1: ``lambda distance: 1 - distance``
            for cosine distances, ``lambda squared: 1 - squared / 2`` for FAISS over vectors of
            length 1. None = as described above.
        push_down: The filter language of the store: "qdrant"; in LangChain also "pgvector" and
            "chroma" (for stores that take Chroma's dictionaries), in LlamaIndex "filters"
            (``MetadataFilters``), "chroma" (those that Chroma takes) and "flat_filters" (those
            without "or"; a time is not pushed down). "auto" = the language of the store, if it is
            one of these. A function gets the `Search` and returns further arguments for the store's
            own search: ``lambda search: {"filter": {"user_id": search.scope.user_id}}``. It may
            return too much, never too little. None = nothing is pushed down. For retrievers,
            nothing is.
        times: How the store writes the recorded time: as epoch "seconds" or "milliseconds", or in
            ISO 8601 ("iso"). "mixed" = in several ways, or otherwise: then no time is pushed down.
            A memory that is found and has its time in another form is an error.
        keyword: The store's own search by words, such as BM25: a retriever, a vector store, or a
            function that gets the `Search` and returns documents or nodes, best first. It is used
            for searches by words. Its answers are checked as all others are.
        fetch_limit: How many memories are checked at most if a scope, a filter or a time must
            hold. A retriever without such a setting keeps its own limit.
    """

    languages: ClassVar[Mapping[str, type[Dialect[Any]]]] = {}
    """The filter languages of the framework's vector stores."""

    unfiltered: ClassVar[tuple[str, ...]] = ()
    """The names of the classes of vector stores that refuse every filter."""

    source: object = Field(repr=False, exclude=True)
    fields: Fields = OWN_FIELDS
    similarity: Callable[[float], float] | None = Field(default=None, exclude=True)
    push_down: Push = Field(default="auto", exclude=True)
    times: TimeUnit = "seconds"
    keyword: Any = Field(default=None, repr=False, exclude=True)
    fetch_limit: Count = 1000

    _push: Dialect[Any] | PushDown | None = PrivateAttr()

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
        store = self._vector_store
        if store is None:
            raise IdLookupError(f"{self._name} finds by questions; it looks up nothing by id")
        try:
            found = self._by_id(ids)
        except NotImplementedError as error:
            name = type(store).__name__
            raise IdLookupError(f"{name} does not look up by id: {error}") from error
        return [each.memory.memory() for each in found]

    def add(self, memories: Iterable[Memory]) -> Never:
        """Raise an error: only the owner of the store knows how to write to it."""
        raise ForeignCollectionError(
            f"{self._name} is searched, never written: {sum(1 for _ in memories)} memories were "
            "not stored. Add them by its own methods, or keep memories in a RecallStore"
        )

    async def _ask(self, lookup: Lookup, *, asynchronous: bool) -> list[Answer]:
        """Search the store, as the framework does; where it may block, nothing is waited for."""
        raise NotImplementedError

    def _by_id(self, ids: Sequence[str]) -> list[Answer]:
        """Look up ids in the vector store."""
        raise NotImplementedError

    def _takes_limit(self, source: object) -> bool:
        """Whether a source returns as many answers as it is told to."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return type(self.source).__name__

    @property
    def _vector_store(self) -> object:
        """The vector store that is searched; None for a retriever, which takes no arguments."""
        return None

    @model_validator(mode="after")
    def _in_its_language(self) -> Self:
        push, searched = self.push_down, self._vector_store
        if searched is None and push not in ("auto", None):
            raise ValueError(
                f"push_down is for the search of a vector store; {self._name} takes no arguments: "
                "hand over the vector store itself, or a retriever that is narrow already"
            )
        self._push = self._language(searched, push)
        return self

    def _language(self, searched: object, push: Push) -> Dialect[Any] | PushDown | None:
        if not isinstance(push, str):
            return push
        if push == "auto":
            for name in (each.__name__ for each in type(searched).__mro__):
                if name in self.unfiltered:
                    return None
                for dialect in self.languages.values():
                    if name in dialect.stores:
                        return dialect.of(searched)
            return None
        if push not in self.languages:
            names = ", ".join(f'"{name}"' for name in ("auto", *self.languages))
            raise ValueError(
                f"push_down must be {names}, a function of a Search, or None; got {push!r}"
            )
        return self.languages[push].of(searched)

    async def _found(self, searches: Sequence[Search], *, asynchronous: bool) -> list[list[Hit]]:
        """The hits of each search; searches with the same text and conditions share one."""
        if searches and all(s.method == "keyword" for s in searches) and self.keyword is None:
            raise KeywordSearchError(
                f"{self._name} cannot be searched for words; leave method out, make it "
                '"semantic", or set keyword to a search that can: AnyStore(..., keyword=...)'
            )
        now, ask = datetime.now(UTC), partial(self._ask, asynchronous=asynchronous)
        searches = [search.at(now) for search in searches]
        answers: list[list[Hit]] = [[] for _ in searches]
        for places in self._alike(searches):
            found = await self._looked_through([searches[place] for place in places], ask)
            for place, memories in zip(places, found, strict=True):
                answers[place] = memories
        return answers

    def _alike(self, searches: Sequence[Search]) -> list[list[int]]:
        """The places of searches that can share one list of the store."""
        groups: dict[str, list[int]] = defaultdict(list)
        for place, search in enumerate(searches):
            method = search.method if self.keyword is not None else "semantic"
            same = replace(search, method=method, limit=1)
            if not self._pushes(same):
                same = replace(same, within=(), filter=None)
            groups[repr(same)].append(place)
        return [*groups.values()]

    async def _looked_through(self, searches: Sequence[Search], ask: Ask) -> list[Hits]:
        """The hits of searches with one text, from one list of the store."""
        search = searches[0]
        limit = max(each.limit for each in searches)
        most = max(limit, self.fetch_limit)
        words = self._worded(search)
        checks = [fitting(each, self.fields) for each in searches]
        among = any(each.method == "keyword" for each in searches) and not words
        wanted = min(_WORDS_AMONG * limit, most) if among else limit
        if any(is_conditional(each) for each in searches) and not self._further(search):
            wanted = most
        while True:
            found = await self._read(replace(search, limit=wanted), ask)
            ranked = self._ranked(found, words=words)
            answers = [[hit for hit, raw in ranked if fits(hit.memory, raw)] for fits in checks]
            few = any(
                len(answer) < each.limit
                for each, answer in zip(searches, answers, strict=True)
                if words or each.method == "semantic"
            )
            complete = len(found) < wanted
            if not few or complete or wanted == most:
                break
            wanted = min(_MORE * wanted, most)
        source = self.keyword if words else self.source
        if not callable(source) and not self._takes_limit(source):
            complete = all(len(answer) == len(ranked) for answer in answers)
        looked = None if complete else len(found)
        return [
            self._shortened(each, answer, looked, among=among)
            for each, answer in zip(searches, answers, strict=True)
        ]

    def _shortened(
        self,
        search: Search,
        hits: Sequence[Hit],
        looked_through: int | None,
        *,
        among: bool,
    ) -> Hits:
        """The hits of a search, cut, with what is to be known of them."""
        if among and search.method == "keyword":
            hits = by_words(search.text, hits)
            looked_through = None  # they say already that they are of a pool
        if looked_through is not None and not hits:  # then no result can say it
            _log.warning(
                "%s: none of the first %d memories fits the search; more may be there",
                self._name,
                looked_through,
            )
        few = len(hits) < search.limit
        return Hits(hits[: search.limit], looked_through if few else None)

    async def _read(self, search: Search, ask: Ask) -> Sequence[Answer]:
        """The answers of the store."""
        further = self._further(search)
        try:
            found = await ask(Lookup(search, further, self._worded(search)))
        except Exception as error:
            if further:
                error.add_note(
                    f"{self._name} got a filter; AnyStore(push_down=None) checks it here"
                )
            raise
        if self._pushes(search):
            self._check_times(found)
            if further and search.within and not found:  # as where its times have another form
                await self._read(replace(search, within=(), limit=1), ask)
        return found

    def _further(self, search: Search) -> Mapping[str, object]:
        """The arguments of the store's search: what it is to check."""
        if not self._pushes(search) or self._push is None:
            return {}
        if isinstance(self._push, Dialect):
            return self._push.narrowing(search, self.fields, self.times)
        return self._push(search)

    def _check_times(self, found: Sequence[Answer]) -> None:
        """Refuse a memory whose time the store does not compare as ``times`` says."""
        if not (isinstance(self._push, Dialect) and self._push.alternatives):
            return
        for each in found if self.times != "mixed" else ():
            written, row = each.metadata.get(self.fields.created_at), each.metadata
            bare = row.get("event_ranges") and not {"event_start", "event_end"} <= row.keys()
            if each.memory.created_at is not None and written_unit(written) != self.times:
                problem = f"{self.fields.created_at!r} is {written!r}"
            elif bare and not self._push.knows_missing:
                problem = "has event_ranges, and no event_start and event_end"
            else:
                continue
            raise StoreError(
                f"times must say how {self._name} writes its times, or some would not be found; "
                f"it is {self.times!r}, and of memory {each.memory.id!r} {problem}. Set "
                'AnyStore(times=...) to "seconds", "milliseconds" or "iso", or to "mixed" to have '
                "times checked here"
            )

    def _worded(self, search: Search) -> bool:
        return search.method == "keyword" and self.keyword is not None

    def _pushes(self, search: Search) -> bool:
        # A search by words by another kind of store has another language.
        alike = not self._worded(search) or type(self.keyword) is type(self.source)
        return alike and self._push is not None

    def _ranked(
        self, found: Sequence[Answer], *, words: bool
    ) -> list[tuple[Hit, Mapping[str, object]]]:
        """The answers without repetition, with an id, a comparable score, and the metadata."""
        name, values = comparable([each.score for each in found], self.similarity, words=words)
        ranked: dict[str, tuple[Hit, Mapping[str, object]]] = {}
        for each, value in zip(found, values, strict=True):
            memory = named(each.memory)
            if memory.content.strip() and memory.id not in ranked:
                ranked[memory.id] = (Hit(memory, value, {name: value}), each.metadata)
        return list(ranked.values())
