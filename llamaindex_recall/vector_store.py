"""RecallVectorStore: a `RecallStore` where LlamaIndex wants a vector store."""

from collections.abc import Sequence
from typing import Any, Literal

from llama_index.core import MockEmbedding
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import BaseNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from pydantic import PrivateAttr

from llamaindex_recall._convert import ByItsName
from llamaindex_recall.metadata_filters import to_filter
from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope, ScopeInput
from recall_retrievers.store.chroma.fields import NODE_SOURCE
from recall_retrievers.store.chroma.framework_objects import (
    document_metadata,
    stored_memory,
    takes_no_more,
    with_its_fields,
)
from recall_retrievers.store.memory_store import within
from recall_retrievers.store.recall_store import RecallStore
from recall_retrievers.store.store import ScopedStore

_METHODS: dict[VectorStoreQueryMode, Literal["semantic", "keyword"]] = {
    VectorStoreQueryMode.DEFAULT: "semantic",
    VectorStoreQueryMode.TEXT_SEARCH: "keyword",
    VectorStoreQueryMode.SPARSE: "keyword",
}


class RecallVectorStore(ByItsName, BasePydanticVectorStore):
    """A `RecallStore` as a vector store of LlamaIndex: for ``IngestionPipeline`` and indexes.

    It searches by meaning, or by words with the query mode "text_search". For times and explained
    scores, use a `RecallRetriever` on the same store.

    A node is a memory, with its metadata. ``created_at``, ``user_id`` and the other fields of a
    memory may be in its metadata. It comes back with the metadata that it came with, and with the
    id of its document. A memory that was stored by another way comes back with all its fields.

    The store embeds texts and questions itself. The embeddings of nodes are not used: LlamaIndex
    makes them of the text and the metadata, and the store of the text alone. So pass
    ``embed_model=vectors.embed_model`` to indexes and pipelines; it costs nothing.

    Args:
        store: The store.
        scope: Whose nodes. It is filled in where a node names none; nothing outside it is found,
            replaced or deleted.

    Examples:
        >>> from llama_index.core import Document, VectorStoreIndex
        >>> from llamaindex_recall import RecallStore, RecallVectorStore
        >>> with RecallStore() as store:
        ...     vectors = RecallVectorStore(store, scope={"user_id": "ann"})
        ...     index = VectorStoreIndex.from_vector_store(vectors, vectors.embed_model)
        ...     index.insert(Document(text="Anna likes green tea.", id_="notes"))
        ...     found = index.as_retriever(similarity_top_k=1).retrieve("Who drinks tea?")
        >>> found[0].text, found[0].node.ref_doc_id
        ('Anna likes green tea.', 'notes')
    """

    stores_text: bool = True
    is_embedding_query: bool = False
    flat_metadata: bool = True

    _store: RecallStore | ScopedStore = PrivateAttr()

    def __init__(self, store: RecallStore | ScopedStore, *, scope: ScopeInput = None) -> None:
        bound = within(store, Scope.model_validate(scope))
        super().__init__(stores_text=True)
        self._store = bound

    @property
    def client(self) -> RecallStore | ScopedStore:
        """The store, within the scope; LlamaIndex's name for it."""
        return self._store

    @property
    def store(self) -> RecallStore | ScopedStore:
        return self._store

    @property
    def embed_model(self) -> BaseEmbedding:
        """What indexes and pipelines take as their embedding: the store embeds in its place."""
        return MockEmbedding(embed_dim=1, model_name=self._store.embedding_model)

    # -- writing ------------------------------------------------------------------------------

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Store nodes; one with a known id replaces the old one. See `RecallStore.add`.

        Raises:
            MemoryFormatError: When a node has no text, or metadata that is not flat; then none is
                stored.
            ScopeError: When one has another scope, or would replace one that has.
        """
        return self._store.add([_memory(node) for node in nodes])

    def delete(self, ref_doc_id: str, **others: Any) -> None:
        """Delete the nodes of a document."""
        takes_no_more(others)
        self._store.delete(filter={NODE_SOURCE: ref_doc_id})

    def delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **others: Any,
    ) -> None:
        """Delete nodes by their ids, by their metadata, or by both: then both must hold.

        Raises:
            ValueError: When there are neither ids nor filters; `clear` deletes all nodes.
        """
        takes_no_more(others)
        condition = to_filter(filters)
        if condition is None and (node_ids is None or filters is not None):
            problem = "delete_nodes needs ids, or filters that not every node fits"
            raise ValueError(f"{problem}; clear() deletes all nodes")
        self._store.delete(node_ids, filter=condition)

    def clear(self) -> None:
        """Delete all memories in the scope; without a scope, all memories of the store."""
        self._store.delete(everything=True)

    # LlamaIndex's own twins call the methods above in the event loop.
    async def async_add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        return await self._store.aadd([_memory(node) for node in nodes])

    adelete = awaited(delete)  # type: ignore[pydantic-field, arg-type]  # a method of ours
    adelete_nodes = awaited(delete_nodes)  # type: ignore[pydantic-field, arg-type]  # a method of ours
    aclear = awaited(clear)  # type: ignore[pydantic-field, arg-type]  # a method of ours

    # -- reading ------------------------------------------------------------------------------

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """The nodes with these ids, with this metadata, or with both; by default, all."""
        condition = to_filter(filters)
        if node_ids is not None:
            return [_node(memory) for memory in self._store.get(node_ids, filter=condition)]
        return [_node(memory) for memory in self._store.memories(filter=condition, order="oldest")]

    aget_nodes = awaited(get_nodes)  # type: ignore[pydantic-field, arg-type]  # a method of ours

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """The nodes that answer a question, best first, with their scores.

        Raises:
            ValueError: When the query has no text, or a mode that the store does not have.
        """
        search = _search(query)
        if query.node_ids:
            return _result(query, self._store.find_among(search, query.node_ids))
        return _result(query, *self._store.find([search]))

    async def aquery(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        search = _search(query)
        if query.node_ids:
            return _result(query, await self._store.afind_among(search, query.node_ids))
        return _result(query, *await self._store.afind([search]))


def _memory(node: BaseNode) -> Memory:
    return with_its_fields(stored_memory(node), node.metadata)


def _node(memory: Candidate | Memory) -> TextNode:
    metadata = document_metadata(memory)
    source = metadata.pop(NODE_SOURCE, None)
    node = TextNode(id_=memory.id, text=memory.content, metadata=metadata)
    if isinstance(source, str):
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=source)
    return node


def _search(query: VectorStoreQuery) -> Search:
    if not query.query_str:
        raise ValueError(
            "the store embeds questions itself: it needs query_str; got a query without text"
        )
    method = _METHODS.get(query.mode)
    if method is None:
        raise ValueError(
            f"the query mode must be 'default' or 'text_search'; got {query.mode.value!r}. To "
            "search by meaning and words, ask a RecallRetriever"
        )
    of_documents = {NODE_SOURCE: {"$in": query.doc_ids}} if query.doc_ids else None
    conditions = [condition for condition in (to_filter(query.filters), of_documents) if condition]
    return Search(
        query.query_str,
        query.similarity_top_k or 1,
        filter={"$and": conditions} if conditions else None,
        method=method,
    )


def _result(query: VectorStoreQuery, hits: Sequence[Hit]) -> VectorStoreQueryResult:
    best = hits[: query.similarity_top_k]
    return VectorStoreQueryResult(
        nodes=[_node(hit.memory) for hit in best],
        similarities=[hit.score for hit in best],
        ids=[hit.id for hit in best],
    )
