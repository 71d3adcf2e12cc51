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
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, cast

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from pydantic import Field, field_validator

from llamaindex_recall._convert import to_candidate
from llamaindex_recall.metadata_filters import LANGUAGES
from llamaindex_recall.vector_store import RecallVectorStore
from recall_retrievers.core.stage import Search
from recall_retrievers.core.world import MemoryStore
from recall_retrievers.store.any_store import any_store
from recall_retrievers.store.any_store.answers import Answer, Lookup, called, in_our_names
from recall_retrievers.store.any_store.any_store import AnyStoreOptions
from recall_retrievers.store.any_store.coarse_filter import Dialect

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

    languages: ClassVar[Mapping[str, type[Dialect[Any]]]] = LANGUAGES
    unfiltered: ClassVar[tuple[str, ...]] = ("FaissVectorStore",)

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

    @property
    def _vector_store(self) -> BasePydanticVectorStore | None:
        return self.source.vector_store if isinstance(self.source, VectorStoreIndex) else None

    def _by_id(self, ids: Sequence[str]) -> list[Answer]:
        index = cast("VectorStoreIndex", self.source)
        nodes = index.docstore.get_nodes(list(ids), raise_error=False)
        if not nodes and index.vector_store.stores_text:
            nodes = index.vector_store.get_nodes(node_ids=list(ids))
        return self._converted(index, (NodeWithScore(node=each) for each in nodes), None)

    async def _ask(self, lookup: Lookup, *, asynchronous: bool) -> list[Answer]:
        source, text = self._searchable(lookup), lookup.search.text
        if not isinstance(source, BaseRetriever):
            found = await called(source, lookup.search, asynchronous=asynchronous)
        else:
            found = await source.aretrieve(text) if asynchronous else source.retrieve(text)
        return self._converted(source, found, lookup)

    def _takes_limit(self, source: object) -> bool:
        return isinstance(source, VectorStoreIndex | VectorIndexRetriever)

    def _searchable(self, lookup: Lookup) -> BaseRetriever | Function:
        source = self.keyword if lookup.words and self.keyword is not None else self.source
        limit = lookup.search.limit
        if isinstance(source, VectorStoreIndex):
            return source.as_retriever(similarity_top_k=limit, **lookup.further)
        if isinstance(source, VectorIndexRetriever):  # only these take a number
            retriever = copy(source)
            retriever.similarity_top_k = limit
            return retriever
        return source

    def _converted(
        self, source: object, scored: Iterable[NodeWithScore], lookup: Lookup | None
    ) -> list[Answer]:
        # The scores of other retrievers may mean anything, but those of words are compared with
        # one another only.
        known = isinstance(source, VectorIndexRetriever) or (lookup is not None and lookup.words)
        timezone = None if lookup is None else lookup.search.timezone
        return [
            Answer(
                to_candidate(self._ours(each.node), timezone),
                each.node.metadata,
                each.score if known else None,
            )
            for each in scored
        ]

    def _ours(self, node: BaseNode) -> BaseNode:
        """The node with its text and metadata under our names."""
        own = node.get_content(MetadataMode.NONE)
        text = str(node.metadata.get(self.fields.content or "", own))
        ours = node.model_copy()
        ours.metadata = in_our_names(node.metadata, self.fields)
        if text != own:
            ours.set_content(text)
        return ours


def as_store(store: object) -> object:
    """A vector store, an index or a retriever as a store of memories; anything else as it is."""
    if isinstance(store, RecallVectorStore):
        return store.store
    if isinstance(store, BasePydanticVectorStore | VectorStoreIndex | BaseRetriever):
        return AnyStore(source=store)
    return store
