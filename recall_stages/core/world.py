"""The world of a stage: one object that answers whatever the stage asks for, and waits for it.

There is one for threads and one for an event loop. A face's world adds its framework's models,
pieces and runs. `Metered` wraps a world for the time in which one stage works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard, TypeVar, runtime_checkable

from recall_stages.core.driver import drive, drive_async
from recall_stages.core.errors import RecallError, StoreError
from recall_stages.core.memory import Memory
from recall_stages.core.recall import Recall
from recall_stages.core.requests import (
    Answers,
    Fetch,
    Prompt,
    Refine,
    Reply,
    Request,
    Requests,
    Search,
    Work,
    Write,
)
from recall_stages.core.stage import Flow, StageRun
from recall_stages.core.usage import Meter

T = TypeVar("T", bound=Request)


@runtime_checkable
class MemoryStore(Protocol):
    """Where memories are found: the whole of what a retriever asks of a collection."""

    def find(self, searches: Sequence[Search]) -> Sequence[list[Memory]]:
        """The memories for each search, the best first, scored as its method says."""

    async def afind(self, searches: Sequence[Search]) -> Sequence[list[Memory]]:
        """The same, without blocking the event loop."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids; missing ones are left out."""

    def add(self, memories: Iterable[Memory]) -> list[str]:
        """Store memories and return their ids."""


class World:
    """Answers the requests of stages, and blocks while it waits.

    By itself it has a collection at most. A face overrides `reply`, `refine` and `work`.

    Args:
        store: The collection. None = there is none, as for a stage without a retriever.
    """

    def __init__(self, store: MemoryStore | None = None) -> None:
        self.store = store

    def answer(self, requests: Requests) -> Answers:
        """One answer for each request; all requests are of one kind."""
        if _all_are(requests, StageRun):
            return [self.work(stage_run) for stage_run in requests]
        if _all_are(requests, Prompt):
            return self.reply(requests)
        if _all_are(requests, Refine):
            return self.refine(requests)
        if _all_are(requests, Search):
            return _opened(self.store).find(requests)
        return _done(requests, self.store)

    def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply; a model's error is a reply too."""
        raise _no_framework(prompts)

    def refine(self, requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
        """What pieces of the framework make of memories, or their errors."""
        raise _no_framework(requests)

    def work(self, stage_run: StageRun) -> Recall:
        """Do the work of a stage in this world."""
        return run(stage_run.flow(), Metered(self, stage_run.meter))


class AsyncWorld:
    """Answers the requests of stages without blocking the event loop; see `World`."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self.store = store

    async def answer(self, requests: Requests) -> Answers:
        """One answer for each request; all requests are of one kind."""
        if _all_are(requests, StageRun):
            return [await self.work(stage_run) for stage_run in requests]
        if _all_are(requests, Prompt):
            return await self.reply(requests)
        if _all_are(requests, Refine):
            return await self.refine(requests)
        if _all_are(requests, Search):
            return await _opened(self.store).afind(requests)
        return await asyncio.to_thread(_done, requests, self.store)

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply; a model's error is a reply too."""
        raise _no_framework(prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
        """What pieces of the framework make of memories, or their errors."""
        raise _no_framework(requests)

    async def work(self, stage_run: StageRun) -> Recall:
        """Do the work of a stage in this world."""
        return await arun(stage_run.flow(), AsyncMetered(self, stage_run.meter))


@dataclass(frozen=True, slots=True)
class Metered:
    """A world in which the model calls of one stage are counted and kept within a deadline."""

    world: World
    meter: Meter

    def answer(self, requests: Requests) -> Answers:
        """What the world answers; of a model's reply the text alone."""
        with self.meter.waiting(requests) as within:
            answers = self.world.answer(within)
        return self.meter.read(answers)


@dataclass(frozen=True, slots=True)
class AsyncMetered:
    """The same for an event loop."""

    world: AsyncWorld
    meter: Meter

    async def answer(self, requests: Requests) -> Answers:
        """What the world answers; of a model's reply the text alone."""
        with self.meter.waiting(requests) as within:
            answers = await self.world.answer(within)
        return self.meter.read(answers)


_NOWHERE = World()


def run(flow: Flow, world: World | Metered = _NOWHERE) -> Recall:
    """Do the work of stages to its end, and answer each request in turn.

    Args:
        flow: What `Stage.apply` or `pipeline` returned.
        world: What answers. The default has no model and no collection.
    """
    return drive(flow, world.answer)


async def arun(flow: Flow, world: AsyncWorld | AsyncMetered) -> Recall:
    """The same without blocking the event loop."""
    return await drive_async(flow, world.answer)


def _all_are(requests: Requests, kind: type[T]) -> TypeGuard[Sequence[T]]:
    return all(isinstance(each, kind) for each in requests)


def _no_framework(requests: Requests) -> RecallError:
    wanted = type(requests[0]).__name__
    return RecallError(f"nothing here answers a {wanted}; ask through a face's RecallRetriever")


def _opened(store: MemoryStore | None) -> MemoryStore:
    if store is None:
        raise StoreError("there is no collection here; use this stage inside a RecallRetriever")
    return store


def _done(requests: Requests, store: MemoryStore | None) -> Answers:
    def answer(request: Request) -> Sequence[object]:
        if isinstance(request, Fetch):
            return _opened(store).get(request.ids)
        if isinstance(request, Write):
            return _opened(store).add(request.memories)
        if isinstance(request, Work):
            return request.do()
        kinds = ", ".join(sorted({type(each).__name__ for each in requests}))
        raise TypeError(
            f"a stage must yield requests of one kind, such as [Prompt(...)]; got {kinds}"
        )

    return [answer(each) for each in requests]
