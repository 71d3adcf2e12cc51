"""Without a gate, whatever is found in a conversation is shown to the model."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from faces.adapters import Face, both
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from langchain_recall import RecallMiddleware
from llamaindex_recall import RecallMemoryBlock
from recall_retrievers.core.message import BEFORE
from recall_retrievers.store import RecallStore

K = 3
DIARY = """
    Beto's train left from platform four; I waved until it was gone.
    The Octavia would not start, so the workshop by the canal kept it overnight.
    Dr Amadi put me on a smaller dose.
    We walked around the lake with the children.
    Granny left her pearl ring to Ines.
    The quartet played Schubert in the old brewery.
    Signed the lease for the flat in Rua Nova.
    The neighbours gave us a box of quinces.
    My piano teacher wants me to try the slow movement.
    Had soup with Marta after the meeting.
"""
TURNS = [
    ("I have a free afternoon.", "You could see a friend, go to the baths, or read."),
    ("What about the first one?", "Who would you like to see?"),
    ("Whoever I saw in person most recently.", "Shall I write to them?"),
    ("Hm, and the last two?", "The baths close at six."),
    ("Is it too late for that?", "It is four o'clock."),
    ("Then what would you do?", "I would go outside."),
    ("Any news I should think of?", "Of whom?"),
    ("The doctor, for one.", "I see."),
    ("Does it still hold?", "I believe so."),
    ("Who gets the jewellery?", "Let me look."),
    ("Are you sure?", "Not quite."),
    ("What did they do to my car?", "One moment."),
    ("When was I last at a concert?", "Some weeks ago."),
    ("Was the second half any good?", "You liked it."),
    ("And the one before?", "I do not know."),
    ("Remind me what we settled.", "On the place?"),
    ("Yes, that.", "It is settled."),
    ("Good. Anything else on your mind?", "No."),
    ("What is the capital of Mongolia?", "Ulaanbaatar."),
]


@pytest.fixture
def diary(embeds_once: None) -> Iterator[RecallStore]:
    with RecallStore() as store:
        store.add(line.strip() for line in DIARY.strip().splitlines())
        yield store


def shown(face: Face, retriever: Any, before: list[tuple[str, str]], turn: str) -> str:
    """What a model is told before it answers a turn, by the middleware or by the block."""
    if face.is_langchain:
        model = GenericFakeChatModel(messages=cycle([AIMessage("Yes.")]))
        agent = create_agent(model, middleware=[RecallMiddleware(retriever, gate=None)])
        return face.call(agent, "invoke", {"messages": [*before, ("user", turn)]})["recalled"]
    memory = Memory.from_defaults(memory_blocks=[RecallMemoryBlock(retriever=retriever, gate=None)])
    for role, text in before:
        memory.put(ChatMessage(role=role, content=text))
    return str(face.call(memory, "get", input=turn)[0].content)


@both
def test_in_a_conversation_nothing_that_is_found_is_withheld(
    face: Face, diary: RecallStore
) -> None:
    retriever = face.RecallRetriever(store=diary, k=K)
    before: list[tuple[str, str]] = []
    unsure = []
    for turn, answer in TURNS:
        messages = [{"role": role, "content": text} for role, text in before[-BEFORE:]]
        found = face.ask(retriever, turn, messages=messages)
        text = shown(face, retriever, before, turn)

        assert len(found) == K, turn
        assert [each.content for each in found if each.content not in text] == [], turn
        unsure.append(found[0].metadata["recall_evidence"] == "none")
        said = "Nothing is known to be about this; the nearest are:" in text
        assert said is unsure[-1], turn
        before += [("user", turn), ("assistant", answer)]
    assert 0 < sum(unsure) < len(TURNS)
