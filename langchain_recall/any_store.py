"""A vector store or retriever of LangChain in the place of a `RecallStore`.

>>> from langchain_core.embeddings import DeterministicFakeEmbedding
>>> from langchain_core.vectorstores import InMemoryVectorStore
>>> from langchain_recall import AnyStore, RecallRetriever
>>> yours = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
>>> ids = yours.add_texts(["Ann likes tea.", "I do not."], [{"by": "ann"}, {"by": "bob"}])
>>> store = AnyStore(source=yours, fields={"user_id": "by"})
>>> retriever = RecallRetriever(store=store, scope={"user_id": "ann"})
>>> [found.page_content for found in retriever.invoke("Ann likes tea.")]
['Ann likes tea.']
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, cast

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import Field

from langchain_recall._convert import to_candidate
from langchain_recall.vector_store import RecallVectorStore
from recall_retrievers.core.stage import Search
from recall_retrievers.core.world import MemoryStore, settled
from recall_retrievers.store import any_store
from recall_retrievers.store.any_store import Answer, AnyStoreOptions, called, in_our_names

Searchable = MemoryStore | VectorStore | BaseRetriever  # what a retriever takes as its store


Keyword = (
    VectorStore
    | BaseRetriever
    | Callable[[Search], Iterable[Document | tuple[Document, float]]]
    | Callable[[Search], Awaitable[Iterable[Document | tuple[Document, float]]]]
)
"""What an `AnyStore` takes as its search by words; an async function serves async calls only."""


class AnyStore(any_store.AnyStore):
    """A store of your own in the place of a `RecallStore`: searched, never written."""

    searched: ClassVar[type] = VectorStore
    limited: ClassVar[tuple[type, ...]] = (VectorStore, VectorStoreRetriever)

    source: VectorStore | BaseRetriever = Field(repr=False, exclude=True)
    keyword: Keyword | None = Field(default=None, repr=False, exclude=True)

    if TYPE_CHECKING:  # what may be passed; checkers would take the types that are read back

        def __init__(
            self,
            *,
            source: VectorStore | BaseRetriever,
            keyword: Keyword | None = None,
            **options: Unpack[AnyStoreOptions],
        ) -> None:
            """A store of your own in the place of a `RecallStore`: searched, never written."""

    def _by_id(self, ids: Sequence[str]) -> list[Answer]:
        return self._converted(cast("VectorStore", self.source).get_by_ids(ids), None)

    async def _ask(
        self, source: Any, search: Search, further: Mapping[str, Any], *, asynchronous: bool
    ) -> list[Answer]:
        arguments, a = {"k": search.limit}, "a" if asynchronous else ""  # of the twin for async
        if isinstance(source, VectorStoreRetriever) and source.search_type == "similarity":
            # It hides the scores of its vector store.
            source, further = source.vectorstore, source.search_kwargs
        scored: Iterable[Document | tuple[Document, float | None]]
        if isinstance(source, VectorStore):
            arguments = {**further, **arguments}
            try:
                found = getattr(source, f"{a}similarity_search_with_score")
                scored = await settled(found(search.text, **arguments))
            except NotImplementedError:
                found = getattr(source, f"{a}similarity_search")
                scored = await settled(found(search.text, **arguments))
        elif isinstance(source, BaseRetriever):
            arguments = arguments if isinstance(source, VectorStoreRetriever) else {}
            scored = await settled(getattr(source, f"{a}invoke")(search.text, **arguments))
        else:
            scored = await called(source, search, asynchronous=asynchronous)
        return self._converted(scored, search.timezone)

    def _converted(
        self, scored: Iterable[Document | tuple[Document, float | None]], timezone: tzinfo | None
    ) -> list[Answer]:
        pairs = [(found, None) if isinstance(found, Document) else found for found in scored]
        return [
            Answer(to_candidate(self._ours(document), timezone), document.metadata, score)
            for document, score in pairs
        ]

    def _ours(self, document: Document) -> Document:
        metadata = in_our_names(document.metadata, self.fields)
        text = document.metadata.get(self.fields.content or "", document.page_content)
        return document.model_copy(update={"page_content": str(text), "metadata": metadata})


def as_store(store: object) -> object:
    if isinstance(store, RecallVectorStore):
        return store.store
    return AnyStore(source=store) if isinstance(store, VectorStore | BaseRetriever) else store
