"""What a stage can ask of the world: a model, the collection, a piece of the framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, Literal

from pydantic import BaseModel

from recall_stages.core.memory import Filter, Memory, Query, Scope
from recall_stages.timeline import TimeRange


class Request:
    """The base of what a stage can ask for. A stage yields one or several requests of one kind."""

    __slots__ = ()


Requests = Sequence[Request]
Answers = Sequence[Any]
"""One answer for each request, in order; the class of the request says what it is.

A generator has one type for everything that is sent into it, so no checker can know which it is.
"""


@dataclass(frozen=True, slots=True)
class Prompt(Request):
    """What a stage asks of a language model.

    Attributes:
        system: How the model is to work, and what form its reply must have.
        user: The material.
        llm: The framework's model to ask; only the face knows what it is.
        timeout_s: Seconds to wait for the reply, of all that is asked at once; None = no limit of
            ours.
        attempts: How often it is sent at the most, where the model turns it away or the connection
            drops; None = three times, or once where the model tries again by itself.
        form: What a reply looks like, for models that are given that apart.
        structured: Whether to give it; None = where the model says that it takes one.
    """

    system: str
    user: str
    llm: object = None
    timeout_s: float | None = None
    attempts: int | None = None
    form: type[BaseModel] | None = None
    structured: bool | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a prompt.

    Attributes:
        outcome: The text of the model, or the error that came in its place.
        attempts: How often the prompt was sent.
        note: What had to be done otherwise than was wished; empty = nothing.
    """

    outcome: str | Exception
    attempts: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class Search(Request):
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

    def admitting(self) -> Callable[[Memory], bool]:
        """What tells whether a memory is in the scope and of the time asked for.

        The filter is left to whoever reads the rows: it may be about more than a memory keeps.
        """
        scope, within = self.scope.fields(), self.within
        if not scope and not within:
            return lambda _: True

        def admits(memory: Memory) -> bool:
            if within and not any(memory.matches(each) for each in within):
                return False
            return all(getattr(memory.scope, name) == value for name, value in scope.items())

        return admits


@dataclass(frozen=True, slots=True)
class Fetch(Request):
    """What a stage asks of the collection: memories by their ids; those that are gone are left out.

    Attributes:
        ids: Their ids.
    """

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Write(Request):
    """What a stage asks of the collection: to store memories, and return them with their ids.

    Attributes:
        memories: What to store; one with an id that is there already replaces it.
    """

    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Refine(Request):
    """What a stage asks of the framework: to let a piece of its own work on memories.

    Attributes:
        piece: A document compressor or node postprocessor; only the face knows what it is.
        query: The question.
        memories: The candidates, best first.
        timeout_s: Seconds to wait for it; None = no limit of ours.
    """

    piece: object
    query: Query
    memories: tuple[Memory, ...]
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Work(Request):
    """What a stage has to do itself, and nobody else shall wait for: to compute, or to read.

    Attributes:
        do: Does it, and returns what came out; called in a thread where there is an event loop.
    """

    do: Callable[[], Sequence[object]]
