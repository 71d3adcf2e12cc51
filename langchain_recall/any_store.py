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
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, cast

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import Field

from langchain_recall._convert import to_candidate
from langchain_recall.vector_store import RecallVectorStore
from recall_retrievers.core.stage import Search
from recall_retrievers.core.world import MemoryStore, settled
from recall_retrievers.store.any_store import any_store
from recall_retrievers.store.any_store.answers import Answer, Lookup, called, in_our_names
from recall_retrievers.store.any_store.any_store import AnyStoreOptions
from recall_retrievers.store.any_store.coarse_filter import (
    Bound,
    Dialect,
    How,
    Plain,
    QdrantDialect,
    Side,
    Words,
)


class ChromaDialect(Dialect[Words]):
    """The dictionaries of Chroma; some other stores take them too."""

    stores: ClassVar[tuple[str, ...]] = ("Chroma",)
    any_key: ClassVar[bool] = True

    def one_of(self, key: str, values: Sequence[Plain]) -> Words | None:
        """A key has one of these values."""
        return {key: {"$in": list(values)} if len(values) > 1 else {"$eq": values[0]}}

    def bounded(self, key: str, side: Side, bound: Bound) -> Words | None:
        """A key has at least, or at most, this value; Chroma compares only numbers."""
        return {key: {f"${side}": bound}} if isinstance(bound, int | float) else None

    def joined(self, how: How, filters: Sequence[Words]) -> Words:
        """Several filters as one."""
        return {f"${how}": list(filters)}

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"filter": written}


class PgvectorDialect(ChromaDialect):
    """The dictionaries of ``PGVector`` and ``PGVectorStore``, which PostgreSQL reads as text."""

    stores: ClassVar[tuple[str, ...]] = ("PGVector", "PGVectorStore", "AsyncPGVectorStore")
    knows_missing: ClassVar[bool] = True
    any_key: ClassVar[bool] = False

    def one_of(self, key: str, values: Sequence[Plain]) -> Words | None:
        """A key has one of these values; one of the two stores casts what it compares with."""
        if isinstance(values[0], bool):
            return None
        return {key: {"$in": [str(each) for each in values]}}

    def bounded(self, key: str, side: Side, bound: Bound) -> Words | None:
        """A key has at least, or at most, this value."""
        # Of whole numbers, one of the two stores makes an INTEGER, which epoch milliseconds exceed.
        return {key: {f"${side}": float(bound) if isinstance(bound, int) else bound}}

    def has(self, key: str, there: bool) -> Words:
        """A key is there, or is missing."""
        return {key: {"$exists": there}}


class PayloadDialect(QdrantDialect):
    """Qdrant's filters; its store says where in a payload the metadata is."""

    @classmethod
    def of(cls, source: object) -> Self:
        """What writes the filters of a store."""
        return cls(f"{getattr(source, 'metadata_payload_key', 'metadata')}.")


LANGUAGES = {"qdrant": PayloadDialect, "pgvector": PgvectorDialect, "chroma": ChromaDialect}
"""The filter languages by their names."""


Searchable = MemoryStore | VectorStore | BaseRetriever
"""What a retriever takes as its store."""


Keyword = (
    VectorStore
    | BaseRetriever
    | Callable[[Search], Iterable[Document | tuple[Document, float]]]
    | Callable[[Search], Awaitable[Iterable[Document | tuple[Document, float]]]]
)
"""What an `AnyStore` takes as its search by words; an async function serves async calls only."""


class AnyStore(any_store.AnyStore):
    """A store of your own in the place of a `RecallStore`: searched, never written."""

    languages: ClassVar[Mapping[str, type[Dialect[Any]]]] = LANGUAGES

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

    @property
    def _vector_store(self) -> VectorStore | None:
        return self.source if isinstance(self.source, VectorStore) else None

    def _by_id(self, ids: Sequence[str]) -> list[Answer]:
        return self._converted(cast("VectorStore", self.source).get_by_ids(ids), None)

    async def _ask(self, lookup: Lookup, *, asynchronous: bool) -> list[Answer]:
        source, arguments = self._searchable(lookup)
        text = lookup.search.text
        scored: Iterable[Document | tuple[Document, float | None]]
        a = "a" if asynchronous else ""  # of the twin for async
        if isinstance(source, VectorStore):
            try:
                search = getattr(source, f"{a}similarity_search_with_score")
                scored = await settled(search(text, **arguments))
            except NotImplementedError:
                scored = await settled(getattr(source, f"{a}similarity_search")(text, **arguments))
        elif isinstance(source, BaseRetriever):
            scored = await settled(getattr(source, f"{a}invoke")(text, **arguments))
        else:
            scored = await called(source, lookup.search, asynchronous=asynchronous)
        return self._converted(scored, lookup.search.timezone)

    def _takes_limit(self, source: object) -> bool:
        return isinstance(source, VectorStore | VectorStoreRetriever)

    def _searchable(self, lookup: Lookup) -> tuple[Keyword, dict[str, Any]]:
        """What to search, and its arguments: retrievers over a vector store hide its scores."""
        source = self.keyword if lookup.words and self.keyword is not None else self.source
        limit = {"k": lookup.search.limit}
        if isinstance(source, VectorStore):
            return source, {**lookup.further, **limit}
        if not isinstance(source, VectorStoreRetriever):
            return source, {}
        if source.search_type == "similarity":
            return source.vectorstore, {**source.search_kwargs, **limit}
        return source, limit

    def _converted(
        self, scored: Iterable[Document | tuple[Document, float | None]], timezone: tzinfo | None
    ) -> list[Answer]:
        pairs = [(each, None) if isinstance(each, Document) else each for each in scored]
        return [
            Answer(to_candidate(self._ours(document), timezone), document.metadata, score)
            for document, score in pairs
        ]

    def _ours(self, document: Document) -> Document:
        """The document with its text and metadata under our names."""
        metadata = in_our_names(document.metadata, self.fields)
        text = document.metadata.get(self.fields.content or "", document.page_content)
        return document.model_copy(update={"page_content": str(text), "metadata": metadata})


def as_store(store: object) -> object:
    """A vector store or a retriever as a store of memories; anything else as it is."""
    if isinstance(store, RecallVectorStore):
        return store.store
    return AnyStore(source=store) if isinstance(store, VectorStore | BaseRetriever) else store
