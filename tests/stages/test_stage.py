"""The pipeline and its two drivers: one generator, answered by a sync or an async world."""

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from stages.worlds import Scripted

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import ModelError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.pool import Pool
from recall_retrievers.core.query import Query
from recall_retrievers.core.requests import Reply
from recall_retrievers.core.stage import (
    Fetch,
    Flow,
    Prompt,
    Recall,
    Search,
    Stage,
    Write,
    pipeline,
)
from recall_retrievers.core.world import arun, run

ASKED = Recall(Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC)))


class Asks(Stage):
    """Asks a model two things at once, and falls back when it fails."""

    def apply(self, recall: Recall) -> Flow:
        try:
            replies = yield [Prompt("s", "one", None), Prompt("s", "two", None)]
        except ModelError as error:
            return recall.fell_back("Asks", str(error))
        return Recall(recall.query, (Memory(content=" and ".join(map(str, replies))),))


class Searches(Stage):
    """Asks the collection."""

    def apply(self, recall: Recall) -> Flow:
        found = yield [Search(recall.query.text, limit=1)]
        return Recall(recall.query, tuple(found[0]))


def test_a_stage_that_gets_a_pool_blocks_no_event_loop() -> None:
    threads: list[threading.Thread] = []

    class Looks(Stage):
        reads_pool: ClassVar[bool] = True

        def apply(self, recall: Recall) -> Recall:
            threads.append(threading.current_thread())
            return recall

    pool = Pool.of([Candidate(content="Tea.")])
    asked = replace(ASKED, memories=pool)
    run(pipeline([Looks()], asked), Scripted())
    asyncio.run(arun(pipeline([Looks()], asked), Scripted(asynchronous=True)))

    here, elsewhere = (each is threading.main_thread() for each in threads)
    assert here
    assert not elsewhere


def test_requests_of_one_yield_are_answered_together_in_both_worlds() -> None:
    asked: list[list[str]] = []

    def ask(prompts):
        asked.append([prompt.user for prompt in prompts])
        return [Reply(prompt.user.upper()) for prompt in prompts]

    sync = run(pipeline([Asks()], ASKED), Scripted(ask))
    asynchronous = asyncio.run(arun(pipeline([Asks()], ASKED), Scripted(ask, asynchronous=True)))

    for recall in (sync, asynchronous):
        assert [each.content for each in recall.memories] == ["ONE and TWO"]
        assert recall.usage[0].startswith("Asks: 2 calls, about 4 tokens in, 3 out")
    assert asked == [["one", "two"]] * 2


def test_an_error_that_no_stage_mends_is_raised() -> None:
    def find(searches):
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        run(pipeline([Searches()], ASKED), Scripted(find=find))


def test_a_scripted_model_that_runs_dry_is_an_error_and_not_the_end() -> None:
    def ask(prompts):
        return [next(iter(()))]

    with pytest.raises(RuntimeError):
        run(pipeline([Asks()], ASKED), Scripted(ask))


def test_a_search_outside_a_retriever_says_so() -> None:
    with pytest.raises(StoreError, match="inside a RecallRetriever"):
        run(pipeline([Searches()], ASKED))


def test_every_memory_names_the_step_that_fell_back() -> None:
    class Finds(Stage):
        def apply(self, recall: Recall) -> Recall:
            return Recall(
                recall.query, (Memory(content="a"), Memory(content="b")), "", recall.fallbacks
            )

    def ask(prompts):
        return [Reply(ConnectionError("down"))] * len(prompts)

    recall = run(pipeline([Asks(), Finds()], ASKED), Scripted(ask))

    assert [memory.trace["degraded"] for memory in recall.memories] == [
        "Asks: ConnectionError: down"
    ] * 2


def test_of_several_prompts_one_that_fails_has_its_error_in_place_of_a_reply() -> None:
    class Keeps(Stage):
        def apply(self, recall: Recall) -> Flow:
            replies = yield [Prompt("s", "one", None), Prompt("s", "two", None)]
            return Recall(recall.query, text=" and ".join(map(repr, replies)))

    def ask(prompts):
        return [Reply("said"), Reply(OSError("down"))]

    for recall in (
        run(pipeline([Keeps()], ASKED), Scripted(ask)),
        asyncio.run(arun(pipeline([Keeps()], ASKED), Scripted(ask, asynchronous=True))),
    ):
        assert recall.text == "'said' and ModelError('OSError: down')"


