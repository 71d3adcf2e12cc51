"""Any retriever of the framework is measured on labelled questions, ours beside it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.conftest import MEMORIES, NOW
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import langchain_recall
import llamaindex_recall
from recall_retrievers.store import RecallStore

FACES = [langchain_recall, llamaindex_recall]
LASTING = {"question": "the dentist last Tuesday", "relevant": ["filling"], "timestamp": NOW}
SCOPED = {**LASTING, "user_id": "ann"}


class Fixed(BaseRetriever):
    """A retriever of a user's own."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes(["moved", "filling"])


def documents(ids: Sequence[str]) -> list[Document]:
    return [Document(id=each, page_content=f"The {each}.") for each in ids]


def nodes(ids: Sequence[str]) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(id_=each, text=f"The {each}.")) for each in ids]


# What users have: a retriever of their own, a function, and the stock one over many memories.
def own(face: Any) -> Any:
    if face is llamaindex_recall:
        return Fixed()
    return RunnableLambda(lambda text: documents(["moved", "filling"]))


def function(face: Any, ids: Sequence[str], asked: list[Any]) -> Callable[[Any], Any]:
    make = documents if face is langchain_recall else nodes

    def find(question: Any) -> Any:
        asked.append(question)
        return make(ids)

    return find


def stock(face: Any, texts: Sequence[str]) -> Any:
    if face is langchain_recall:
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        store.add_texts(texts, ids=[f"m{n}" for n in range(len(texts))])
        return store.as_retriever()
    rows = [TextNode(id_=f"m{n}", text=text) for n, text in enumerate(texts)]
    return VectorStoreIndex(rows, embed_model=MockEmbedding(embed_dim=8)).as_retriever()


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_a_retriever_of_a_users_own_stands_beside_ours(face: Any, words: WordsEmbedding) -> None:
    with RecallStore(embedding=words) as store:
        store.add([{k: row[k] for k in ("id", "content", "created_at")} for row in MEMORIES[:2]])
        mine = face.evaluate(own(face), [LASTING])
        ours = face.evaluate(face.RecallRetriever(store=store), [LASTING])

    compared = face.compare({"mine": mine, "ours": ours})

    assert mine.answers[0].found == ("moved", "filling")
    [gained] = compared.differences
    assert gained.placed == ["2", "1"]
    assert '"last Tuesday" is understood as 2024-03-05' in gained.why
    assert "recorded in time" in gained.why


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_a_function_sees_whose_question_it_is(face: Any) -> None:
    asked: list[Any] = []

    evaluation = face.evaluate(function(face, ["filling"], asked), [SCOPED])

    assert evaluation.figures["ndcg@10"] == 1.0
    assert asked[0].scope.fields() == {"user_id": "ann"}


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_a_stock_retriever_is_looked_at_as_deep_as_ours(face: Any) -> None:
    retriever = stock(face, [f"Text {n}." for n in range(20)])
    wanted = {"question": "Text 1.", "relevant": ["m1"]}

    evaluation = face.evaluate(retriever, [wanted])

    assert len(evaluation.answers[0].found) == 10
    assert face.evaluate(retriever, [wanted]).answers[0].found == evaluation.answers[0].found


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_what_would_be_measured_unfairly_is_refused(face: Any) -> None:
    with pytest.raises(ValueError, match=r"scope .*'user_id': 'ann'.* cannot be held.*lambda"):
        face.evaluate(own(face), [SCOPED])
    with pytest.raises(TypeError, match="a function of a question; got str"):
        face.evaluate("retriever", [LASTING])


def test_a_document_without_an_id_is_an_error() -> None:
    found = RunnableLambda(lambda text: [Document(page_content="The tooth.")])

    with pytest.raises(ValueError, match="has no id"):
        langchain_recall.evaluate(found, [LASTING])
