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
            assert ended[number + 1].wait(5)
        ended[number].set()
        return number

    assert call_all(call, [1, 2, 3, 4]) == [1, 2, 3, 4]


async def test_coroutines_run_at_the_same_time_and_keep_their_order() -> None:
    together = asyncio.Barrier(4)

    async def call(number: int) -> int:
        async with asyncio.timeout(5):
            await together.wait()
        return number

    assert await call_all_async(call, [1, 2, 3, 4]) == [1, 2, 3, 4]


def test_more_calls_than_threads_are_all_made() -> None:
    items = list(range(3 * MOST_AT_ONCE))

    assert call_all(str, items) == [str(each) for each in items]


def test_one_that_fails_costs_itself_alone() -> None:
    def call(number: int) -> float:
        return 6 / number

    async def acall(number: int) -> float:
        return 6 / number

    for outcomes in (
        call_all(call, [3, 0, 2]),
        asyncio.run(call_all_async(acall, [3, 0, 2])),
    ):
        assert outcomes[::2] == [2.0, 3.0]
        assert isinstance(outcomes[1], ZeroDivisionError)


def test_one_that_hangs_costs_the_timeout_and_itself_alone() -> None:
    released, waited_for = threading.Event(), []

    def call(hangs: bool) -> str:
        if hangs:
            released.wait(20)
            waited_for.append(hangs)
        return "said"

    outcomes = call_all(call, [False, True], timeout_s=0.2)
    alone = call_all(call, [True], timeout_s=0.05)

    assert not waited_for
    released.set()
    assert outcomes[0] == "said"
    assert str(outcomes[1]) == "no answer within 0.2 s"
    assert isinstance(alone[0], TimeoutError)


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


def test_calls_that_hang_are_counted_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    released = threading.Event()

    call_all(lambda _: released.wait(20), [1, 2], timeout_s=0.05)
    call_all(lambda _: released.wait(20), [3], timeout_s=0.05)
    released.set()

    logged = [record.getMessage() for record in caplog.records]
    assert all("a call has not ended in time" in each for each in logged)
    # Other tests of this process may have left some behind, which end while this one runs.
    counted = [int(re.search(r"; (\d+) of this process still hang", each)[1]) for each in logged]
    assert (counted[0] >= 2, counted[1] >= 3) == (True, True)
