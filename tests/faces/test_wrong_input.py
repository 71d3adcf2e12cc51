"""Wrong input gives an error that says what to do; nothing is lost and nothing is guessed."""

from typing import Any

import chromadb
import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, once
from tables import table

from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore

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
