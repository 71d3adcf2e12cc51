"""The pipeline and its two drivers: one generator, answered by a sync or an async world."""

import asyncio
from datetime import UTC, datetime

import pytest

from recall_stages.core.errors import StoreError
from recall_stages.core.memory import Memory, Query
from recall_stages.core.stage import (
    Fetch,
    Prompt,
    Recall,
    Reply,
    Search,
    Stage,
    Steps,
    Write,
    arun,
    pipeline,
    run,
)

ASKED = Recall(Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC)))


class Asks(Stage):
    """Asks a model two things at once, and falls back when it fails."""

    def apply(self, recall: Recall) -> Steps:
        try:
            replies = yield [Prompt("s", "one", None), Prompt("s", "two", None)]
        except ConnectionError as error:
            return recall.fell_back("Asks", str(error))
        return Recall(recall.query, (Memory(content=" and ".join(map(str, replies))),))


class Searches(Stage):
    """Asks the collection."""

    def apply(self, recall: Recall) -> Steps:
        found = yield [Search(recall.query.text, limit=1)]
        return Recall(recall.query, tuple(found[0]))


def test_requests_of_one_yield_are_answered_together_in_both_worlds() -> None:
    asked: list[list[str]] = []

    def ask(prompts):
        asked.append([prompt.user for prompt in prompts])
        return [Reply(prompt.user.upper()) for prompt in prompts]

    async def ask_async(prompts):
        return ask(prompts)

    sync = run(pipeline([Asks()], ASKED), ask)
    asynchronous = asyncio.run(arun(pipeline([Asks()], ASKED), ask_async))

    assert sync == asynchronous
    assert sync.memories[0].content == "ONE and TWO"
    assert asked == [["one", "two"]] * 2


def test_an_error_arrives_at_the_yield_in_both_worlds() -> None:
    def ask(prompts):
        raise ConnectionError("down")

    async def ask_async(prompts):
        raise ConnectionError("down")

    for recall in (
        run(pipeline([Asks()], ASKED), ask),
        asyncio.run(arun(pipeline([Asks()], ASKED), ask_async)),
    ):
        assert recall.fallbacks == ("Asks: down",)


def test_an_error_that_no_stage_mends_is_raised() -> None:
    def find(searches):
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        run(pipeline([Searches()], ASKED), ask=list, find=find)


def test_a_scripted_model_that_runs_dry_is_an_error_and_not_the_end() -> None:
    def ask(prompts):
        return [next(iter(()))]

    with pytest.raises(RuntimeError):
        run(pipeline([Asks()], ASKED), ask)


def test_a_search_outside_a_retriever_says_so() -> None:
    with pytest.raises(StoreError, match="inside a RecallRetriever"):
        run(pipeline([Searches()], ASKED), ask=list)


def test_every_memory_names_the_step_that_fell_back() -> None:
    class Finds(Stage):
        def apply(self, recall: Recall) -> Recall:
            return Recall(
                recall.query, (Memory(content="a"), Memory(content="b")), "", recall.fallbacks
            )

    def ask(prompts):
        raise ConnectionError("down")

    recall = run(pipeline([Asks(), Finds()], ASKED), ask)

    assert [memory.trace["degraded"] for memory in recall.memories] == ["Asks: down"] * 2


def test_of_several_prompts_one_that_fails_has_its_error_in_place_of_a_reply() -> None:
    class Keeps(Stage):
        def apply(self, recall: Recall) -> Steps:
            replies = yield [Prompt("s", "one", None), Prompt("s", "two", None)]
            return Recall(recall.query, text=" and ".join(map(repr, replies)))

    def ask(prompts):
        return [Reply("said"), Reply(OSError("down"))]

    async def ask_async(prompts):
        return ask(prompts)

    for recall in (
        run(pipeline([Keeps()], ASKED), ask),
        asyncio.run(arun(pipeline([Keeps()], ASKED), ask_async)),
    ):
        assert recall.text == "'said' and OSError('down')"


def test_where_all_prompts_fail_the_first_error_arrives_at_the_yield() -> None:
    def ask(prompts):
        return [Reply(ConnectionError("down")), Reply(OSError("late"))]

    async def ask_async(prompts):
        return ask(prompts)

    for recall in (
        run(pipeline([Asks()], ASKED), ask),
        asyncio.run(arun(pipeline([Asks()], ASKED), ask_async)),
    ):
        assert recall.fallbacks == ("Asks: down",)


def test_a_stage_may_read_and_write_the_collection_in_both_worlds() -> None:
    stored: dict[str, Memory] = {}

    class Keeps(Stage):
        def apply(self, recall: Recall) -> Steps:
            [ids] = yield [Write((Memory(content="Tea.", id="tea"),))]
            [found] = yield [Fetch((*ids, "gone"))]
            return Recall(recall.query, tuple(found))

    def add(memories):
        stored.update({each.id: each for each in memories})
        return [each.id for each in memories]

    def get(ids):
        return [stored[each] for each in ids if each in stored]

    async def ask_async(prompts):
        raise AssertionError("no model is asked")

    sync = run(Keeps().apply(ASKED), ask=list, get=get, add=add)
    asynchronous = asyncio.run(arun(Keeps().apply(ASKED), ask_async, get=get, add=add))

    assert [each.content for each in sync.memories] == ["Tea."]
    assert sync == asynchronous
    with pytest.raises(StoreError, match="inside a RecallRetriever"):
        run(Keeps().apply(ASKED), ask=list)
