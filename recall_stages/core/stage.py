"""A stage, the pipeline (an ordered list of stages), and the two drivers that wait for the world.

A stage never waits for anything. One that needs a model or the collection is a generator: it
yields what it wants, several requests of one kind at once, and is handed the answers; an error
arrives at the ``yield``, so one ``except`` holds the fallback for the sync and the async world
alike. Of several prompts each has an outcome of its own: where some fail, these have their error
in the place of a reply; only where all do, the error arrives at the ``yield``.

The pipeline is such a generator too: what it yields is one `Step` after the other, so that a face
can make each a run of its own in its framework's traces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Never, cast

from pydantic import Field

from recall_stages.core.driver import drive, drive_async
from recall_stages.core.errors import StoreError
from recall_stages.core.memory import Memory, Query
from recall_stages.core.recall import Recall
from recall_stages.core.requests import (
    Answered,
    Answers,
    Asked,
    Fetch,
    Prompt,
    Refine,
    Replies,
    Reply,
    Requests,
    Search,
    Work,
    Write,
)
from recall_stages.core.settings import Settings
from recall_stages.core.usage import Deadline, Meter, metered

# With what it may ask for: whoever writes a stage needs both.
__all__ = [
    "Add",
    "Answers",
    "Ask",
    "AsyncAsk",
    "AsyncFind",
    "Fetch",
    "Find",
    "Flow",
    "Get",
    "Prompt",
    "RankStage",
    "Recall",
    "Refine",
    "Replies",
    "Reply",
    "Requests",
    "Search",
    "Stage",
    "Step",
    "Steps",
    "Within",
    "WithinAsync",
    "Work",
    "Write",
    "anowhere",
    "arun",
    "nowhere",
    "pipeline",
    "run",
]

Ask = Callable[[Asked], Answered]
AsyncAsk = Callable[[Asked], Awaitable[Answered]]
Find = Callable[[Sequence[Search]], Sequence[list[Memory]]]
AsyncFind = Callable[[Sequence[Search]], Awaitable[Sequence[list[Memory]]]]
Get = Callable[[Sequence[str]], list[Memory]]
Add = Callable[[Sequence[Memory]], list[str]]

Steps = Generator[Requests, Answers, Recall]


class Stage(Settings):
    """One step between a question and its memories.

    A stage is its settings and one method. It never alters what it is given.
    """

    before_search: ClassVar[bool] = False
    """Whether the stage works on the question, before there are memories."""

    @property
    def called(self) -> str:
        """What the stage is called in traces."""
        return type(self).__name__

    def apply(self, recall: Recall) -> Recall | Steps:
        """Do the work: a new `Recall`, or a generator of requests that returns one."""
        raise NotImplementedError


class RankStage(Stage):
    """A stage that puts the candidates in order and keeps the best of them.

    Args:
        top_n: How many to keep. Left alone inside a retriever, it never keeps fewer than its k.
    """

    top_n: int = Field(default=5, ge=1)

    def limit(self, query: Query) -> int:
        """How many to keep for this question."""
        return self.top_n if "top_n" in self.model_fields_set else max(self.top_n, query.k or 0)


@dataclass(frozen=True, slots=True)
class Step:
    """A stage about to work, as a pipeline asks for it to be driven.

    Attributes:
        stage: The stage.
        recall: What it is given.
        steps: Its work.
        meter: What its models cost, once it is done.
    """

    stage: Stage
    recall: Recall
    steps: Steps
    meter: Meter


Flow = Generator[Sequence[Step], Sequence[Recall], Recall]
_Driven = Generator[Requests | Sequence[Step], Answers | Sequence[Recall], Recall]

Within = Callable[[Step, Callable[[Ask], Recall]], Recall]
WithinAsync = Callable[[Step, Callable[[AsyncAsk], Awaitable[Recall]]], Awaitable[Recall]]
"""What a face does around a step: it calls the function, which does the work, with its `Ask`."""


def pipeline(stages: Sequence[Stage], recall: Recall, deadline_s: float | None = None) -> Flow:
    """Run stages one after the other, each on what the one before it returned.

    Where a step fell back, every memory that comes out says so in its trace, as ``degraded``;
    where a model was asked, what it cost, as ``usage``. Where a step finds that no memories are
    needed, the rest is left out.

    Args:
        stages: What is done, in order.
        recall: What the first is given.
        deadline_s: Seconds after which no model is asked any more, and none is waited for.
    """
    deadline = Deadline.after(deadline_s)
    for stage in stages:
        meter = Meter(stage.called)
        work = _worked(stage, recall, meter, deadline)
        [recall] = yield [Step(stage, recall, work, meter)]
        if recall.skipped:
            return recall
    notes = recall.told()
    if not notes:
        return recall
    return replace(
        recall,
        memories=tuple(
            memory.model_copy(update={"trace": {**memory.trace, **notes}})
            for memory in recall.memories
        ),
    )


def _worked(stage: Stage, recall: Recall, meter: Meter, deadline: Deadline) -> Steps:
    outcome = stage.apply(recall)
    if isinstance(outcome, Generator):
        outcome = yield from metered(outcome, meter, deadline)
    for note in meter.notes:
        outcome = outcome.fell_back(meter.stage, note)
    return replace(outcome, usage=(*outcome.usage, str(meter))) if meter.calls else outcome


def nowhere(_: object) -> Never:
    """The collection of a stage that is used without a retriever: there is none."""
    raise StoreError("there is no collection here; use this stage inside a RecallRetriever")


async def anowhere(_: object) -> Never:
    """The same for `arun`."""
    nowhere(_)


def run(  # noqa: PLR0913 - all that steps may ask of the world
    steps: Steps | Flow,
    ask: Ask,
    find: Find = nowhere,
    get: Get = nowhere,
    add: Add = nowhere,
    *,
    within: Within | None = None,
) -> Recall:
    """Drive steps to their end, answering each request in turn."""

    def done(step: Step) -> Recall:
        def work(ask: Ask) -> Recall:
            return run(step.steps, ask, find, get, add, within=within)

        return work(ask) if within is None else within(step, work)

    def answer(requests: Requests | Sequence[Step]) -> Answers | Sequence[Recall]:
        if isinstance(requests[0], Step):
            return [done(step) for step in cast("Sequence[Step]", requests)]
        if isinstance(requests[0], Prompt | Refine):
            return ask(cast("Asked", requests))
        if isinstance(requests[0], Search):
            return find(cast("Sequence[Search]", requests))
        return _done(cast("Sequence[Fetch | Write | Work]", requests), get, add)

    return drive(cast("_Driven", steps), answer)


async def arun(  # noqa: PLR0913 - the same
    steps: Steps | Flow,
    ask: AsyncAsk,
    find: AsyncFind = anowhere,
    get: Get = nowhere,
    add: Add = nowhere,
    *,
    within: WithinAsync | None = None,
) -> Recall:
    """Drive steps to their end without blocking the event loop."""

    async def done(step: Step) -> Recall:
        async def work(ask: AsyncAsk) -> Recall:
            return await arun(step.steps, ask, find, get, add, within=within)

        return await (work(ask) if within is None else within(step, work))

    async def answer(requests: Requests | Sequence[Step]) -> Answers | Sequence[Recall]:
        if isinstance(requests[0], Step):
            return [await done(step) for step in cast("Sequence[Step]", requests)]
        if isinstance(requests[0], Prompt | Refine):
            return await ask(cast("Asked", requests))
        if isinstance(requests[0], Search):
            return await find(cast("Sequence[Search]", requests))
        asked = cast("Sequence[Fetch | Write | Work]", requests)
        return await asyncio.to_thread(_done, asked, get, add)

    return await drive_async(cast("_Driven", steps), answer)


def _done(requests: Sequence[Fetch | Write | Work], get: Get, add: Add) -> Answers:
    def answer(request: Fetch | Write | Work) -> Sequence[object]:
        if isinstance(request, Fetch):
            return get(request.ids)
        return add(request.memories) if isinstance(request, Write) else request.do()

    return [answer(each) for each in requests]
