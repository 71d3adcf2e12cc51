"""AnyStore: a vector store or a retriever of the framework in the place of a `RecallStore`.

Such a store is asked for one list, the best first, and no more is taken for granted: neither that
it filters, nor what its scores mean. Scope, filter and time are looked at here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Never, TypedDict

from pydantic import Field

from recall_stages.core.candidate import Candidate, Hit
from recall_stages.core.driver import drive, drive_async
from recall_stages.core.errors import ForeignCollectionError, KeywordSearchError
from recall_stages.core.memory import Memory, Scope, is_reserved
from recall_stages.core.reflection import digest
from recall_stages.core.settings import Settings
from recall_stages.core.stage import Search
from recall_stages.store.chroma.epoch import to_milliseconds
from recall_stages.store.chroma.row_fields import OWN_FIELDS, Fields
from recall_stages.store.chroma.where import filter_where
from recall_stages.store.filter_match import fulfils
from recall_stages.store.foreign_scores import nearness, similarities
from recall_stages.store.pool_bm25 import by_words


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the store, in its own words.

    Attributes:
        text: What to look for.
        limit: How many at the most.
        timezone: The zone in which times without one are read.
        further: Further arguments of its search.
    """

    text: str
    limit: int
    timezone: tzinfo | None = None
    further: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """One of the answers of the store.

    Attributes:
        memory: What it says, as a candidate.
        metadata: Its metadata, as the store has it.
        score: What the store says of it; None = nothing.
    """

    memory: Candidate
    metadata: Mapping[str, object]
    score: float | None = None


Asking = Generator[Asked, Sequence[Found], list[list[Hit]]]


# Of so many times as many as are wanted by words: what is near in meaning and in none of the words
# makes room for what is less near and has them.
_WORDS_AMONG = 4


class AnyStoreOptions(TypedDict, total=False):
    """What an `AnyStore` may be opened with, apart from its source."""

    fields: Fields | Mapping[str, str]
    similarity: Callable[[float], float] | None
    push_down: Callable[[Scope], Mapping[str, object]] | None
    fetch_limit: int


