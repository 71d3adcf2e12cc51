"""What a stage may ask of the world: replies of a model, and memories of the collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Literal

from recall_stages.memory import Filter, Memory, Scope
from recall_stages.timeline import TimeRange


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a stage asks of a language model.

    Attributes:
        system: How the model is to work, and what form its reply must have.
        user: The material.
        llm: The framework's model to ask; only the face knows what it is.
        timeout_s: Seconds to wait for the reply, of all that is asked at once; None = no limit of
            ours.
    """

    system: str
    user: str
    llm: object
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """What a stage asks of the collection: the memories that answer a text best.

    Attributes:
        text: What to look for.
        limit: How many at the most.
        scope: Whose memories.
        filter: Conditions on metadata, as Chroma writes them.
        within: Where not empty, the recorded or the event time must lie in one of these.
        timezone: The zone in which the times of a filter are read, where they have none.
        method: "semantic" = nearest in meaning, scored by similarity, 0 to 1; "keyword" = sharing
            most of its words, scored by BM25, 0 and up.
    """

    text: str
    limit: int
    scope: Scope = field(default_factory=Scope)
    filter: Filter | None = None
    within: tuple[TimeRange, ...] = ()
    timezone: tzinfo | None = None
    method: Literal["semantic", "keyword"] = "semantic"


@dataclass(frozen=True, slots=True)
class Fetch:
    """What a stage asks of the collection: memories by their ids; those that are gone are left out.

    Attributes:
        ids: Their ids.
    """

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """What a stage asks of the collection: to store memories, and return them with their ids.

    Attributes:
        memories: What to store; one with an id that is there already replaces it.
    """

    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage has to compute for so long that nobody else shall wait for it meanwhile.

    Attributes:
        do: Does it, and returns what came out; called in a thread where there is an event loop.
    """

    do: Callable[[], list[float]]


Requests = Sequence[Prompt] | Sequence[Search] | Sequence[Fetch] | Sequence[Write] | Sequence[Work]
Replies = Sequence[str | Exception]
Answers = Replies | Sequence[list[Memory]] | Sequence[list[str]] | Sequence[list[float]]
