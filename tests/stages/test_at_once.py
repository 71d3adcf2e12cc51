"""Several calls at once, in threads and as coroutines: one outcome each, nothing left behind."""

import asyncio
import contextvars
import re
import threading

import pytest

from recall_retrievers.core.concurrent import MOST_AT_ONCE, call_all, call_all_async


def test_calls_run_at_the_same_time_and_keep_their_order() -> None:
    ended = [threading.Event() for _ in range(5)]

    def call(number: int) -> int:
        """Each waits for the next one: the last is the first to end."""
        if number < 4:
            assert ended[number + 1].wait(30)
        ended[number].set()
        return number

    assert call_all(call, [1, 2, 3, 4]) == [1, 2, 3, 4]


async def test_coroutines_run_at_the_same_time_and_keep_their_order() -> None:
    together = asyncio.Barrier(4)

    async def call(number: int) -> int:
        async with asyncio.timeout(30):
            await together.wait()
        return number

    assert await call_all_async(call, [1, 2, 3, 4]) == [1, 2, 3, 4]


def test_more_calls_than_threads_are_all_made() -> None:
    items = list(range(3 * MOST_AT_ONCE))

    assert call_all(str, items) == [str(each) for each in items]


def test_one_that_fails_costs_itself_alone() -> None:
    async def divide(number: int) -> float:
        return 6 / number

    by_threads = call_all(lambda number: 6 / number, [3, 0, 2])
    for outcomes in (by_threads, asyncio.run(call_all_async(divide, [3, 0, 2]))):
        assert outcomes[::2] == [2.0, 3.0]
        assert isinstance(outcomes[1], ZeroDivisionError)


def test_one_that_hangs_costs_the_timeout_and_itself_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    released, called = threading.Event(), []

    def call(number: int) -> str:
        called.append(number)
        if number:
            released.wait(20)
        return "said"

    outcomes = call_all(call, [0, *range(1, 2 * MOST_AT_ONCE)], timeout_s=1)
    alone = call_all(call, [99], timeout_s=0.05)
    released.set()
    for thread in threading.enumerate():
        if thread.name == "recall-left-behind":
            thread.join(30)

    assert outcomes[0] == "said"
    assert {str(each) for each in outcomes[1:]} == {"no answer within 1 s"}
    assert isinstance(alone[0], TimeoutError)
    assert len(called) == MOST_AT_ONCE + 2  # what has not begun never does
    logged = [record.getMessage() for record in caplog.records]
    counted = [int(re.search(r"in time; (\d+) of this process still", x)[1]) for x in logged]
    # Other tests of this process may have left some behind, which end while this one runs.
    assert (counted[0] >= MOST_AT_ONCE, counted[1] > MOST_AT_ONCE) == (True, True)


async def test_a_coroutine_that_hangs_is_cancelled() -> None:
    async def call(hangs: bool) -> str:
        if hangs:
            await asyncio.Event().wait()
        return "said"

    outcomes = await call_all_async(call, [False, True], timeout_s=0.1)

    assert outcomes[0] == "said"
    assert str(outcomes[1]) == "no answer within 0.1 s"
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_cancels_what_is_under_way_and_leaves_no_task() -> None:
    ended: list[int] = []
    begun = asyncio.Barrier(4)

    async def call(number: int) -> None:
        await begun.wait()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    task = asyncio.create_task(call_all_async(call, [1, 2, 3]))
    await begun.wait()
    await asyncio.sleep(0)  # every call has left the barrier
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert sorted(ended) == [1, 2, 3]
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_the_threads_see_the_context_of_the_caller() -> None:
    name = contextvars.ContextVar("name", default="nobody")
    name.set("Ann")

    assert call_all(lambda _: name.get(), [1, 2]) == ["Ann", "Ann"]


def test_an_interrupt_is_no_outcome() -> None:
    def call(_: int) -> None:
        raise KeyboardInterrupt

    for items in ([1], [1, 2]):
        with pytest.raises(KeyboardInterrupt):
            call_all(call, items)
