"""What a stage can ask of the world: a model, the collection, a piece of the framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, Literal

from pydantic import BaseModel

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Memory, Standing
from recall_retrievers.core.query import Filter, Query
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import check_count
from recall_retrievers.timeline import TimeRange

Method = Literal["semantic", "keyword"]  # how a search compares


class Request:
    """The base of what a stage can ask for. A stage yields one or several requests of one kind."""

    __slots__ = ()


MOST_HITS = 100_000  # of a search: a pool of so many is one full of copies

Spans = Sequence[tuple[int, int]]  # the ends of each session in epoch milliseconds, oldest first

Requests = Sequence[Request]
Answers = Sequence[Any]  # one for each request, in order; its type depends on the request


@dataclass(frozen=True, slots=True)
class Prompt(Request):
    system: str  # the instructions, with the form of the reply
    user: str  # the material
    llm: object = None  # the framework's model; only the face knows what it is
    timeout_s: float | None = None  # for the replies to all prompts of one request
    # How often it is sent at most, if the model rejects it or the connection drops. None = three
    # times, or once if the model retries by itself.
    attempts: int | None = None
    form: type[BaseModel] | None = None  # of a reply, for models that take a schema
    structured: bool | None = None  # whether to pass that; None = if the model takes one
    # The checked sentences in the beginning of a reply, for whoever reads along.
    finished: Callable[[str], Sequence[str]] | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a prompt and its reply, of all attempts taken together."""

    sent: int
    received: int
    estimated: bool = True  # the model has not counted them


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a prompt: the text of the model, or the error that came in its place."""

    outcome: str | Exception
    attempts: int = 1
    note: str = ""  # what the model did not do as it was set, such as to take a schema
    tokens: Tokens | None = field(default=None, compare=False)  # None = to be estimated


@dataclass(frozen=True, slots=True)
class Search(Request):
    """A search of the collection: the memories that answer a text best."""

    text: str
    limit: int  # 1 to 100,000
    scope: Scope = field(default_factory=Scope)
    filter: Filter | None = None
    within: tuple[TimeRange, ...] = ()  # one of these has the recorded or the event time
    timezone: tzinfo | None = None  # of the times in a filter that have none
    # By similarity, 0 to 1, or by the words that are shared: by BM25, 0 and up.
    method: Method = "semantic"
    moment: datetime | None = None  # when it is asked; None = now, by the clock of the store
    as_it_stood: bool = False  # whether what was recorded after the moment is not found, either
    include_superseded: bool = False
    # Whether to measure how near each memory comes to every word of the text, if the store has the
    # vectors of its tokens: as ``token_similarity``, 0 to 1.
    by_tokens: bool = False
    # Whether a search by words also tells which of them no memory in the scope has.
    with_lacking: bool = field(default=False, compare=False)
    # Whether the hits may come as an `Arm`, where each is made when it is looked at.
    in_columns: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_count("limit", self.limit, MOST_HITS)

    def at(self, now: datetime) -> Search:
        return self if self.moment is not None else replace(self, moment=now)

    @property
    def standing(self) -> Standing:
        return Standing(self.moment, self.as_it_stood, self.include_superseded)

    def admitting(self) -> Callable[[Candidate], bool] | None:
        """What tells whether scope and times admit a memory; None where they limit nothing.

        The filter is not checked: it may be about more than a memory keeps.
        """
        scope, within, counts = self.scope.fields(), self.within, self.standing.counts
        if not scope and not within and self.moment is None:
            return None

        def admits(memory: Candidate) -> bool:
            return (
                counts(memory)
                and (not within or any(map(memory.matches, within)))
                and all(getattr(memory.scope, name) == value for name, value in scope.items())
            )

        return admits


@dataclass(frozen=True, slots=True)
class Listing(Request):
    """Memories of the collection by recorded time, for a question without words; see `Search`."""

    limit: int
    standing: Standing
    scope: Scope = field(default_factory=Scope)
    filter: Filter | None = None
    within: tuple[TimeRange, ...] = ()
    order: Literal["newest", "oldest"] = "newest"


@dataclass(frozen=True, slots=True)
class Sessions(Request):
    """The sessions of a scope, as `Spans`, that have begun by a moment."""

    moment: datetime
    scope: Scope = field(default_factory=Scope)


@dataclass(frozen=True, slots=True)
class Fetch(Request):
    """Memories of the collection by their ids; missing ones are left out."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Write(Request):
    """Memories to store in the collection, also in the place of others. The answer is their ids."""

    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Refine(Request):
    """Work for a document compressor or node postprocessor of the framework: the piece."""

    piece: object
    query: Query
    memories: tuple[Candidate, ...]
    timeout_s: float | None = None


Scorer = Callable[[str, Sequence[str]], Sequence[float] | Awaitable[Sequence[float]]]
"""How well each text answers a question: called with both, it returns a score for each text."""


@dataclass(frozen=True, slots=True)
class Score(Request):
    """Work for a function that compares texts with a question: a score for each, or an error."""

    scorer: Scorer
    question: str
    texts: tuple[str, ...]
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Work(Request):
    """Work of the stage itself that takes long: with an event loop, it is done in a thread."""

    do: Callable[[], object]
