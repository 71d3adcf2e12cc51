"""Stores that are not ours, filled with the same memories, opened in one way for both faces."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face
from faces.conftest import MEMORIES
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever as IndexRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from langchain_recall import AnyStore
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.flat_metadata import to_flat
from recall_retrievers.core.memory import Memory

Row = tuple[str, str, Mapping[str, Any]]
"""An id, a text and metadata."""

ANN = {"scope": {"user_id": "ann"}}
WORDS = WordsEmbedding()
DIMENSION = WORDS.dimension


def rows(memories: Sequence[Mapping[str, Any]] = MEMORIES) -> list[Row]:
    """Memories as anybody would store them: a text, and flat metadata with epoch seconds."""
    read = [Candidate.of(Memory(**each)) for each in memories]
    return [(each.id, each.content, {**to_flat(each, None), **_recorded(each)}) for each in read]


def _recorded(memory: Candidate) -> dict[str, float]:
    written = {"created_at": memory.created_at.timestamp()} if memory.created_at else {}
    if memory.events:
        starts = [each.start.timestamp() for each in memory.events if each.start]
        ends = [each.end.timestamp() for each in memory.events if each.end]
        written |= {"event_start": 1000 * min(starts), "event_end": 1000 * max(ends)}
    return written


class LangChainWords(WordsEmbedding, Embeddings):
    """The words embedding as LangChain has it."""


class LlamaIndexWords(BaseEmbedding):
    """The words embedding as LlamaIndex has it."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return WORDS.embed_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return WORDS.embed_query(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return WORDS.embed_query(text)


class Fixed(BaseRetriever):
    """A LangChain retriever that nothing is known of: whatever is asked, the same documents."""

    documents: list[Document]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents


class FixedIndex(IndexRetriever):
    """The same for LlamaIndex; its scores are of a scale of its own."""

    def __init__(self, nodes: Sequence[TextNode]) -> None:
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = sorted(self.nodes, key=lambda node: node.node_id)
        return [NodeWithScore(node=node, score=17.5 - n) for n, node in enumerate(found)]


def possible(kind: str, face: Face) -> None:
    """Skip a test of a kind of store that cannot be opened here for a face."""
    if kind == "qdrant" and face.is_async and not face.is_langchain:
        pytest.skip("the async client of a Qdrant in memory has a memory of its own")


def open_store(kind: str, face: Face, stored: Sequence[Row], postgres: Callable[[], int]) -> Any:
    """A store of a kind, as the users of a framework have it."""
    possible(kind, face)
    if face.is_langchain:
        return _langchain(kind, stored, postgres)
    return _llamaindex(kind, stored, postgres)


KINDS = ("in memory", "faiss", "pgvector", "qdrant", "vector retriever")


def needs(module: str) -> None:
    """Skip a test whose store is not here."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not here")


def qdrant_id(row_id: str) -> str:
    """Qdrant takes UUIDs alone."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, row_id))


def documents_of(stored: Sequence[Row]) -> list[Document]:
    return [Document(id=i, page_content=text, metadata={**data}) for i, text, data in stored]


def nodes_of(stored: Sequence[Row]) -> list[TextNode]:
    # The embedding is of the text alone, as in LangChain.
    return [
        TextNode(
            id_=i,
            text=text,
            metadata={**data},
            excluded_embed_metadata_keys=list(data),
            excluded_llm_metadata_keys=list(data),
        )
        for i, text, data in stored
    ]


def _langchain(kind: str, stored: Sequence[Row], postgres: Callable[[], int]) -> Any:
    store: Any
    if kind == "faiss":
        from langchain_faiss import Faiss  # a store is imported where one is opened

        store = Faiss(LangChainWords())
    elif kind == "pgvector":
        store = _langchain_postgres(postgres())
    elif kind == "qdrant":
        store = _langchain_qdrant()
        stored = [(qdrant_id(row_id), text, data) for row_id, text, data in stored]
    else:
        store = InMemoryVectorStore(LangChainWords())
    store.add_documents(documents_of(stored))
    if kind == "pgvector":  # its scores are cosine distances
        return AnyStore(source=store, similarity=lambda distance: 1 - distance)
    # Its own k is 2: it has to be told that more are wanted.
    return store.as_retriever(search_kwargs={"k": 2}) if kind == "vector retriever" else store


def _langchain_postgres(port: int) -> Any:
    from langchain_postgres import Column, PGEngine, PGVectorStore

    url = f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
    engine, table = PGEngine.from_connection_string(url), f"t{uuid.uuid4().hex}"
    by_text = Column("langchain_id", "TEXT", nullable=False)  # ours are no UUIDs
    engine.init_vectorstore_table(table, DIMENSION, id_column=by_text)
    return PGVectorStore.create_sync(engine, LangChainWords(), table)


def _langchain_qdrant() -> Any:
    needs("langchain_qdrant")
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    vectors = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    client.create_collection("memories", vectors_config=vectors)
    return QdrantVectorStore(client, "memories", LangChainWords())


def _llamaindex(kind: str, stored: Sequence[Row], postgres: Callable[[], int]) -> Any:
    vectors: Any = None
    if kind == "faiss":
        import faiss
        from llama_index.vector_stores.faiss import FaissVectorStore

        vectors = FaissVectorStore(faiss_index=faiss.IndexFlatL2(DIMENSION))
    elif kind == "pgvector":
        vectors = _llamaindex_postgres(postgres())
    elif kind == "qdrant":
        vectors = _llamaindex_qdrant()
        stored = [(qdrant_id(row_id), text, data) for row_id, text, data in stored]
    context = StorageContext.from_defaults(vector_store=vectors) if vectors else None
    index = VectorStoreIndex(
        nodes_of(stored), storage_context=context, embed_model=LlamaIndexWords()
    )
    return index.as_retriever(similarity_top_k=2) if kind == "vector retriever" else index


def _llamaindex_postgres(port: int) -> Any:
    if find_spec("llama_index.vector_stores.postgres") is None:
        pytest.skip("llama-index-vector-stores-postgres is not here: it takes no SQLAlchemy 2.1")
    from llama_index.vector_stores.postgres import PGVectorStore as IndexStore
    from sqlalchemy.pool import NullPool

    return IndexStore.from_params(
        host="127.0.0.1",
        port=str(port),
        database="postgres",
        user="postgres",
        password="-",
        table_name=f"t{uuid.uuid4().hex}",
        embed_dim=DIMENSION,
        # Its connections belong to an event loop, and each case has one of its own.
        create_engine_kwargs={"poolclass": NullPool},
    )


def _llamaindex_qdrant() -> Any:
    needs("llama_index.vector_stores.qdrant")
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    return QdrantVectorStore("memories", QdrantClient(":memory:"))


def crowd(others: int) -> list[dict[str, Any]]:
    """One memory of Ann's behind many of others that are nearer to the question."""
    theirs = [
        {
            "id": f"bob{number}",
            "content": f"the dentist {number}",
            "created_at": "2024-02-01T09:00:00Z",
            "scope": {"user_id": "bob"},
        }
        for number in range(others)
    ]
    mine = {
        "id": "ann",
        "content": "He filled a tooth of mine, the dentist on Elm Street.",
        "created_at": "2024-03-05T09:00:00Z",
        "scope": {"user_id": "ann"},
    }
    return [*theirs, mine]