def test_where_all_prompts_fail_the_first_error_arrives_at_the_yield_in_both_worlds() -> None:
    def ask(prompts):
        return [Reply(ConnectionError("down")), Reply(OSError("late"))]

    for recall in (
        run(pipeline([Asks()], ASKED), Scripted(ask)),
        asyncio.run(arun(pipeline([Asks()], ASKED), Scripted(ask, asynchronous=True))),
    ):
        assert recall.fallbacks == ("Asks: ConnectionError: down",)


def test_a_stage_may_read_and_write_the_collection_in_both_worlds() -> None:
    stored: dict[str, Memory] = {}

    class Keeps(Stage):
        def apply(self, recall: Recall) -> Flow:
            [ids] = yield [Write((Memory(content="Tea.", id="tea"),))]
            [found] = yield [Fetch((*ids, "gone"))]
            return Recall(recall.query, tuple(found))

    def add(memories):
        stored.update({each.id: each for each in memories})
        return [each.id for each in memories]

    def get(ids):
        return [stored[each] for each in ids if each in stored]

    sync = run(Keeps().apply(ASKED), Scripted(get=get, add=add))
    asynchronous = asyncio.run(
        arun(Keeps().apply(ASKED), Scripted(asynchronous=True, get=get, add=add))
    )

    assert [each.content for each in sync.memories] == ["Tea."]
    assert sync == asynchronous
    with pytest.raises(StoreError, match="inside a RecallRetriever"):
        run(Keeps().apply(ASKED))


@pytest.mark.parametrize(
    ("own", "deadline", "least", "most"),
    [(0.5, 60, 0.5, 0.5), (60, 0.5, 0.1, 0.5), (None, 0.5, 0.1, 0.5), (0.5, None, 0.5, 0.5)],
)
def test_a_prompt_has_no_more_time_than_its_stage_and_the_deadline_leave(
    own: float | None, deadline: float | None, least: float, most: float
) -> None:
    class Patient(Stage):
        def apply(self, recall: Recall) -> Flow:
            [reply] = yield [Prompt("s", "u", timeout_s=own)]
            return Recall(recall.query, text=reply)

    sent: list[float] = []

    def ask(prompts):
        sent.extend(prompt.timeout_s for prompt in prompts)
        return [Reply("said")]

    asyncio.run(arun(pipeline([Patient()], ASKED, deadline), Scripted(ask, asynchronous=True)))
    run(pipeline([Patient()], ASKED, deadline), Scripted(ask))

    assert all(least <= each <= most for each in sent)
    assert len(sent) == 2


def test_a_model_that_fails_is_logged_without_what_it_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = Scripted(lambda prompts: [Reply("said"), Reply(TypeError("Ann's secret"))])

    run(pipeline([Asks()], ASKED), world)

    [record] = caplog.records
    assert record.getMessage() == "Asks: a call failed with TypeError"
    assert record.name == "recall_retrievers.core.usage"


def test_requests_of_two_kinds_at_once_are_refused() -> None:
    class Mixes(Stage):
        def apply(self, recall: Recall) -> Flow:
            yield [Search("tea", limit=1), Prompt("s", "u")]
            return recall

    with pytest.raises(TypeError, match=r"requests of one kind, .* got Prompt, Search"):
        run(pipeline([Mixes()], ASKED))


def test_nothing_asked_for_is_nothing_answered() -> None:
    class Idle(Stage):
        def apply(self, recall: Recall) -> Flow:
            answers = yield []
            return Recall(recall.query, text=repr(answers))

    assert run(pipeline([Idle()], ASKED)).text == "[]"
    assert asyncio.run(arun(pipeline([Idle()], ASKED), Scripted(asynchronous=True))).text == "[]"


def test_a_world_that_waits_is_not_taken_for_one_that_blocks() -> None:
    class Waits(Scripted):
        async def reply(self, prompts):
            await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="use the async method"):
        run(pipeline([Asks()], ASKED), Waits())