class AnyStore(Settings):
    """A store of your own in the place of a `RecallStore`: searched, never written.

    It finds by meaning alone: in a "hybrid" search the words weigh among what was found so, and the
    trace says it; a "keyword" one raises. Scope, filter and time hold whatever the store does:
    where one of them is set, up to ``fetch_limit`` of its memories are looked through. A memory's
    times are when it was recorded and what its ``event_ranges`` say.

    Scores that fall from the first answer to the last, and do not exceed 1, are similarities. Those
    that rise are distances of an unknown scale; of all others only the places count. These two are
    "nearness" in the trace, and no ``threshold_score`` can be compared with them, unless
    ``similarity`` says what they mean.

    What the store itself raises is raised as it is: you know its errors, and we do not.

    Args:
        source: The vector store, index or retriever. In LlamaIndex, a vector store without an index
            embeds with ``Settings.embed_model``.
        fields: Where its metadata keeps text, time, type, author and scope; as for a collection
            that somebody else made.
        similarity: What makes a similarity, 0 to 1, of its score: ``lambda distance: 1 - distance``
            for cosine distances, ``lambda squared: 1 - squared / 2`` for FAISS over vectors of
            length 1. None = as said above.
        push_down: Further arguments for the store's own search, so that it need not be looked
            through for one user: ``lambda scope: {"filter": {"user_id": scope.user_id}}``. The
            scope is checked here all the same. Not for retrievers.
        fetch_limit: How many memories are looked through at most if a scope, a filter or a time
            must hold. A retriever without such a setting is asked as it is.
    """

    source: object = Field(repr=False, exclude=True)
    fields: Fields = OWN_FIELDS
    similarity: Callable[[float], float] | None = Field(default=None, exclude=True)
    push_down: Callable[[Scope], Mapping[str, object]] | None = Field(default=None, exclude=True)
    fetch_limit: int = Field(default=1000, ge=1)

    def find(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """For each search the memories that answer it, the best first.

        Raises:
            KeywordSearchError: When all of them search for words.
            FilterError: When a filter cannot match anything.
        """
        return drive(self._answers(searches), self._ask)

    async def afind(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        return await drive_async(self._answers(searches), self._aask)

    def add(self, memories: Iterable[Memory]) -> Never:
        """Refuse: only its owner knows how it is to be written."""
        raise ForeignCollectionError(
            f"{self._name} is searched, never written: {sum(1 for _ in memories)} memories were "
            "not stored. Add them by its own methods, or keep memories in a RecallStore"
        )

    def _ask(self, asked: Asked) -> list[Found]:
        """Ask the store, as the framework does."""
        raise NotImplementedError

    async def _aask(self, asked: Asked) -> list[Found]:
        """The same, without blocking the event loop."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return type(self.source).__name__

    def _cannot_push_down(self) -> None:
        """Refuse arguments for a search that takes none."""
        if self.push_down is not None:
            raise ValueError(
                f"push_down is for the search of a vector store; {self._name} takes no arguments: "
                "hand over the vector store itself, or a retriever that is narrow already"
            )

    def _answers(self, searches: Sequence[Search]) -> Asking:
        """The memories for each search; the store is asked once for those of one text and scope."""
        if searches and all(search.method == "keyword" for search in searches):
            raise KeywordSearchError(
                f"{self._name} cannot be searched for words; leave method out, or make it "
                '"semantic"'
            )
        answers: list[list[Hit]] = [[] for _ in searches]
        for wanted in dict.fromkeys((each.text, each.scope) for each in searches):
            places = [n for n, each in enumerate(searches) if (each.text, each.scope) == wanted]
            found = yield from self._looked_through([searches[place] for place in places])
            for place, memories in zip(places, found, strict=True):
                answers[place] = memories
        return answers

    def _looked_through(self, searches: Sequence[Search]) -> Asking:
        """The answers to searches for one text in one scope, out of one list of the store's."""
        text, scope, timezone = searches[0].text, searches[0].scope, searches[0].timezone
        further = self.push_down(scope) if self.push_down else {}
        fitting = [_fitting(search, self.fields) for search in searches]
        limit = max(search.limit for search in searches)
        most = max(limit, self.fetch_limit)
        worded = any(search.method == "keyword" for search in searches)
        wanted = min(_WORDS_AMONG * limit, most) if worded else limit
        if any(self._is_checked_here(search) for search in searches):
            wanted = most
        while True:
            found = yield Asked(text, wanted, timezone, further)
            ranked = self._ranked(found)
            answers = [[hit for hit, raw in ranked if fits(hit.memory, raw)] for fits in fitting]
            answers = [
                by_words(text, answer) if search.method == "keyword" else answer
                for search, answer in zip(searches, answers, strict=True)
            ]
            few = any(
                len(answer) < search.limit
                for search, answer in zip(searches, answers, strict=True)
                if search.method == "semantic"
            )
            if not few or len(found) < wanted or wanted == most:
                return [a[: s.limit] for a, s in zip(answers, searches, strict=True)]
            wanted = most

    def _is_checked_here(self, search: Search) -> bool:
        scoped = bool(search.scope.fields()) and self.push_down is None
        return scoped or bool(search.within) or search.filter is not None

    def _ranked(self, found: Sequence[Found]) -> list[tuple[Hit, Mapping[str, object]]]:
        """Each memory once, with an id, a score that can be compared, and its metadata."""
        scores = [each.score for each in found]
        similar = similarities(scores, self.similarity)
        name, values = (
            ("nearness", nearness(scores)) if similar is None else ("similarity", similar)
        )
        ranked: dict[str, tuple[Hit, Mapping[str, object]]] = {}
        for each, value in zip(found, values, strict=True):
            memory = _named(each.memory)
            if memory.content.strip() and memory.id not in ranked:
                ranked[memory.id] = (Hit(memory, value, {name: value}), each.metadata)
        return list(ranked.values())


def _named(memory: Candidate) -> Candidate:
    """A memory with an id: where the store has none, what it says and when is its name."""
    if memory.id:
        return memory
    stored = (memory.content, memory.author, memory.created_at, memory.scope, memory.metadata)
    return replace(memory, id=digest(repr(stored)))


def _fitting(search: Search, fields: Fields) -> Callable[[Candidate, Mapping[str, object]], bool]:
    """Whether a memory, with the store's own metadata beside it, may answer a search."""
    where = filter_where(search.filter, fields, timezone=search.timezone)
    admitted = search.admitting()

    def fits(memory: Candidate, metadata: Mapping[str, object]) -> bool:
        if admitted is not None and not admitted(memory):
            return False
        moment = memory.created_at
        recorded = {} if moment is None else {fields.created_at: to_milliseconds(moment)}
        return fulfils(where, memory.content, {**metadata, **recorded})

    return fits


def in_our_names(metadata: Mapping[str, object], fields: Fields) -> dict[str, object]:
    """Metadata with what a memory needs under our names, beside the store's own.

    What looks like a trace of ours is left out: the store's documents are no results of ours.

    Examples:
        >>> in_our_names({"owner": "ann", "user_id": 7}, Fields(user_id="owner"))
        {'owner': 'ann', 'user_id': 'ann'}
        >>> in_our_names({"owner": "ann", "recall_similarity": 0.99}, Fields())
        {'owner': 'ann'}
    """
    others = {name: key for name, key in fields if name not in ("content", key)}
    kept = {
        key: value for key, value in metadata.items() if key not in others and not is_reserved(key)
    }
    return {**kept, **{name: metadata[key] for name, key in others.items() if key in metadata}}
