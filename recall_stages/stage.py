"""A stage, the pipeline (an ordered list of stages), and the two drivers that wait for the world.

A stage never waits for anything. One that needs a model or the collection is a generator: it
yields what it wants, several requests at once, and is handed the answers; an error arrives at the
``yield``, so one ``except`` holds the fallback for the sync and the async world alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import TypeIs

from recall_stages.errors import StoreError
from recall_stages.memory import Filter, Memory, Query, Scope
from recall_stages.settings import Settings
from recall_stages.timeline import TimeRange


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a stage asks of a language model.

    Attributes:
        system: How the model is to work, and what form its reply must have.
        user: The material.
        llm: The framework's model to ask; only the face knows what it is.
    """

    system: str
    user: str
    llm: object


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


Requests = Sequence[Prompt] | Sequence[Search]
Answers = Sequence[str] | Sequence[list[Memory]]
Ask = Callable[[Sequence[Prompt]], Sequence[str]]
AsyncAsk = Callable[[Sequence[Prompt]], Awaitable[Sequence[str]]]
Find = Callable[[Sequence[Search]], Sequence[list[Memory]]]
AsyncFind = Callable[[Sequence[Search]], Awaitable[Sequence[list[Memory]]]]


@dataclass(frozen=True, slots=True)
class Recall:
    """A question on its way to its memories: what goes into a stage, and what comes out of it.

    Attributes:
        query: The question, and what has been understood of it so far.
        memories: The candidates, best first.
        text: What the reader sees, once a stage has written it.
        fallbacks: The steps that could not do their work, and why; nothing is lost by them.
        skipped: Which step found that no memories are needed, and why; empty where they are.
    """

    query: Query
    memories: tuple[Memory, ...] = ()
    text: str = ""
    fallbacks: tuple[str, ...] = ()
    skipped: str = ""

    def fell_back(self, step: str, why: str) -> Recall:
        """A copy that names a step which did not do its work, and why."""
        return replace(self, fallbacks=(*self.fallbacks, f"{step}: {why}"))

    def skip(self, step: str, why: str) -> Recall:
        """A copy without memories, that names the step which found that none are needed, and why.

        No stage after it is run.
        """
        return replace(self, memories=(), skipped=f"{step}: {why}")


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

    Where a step fell back, every memory that comes out says so in its trace, as ``degraded``. Where
    one finds that no memories are needed, the rest is left out.
    """
    for stage in stages:
        outcome = stage.apply(recall)
        recall = (yield from outcome) if isinstance(outcome, Generator) else outcome
        if recall.skipped:
            return recall
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


def _is_search(requests: Requests) -> TypeIs[Sequence[Search]]:
    return isinstance(requests[0], Search)


def nowhere(_: Sequence[Search]) -> Sequence[list[Memory]]:
    """The collection of a stage that is used without a retriever: there is none."""
    raise StoreError("there is nothing to search here; use this stage inside a RecallRetriever")


async def anowhere(searches: Sequence[Search]) -> Sequence[list[Memory]]:
    """The same for `arun`."""
    return nowhere(searches)


def run(steps: Steps, ask: Ask, find: Find = nowhere) -> Recall:
    """Drive steps to their end, answering each request in turn."""
    try:
        requests = next(steps)
        while True:
            try:
                answers = find(requests) if _is_search(requests) else ask(requests)
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: Recall = done.value
        return outcome


async def arun(steps: Steps, ask: AsyncAsk, find: AsyncFind = anowhere) -> Recall:
    """Drive steps to their end without blocking the event loop."""
    try:
        requests = next(steps)
        while True:
            try:
                answers = await (find(requests) if _is_search(requests) else ask(requests))
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: Recall = done.value
        return outcome
