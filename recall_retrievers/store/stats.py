"""What a whole collection holds: its scopes, types and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.scope import Scope, ScopeName


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


def projected(scope: Scope, names: Sequence[ScopeName]) -> Scope:
    """The part of a scope with these fields; an empty one if it lacks one of them."""
    fields = scope.fields()
    return Scope(**{name: fields[name] for name in names}) if set(names) <= set(fields) else Scope()


def stats_of(memories: Iterable[Candidate], embedding_model: str) -> StoreStats:
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
