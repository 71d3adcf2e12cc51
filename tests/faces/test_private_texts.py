"""No text of a memory reaches a log, and no more than sixty characters of it an error."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from llama_index.core.llms import ChatMessage
from tables import table

from langchain_recall import RecallRetriever
from llamaindex_recall import RecallMemoryBlock
from llamaindex_recall import RecallRetriever as LlamaIndexRetriever
from recall_retrievers.agents.turn_writer import TurnWriter
from recall_retrievers.core.errors import RecallError
from recall_retrievers.store import RecallStore

SECRET = "my pin is 4711 " * 400
HALF = SECRET + "\ud83d"
Wrong = Callable[[RecallStore, Any], object]


def asked(store: Any, **options: Any) -> object:
    return RecallRetriever(store=store).invoke("tea", **options)


WRONG: dict[str, Wrong] = {
    "half a character": lambda s, _: s.add([HALF]),
    "half a character in metadata": lambda s, _: s.add([{"content": "a", "metadata": {"b": HALF}}]),
    "an id": lambda s, _: s.add([{"content": "a", "id": HALF}]),
    "two of an id": lambda s, _: s.add([{"content": "a", "id": SECRET}] * 2),
    "metadata": lambda s, _: s.add([{"content": "a", "metadata": {"b": {SECRET: SECRET}}}]),
    "the name of metadata": lambda s, _: s.add([{"content": "a", "metadata": {SECRET: {}}}]),
    "a field": lambda s, _: s.add([{"content": "a", SECRET: {}}]),
    "a time": lambda s, _: s.add([{"content": "a", "created_at": SECRET}]),
    "a document": lambda s, _: s.add([Document(page_content=HALF)]),
    "the time of a document": lambda s, _: s.add(
        [Document(page_content=SECRET, metadata={"created_at": SECRET})]
    ),
    "a message": lambda s, _: s.add_conversation([{"role": "user", "content": HALF}]),
    "what is no list": lambda s, _: s.get(SECRET),
    "a change": lambda s, ids: s.update(ids[0], text=HALF),
    "changed metadata": lambda s, ids: s.update(ids[0], metadata={"a": HALF}),
    "what is not there": lambda s, _: s.update(SECRET, text="a"),
    "a scope": lambda s, _: asked(s.for_scope(user_id=SECRET), scope={"user_id": "ann"}),
    "another scope": lambda s, _: asked(s.for_scope(user_id="ann"), scope={"user_id": SECRET}),
    "no scope": lambda s, _: asked(s, scope=SECRET),
    "a filter": lambda s, _: asked(s, filter={"a": {SECRET: SECRET}}),
    "the value of a filter": lambda s, _: asked(s, filter={"a": {"$gt": SECRET}}),
    "a time range": lambda s, _: asked(s, time_range=SECRET),
    "the conversation": lambda s, _: asked(s, messages=SECRET),
    "a setting": lambda s, _: asked(s, **{SECRET: 1}),
    "the zone": lambda s, _: asked(s, timezone=SECRET),
    "the moment": lambda s, _: asked(s, timestamp=SECRET),
    "a number": lambda s, _: asked(s, k=SECRET),
}


@table("wrong", WRONG)
def test_an_error_quotes_little(
    own_store: RecallStore, caplog: pytest.LogCaptureFixture, wrong: str
) -> None:
    ids = own_store.add(["Tea at four."])

    with pytest.raises((RecallError, ValueError, TypeError)) as raised:
        WRONG[wrong](own_store, ids)

    assert not any(SECRET[start : start + 61] in str(raised.value) for start in range(15))
    assert len(str(raised.value)) < 700
    assert "4711" not in caplog.text


class Failing:
    """An embedding that says what it was handed."""

    model_name = "failing"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise RuntimeError(f"cannot embed {texts}")

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)


def test_what_an_agent_cannot_store_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with RecallStore(embedding=Failing()) as store:
        for text in (SECRET, HALF):
            writer = TurnWriter()
            retriever = RecallRetriever(store=store)
            asyncio.run(writer.store({"": [HumanMessage(text)]}, retriever, None))
        block = RecallMemoryBlock(retriever=LlamaIndexRetriever(store=store))
        asyncio.run(block._aget([ChatMessage(SECRET)]))

    assert "StoreError: The embedding model 'failing' failed: RuntimeError: ..." in caplog.text
    assert "a message cannot be stored and is left out: MemoryFormatError" in caplog.text
    assert "4711" not in caplog.text
