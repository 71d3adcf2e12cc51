"""Retrieval quality of the stock pieces of LangChain and LlamaIndex, on data in a folder.

    python -m benchmarks.stock --data DIR [--data DIR ...] [--json OUT]

The same questions, memories, texts and vectors as in benchmarks.retrieval; each question sees the
memories up to its ``now``. No model is asked. The systems, as they come but for ``k`` = 10:

- ``langchain_chroma``: ``Chroma.as_retriever``;
- ``langchain_time_weighted``: ``TimeWeightedVectorStoreRetriever`` over the same; its clock says
  the question's ``now``, and a memory was last accessed when it was recorded;
- ``llamaindex_vector``: a ``VectorStoreIndex`` retriever;
- ``llamaindex_time_weighted``: ``TimeWeightedPostprocessor`` over its first 50.

LangChain's ``EnsembleRetriever`` and LlamaIndex's ``QueryFusionRetriever`` fuse by rank: they are
the baseline ``rrf`` of benchmarks.retrieval. ReMe 0.2 ranks by cosine in its
default flow, since its time and type ratios are never applied: it is the baseline ``dense``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from langchain_chroma import Chroma
from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
from langchain_core.documents import Document
from llama_index.core import VectorStoreIndex
from llama_index.core.postprocessor import TimeWeightedPostprocessor
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters
from pydantic import ConfigDict
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DataError, Question, RetrievalSet, read_retrieval_set, recorded
from benchmarks.embedding import OncePerText, once_per_text
from benchmarks.output import json_file, write_json
from benchmarks.retrieval import scores
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.evaluation.evaluate import Figures
from recall_retrievers.store.chroma.search_text import index_text

System = Callable[[Question], list[str]]

_K = 10
_POOL = 50
_SHOWN = ("recall@5", "recall@10")


class _Lists:
    """The embedding with plain lists, as both frameworks want them."""

    def __init__(self, vectors: OncePerText) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._vectors.embed_documents(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self._vectors.embed_query(text).tolist()


class _AsOf(TimeWeightedVectorStoreRetriever):
    """Its own scoring, with the clock at a question's moment."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")
    asked: datetime

    def _get_combined_score(self, document: Document, relevance: Any, _: datetime) -> float:
        return super()._get_combined_score(document, relevance, self.asked)


def measure(data: RetrievalSet, vectors: OncePerText) -> dict[str, Figures]:
    """The figures of each system over all questions of a set."""
    rankings: dict[str, list[list[str]]] = {}
    opened = {corpus: _systems(memories, vectors) for corpus, memories in data.corpora.items()}
    with warnings.catch_warnings():
        # langchain-core prints whole memories where a cosine is negative.
        warnings.filterwarnings("ignore", "Relevance scores must be")
        for question in progress_bar(data.questions, desc=data.name, unit="queries"):
            for name, system in opened[question.corpus].items():
                rankings.setdefault(name, []).append(system(question))
    return {name: scores(data.questions, ranked)["overall"] for name, ranked in rankings.items()}


def _systems(memories: Sequence[Memory], vectors: OncePerText) -> dict[str, System]:
    embedding: Any = _Lists(vectors)
    texts = [index_text(each) for each in memories]
    moments = [recorded(each).timestamp() for each in memories]
    chroma = Chroma(
        f"stock-{id(memories)}", embedding, collection_metadata={"hnsw:space": "cosine"}
    )
    chroma.add_texts(
        texts,
        [{"created_at": at, "buffer_idx": place} for place, at in enumerate(moments)],
        [each.id for each in memories],
    )
    rows = zip(memories, texts, moments, embedding.embed_documents(texts), strict=True)
    nodes = [
        TextNode(id_=each.id, text=text, metadata={"created_at": at}, embedding=vector)
        for each, text, at, vector in rows
    ]
    index = VectorStoreIndex(nodes, embed_model=_llamaindex(embedding))

    def langchain(question: Question) -> list[str]:
        asked = {"k": _K, "filter": {"created_at": {"$lte": question.now.timestamp()}}}
        found = chroma.as_retriever(search_kwargs=asked).invoke(question.text)
        return [str(each.id) for each in found]

    def langchain_time(question: Question) -> list[str]:
        asked = {"k": _POOL, "filter": {"created_at": {"$lte": question.now.timestamp()}}}
        stream = [
            Document(
                text,
                id=each.id,
                metadata={"buffer_idx": place, "last_accessed_at": recorded(each)},
            )
            for place, (each, text) in enumerate(zip(memories, texts, strict=True))
            if recorded(each) <= question.now
        ]
        retriever = _AsOf(
            vectorstore=chroma, memory_stream=stream, search_kwargs=asked, k=_K, asked=question.now
        )
        return [str(each.id) for each in retriever.invoke(question.text)]

    def retrieved(question: Question, k: int) -> list[Any]:
        until = MetadataFilter(
            key="created_at", value=question.now.timestamp(), operator=FilterOperator.LTE
        )
        filters = MetadataFilters(filters=[until])
        return index.as_retriever(similarity_top_k=k, filters=filters).retrieve(question.text)

    def llamaindex_time(question: Question) -> list[str]:
        weighted = TimeWeightedPostprocessor(
            now=question.now.timestamp(),
            last_accessed_key="created_at",
            time_access_refresh=False,
            top_k=_K,
        )
        found = weighted.postprocess_nodes(retrieved(question, _POOL))
        return [each.node.node_id for each in found]

    return {
        "langchain_chroma": langchain,
        "langchain_time_weighted": langchain_time,
        "llamaindex_vector": lambda question: [
            each.node.node_id for each in retrieved(question, _K)
        ],
        "llamaindex_time_weighted": llamaindex_time,
    }


def _llamaindex(embedding: _Lists) -> Any:
    from llama_index.core.embeddings import BaseEmbedding  # noqa: PLC0415

    class Given(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embedding.embed_documents([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return embedding.embed_query(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embedding.embed_query(query)

    return Given()


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.stock")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        sets = [read_retrieval_set(folder) for folder in given.data]
    except DataError as error:
        parser.error(str(error))
    vectors = once_per_text()
    results = {data.name: measure(data, vectors) for data in sets}
    table = Table("set", *next(iter(results.values())), title=" / ".join(_SHOWN))
    for name, systems in results.items():
        shown = [
            " / ".join(f"{figures[each]:.3f}" for each in _SHOWN) for figures in systems.values()
        ]
        table.add_row(name, *shown)
    Console(width=120).print(table)
    write_json(given.json, results)


if __name__ == "__main__":
    main()
