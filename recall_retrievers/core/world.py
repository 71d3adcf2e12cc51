"""The world of a stage: one object that answers whatever the stage asks for, and waits for it.

One object blocks, another waits in an event loop; both are a `World`. A face's world adds its
framework's models, pieces and runs.
"""

import asyncio
import inspect
import time
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Sequence,
)
from functools import partial
from typing import Protocol, TypeGuard, TypeVar, runtime_checkable

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.concurrent import call_all, call_all_async
from recall_retrievers.core.errors import RecallError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Recall
from recall_retrievers.core.requests import (
    Answers,
    Fetch,
    Listing,
    Prompt,
    Refine,
    Reply,
    Request,
    Requests,
    Score,
    Search,
    Sessions,
    Spans,
    Work,
    Write,
)
from recall_retrievers.core.stage import Flow, StageRun
from recall_retrievers.core.streamed import Show
from recall_retrievers.core.usage import Meter

_A_DAY = 86_400.0  # seconds

Wanted = TypeVar("Wanted")
Answer = TypeVar("Answer")
Outcome = TypeVar("Outcome")
Kind = TypeVar("Kind", bound=Request)


async def drive(
    flow: Generator[Wanted, Answer, Outcome], answer: Callable[[Wanted], Awaitable[Answer]]
) -> Outcome:
    try:
        wanted = next(flow)
        while True:
            try:
                sent = await answer(wanted)
            except BaseException as error:  # noqa: BLE001 - the generator decides what it can mend
                wanted = flow.throw(error)
            else:
                wanted = flow.send(sent)
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome


def completed(coroutine: Coroutine[object, None, Outcome]) -> Outcome:
    """The result of a coroutine in which everything blocks and nothing waits: no loop is needed."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome
    coroutine.close()
    raise RuntimeError("this work needs an event loop; use the async method")


async def settled(value: Outcome | Awaitable[Outcome]) -> Outcome:
    """What a method returned in its sync form, or what it will return in its async form."""
    return await value if isinstance(value, Awaitable) else value


async def each_of(parts: Iterable[Outcome] | AsyncIterable[Outcome]) -> AsyncIterator[Outcome]:
    if isinstance(parts, AsyncIterable):
        async for part in parts:
            yield part
    else:
        for part in parts:
            yield part


@runtime_checkable
class MemoryStore(Protocol):
    """Where memories are found: the whole of what a retriever asks of a collection."""

    def find(self, searches: Sequence[Search]) -> Sequence[Sequence[Hit]]:
        """The memories for each search, the best first, scored as its method says."""

    async def afind(self, searches: Sequence[Search]) -> Sequence[Sequence[Hit]]: ...

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids; missing ones are left out."""

    def add(self, memories: Iterable[Memory]) -> list[str]: ...


class ListingStore(MemoryStore, Protocol):
    """A store that can also list its memories, or their sessions, by recorded time."""

    def listed(self, listing: Listing | Sessions) -> Sequence[Candidate] | Spans:
        """The memories that a listing asks for, in its order; or sessions."""


class World:
    """Answers the requests of stages; a face overrides `reply`, `refine` and `work`.

    Every method is a coroutine. In a world that blocks none of them waits for an event loop, so
    `run` needs none. If somebody reads along, ``show`` takes the checked sentences of a text.
    """

    def __init__(
        self,
        store: ListingStore | None = None,
        *,
        asynchronous: bool = False,
        show: Show | None = None,
    ) -> None:
        self.store = store
        self.asynchronous = asynchronous
        self.show = show

    async def answer(self, requests: Requests, meter: Meter) -> Answers:
        """One answer for each request; all requests are of one kind. The meter counts the cost."""
        if _all_are(requests, StageRun):  # each has a meter of its own
            return [await self.work(stage_run.within(meter.deadline)) for stage_run in requests]
        if _all_are(requests, Prompt):
            with meter.asking(requests) as prompts:
                replies = await self.reply(prompts)
            return meter.texts(requests, replies)
        if _all_are(requests, Refine):
            outcomes = await self.refine(meter.deadline.shorten(requests))
            meter.log(outcomes)
            return outcomes
        if _all_are(requests, Score):
            scores = await self.score(meter.deadline.shorten(requests))
            meter.log(scores)
            return scores
        if _all_are(requests, Search):
            store = _opened(self.store)
            return await store.afind(requests) if self.asynchronous else store.find(requests)
        if self.asynchronous:
            return await asyncio.to_thread(_done, requests, self.store)
        return _done(requests, self.store)

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply; a model's error is a reply too."""
        raise _no_framework(prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Candidate] | Exception]:
        raise _no_framework(requests)

    async def score(self, requests: Sequence[Score]) -> Sequence[Sequence[float] | Exception]:
        wait = requests[0].timeout_s
        if self.asynchronous:
            return await call_all_async(self._scores, requests, wait)
        # In a thread, as one that waits needs a loop, and the caller may be in another.
        return call_all(lambda score: asyncio.run(self._scores(score)), requests, wait or _A_DAY)

    async def _scores(self, request: Score) -> Sequence[float]:
        score, asked = request.scorer, (request.question, request.texts)
        if self.asynchronous and not inspect.iscoroutinefunction(score):
            return await settled(await asyncio.to_thread(score, *asked))
        return await settled(score(*asked))

    async def work(self, stage_run: StageRun) -> Recall:
        return await drive(stage_run.flow(), partial(self.answer, meter=stage_run.meter))

    async def call_all(
        self,
        call: Callable[[Wanted], Coroutine[object, None, Outcome]],
        items: Sequence[Wanted],
        timeout_s: float | None,
    ) -> list[Outcome | Exception]:
        if self.asynchronous:
            return await call_all_async(call, items, timeout_s)
        return call_all(lambda item: completed(call(item)), items, timeout_s)

    async def sleep(self, seconds: float) -> None:
        if self.asynchronous:
            await asyncio.sleep(seconds)
        else:
            time.sleep(seconds)


def run(flow: Flow, world: World | None = None) -> Recall:
    """Do the work of stages to its end, in a world that blocks; by default one without anything."""
    return completed(arun(flow, world or World()))


async def arun(flow: Flow, world: World) -> Recall:
    """Do the work of stages to its end; in a world that blocks, nothing is waited for."""
    return await drive(flow, partial(world.answer, meter=Meter("")))


def _all_are(requests: Requests, kind: type[Kind]) -> TypeGuard[Sequence[Kind]]:
    return set(map(type, requests)) <= {kind}


def _no_framework(requests: Requests) -> RecallError:
    wanted = type(requests[0]).__name__
    return RecallError(f"nothing here answers a {wanted}; ask through a face's RecallRetriever")


def _opened(store: ListingStore | None) -> ListingStore:
    if store is None:
        raise StoreError("there is no collection here; use this stage inside a RecallRetriever")
    return store


def _done(requests: Requests, store: ListingStore | None) -> Answers:
    def answer(request: Request) -> object:
        match request:
            case Fetch(ids):
                return _opened(store).get(ids)
            case Listing() | Sessions():
                return _opened(store).listed(request)
            case Write(memories):
                return _opened(store).add(memories)
            case Work(do):
                return do()
        kinds = ", ".join(sorted({type(other).__name__ for other in requests}))
        raise TypeError(
            f"a stage must yield requests of one kind, such as [Prompt(...)]; got {kinds}"
        )

    return list(map(answer, requests))
