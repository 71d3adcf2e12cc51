"""No number ends the process, and no error or log quotes much of what it was given."""

import asyncio
import importlib
import logging
import pkgutil
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, both, once
from faces.conftest import MEMORIES
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langgraph.store.base import SearchOp
from llama_index.core.llms import ChatMessage
from llama_index.core.vector_stores.types import VectorStoreQuery
from pydantic import BaseModel, TypeAdapter, ValidationError
from tables import table

import langchain_recall
import llamaindex_recall
import recall_retrievers
from langchain_recall import RecallRetriever
from llamaindex_recall import RecallMemoryBlock
from llamaindex_recall import RecallRetriever as LlamaIndexRetriever
from recall_retrievers.agents.turn_writer import TurnWriter
from recall_retrievers.core.errors import RecallError
from recall_retrievers.core.settings import Settings
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

NUMBERS = [2**31, 2**62, 10**30, 1e30, float("inf"), float("nan"), -1_000_001]


def settings_of_all() -> Iterator[tuple[str, object]]:
    """Each number that a class of settings takes, with its type."""
    for package in (recall_retrievers, langchain_recall, llamaindex_recall):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    classes: list[type[BaseModel]] = [llamaindex_recall.RecallMemoryBlock]
    waiting: list[type[BaseModel]] = [Settings]
    while waiting:
        classes.append(waiting.pop())
        waiting += classes[-1].__subclasses__()
    packages = ("recall_retrievers", "langchain_recall", "llamaindex_recall")
    for owner in classes:
        numbers = {x: y for x, y in owner.model_fields.items() if is_number(y.annotation)}
        for name, field in numbers.items() if owner.__module__.startswith(packages) else ():
            yield f"{owner.__name__}.{name}", Annotated[field.annotation, *field.metadata, ""]


def is_number(annotation: object) -> bool:
    """Whether a type is a number, or a collection of numbers."""
    if get_origin(annotation) is Annotated:
        return is_number(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        members = [each for each in get_args(annotation) if each is not NoneType]
        return all(is_number(each) for each in members)
    if get_origin(annotation) in (dict, list, tuple):
        return is_number(get_args(annotation)[-1])
    return annotation in (int, float)


def test_every_setting_that_is_a_number_is_bounded() -> None:
    settings = dict(settings_of_all())
    assert len(settings) > 100

    unbounded = []
    for name, annotation in settings.items():
        adapter = TypeAdapter[Any](annotation)
        for number in NUMBERS:
            for value in (number, {"insight": number}, (number, number)):
                try:
                    adapter.validate_python(value)
                except (ValidationError, RecallError, ValueError):
                    continue
                unbounded.append(f"{name} takes {value}")
    assert not unbounded


def opened(**settings: Any) -> object:
    return RecallStore(**settings)


def by_configuration(face: Face, store: Any, k: Any) -> object:
    retriever = face.RecallRetriever(store=store)
    if face.is_langchain:
        return face.call(retriever, "invoke", "tea", {"configurable": {"k": k}})
    bundle = llamaindex_recall.RecallQueryBundle("tea", options={"k": k})
    return face.ask(retriever, bundle)


def in_one_call(face: Face, store: Any, k: Any) -> object:
    return face.call(face, "recall", "tea", {"source": store, "max_results": k})


def by_a_vector_store(face: Face, store: Any, k: Any) -> object:
    vectors = face.RecallVectorStore(store)
    if face.is_langchain:
        return vectors.similarity_search("tea", k=k)
    return vectors.query(VectorStoreQuery(query_str="tea", similarity_top_k=k))


WAYS: dict[str, Callable[[Face, Any, Any], object]] = {
    "a call": lambda face, s, k: face.ask(face.RecallRetriever(store=s), "tea", k=k),
    "a call by words": lambda face, s, k: face.ask(
        face.RecallRetriever(store=s, method="keyword"), "tea", k=k
    ),
    "a retriever": lambda face, s, k: face.RecallRetriever(store=s, k=k),
    "the configuration": by_configuration,
    "recall()": in_one_call,
    "a vector store": by_a_vector_store,
    "a search": lambda _, s, k: s.find([Search("tea", k, method="keyword")]),
    "a search among ids": lambda _, s, k: s.find_among(Search("tea", k), ["tea"]),
    "a search of another store": lambda f, s, k: f.AnyStore(source=s).find([Search("tea", k)]),
    "a list": lambda _, s, k: list(s.memories(limit=k)),
    "an agent's memory": lambda face, s, k: face.AgentMemory(store=s).search_memory_with_context(
        "tea", max_results=k
    ),
    "the time of an embedding": lambda _, __, k: opened(embed_timeout_s=k),
}


@both
@pytest.mark.parametrize("way", WAYS)
@table("number", [*NUMBERS, -1])
def test_no_argument_ends_the_process(
    store: RecallStore, face: Face, way: str, number: Any
) -> None:
    with pytest.raises((RecallError, ValueError), match=r"must be .*; got|out of range"):
        pytest.fail(f"{way} took {number}: {WAYS[way](face, store, number)}")


@once
def test_the_largest_k_finds_what_there_is(store: RecallStore, face: Face) -> None:
    for method in ("hybrid", "semantic", "keyword"):
        found = face.ask(face.RecallRetriever(store=store), "dentist tea", k=10_000, method=method)
        assert 4 <= len(found) <= len(MEMORIES)


def test_a_search_of_langgraph_takes_any_limit(
    own_store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds all that fit, also beyond the largest k."""
    monkeypatch.setattr("langchain_recall.graph_store.MOST_RESULTS", 3)
    shelf = langchain_recall.RecallGraphStore(own_store)
    for n in range(9):
        shelf.put(("notes",), str(n), {"text": "Tea at four.", "of": {"stars": n % 2}})

    fits = {"of": {"$eq": {"stars": 1}}}
    [found] = shelf.batch([SearchOp(("notes",), query="tea?", filter=fits, limit=2**62)])

    assert sorted(each.key for each in found) == ["1", "3", "5", "7"]


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


class Failing(WordsEmbedding):
    """An embedding that says what it was handed."""

    model_name = "failing"

    def _embed(self, text: str) -> list[float]:
        raise RuntimeError(f"cannot embed {text}")


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
