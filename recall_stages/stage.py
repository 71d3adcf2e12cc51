"""A stage, the pipeline (an ordered list of stages), and the two drivers that wait for the world.

A stage never waits for anything. One that needs a model or the collection is a generator: it
yields what it wants, several requests of one kind at once, and is handed the answers; an error
arrives at the ``yield``, so one ``except`` holds the fallback for the sync and the async world
alike. Of several prompts each has an outcome of its own: where some fail, these have their error
in the place of a reply; only where all do, the error arrives at the ``yield``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import ClassVar, Literal, Never, cast

from pydantic import Field

from recall_stages.citations import Citation
from recall_stages.errors import StoreError
from recall_stages.memory import Filter, Memory, Query, Scope
from recall_stages.settings import Settings
from recall_stages.timeline import TimeRange

_LONGEST_REASON = 300  # characters of an error that a trace holds


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


Requests = Sequence[Prompt] | Sequence[Search] | Sequence[Fetch] | Sequence[Write]
Replies = Sequence[str | Exception]
Answers = Replies | Sequence[list[Memory]] | Sequence[list[str]]
Ask = Callable[[Sequence[Prompt]], Replies]
AsyncAsk = Callable[[Sequence[Prompt]], Awaitable[Replies]]
Find = Callable[[Sequence[Search]], Sequence[list[Memory]]]
AsyncFind = Callable[[Sequence[Search]], Awaitable[Sequence[list[Memory]]]]
Get = Callable[[Sequence[str]], list[Memory]]
Add = Callable[[Sequence[Memory]], list[str]]


@dataclass(frozen=True, slots=True)
class Recall:
    """A question on its way to its memories: what goes into a stage, and what comes out of it.

    Attributes:
        query: The question, and what has been understood of it so far.
        memories: The candidates, best first.
        text: What the reader sees, once a stage has written it.
        fallbacks: The steps that could not do their work, and why; nothing is lost by them.
        citations: The sentences of the text and what each rests on, where a model wrote them.
    """

    query: Query
    memories: tuple[Memory, ...] = ()
    text: str = ""
    fallbacks: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()

    def fell_back(self, step: str, why: str | Exception) -> Recall:
        """A copy that names a step which did not do its work, and why."""
        told = f"{type(why).__name__}: {why}" if isinstance(why, Exception) else why
        if len(told) > _LONGEST_REASON:  # a server may answer with a whole page
            told = f"{told[:_LONGEST_REASON]}…"
        return replace(self, fallbacks=(*self.fallbacks, f"{step}: {told}"))


Steps = Generator[Requests, Answers, Recall]


class Stage(Settings):
    """One step between a question and its memories.

    A stage is its settings and one method. It never alters what it is given.
    """

    before_search: ClassVar[bool] = False
    """Whether the stage works on the question, before there are memories."""

    def apply(self, recall: Recall) -> Recall | Steps:
        """Do the work: a new `Recall`, or a generator of requests that returns one."""
        raise NotImplementedError


class RankStage(Stage):
    """A stage that puts the candidates in order and keeps the best of them.

    Args:
        top_n: How many to keep. Left alone inside a retriever, it never keeps fewer than its k.
    """

    top_n: int = Field(5, ge=1)

    def limit(self, query: Query) -> int:
        """How many to keep for this question."""
        return self.top_n if "top_n" in self.model_fields_set else max(self.top_n, query.k or 0)


def pipeline(stages: Sequence[Stage], recall: Recall) -> Steps:
    """Run stages one after the other, each on what the one before it returned.

    Where a step fell back, every memory that comes out says so in its trace, as ``degraded``.
    """
    for stage in stages:
        outcome = stage.apply(recall)
        recall = (yield from outcome) if isinstance(outcome, Generator) else outcome
    if not recall.fallbacks:
        return recall
    degraded = {"degraded": "; ".join(recall.fallbacks)}
    return replace(
        recall,
        memories=tuple(
            memory.model_copy(update={"trace": {**memory.trace, **degraded}})
            for memory in recall.memories
        ),
    )


def nowhere(_: object) -> Never:
    """The collection of a stage that is used without a retriever: there is none."""
    raise StoreError("there is no collection here; use this stage inside a RecallRetriever")


async def anowhere(_: object) -> Never:
    """The same for `arun`."""
    nowhere(_)


def run(
    steps: Steps, ask: Ask, find: Find = nowhere, get: Get = nowhere, add: Add = nowhere
) -> Recall:
    """Drive steps to their end, answering each request in turn."""
    try:
        requests = next(steps)
        while True:
            try:
                answers: Answers
                if isinstance(requests[0], Prompt):
                    answers = _heard(ask(cast("Sequence[Prompt]", requests)))
                elif isinstance(requests[0], Search):
                    answers = find(cast("Sequence[Search]", requests))
                else:
                    answers = _looked_up(cast("Sequence[Fetch | Write]", requests), get, add)
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: Recall = done.value
        return outcome


async def arun(
    steps: Steps, ask: AsyncAsk, find: AsyncFind = anowhere, get: Get = nowhere, add: Add = nowhere
) -> Recall:
    """Drive steps to their end without blocking the event loop."""
    try:
        requests = next(steps)
        while True:
            try:
                answers: Answers
                if isinstance(requests[0], Prompt):
                    answers = _heard(await ask(cast("Sequence[Prompt]", requests)))
                elif isinstance(requests[0], Search):
                    answers = await find(cast("Sequence[Search]", requests))
                else:
                    asked = cast("Sequence[Fetch | Write]", requests)
                    answers = await asyncio.to_thread(_looked_up, asked, get, add)
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: Recall = done.value
        return outcome


def _heard(replies: Replies) -> Replies:
    """What the models said; where none of them said anything, the first error is raised."""
    errors = [reply for reply in replies if isinstance(reply, Exception)]
    if errors and len(errors) == len(replies):
        raise errors[0]
    return replies


def _looked_up(requests: Sequence[Fetch | Write], get: Get, add: Add) -> Answers:
    return cast(
        "Answers",
        [get(each.ids) if isinstance(each, Fetch) else add(each.memories) for each in requests],
    )
