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

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Self, Unpack

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import Field, model_validator

from langchain_recall._convert import to_candidate
from recall_stages.core.errors import IdLookupError
from recall_stages.core.memory import Memory
from recall_stages.core.world import MemoryStore
from recall_stages.store import any_store
from recall_stages.store.any_store import Answer, AnyStoreOptions, Lookup, in_our_names

Searchable = MemoryStore | VectorStore | BaseRetriever
"""What a retriever takes as its store."""


class AnyStore(any_store.AnyStore):
    source: VectorStore | BaseRetriever = Field(repr=False, exclude=True)

    if TYPE_CHECKING:  # what may be passed; checkers would take the types that are read back

        def __init__(
            self, *, source: VectorStore | BaseRetriever, **options: Unpack[AnyStoreOptions]
        ) -> None: ...

    @model_validator(mode="after")
    def _takes_what_is_pushed_down(self) -> Self:
        if not isinstance(self.source, VectorStore):
            self._cannot_push_down()
        return self

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids; missing ones are left out.

        Raises:
            IdLookupError: When the store does not look up by id.
        """
        if not isinstance(self.source, VectorStore):
            raise IdLookupError(f"{self._name} finds by questions; it looks up nothing by id")
        try:
            documents = self.source.get_by_ids(ids)
        except NotImplementedError as error:
            raise IdLookupError(f"{self._name} does not look up by id: {error}") from error
        return [
            found.memory.memory()
            for found in self._converted(((each, None) for each in documents), None)
        ]

    def _ask(self, lookup: Lookup) -> list[Answer]:
        source, arguments = self._searchable(lookup)
        scored: Iterable[tuple[Document, float | None]]
        if isinstance(source, VectorStore):
            try:
                scored = source.similarity_search_with_score(lookup.text, **arguments)
            except NotImplementedError:
                scored = _unscored(source.similarity_search(lookup.text, **arguments))
        else:
            scored = _unscored(source.invoke(lookup.text, **arguments))
        return self._converted(scored, lookup.timezone)

    async def _aask(self, lookup: Lookup) -> list[Answer]:
        source, arguments = self._searchable(lookup)
        scored: Iterable[tuple[Document, float | None]]
        if isinstance(source, VectorStore):
            try:
                scored = await source.asimilarity_search_with_score(lookup.text, **arguments)
            except NotImplementedError:
                scored = _unscored(await source.asimilarity_search(lookup.text, **arguments))
        else:
            scored = _unscored(await source.ainvoke(lookup.text, **arguments))
        return self._converted(scored, lookup.timezone)

    def _searchable(self, lookup: Lookup) -> tuple[VectorStore | BaseRetriever, dict[str, Any]]:
        """What to search, and its arguments: retrievers over a vector store hide its scores."""
        source, limit = self.source, {"k": lookup.limit}
        if isinstance(source, VectorStore):
            return source, {**lookup.further, **limit}
        if not isinstance(source, VectorStoreRetriever):
            return source, {}
        if source.search_type == "similarity":
            return source.vectorstore, {**source.search_kwargs, **limit}
        return source, limit

    def _converted(
        self, scored: Iterable[tuple[Document, float | None]], timezone: tzinfo | None
    ) -> list[Answer]:
        return [
            Answer(to_candidate(self._ours(document), timezone), document.metadata, score)
            for document, score in scored
        ]

    def _ours(self, document: Document) -> Document:
        """The document with its text and metadata under our names."""
        metadata = in_our_names(document.metadata, self.fields)
        text = document.metadata.get(self.fields.content or "", document.page_content)
        if text == document.page_content and metadata == document.metadata:
            return document
        return document.model_copy(update={"page_content": str(text), "metadata": metadata})


def as_store(store: object) -> object:
    """A vector store or a retriever as a store of memories; anything else as it is."""
    return AnyStore(source=store) if isinstance(store, VectorStore | BaseRetriever) else store


def _unscored(documents: Iterable[Document]) -> list[tuple[Document, float | None]]:
    return [(document, None) for document in documents]
