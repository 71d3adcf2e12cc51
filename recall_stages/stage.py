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
from dataclasses import dataclass, replace
from typing import ClassVar, Never, cast

from pydantic import Field

from recall_stages.citations import Citation
from recall_stages.errors import StoreError
from recall_stages.memory import Memory, Query
from recall_stages.model.claims import Draft
from recall_stages.model.metering import Deadline, Meter, metered
from recall_stages.model.requests import (
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
from recall_stages.settings import Settings

# With what it may ask for: whoever writes a stage needs both.
__all__ = [
    "Add",
    "Answers",
    "Ask",
    "AsyncAsk",
    "AsyncFind",
    "Fetch",
    "Find",
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
    "Steps",
    "Work",
    "Write",
    "anowhere",
    "arun",
    "nowhere",
    "pipeline",
    "run",
]

JOINED = "source"
"""The name in the trace under which what joined the memories of the collection says what it is."""

_LONGEST_REASON = 300  # characters of an error that a trace holds

Ask = Callable[[Asked], Answered]
AsyncAsk = Callable[[Asked], Awaitable[Answered]]
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
        draft: What a model wrote of the memories while it judged them; `RewriteMemory` tells it.
        citations: The sentences of the text and what each rests on, where a model wrote them.
        usage: What the models of each stage that asked one cost.
        skipped: Which step found that no memories are needed, and why; empty where they are.
    """

    query: Query
    memories: tuple[Memory, ...] = ()
    text: str = ""
    fallbacks: tuple[str, ...] = ()
    draft: Draft | None = None
    citations: tuple[Citation, ...] = ()
    usage: tuple[str, ...] = ()
    skipped: str = ""

    def fell_back(self, step: str, why: str | Exception) -> Recall:
        """A copy that names a step which did not do its work, and why."""
        told = f"{type(why).__name__}: {why}" if isinstance(why, Exception) else why
        if len(told) > _LONGEST_REASON:  # a server may answer with a whole page
            told = f"{told[:_LONGEST_REASON]}…"
        return replace(self, fallbacks=(*self.fallbacks, f"{step}: {told}"))

    def told(self) -> dict[str, float | str]:
        """What the trace of everything that comes out says: which steps degraded, what it cost."""
        notes = {"degraded": self.fallbacks, "usage": self.usage}
        return {name: "; ".join(lines) for name, lines in notes.items() if lines}

    def at_most(self, k: int | None) -> Recall:
        """A copy with no more than k memories; what joined them is not counted, and stays."""
        best = [memory for memory in self.memories if JOINED not in memory.trace][:k]
        joined = [memory for memory in self.memories if JOINED in memory.trace]
        return replace(self, memories=(*best, *joined))

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


def pipeline(stages: Sequence[Stage], recall: Recall, deadline_s: float | None = None) -> Steps:
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
        outcome = stage.apply(recall)
        if isinstance(outcome, Generator):
            meter = Meter(type(stage).__name__)
            recall = yield from metered(outcome, meter, deadline)
            for note in meter.notes:
                recall = recall.fell_back(meter.stage, note)
            if meter.calls:
                recall = replace(recall, usage=(*recall.usage, str(meter)))
        else:
            recall = outcome
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
                if isinstance(requests[0], Prompt | Refine):
                    answers = ask(cast("Asked", requests))
                elif isinstance(requests[0], Search):
                    answers = find(cast("Sequence[Search]", requests))
                else:
                    answers = _done(cast("Sequence[Fetch | Write | Work]", requests), get, add)
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
                if isinstance(requests[0], Prompt | Refine):
                    answers = await ask(cast("Asked", requests))
                elif isinstance(requests[0], Search):
                    answers = await find(cast("Sequence[Search]", requests))
                else:
                    asked = cast("Sequence[Fetch | Write | Work]", requests)
                    answers = await asyncio.to_thread(_done, asked, get, add)
            except Exception as error:  # noqa: BLE001 - the stage decides what it can mend
                requests = steps.throw(error)
            else:
                requests = steps.send(answers)
    except StopIteration as done:
        outcome: Recall = done.value
        return outcome


def _done(requests: Sequence[Fetch | Write | Work], get: Get, add: Add) -> Answers:
    def answer(request: Fetch | Write | Work) -> Sequence[object]:
        if isinstance(request, Fetch):
            return get(request.ids)
        return add(request.memories) if isinstance(request, Write) else request.do()

    return [answer(each) for each in requests]
