"""The pipeline and its two drivers: one generator, answered by a sync or an async world."""

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from stages.worlds import Scripted
from tables import table

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


class Patient(Stage):
    """Asks a model with a time limit, and says what it replies."""

    seconds: float | None = None

    def apply(self, recall: Recall) -> Flow:
        replies = yield [Prompt("s", user, timeout_s=self.seconds) for user in ("one", "two")]
        return Recall(recall.query, text=" and ".join(map(repr, replies)))


class Searches(Stage):
    """Asks the collection."""

    def apply(self, recall: Recall) -> Flow:
        found = yield [Search(recall.query.text, limit=1)]
        return Recall(recall.query, tuple(found[0]))


def both(*stages: Stage, ask=None, recall: Recall = ASKED, deadline: float | None = None, **store):
    """The outcome in a world that blocks, and in one that waits."""
    flows = [pipeline(stages, recall, deadline) for _ in range(2)]
    worlds = [Scripted(ask, asynchronous=waits, **store) for waits in (False, True)]
    return run(flows[0], worlds[0]), asyncio.run(arun(flows[1], worlds[1]))


def test_a_stage_that_gets_a_pool_blocks_no_event_loop() -> None:
    threads: list[threading.Thread] = []

    class Looks(Stage):
        reads_pool: ClassVar[bool] = True

        def apply(self, recall: Recall) -> Recall:
            threads.append(threading.current_thread())
            return recall

    both(Looks(), recall=replace(ASKED, memories=Pool.of([Candidate(content="Tea.")])))

    assert [each is threading.main_thread() for each in threads] == [True, False]


def test_requests_of_one_yield_are_answered_together() -> None:
    asked: list[list[str]] = []

    def ask(prompts):
        asked.append([prompt.user for prompt in prompts])
        return [Reply(prompt.user.upper()) for prompt in prompts]

    for recall in both(Asks(), ask=ask):
        assert [each.content for each in recall.memories] == ["ONE and TWO"]
        assert recall.usage[0].startswith("Asks: 2 calls, about 4 tokens in, 3 out")
    assert asked == [["one", "two"]] * 2


def test_an_error_that_no_stage_mends_is_raised() -> None:
    def find(searches):
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        run(pipeline([Searches()], ASKED), Scripted(find=find))


def test_a_scripted_model_that_runs_dry_is_an_error_and_not_the_end() -> None:
    with pytest.raises(RuntimeError):
        run(pipeline([Asks()], ASKED), Scripted(lambda prompts: [next(iter(()))]))


def test_every_memory_names_the_step_that_fell_back() -> None:
    class Finds(Stage):
        def apply(self, recall: Recall) -> Recall:
            return replace(recall, memories=(Memory(content="a"), Memory(content="b")))

    def ask(prompts):
        return [Reply(ConnectionError("down")), Reply(OSError("late"))]

    for recall in both(Asks(), Finds(), ask=ask):  # the first error arrives at the yield
        assert recall.fallbacks == ("Asks: ConnectionError: down",)
        assert [memory.trace["degraded"] for memory in recall.memories] == [*recall.fallbacks] * 2


def test_of_several_prompts_one_that_fails_has_its_error_in_place_of_a_reply(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def ask(prompts):
        return [Reply("said"), Reply(OSError("Ann's secret"))]

    for recall in both(Patient(), ask=ask):
        assert recall.text == "'said' and ModelError(\"OSError: Ann's secret\")"
    for record in caplog.records:  # without what the model said
        assert record.getMessage() == "Patient: a call failed with OSError"
        assert record.name == "recall_retrievers.core.usage"
    assert len(caplog.records) == 2


def test_a_stage_may_read_and_write_the_collection() -> None:
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

    one, other = both(Keeps(), get=get, add=add)

    assert [each.content for each in one.memories] == ["Tea."]
    assert one == other
    for stage in (Keeps(), Searches()):
        with pytest.raises(StoreError, match="inside a RecallRetriever"):
            run(pipeline([stage], ASKED))


@table(
    ("own", "deadline", "least", "most"),
    [(0.5, 60, 0.5, 0.5), (60, 0.5, 0.1, 0.5), (None, 0.5, 0.1, 0.5), (0.5, None, 0.5, 0.5)],
)
def test_a_prompt_has_no_more_time_than_its_stage_and_the_deadline_leave(
    own: float | None, deadline: float | None, least: float, most: float
) -> None:
    sent: list[float] = []

    def ask(prompts):
        sent.extend(prompt.timeout_s for prompt in prompts)
        return [Reply("said")] * len(prompts)

    both(Patient(seconds=own), ask=ask, deadline=deadline)

    assert all(least <= each <= most for each in sent)
    assert len(sent) == 4


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

    assert [recall.text for recall in both(Idle())] == ["[]", "[]"]


def test_a_world_that_waits_is_not_taken_for_one_that_blocks() -> None:
    class Waits(Scripted):
        async def reply(self, prompts):
            await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="use the async method"):
        run(pipeline([Asks()], ASKED), Waits())
