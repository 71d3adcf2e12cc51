"""Event times end to end: stored by one face, asked for by any, without a model."""

from typing import Any

from faces.adapters import Face, both, once
from langchain_core.documents import Document
from llama_index.core.schema import TextNode

from recall_retrievers.store import RecallStore

NOW = "2024-05-02T09:00:00Z"
RECORDED = "2024-03-20T18:30:00Z"


@once
def test_what_was_met_two_weeks_ago_is_found_by_early_march(face: Face, words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add(
            [
                {"id": "anna", "content": "We met Anna two weeks ago.", "created_at": RECORDED},
                {"id": "ben", "content": "We met Ben and talked.", "created_at": RECORDED},
                {"id": "carl", "content": "We met Carl last month.", "created_at": RECORDED},
            ]
        )
        retriever = face.RecallRetriever(store=store, timestamp=NOW, k=3)
        found = face.ask(retriever, "Who was it we met in early March?")
        only = face.ask(retriever, "Who was it we met in early March?", time_mode="require")

    assert found[0].id == "anna"
    assert found[0].metadata["recall_time_match"] == "event"
    assert {each.metadata["recall_time_match"] for each in found[1:]} == {"none"}
    assert [each.id for each in only] == ["anna"]


@both
def test_objects_of_the_framework_are_read_too(face: Face, words: Any) -> None:
    text, metadata = "We met Anna two weeks ago.", {"created_at": RECORDED}
    with RecallStore(embedding=words) as store:
        retriever = face.RecallRetriever(store=store, timestamp=NOW, time_mode="require")
        if face.is_langchain:
            retriever.add_documents([Document(page_content=text, metadata=metadata)])
        else:
            retriever.add_nodes([TextNode(text=text, metadata=metadata)])
        (found,) = face.ask(retriever, "Whom did we meet in early March?")

    assert found.metadata["event_ranges"] == "2024-03-04T00:00:00+00:00/2024-03-11T00:00:00+00:00"
