"""Wrong input gives an error that says what to do; nothing is lost and nothing is guessed."""

from collections.abc import Callable
from typing import Any

import chromadb
import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, once
from tables import table

from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore

CONSTRUCTION = {
    "an unknown argument": ({"kk": 3}, "has no argument 'kk'; did you mean 'k'?"),
    "k of zero": ({"k": 0}, "k must be at least 1; got 0"),
    "a threshold above one": (
        {"threshold_score": 1.5},
        "threshold_score must be at most 1; got 1.5",
    ),
    "a boolean for a time": ({"timestamp": True}, "ISO 8601 string or datetime; got True"),
    "nonsense for a time": ({"timestamp": "soon"}, "ISO 8601"),
    "an unknown time zone": ({"timezone": "Mars/Olympus"}, "such as 'Europe/Berlin'"),
    "an unknown scope": (
        {"scope": {"user": "ann"}},
        "has no argument 'user'; did you mean 'user_id'",
    ),
    "a text for a scope": ({"scope": "ann"}, 'a mapping such as {"user_id": "ann"}'),
    "a user outside the scope": (
        {"user_id": "ann"},
        "'user_id'; here it is scope={'user_id': ...}",
    ),
    "a group outside the scope": ({"workspace": "us"}, "here it is scope={'workspace': ...}"),
    "an unknown time mode": (
        {"time_mode": "hard"},
        "must be 'prefer', 'require' or 'ignore'; got 'hard'",
    ),
}


@once
@table("wrong", CONSTRUCTION, ids=str)
def test_construction(store: RecallStore, face: Face, wrong: str) -> None:
    settings, message = CONSTRUCTION[wrong]

    with pytest.raises((ValueError, ScopeError), match=r"(?s).*") as raised:
        face.RecallRetriever(store=store, **settings)

    assert message in str(raised.value)


@once
@table("wrong", CONSTRUCTION, ids=str)
def test_a_call(store: RecallStore, face: Face, wrong: str) -> None:
    options, message = CONSTRUCTION[wrong]

    with pytest.raises((ValueError, ScopeError), match=r"(?s).*") as raised:
        face.ask(face.RecallRetriever(store=store), "the dentist", **options)

    assert message in str(raised.value)


QUESTIONS = {
    "an empty question": ("", {}, "query must say what to look for; got ''"),
    "a blank question": (" \n", {}, "query must say what to look for"),
    "a book": ("x" * 50_001, {}, "query may have 50,000 characters at most; got 50,001"),
    "a filter on a nested key": ("x", {"filter": {"a": {"b": 1}}}, "metadata is flat"),
    "a filter with an empty list": ("x", {"filter": {"a": {"$in": []}}}, "takes a list of values"),
    "a wider scope": ("x", {"scope": {"user_id": "bob"}}, "cannot be changed to 'bob' by a call"),
    "a range that ends before it starts": (
        "x",
        {"time_range": ("2024-03-02", "2024-03-01")},
        "start must be before end",
    ),
}


@once
@table("wrong", QUESTIONS, ids=str)
def test_a_question(store: RecallStore, face: Face, wrong: str) -> None:
    question, options, message = QUESTIONS[wrong]
    retriever = face.RecallRetriever(store=store, scope={"user_id": "ann"})

    with pytest.raises((ValueError, ScopeError), match=r"(?s).*") as raised:
        face.ask(retriever, question, **options)

    assert message in str(raised.value)


@once
def test_a_filter_cannot_widen_the_scope(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, scope={"user_id": "ann"}, k=10)

    for wider in ({"user_id": "bob"}, {"$or": [{"user_id": "bob"}, {"user_id": "ann"}]}):
        found = face.ask(retriever, "the dentist", filter=wider)
        assert "bob" not in {each.id for each in found}


@once
def test_a_closed_store(words: object, face: Face) -> None:
    store = RecallStore(embedding=words)
    retriever = face.RecallRetriever(store=store)
    store.close()

    with pytest.raises(RuntimeError, match="is closed; open it again with RecallStore"):
        face.ask(retriever, "the dentist")


@once
def test_a_collection_with_another_embedding_model(
    words: Any, collection_name: str, face: Face
) -> None:
    client = chromadb.EphemeralClient()
    with RecallStore(client, collection_name, embedding=words) as store:
        store.add(["the dentist"])
    another = WordsEmbedding()
    another.model_name = "another"

    with pytest.raises(ValueError, match="holds vectors of 'words-256'"):
        face.RecallStore(client, collection_name, embedding=another)

    client.delete_collection(collection_name)


STAGES: dict[str, tuple[Callable[[Face], Any], str]] = {
    "a typo": (lambda face: face.FuseRerank(topn=3), "did you mean 'top_n'?"),
    "top_n of zero": (lambda face: face.FuseRerank(top_n=0), "top_n must be at least 1; got 0"),
    "a threshold above one": (
        lambda face: face.FuseRerank(fuse_score_threshold=2),
        "fuse_score_threshold must be at most 1; got 2",
    ),
    "a model that is none": (lambda face: face.SemanticRank(llm="gpt"), "llm must be a"),
    "a language it cannot read": (
        lambda face: face.ExtractTime(language="it"),
        "'auto', 'en', 'zh', 'de', 'es', 'fr' or 'ja'; got 'it'",
    ),
}


@once
@table("wrong", STAGES, ids=str)
def test_a_stage(face: Face, wrong: str) -> None:
    build, message = STAGES[wrong]

    with pytest.raises(ValueError, match=r"(?s).*") as raised:
        build(face)

    assert message in str(raised.value)
