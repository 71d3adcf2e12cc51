"""The memories of a time, newest or oldest first: the answer to a question without words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, Protocol, runtime_checkable

from recall_stages.core.candidate import Candidate
from recall_stages.core.memory import Memory
from recall_stages.core.query import Filter
from recall_stages.core.requests import Listing
from recall_stages.core.scope import Scope
from recall_stages.store.chroma.epoch import bounds_of
from recall_stages.store.position import place_of
from recall_stages.timeline import TimeRange


@runtime_checkable
class ListsMemories(Protocol):
    """A store that lists its memories; see `RecallStore.memories`."""

    def memories(
        self,
        *,
        scope: Scope | None = None,
        time_range: TimeRange | None = None,
        filter: Filter | None = None,
        order: Literal["newest", "oldest"] = "newest",
    ) -> Iterator[Memory]:
        """The memories that fulfil all conditions, by recorded time."""


def listed(store: ListsMemories, listing: Listing) -> list[Candidate]:
    """The memories that a listing asks for, in its order, by recorded time.

    A memory is of a time if it was recorded in it, or names an event in it.
    """
    found: dict[str, Candidate] = {}
    for memories in _found(store, listing):
        living = (each for each in memories if not each.expired(listing.moment))
        found |= {each.id: Candidate.of(each) for each in islice(living, listing.limit)}
    ordered = sorted(found.values(), key=place_of, reverse=listing.order == "newest")
    return ordered[: listing.limit]


def _found(store: ListsMemories, listing: Listing) -> Iterator[Iterator[Memory]]:
    scope, wanted, order = listing.scope, listing.filter, listing.order
    if not listing.within:
        yield store.memories(scope=scope, filter=wanted, order=order)
    for during in listing.within:
        yield store.memories(scope=scope, filter=wanted, order=order, time_range=during)
        events = _with_events(during, wanted)
        about = store.memories(scope=scope, filter=events, order=order)
        yield (memory for memory in about if memory.matches(during) == "event")


def _with_events(time_range: TimeRange, wanted: Filter | None) -> Filter:
    """The condition that a row names a time in a range, or one around it."""
    first, last = bounds_of(time_range)
    during: Filter = {"event_start": {"$lte": last}, "event_end": {"$gte": first}}
    return during if wanted is None else {"$and": [wanted, during]}
