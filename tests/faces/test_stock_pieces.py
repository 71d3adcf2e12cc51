"""The frameworks' own pieces among our stages."""

import asyncio
import time
from collections.abc import Callable, Sequence
from math import exp
from typing import Any

import pytest
from faces.adapters import FACES, Face, Found, ScriptedChat, ScriptedLLM
from faces.conftest import NOW
from langchain_classic.retrievers.document_compressors import (
    CrossEncoderReranker,
    DocumentCompressorPipeline,
    LLMChainExtractor,
    LLMListwiseRerank,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from llama_index.core.postprocessor import (
    LLMRerank,
    LongContextReorder,
    SimilarityPostprocessor,
    TimeWeightedPostprocessor,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

import langchain_recall
import llamaindex_recall
from benchmarks.conformance.langchain import ToolCaller, WordsEncoder
from recall_retrievers.store import RecallStore

SETTINGS = {"timestamp": NOW, "timezone": "UTC", "scope": {"user_id": "ann"}, "k": 2}


CHOSEN = "Doc: 2, Relevance: 9\nDoc: 1, Relevance: 3"

# What is put into the stages of our retriever, and which memories come back of "fear" and "moved".
STOCK: list[tuple[str, Callable[[], Any], list[str]]] = [
    (
        "langchain_recall",
        lambda: LLMListwiseRerank.from_llm(ToolCaller(replies=[[{"ranked_document_ids": [1, 0]}]])),
        ["moved", "fear"],
    ),
    ("langchain_recall", lambda: CrossEncoderReranker(model=WordsEncoder()), ["fear", "moved"]),
    (
        "langchain_recall",
        lambda: DocumentCompressorPipeline(
            transformers=[CrossEncoderReranker(model=WordsEncoder(), top_n=1)]
        ),
        ["fear"],
    ),
    (
        "langchain_recall",
        lambda: LLMChainExtractor.from_llm(ScriptedChat(replies=["dentist"])),
        ["fear", "moved"],
    ),
    ("llamaindex_recall", lambda: LLMRerank(llm=ScriptedLLM(replies=[CHOSEN])), ["moved", "fear"]),
    ("llamaindex_recall", lambda: SimilarityPostprocessor(similarity_cutoff=0.9), ["fear"]),
    ("llamaindex_recall", lambda: TimeWeightedPostprocessor(top_k=1), ["fear"]),
    ("llamaindex_recall", LongContextReorder, ["moved", "fear"]),
]


def _only_two(memories: Sequence[Any], query: Any) -> list[Any]:
    return [memory for memory in memories if memory.id in {"fear", "moved"}]


IN_FACES = [
    pytest.param(face, make, ids, id=f"{face}-{place}")
    for place, (package, make, ids) in enumerate(STOCK)
    for face in FACES
    if face.package == package
]


@pytest.mark.parametrize(("face", "make", "ids"), IN_FACES)
def test_our_retriever_runs_stock_pieces(
    store: RecallStore, face: Face, make: Callable[[], Any], ids: list[str]
) -> None:
    stages = [face.FuseRerank(), _only_two, make(), face.RelevanceRank()]
    retriever = face.RecallRetriever(store=store, **SETTINGS, stages=stages)

    found = face.ask(retriever, "What about the dentist?")

    assert [each.id for each in found] == ids
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(type(score) is float for score in scores)
    assert all(each.metadata["user_id"] == "ann" for each in found)
    assert all("recall_type_ratio" in each.metadata for each in found)
    assert not any("place" in name for each in found for name in each.metadata)


class Compresses(BaseDocumentCompressor):
    """A stock compressor that does what a function does."""

    function: Callable[[list[Any]], Any]

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return self.function(list(documents))


class Postprocesses(BaseNodePostprocessor):
    """A stock postprocessor that does what a function does."""

    function: Callable[[list[Any]], Any]

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        return self.function(list(nodes))


def piece(face: Face, function: Callable[[list[Any]], Any]) -> Any:
    return (Compresses if face.is_langchain else Postprocesses)(function=function)


def test_an_order_without_scores_holds_for_the_stages_that_follow(
    store: RecallStore, face: Face
) -> None:
    upside_down = piece(face, lambda items: items[::-1])
    settings = {**SETTINGS, "k": 3}
    plain = face.ask(face.RecallRetriever(store=store, **settings), "the dentist")
    stages = [face.ExtractTime(), face.FuseRerank(top_n=3), upside_down, face.RelevanceRank()]

    found = face.ask(face.RecallRetriever(store=store, **settings, stages=stages), "the dentist")

    assert [each.id for each in found] == [each.id for each in plain][::-1]
    assert [each.score for each in found] == [each.score for each in plain]
    assert found[0].metadata["recall_ranked_by"] == type(upside_down).__name__


def test_a_stock_piece_that_fails_loses_nothing_and_is_named(
    store: RecallStore, face: Face
) -> None:
    def fail(items: list[Any]) -> Any:
        raise ConnectionError("the reranker is down")

    failing = piece(face, fail)
    plain = face.ask(face.RecallRetriever(store=store, **SETTINGS), "the dentist")
    stages = [face.ExtractTime(), face.FuseRerank(), failing]

    found = face.ask(face.RecallRetriever(store=store, **SETTINGS, stages=stages), "the dentist")

    assert [(each.id, each.score) for each in found] == [(each.id, each.score) for each in plain]
    assert found[0].metadata["recall_degraded"] == (
        f"{type(failing).__name__}: ConnectionError: the reranker is down"
    )


def test_a_stock_piece_is_not_waited_for_beyond_the_deadline(
    store: RecallStore, face: Face
) -> None:
    slow = piece(face, lambda items: time.sleep(0.5) or items)
    retriever = face.RecallRetriever(store=store, **SETTINGS, stages=[slow], deadline_s=0.2)

    found = face.ask(retriever, "the dentist")

    assert len(found) == 2
    assert "TimeoutError" in found[0].metadata["recall_degraded"]


def test_a_stock_piece_is_not_called_about_nothing(store: RecallStore, face: Face) -> None:
    called: list[Any] = []
    retriever = face.RecallRetriever(store=store, stages=[piece(face, called.append)])

    assert face.ask(retriever, "the dentist", scope={"user_id": "nobody"}) == []
    assert called == []


def test_a_compressor_is_awaited_where_it_can_be(store: RecallStore) -> None:
    class Waits(Compresses):
        async def acompress_documents(self, documents: Any, *given: Any) -> Any:
            return list(documents)

    def blocks(items: list[Any]) -> Any:
        raise AssertionError("it was called without waiting")

    stages = [Waits(function=blocks)]
    retriever = langchain_recall.RecallRetriever(store=store, stages=stages, **SETTINGS)
    [first, _] = asyncio.run(retriever.ainvoke("the dentist"))
    assert "recall_degraded" not in first.metadata


def test_a_piece_of_the_other_framework_is_refused(store: RecallStore) -> None:
    for face, wrong in (
        (langchain_recall, LongContextReorder()),
        (llamaindex_recall, CrossEncoderReranker(model=WordsEncoder())),
    ):
        with pytest.raises(ValueError, match="must be a stage such as"):
            face.RecallRetriever(store=store, stages=[wrong])


def test_the_model_of_a_stock_compressor_is_traced_inside_our_run(store: RecallStore) -> None:
    compressor = LLMListwiseRerank.from_llm(ToolCaller(replies=[[{"ranked_document_ids": [0]}]]))
    retriever = langchain_recall.RecallRetriever(store=store, stages=[compressor], k=1)

    async def events() -> list[Any]:
        return [each async for each in retriever.astream_events("the dentist", version="v2")]

    seen = asyncio.run(events())

    [asked] = [each for each in seen if each["event"] == "on_chat_model_start"]
    assert seen[0]["run_id"] in asked["parent_ids"]


def test_what_a_stock_compressor_adds_to_a_document_stays_on_it(store: RecallStore) -> None:
    def label(documents: list[Any]) -> Any:
        return [
            each.model_copy(update={"metadata": {**each.metadata, "label": "teeth"}})
            for each in documents
        ]

    retriever = langchain_recall.RecallRetriever(
        store=store, stages=[Compresses(function=label)], **SETTINGS
    )

    found = retriever.invoke("the dentist")

    assert [each.metadata["label"] for each in found] == ["teeth", "teeth"]


class WordsRerank(BaseNodePostprocessor):
    """As a SentenceTransformerRerank: it scores nodes, and keeps the best ``top_n``."""

    top_n: int = 2

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        for each in nodes:
            [each.score] = WordsEncoder().score([(str(query_bundle), each.text)])
        return sorted(nodes, key=lambda each: -each.score)[: self.top_n]


class ScoredWords(BaseDocumentCompressor):
    """As CohereRerank: it writes its scores into the metadata."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        words = [WordsEncoder().score([(query, each.page_content)])[0] for each in documents]
        return [
            each.model_copy(update={"metadata": {**each.metadata, "relevance_score": score}})
            for each, score in zip(documents, words, strict=True)
            if score
        ]


def test_a_reranker_is_the_scorer_of_semantic_rank(face: Face) -> None:
    given = [
        Found("a", "The dentist moved.", 0.9, {}),
        Found("b", "Green tea for two.", 0.8, {}),
        Found("c", "Tea.", 0.7, {}),
    ]
    own = [WordsEncoder(), ScoredWords()] if face.is_langchain else [WordsRerank()]

    for scorer in own:
        found = face.refine(
            face.SemanticRank(scorer=scorer, semantic_share=0.8), given, "green tea"
        )

        assert [each.id for each in found] == ["b", "c", "a"]
        judged = {each.id: each.metadata["recall_semantic"] for each in found}
        assert judged["b"] == pytest.approx(1 / (1 + exp(-2)))
        assert judged["c"] == pytest.approx(1 / (1 + exp(-1)))
        assert judged["a"] == (0.5 if isinstance(scorer, WordsEncoder) else 0)
        assert "recall_degraded" not in found[0].metadata
