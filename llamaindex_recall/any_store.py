"""A vector store, index or retriever of LlamaIndex in the place of a `RecallStore`.

A vector store without an index embeds with ``Settings.embed_model``, as
``VectorStoreIndex.from_vector_store`` does.

    >>> from llama_index.core import MockEmbedding
    >>> from llama_index.core.schema import TextNode
    >>> from llamaindex_recall import AnyStore, RecallRetriever
    >>> nodes = [TextNode(text="Ann likes tea.", metadata={"by": "ann"}),
    ...          TextNode(text="I do not.", metadata={"by": "bob"})]
    >>> yours = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))
    >>> store = AnyStore(source=yours, fields={"user_id": "by"})
    >>> retriever = RecallRetriever(store=store, scope={"user_id": "ann"})
    >>> [found.text for found in retriever.retrieve("Ann likes tea.")]
    ['Ann likes tea.']
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, cast

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from pydantic import Field, field_validator

from llamaindex_recall._convert import to_candidate
from llamaindex_recall.vector_store import RecallVectorStore
from recall_retrievers.core.stage import Search
from recall_retrievers.core.world import MemoryStore
from recall_retrievers.store import any_store
from recall_retrievers.store.any_store import Answer, AnyStoreOptions, called, in_our_names

Searchable = MemoryStore | VectorStoreIndex | BasePydanticVectorStore | BaseRetriever
"""What a retriever takes as its store."""


Function = (
    Callable[[Search], Iterable[NodeWithScore]]
    | Callable[[Search], Awaitable[Iterable[NodeWithScore]]]
)
Keyword = VectorStoreIndex | BaseRetriever | Function
"""What an `AnyStore` takes as its search by words; an async function serves async calls only."""


class AnyStore(any_store.AnyStore):
    """A store of your own in the place of a `RecallStore`: searched, never written."""

    searched: ClassVar[type] = VectorStoreIndex
    limited: ClassVar[tuple[type, ...]] = (VectorStoreIndex, VectorIndexRetriever)

    source: VectorStoreIndex | BaseRetriever = Field(repr=False, exclude=True)
    keyword: Keyword | None = Field(default=None, repr=False, exclude=True)

    if TYPE_CHECKING:  # what may be passed; checkers would take the types that are read back

        def __init__(
            self,
            *,
            source: VectorStoreIndex | BasePydanticVectorStore | BaseRetriever,
            keyword: Keyword | BasePydanticVectorStore | None = None,
            **options: Unpack[AnyStoreOptions],
        ) -> None:
            """A store of your own in the place of a `RecallStore`: searched, never written."""

    @field_validator("source", "keyword", mode="before")
    @classmethod
    def _with_an_index(cls, source: object) -> object:
        if isinstance(source, BasePydanticVectorStore):
            if not source.stores_text:
                raise ValueError(
                    f"{type(source).__name__} keeps vectors without their texts; hand over the "
                    "VectorStoreIndex that has both"
                )
            return VectorStoreIndex.from_vector_store(source)
        return source

    def _by_id(self, ids: Sequence[str]) -> list[Answer]:
        index = cast("VectorStoreIndex", self.source)
        nodes = index.docstore.get_nodes(list(ids), raise_error=False)
        if not nodes and index.vector_store.stores_text:
            nodes = index.vector_store.get_nodes(node_ids=list(ids))
        return [self._converted(NodeWithScore(node=node), None, None) for node in nodes]

    async def _ask(
        self, source: Any, search: Search, further: Mapping[str, Any], *, asynchronous: bool
    ) -> list[Answer]:
        if isinstance(source, VectorStoreIndex):
            source = source.as_retriever(similarity_top_k=search.limit, **further)
        elif isinstance(source, VectorIndexRetriever):
            source = copy(source)
            source.similarity_top_k = search.limit
        if not isinstance(source, BaseRetriever):
            found = await called(source, search, asynchronous=asynchronous)
        elif asynchronous:
            found = await source.aretrieve(search.text)
        else:
            found = source.retrieve(search.text)
        # The scores of other retrievers may mean anything, but those of words are compared with
        # one another only.
        words = self.keyword is not None and search.method == "keyword"
        known = words or isinstance(source, VectorIndexRetriever)
        return [self._converted(x, x.score if known else None, search.timezone) for x in found]

    def _converted(
        self, found: NodeWithScore, score: float | None, timezone: tzinfo | None
    ) -> Answer:
        return Answer(to_candidate(self._ours(found.node), timezone), found.node.metadata, score)

    def _ours(self, node: BaseNode) -> BaseNode:
        own = node.get_content(MetadataMode.NONE)
        text = str(node.metadata.get(self.fields.content or "", own))
        ours = node.model_copy()
        ours.metadata = in_our_names(node.metadata, self.fields)
        if text != own:
            ours.set_content(text)
        return ours


def as_store(store: object) -> object:
    if isinstance(store, RecallVectorStore):
        return store.store
    if isinstance(store, BasePydanticVectorStore | VectorStoreIndex | BaseRetriever):
        return AnyStore(source=store)
    return store
