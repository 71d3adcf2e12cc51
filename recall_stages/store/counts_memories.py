"""What a whole collection holds: its scopes, types and times."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recall_stages.core.candidate import Candidate
from recall_stages.core.scope import Scope, ScopeName, required_names
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.conditions import Conditions


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """A scope, and how many memories it has.

    Attributes:
        scope: The scope.
        memories: How many memories it has.
    """

    scope: Scope
    memories: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a collection holds.

    Attributes:
        memories: How many memories.
        embedding_model: The name of the model that the store embeds with.
        first_recorded: The recorded time of the oldest memory; None if none has a time.
        last_recorded: The recorded time of the newest memory.
        without_a_time: How many memories have no recorded time.
        telling_of_a_time: How many memories name a time in their text.
        memory_type: How many memories of each type, the most frequent first.
        author: How many memories of each author.
        user_id: How many memories of each user.
        agent_id: How many memories of each agent.
        session_id: How many memories of each conversation.
        workspace: How many memories of each group.
    """

    memories: int
    embedding_model: str
    first_recorded: datetime | None
    last_recorded: datetime | None
    without_a_time: int
    telling_of_a_time: int
    memory_type: Mapping[str, int]
    author: Mapping[str, int]
    user_id: Mapping[str, int]
    agent_id: Mapping[str, int]
    session_id: Mapping[str, int]
    workspace: Mapping[str, int]


class CountsMemories(BoundStore):
    """A store that says what all of it holds. ``require_scope`` does not limit it."""

    def scopes(self, by: ScopeName | Sequence[ScopeName] = ()) -> list[ScopeCount]:
        """The scopes that memories have, and how many memories of each; the largest first.

        Args:
            by: The fields to count by, such as "user_id" for users, whatever their sessions.
                Memories without these fields are not counted. Empty = scopes as memories have
                them; memories of nobody have an empty one.

        Raises:
            ScopeError: When ``by`` names something that is no field of a scope.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Tea.", "user_id": "ann", "session_id": "monday"}
            ...     rum = {"content": "Rum.", "user_id": "ann", "session_id": "friday"}
            ...     ids = store.add([tea, rum])
            ...     [(each.scope.user_id, each.memories) for each in store.scopes(by="user_id")]
            [('ann', 2)]
        """
        names = required_names([by] if isinstance(by, str) else list(by))
        self._opened.check_open()
        live = self._opened.found()
        counts: Counter[Scope] = Counter()
        if live is not None:
            with live.listing() as listing:
                for scope, count in listing.scopes(self._now()).items():
                    counts[_projected(scope, names) if names else scope] += count
        if names:
            del counts[Scope()]
        ranked = sorted(counts.items(), key=lambda each: (-each[1], sorted(each[0].fields())))
        return [ScopeCount(scope, count) for scope, count in ranked]

    async def ascopes(self, by: ScopeName | Sequence[ScopeName] = ()) -> list[ScopeCount]:
        """The scopes that memories have, without blocking the event loop; see `scopes`."""
        return await asyncio.to_thread(self.scopes, by)

    def stats(self) -> StoreStats:
        """What the collection holds: how many memories, of which types, owners and times.

        All memories are read, so a large collection takes a while.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     ids = store.add([{"content": "Ann likes tea.", "user_id": "ann"}])
            ...     stats = store.stats()
            ...     stats.memories, stats.user_id
            (1, {'ann': 1})
        """
        self._opened.check_open()
        live = self._opened.found()
        found = () if live is None else live.listed(Conditions(moment=self._now()))
        return _stats_of(found, self.embedding_model)

    async def astats(self) -> StoreStats:
        """What the collection holds, without blocking the event loop; see `stats`."""
        return await asyncio.to_thread(self.stats)


def _projected(scope: Scope, names: Sequence[ScopeName]) -> Scope:
    """The part of a scope with these fields; an empty one if it lacks one of them."""
    fields = scope.fields()
    return Scope(**{name: fields[name] for name in names}) if set(names) <= set(fields) else Scope()


def _stats_of(memories: Iterable[Candidate], embedding_model: str) -> StoreStats:
    """The numbers of memories that come newest first, and those without a time last."""
    values: dict[str, Counter[str]] = {
        name: Counter() for name in ("memory_type", "author", *Scope.model_fields)
    }
    first = last = None
    total = undated = telling = 0
    for memory in memories:
        total += 1
        values["memory_type"][memory.memory_type] += 1
        if memory.author:
            values["author"][memory.author] += 1
        for name, value in memory.scope.fields().items():
            values[name][value] += 1
        telling += bool(memory.events)
        undated += memory.created_at is None
        if memory.created_at is not None:
            last = last or memory.created_at
            first = memory.created_at
    return StoreStats(
        memories=total,
        embedding_model=embedding_model,
        first_recorded=first,
        last_recorded=last,
        without_a_time=undated,
        telling_of_a_time=telling,
        **{name: dict(counts.most_common()) for name, counts in values.items()},
    )
