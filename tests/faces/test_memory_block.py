"""RecallMemoryBlock in LlamaIndex's memory: what is recalled, what is kept, what goes wrong."""

import asyncio
from typing import Any

import pytest
from faces.adapters import Face
from faces.conftest import NOW
from faces.owners import QUESTION, odd, retriever
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from tables import table

from llamaindex_recall import RecallMemoryBlock, RecallRetriever
from recall_retrievers.agents import turn_writer
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

LONG = "So we talked about the weather for a while, and then about nothing in particular. "


def remembering(store: RecallStore, user: str = "ann", **settings: Any) -> RecallMemoryBlock:
    retriever = RecallRetriever(store=store, timestamp=NOW, timezone="UTC", scope={"user_id": user})
    return RecallMemoryBlock(retriever=retriever, **settings)


def memory_of(block: RecallMemoryBlock, session: str = "s1", limit: int = 3000) -> Memory:
    return Memory.from_defaults(
        session_id=session,
        memory_blocks=[block],
        token_limit=limit,
        chat_history_token_ratio=0.2,
        token_flush_size=10,
    )


async def seen(memory: Memory, text: str, **options: Any) -> str:
    messages = await memory.aget(input=text, **options)
    return "\n".join(str(message.content) for message in messages)


def told(text: str, role: str = "user", **noted: Any) -> ChatMessage:
    return ChatMessage(role=role, content=text, additional_kwargs=noted)


class Counting(RecallStore):
    """A store that counts how often it is asked, and fails when it is told to."""

    asked = 0
    tried = 0
    broken = False
    refused = "no session"

    async def afind(self, searches: Any) -> Any:
        self.asked += 1
        if self.broken:
            raise ConnectionError("the collection is down")
        return await super().afind(searches)

    def add(self, memories: Any, *, progress: bool = False) -> list[str]:
        self.tried += 1
        if self.broken or f"session_id='{self.refused}'" in repr(memories):
            raise ConnectionError("the collection is down")
        return super().add(memories, progress=progress)


@pytest.fixture
def counting(words: object) -> Any:
    with Counting(embedding=words) as opened:
        opened.add([{"content": "The dentist is Dr. Lee.", "scope": {"user_id": "ann"}}])
        yield opened


async def test_small_talk_brings_no_memories_unless_one_wants_it(store: RecallStore) -> None:
    gated, always = memory_of(remembering(store)), memory_of(remembering(store, gate=None))

    assert "<memory" not in await seen(gated, "Thanks!")
    assert "<memory" in await seen(gated, "What did I say about the dentist?")
    assert "<memory" in await seen(always, "Thanks!")


async def test_what_was_said_before_is_recalled_as_quoted_material(store: RecallStore) -> None:
    memory = memory_of(remembering(store), limit=100_000)
    question = "What did the dentist do last Tuesday?"

    for asked in (question, f"{question} {'See: ' * 20_000}"):  # of a long one the beginning
        text = await seen(memory, asked)
        assert "The dentist put a filling in my tooth." in text
    assert "quoted material" in text
    assert "Dr. Lee" not in text


async def test_one_question_is_asked_once_however_often_it_is_read(counting: Counting) -> None:
    memory = memory_of(remembering(counting))

    first = [await seen(memory, "the dentist?") for _ in range(3)]

    assert counting.asked == 1
    assert len(set(first)) == 1
    assert await seen(memory, "the dentist??")
    assert counting.asked == 2


async def test_what_was_just_stored_answers_the_same_question(counting: Counting) -> None:
    block = remembering(counting)
    asked = [told("When does the dentist open?")]
    assert "at nine" not in await block.aget(asked, session_id="s1")

    await block.aput([told("The dentist opens at nine.")], session_id="s1")

    assert "at nine" in await block.aget(asked, session_id="s1")


async def test_a_follow_up_is_searched_with_what_was_said(boiler: RecallStore) -> None:
    memory = memory_of(RecallMemoryBlock(retriever=RecallRetriever(store=boiler, k=2)))
    await memory.aput_messages([told("Who fixed the boiler?"), told("Fenn did.", "assistant")])

    assert "140 pounds" in await seen(memory, "And how much was that?")


