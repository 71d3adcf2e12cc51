"""AnyStore: a vector store or a retriever of the framework in the place of a `RecallStore`.

Such a store returns one list, best first. Nothing else is assumed: it may not filter, and its
scores may have any meaning. Scope, filter and time are checked here.
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
class Lookup:
    """A search of the store.

    Attributes:
        text: The text to search for.
        limit: How many answers at most.
        timezone: The zone for times without a zone.
        further: Further arguments of its search.
    """

    text: str
    limit: int
    timezone: tzinfo | None = None
    further: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the store.

    Attributes:
        memory: The answer as a candidate.
        metadata: The metadata in the form of the store.
        score: The score of the store; None = it has none.
    """

    memory: Candidate
    metadata: Mapping[str, object]
    score: float | None = None


AnswerFlow = Generator[Lookup, Sequence[Answer], list[list[Hit]]]


# A search by words reads this many times its limit: memories that share no word with the question
# make room for less similar ones that do.
_WORDS_AMONG = 4


class AnyStoreOptions(TypedDict, total=False):
    """The options of an `AnyStore`, apart from its source."""

    fields: Fields | Mapping[str, str]
    similarity: Callable[[float], float] | None
    push_down: Callable[[Scope], Mapping[str, object]] | None
    fetch_limit: int


class AnyStore(Settings):
    """A store of your own in the place of a `RecallStore`: searched, never written.

    The store searches by meaning alone. In a "hybrid" search, the words weigh among the memories
    that the meaning found, and the trace says so. A "keyword" search raises an error. Scope, filter
    and time always hold: if one of them is set, up to ``fetch_limit`` memories of the store are
    checked. The times of a memory are its recorded time and its ``event_ranges``.

    Scores that fall from the first answer to the last, and do not exceed 1, count as similarities.
    Rising scores count as distances on an unknown scale. Of other scores, only the order counts.
    These two are a "nearness" in the trace. A ``threshold_score`` cannot be compared with a
    nearness; set ``similarity`` to turn the scores into similarities.

    Errors of the store itself are raised as they are.

    Args:
        source: The vector store, index or retriever. In LlamaIndex, a vector store without an index
            embeds with ``Settings.embed_model``.
        fields: The metadata keys of text, time, type, author and scope, as for a collection of
            somebody else.
        similarity: Turns a score into a similarity, 0 to 1: ``lambda distance: 1 - distance``
            for cosine distances, ``lambda squared: 1 - squared / 2`` for FAISS over vectors of
            length 1. None = as described above.
        push_down: Further arguments for the store's own search, so that it returns one user's
            memories only: ``lambda scope: {"filter": {"user_id": scope.user_id}}``. The scope is
            checked here all the same. Not for retrievers.
        fetch_limit: How many memories are checked at most if a scope, a filter or a time must
            hold. A retriever without such a setting keeps its own limit.
    """

    source: object = Field(repr=False, exclude=True)
    fields: Fields = OWN_FIELDS
    similarity: Callable[[float], float] | None = Field(default=None, exclude=True)
    push_down: Callable[[Scope], Mapping[str, object]] | None = Field(default=None, exclude=True)
    fetch_limit: int = Field(default=1000, ge=1)

    def find(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """The hits of each search, best first.

        Raises:
            KeywordSearchError: When all searches are by words.
            FilterError: When a filter cannot match anything.
        """
        return drive(self._answers(searches), self._ask)

    async def afind(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        return await drive_async(self._answers(searches), self._aask)

    def add(self, memories: Iterable[Memory]) -> Never:
        """Raise an error: only the owner of the store knows how to write to it."""
        raise ForeignCollectionError(
            f"{self._name} is searched, never written: {sum(1 for _ in memories)} memories were "
            "not stored. Add them by its own methods, or keep memories in a RecallStore"
        )

    def _ask(self, lookup: Lookup) -> list[Answer]:
        """Search the store, as the framework does."""
        raise NotImplementedError

    async def _aask(self, lookup: Lookup) -> list[Answer]:
        """The same, without blocking the event loop."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return type(self.source).__name__

    def _cannot_push_down(self) -> None:
        """Refuse ``push_down`` for a search without arguments."""
        if self.push_down is not None:
            raise ValueError(
                f"push_down is for the search of a vector store; {self._name} takes no arguments: "
                "hand over the vector store itself, or a retriever that is narrow already"
            )

    def _answers(self, searches: Sequence[Search]) -> AnswerFlow:
        """The hits of each search; searches with the same text and scope share one of the store."""
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

    def _looked_through(self, searches: Sequence[Search]) -> AnswerFlow:
        """The hits of searches for one text in one scope, from one list of the store."""
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
            found = yield Lookup(text, wanted, timezone, further)
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

    def _ranked(self, found: Sequence[Answer]) -> list[tuple[Hit, Mapping[str, object]]]:
        """The answers without repetition, with an id, a comparable score, and the metadata."""
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
    """A memory with an id; if the store has none, the id is a digest of the memory."""
    if memory.id:
        return memory
    stored = (memory.content, memory.author, memory.created_at, memory.scope, memory.metadata)
    return replace(memory, id=digest(repr(stored)))


def _fitting(search: Search, fields: Fields) -> Callable[[Candidate, Mapping[str, object]], bool]:
    """The check of a memory, with the store's own metadata, against a search."""
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
    """Metadata with the fields of a memory under our names, and the store's other keys.

    Keys of our trace are left out, because the documents of the store are not results of ours.

    Examples:
        >>> in_our_names({"owner": "ann", "user_id": 7}, Fields(user_id="owner"))
        {'owner': 'ann', 'user_id': 'ann'}
        >>> in_our_names({"owner": "ann", "recall_similarity": 0.99}, Fields())
        {'owner': 'ann'}
    """
    others = {name: key for name, key in fields if name not in ("content", key)}
    rest = {
        key: value for key, value in metadata.items() if key not in others and not is_reserved(key)
    }
    return {**rest, **{name: metadata[key] for name, key in others.items() if key in metadata}}
