"""The answers of a store of somebody else: read as memories, and checked against a search."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.memory import is_reserved
from recall_retrievers.core.reflection import digest
from recall_retrievers.core.stage import Search
from recall_retrievers.ranking.fusion import rank_score
from recall_retrievers.store.chroma.fields import Fields, to_milliseconds
from recall_retrievers.store.chroma.where import filter_where, fulfils

Found = TypeVar("Found")

_ROUNDING = 1e-6  # the tolerance for a similarity above 1
# The squared distance of unrelated vectors of length 1, so that squared distances become cosines.
# Cosine distances are half as large, and plain ones are not squared: their order stays.
_ORTHOGONAL = 2.0


@dataclass(frozen=True, slots=True)
class Lookup:
    """A search of the store."""

    search: Search  # its limit is how many answers at most
    further: Mapping[str, object] = field(default_factory=dict)  # arguments: what it is to check
    words: bool = False  # whether the store's own search by words is meant


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the store."""

    memory: Candidate
    metadata: Mapping[str, object]  # in the form of the store
    score: float | None = None  # as the store gives it, if it does


def is_conditional(search: Search) -> bool:
    """Whether a search wants only some of the memories."""
    return bool(search.scope.fields() or search.within or search.filter is not None)


def named(memory: Candidate) -> Candidate:
    """A memory with an id; if the store has none, the id is a digest of the memory."""
    if memory.id:
        return memory
    stored = (memory.content, memory.author, memory.created_at, memory.scope, memory.metadata)
    return replace(memory, id=digest(repr(stored)))


def fitting(search: Search, fields: Fields) -> Callable[[Candidate, Mapping[str, object]], bool]:
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


async def called(
    function: Callable[[Search], Found | Awaitable[Found]], search: Search, *, asynchronous: bool
) -> Found:
    """What a search finds that is a function of the user.

    In an event loop, a plain function is called in a thread.

    Raises:
        StoreError: When it is async, and the call blocks: it cannot wait for it.
    """
    if asynchronous:
        found = await asyncio.to_thread(function, search)
        return await found if inspect.isawaitable(found) else found
    found = function(search)
    if not inspect.isawaitable(found):
        return found
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

    - "keyword": the scores of a search by words, 0 and up;
    - "similarity": 0 to 1, where they fall and do not exceed 1, or ``similarity`` makes them so;
    - "nearness": 0 to 1, of distances on an unknown scale.

    Where they tell nothing, or only some answers have one, their order counts.

    Examples:
        >>> comparable([0.9, 0.4, -0.2])
        ('similarity', [0.9, 0.4, 0.0])
        >>> comparable([0.5, 1.0])  # they rise: distances
        ('nearness', [0.75, 0.5])
        >>> comparable([0.1, 0.6], lambda distance: 1 - distance)
        ('similarity', [0.9, 0.4])
        >>> comparable([7.5, 2.0], words=True)
        ('keyword', [7.5, 2.0])
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