async def test_the_moment_of_asking_can_come_with_the_call(store: RecallStore) -> None:
    memory = memory_of(remembering(store))
    asked = {"timestamp": "2024-02-02T12:00:00Z", "time_mode": "require", "k": 1}

    text = await seen(memory, "What did the dentist do yesterday?", **asked)

    assert "Elm Street" in text
    assert "filling" not in text


async def test_messages_that_do_not_fit_are_kept_with_speaker_and_session(
    counting: Counting,
) -> None:
    memory = memory_of(remembering(counting), limit=200)

    await memory.aput_messages([told("My cat is called Tom.", timestamp="2024-01-05")])
    await memory.aput_messages([told(LONG * 3, "assistant"), told(LONG * 3)])

    [[hit]] = counting.find([Search("cat Tom", 1, method="keyword")])
    cat = hit.memory
    assert (cat.author, cat.scope.session_id, cat.scope.user_id) == ("user", "s1", "ann")
    assert cat.created_at.date().isoformat() == "2024-01-05"
    assert "called Tom" in await seen(
        memory_of(remembering(counting), "s2"), "What is my cat called?"
    )


async def test_what_goes_wrong_is_logged_and_what_was_not_stored_waits(
    counting: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    block = remembering(counting)
    memory = memory_of(block)
    await memory.aput_messages([told("My cat is called Tom.")])
    counting.broken = True

    await block.aflush(memory)
    assert "Tom" not in await seen(memory_of(block, "other"), "What is my cat called?")
    assert "could not be stored" in caplog.text
    assert "could not be searched" in caplog.text

    counting.broken = False
    await block.aput([told("The train is late.")], session_id="s1")
    assert counting.count() == 3


async def test_a_store_that_is_down_is_tried_once_for_what_is_new(
    counting: Counting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # The bound is no setting, and hundreds of messages would take long.
    monkeypatch.setattr(turn_writer, "MOST_WAITING", 8)
    block = remembering(counting)
    counting.broken, counting.tried = True, 0
    for number in range(10):
        await block.aput([told(f"Number {number}.")], session_id=f"s{number}")
    assert counting.tried == 10
    assert "the oldest are given up" in caplog.text

    # One that fails for ever goes to the end, and holds up no other.
    counting.broken, counting.refused = False, "s2"
    for _ in range(2):
        await block.aput([told("The train is late.")], session_id="s0")
    [found] = counting.find([Search("number", 20, method="keyword")])
    stored = sorted((each.memory.scope.session_id, each.memory.content) for each in found)
    assert stored == [(f"s{n}", f"Number {n}.") for n in range(3, 10)]


async def test_messages_of_a_cancelled_task_wait(counting: Counting) -> None:
    block = remembering(counting)
    messages = [told(f"My cat is called {name}.", session_id=name) for name in ("Tom", "Ivy")]
    putting = asyncio.create_task(block.aput(messages))
    await asyncio.sleep(0)
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting

    await block.aput([told("The train is late.")], session_id="Tom")

    assert counting.count() == 4


async def test_a_message_that_can_never_be_stored_is_left_out_and_logged(
    counting: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    messages = [told("Never.", timestamp="soon"), told("My cat is called Tom.")]

    await remembering(counting).aput(messages, session_id="s1")

    assert counting.count() == 2
    assert "cannot be stored and is left out" in caplog.text


@table(
    ("answer", "kept"),
    [
        ("I\u2019m sorry, but I have no information about your sister.", False),
        ("Unfortunately, I couldn't find anything about that.", False),
        ("Leider weiß ich das nicht.", False),
        ("Lo siento, no tengo información sobre eso.", False),
        ("Je ne sais pas.", False),
        ("抱歉，我没有相关的记忆。", False),
        ("すみません、知りません。", False),
        ("I don't know her, but call Tom.", True),
        ("I have no objection, take the car.", True),
        ("I don't know what to do. " * 9, True),
    ],
)
def test_an_answer_that_says_nothing_is_not_kept(words: Any, answer: str, kept: bool) -> None:
    with RecallStore(embedding=words) as store:
        block = RecallMemoryBlock(retriever=RecallRetriever(store=store))
        asked = [told("I don't know who my sister is."), told(answer, "assistant")]
        asyncio.run(block.aput(asked))

        assert store.count() == 1 + kept


async def test_what_was_kept_is_a_conversation(counting: Counting) -> None:
    """Turn by turn as they leave the memory, then whole at the end: each once, and linked."""
    block = remembering(counting)
    memory = memory_of(block, limit=200)
    for text, role in [
        ("Which pets do you have?", "assistant"),
        ("Three of them.", "user"),
        ("You have used a tool.", "tool"),
        (LONG * 3, "assistant"),
        ("Three of them.", "user"),
    ]:
        await memory.aput_messages([told(text, role)])
    await block.aflush(memory)

    [hits] = counting.find([Search("Three of them", 9, method="keyword")])
    found = [hit.memory for hit in hits]
    before = [each.said_before.split()[-1] for each in found if each.content == "Three of them."]
    assert sorted(before) == ["have?", "particular."]
    assert counting.count() == 5
    assert found[0].created_at.date().isoformat() == NOW[:10]


async def test_one_block_serves_several_users(
    counting: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    users = {"s1": "ann", "s2": "bob"}
    block = RecallMemoryBlock(
        retriever=RecallRetriever(store=counting),
        scope_of=lambda session: {"user_id": users[session]},
    )
    for session, pet in [("s1", "Tom"), ("s2", "Rex"), ("nobody's", "Ivy")]:
        await block.aput([told(f"My pet is called {pet}.")], session_id=session)

    question = "What is my pet called?"
    assert "Tom" in await seen(memory_of(block, "s1"), question)
    assert "Rex" not in await seen(memory_of(block, "s1"), question)
    assert "Rex" in await seen(memory_of(block, "s2"), question)
    assert "pet" not in (await seen(memory_of(block, "nobody's"), question)).replace(question, "")
    assert "pet" not in (await seen(memory_of(block, "s1"), question, scope={"user_id": "bob"}))
    assert "KeyError" in caplog.text
    assert await block.aget([told(question)]) == ""
    assert "there is no session id here" in caplog.text


async def test_too_long_it_leaves_out_the_last_first(store: RecallStore) -> None:
    block = remembering(store)
    whole = await block.aget([told("the dentist")])

    shorter = await block.atruncate(whole, 20)

    assert whole.startswith(str(shorter))
    assert '<memory number="1"' in str(shorter)
    assert whole.count("<memory ") > str(shorter).count("<memory ") >= 1
    assert await block.atruncate(whole, 10_000) is None


@pytest.mark.parametrize("whole", [True, False], ids=["no scope", "an empty field"])
def test_a_session_of_nobody_recalls_and_stores_nothing(
    own_store: RecallStore, caplog: pytest.LogCaptureFixture, whole: bool
) -> None:
    answers = st.sampled_from([None, {}, Scope(), "", 0, False, []])
    if not whole:
        answers = st.fixed_dictionaries({"user_id": odd})
    asked = retriever(Face("llamaindex_recall", True), own_store)
    ids = {each.id for each in own_store.memories()}

    @given(answer=answers)
    @settings(max_examples=25)
    def nobody(answer: Any) -> None:
        caplog.clear()
        block = RecallMemoryBlock(retriever=asked, scope_of=lambda _: answer)

        assert asyncio.run(block.aget([told(QUESTION)], session_id="s1")) == ""
        asyncio.run(block.aput([told(QUESTION)], session_id="s1"))

        assert {each.id for each in own_store.memories()} == ids
        assert caplog.text.count("ScopeError") >= 2

    nobody()


async def test_the_scope_of_a_block_can_come_empty_with_the_call(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    block = RecallMemoryBlock(retriever=RecallRetriever(store=store))

    for scope in ({"user_id": ""}, {"user_id": None}, "", [], 0):
        assert await block.aget([told(QUESTION)], session_id="s1", scope=scope) == ""
    assert caplog.text.count("ScopeError: scope") == 5


async def test_a_block_that_keeps_to_its_session_needs_one(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    block = RecallMemoryBlock(retriever=RecallRetriever(store=store), by_session=True)

    assert await block.aget([told(QUESTION)]) == ""
    assert "scope session_id must be a text" in caplog.text
