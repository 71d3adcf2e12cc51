"""RecallVectorStore: a `RecallStore` where LangChain wants a vector store."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Never, Self, cast

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Filter
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope, ScopeInput
from recall_retrievers.core.world import completed, settled
from recall_retrievers.ranking.near_duplicates import compared, diversified
from recall_retrievers.stages.retrieve import SearchMethod
from recall_retrievers.store.chroma.framework_objects import (
    document_metadata,
    stored_memory,
    takes_no_more,
    with_its_fields,
)
from recall_retrievers.store.memory_store import within
from recall_retrievers.store.recall_store import RecallStore
from recall_retrievers.store.store import ScopedStore


def _by_text_alone(*_: object, **__: object) -> Never:
    raise NotImplementedError(
        "documents are found by the text of a question, not by a vector of it: use "
        "similarity_search(query) or max_marginal_relevance_search(query)"
    )


class RecallVectorStore(VectorStore):
    """A `RecallStore` as a ``VectorStore`` of LangChain: for ``index()`` and for loaders.

    It searches by meaning alone. For times, words and explained scores, use a `RecallRetriever` on
    the same store.

    A document is a memory, with its metadata. ``created_at``, ``user_id`` and the other fields of a
    memory may be in its metadata. It comes back with the metadata that it came with. A memory that
    was stored by another way comes back with all its fields.

    Args:
        store: The store. It embeds the texts and the questions with its own model.
        scope: Whose documents. It is filled in where a document names none; nothing outside it is
            found, replaced or deleted.

    Examples:
        >>> from langchain_core.documents import Document
        >>> from langchain_recall import RecallStore, RecallVectorStore
        >>> with RecallStore() as store:
        ...     vectors = RecallVectorStore(store, scope={"user_id": "ann"})
        ...     tea = Document(page_content="Anna likes green tea.", metadata={"topic": "tea"})
        ...     ids = vectors.add_documents([tea])
        ...     found = vectors.similarity_search("Who drinks tea?", k=1)
        >>> found[0].page_content, found[0].metadata
        ('Anna likes green tea.', {'topic': 'tea'})
    """

    def __init__(self, store: RecallStore | ScopedStore, *, scope: ScopeInput = None) -> None:
        self.store = within(store, Scope.model_validate(scope))

    # -- writing ------------------------------------------------------------------------------

    def add_documents(
        self, documents: list[Document], *, ids: Sequence[str | None] | None = None, **_: Any
    ) -> list[str]:
        """Store documents; one with a known id replaces the old one. See `RecallStore.add`.

        Args:
            documents: The documents.
            ids: The ids under which they are stored. None = their own ids.

        Returns:
            Their ids, in order.

        Raises:
            MemoryFormatError: When a document has no text, or metadata that is not flat; then none
                is stored.
            ScopeError: When one has another scope, or would replace one that has.
        """
        return self.store.add(_memories(documents, ids))

    async def aadd_documents(
        self, documents: list[Document], *, ids: Sequence[str | None] | None = None, **_: Any
    ) -> list[str]:
        return await self.store.aadd(_memories(documents, ids))

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **_: Any,
    ) -> list[str]:
        """Store texts with their metadata; see `add_documents`."""
        # LangChain's base reads the texts twice, and an iterator would be empty by then.
        return super().add_texts(list(texts), metadatas, ids=ids)

    def delete(self, ids: list[str] | None = None, **others: Any) -> bool:
        """Delete documents by id; unknown ids, and those outside the scope, are ignored.

        Raises:
            ValueError: When there are no ids. Use `RecallStore.delete` to delete by conditions.
        """
        takes_no_more(others)
        if ids is None:
            raise ValueError(
                "delete takes the ids of documents; got None. To delete by conditions, or "
                "everything, use RecallStore.delete"
            )
        self.store.delete(ids)
        return True

    # -- reading ------------------------------------------------------------------------------

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, in the order of the ids; unknown ids are ignored."""
        return [_document(memory) for memory in self.store.get(ids)]

    def similarity_search(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **others: Any
    ) -> list[Document]:
        """The documents whose texts are nearest in meaning, best first.

        Args:
            query: The question.
            k: How many at most.
            filter: Conditions on metadata, as Chroma writes them.
            **others: ``score_threshold``, the lowest similarity, 0 to 1. Any other one is refused,
                as it could be a limit that was meant.
        """
        scored = self.similarity_search_with_score(query, k, filter=filter, **others)
        return [document for document, _ in scored]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **others: Any
    ) -> list[tuple[Document, float]]:
        """The documents and their cosine similarities, 0 to 1; higher is better."""
        return completed(_scored(self.store.find, Search(query, k, filter=filter), others))

    async def asimilarity_search(self, query: str, k: int = 4, **others: Any) -> list[Document]:
        return [x for x, _ in await self.asimilarity_search_with_score(query, k, **others)]

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **others: Any
    ) -> list[tuple[Document, float]]:
        return await _scored(self.store.afind, Search(query, k, filter=filter), others)

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter | None = None,
        **others: Any,
    ) -> list[Document]:
        """The nearest documents that differ from one another, by their words.

        Args:
            query: The question.
            k: How many at most.
            fetch_k: Among how many of the nearest.
            lambda_mult: 1 = the nearest, 0 = the most different.
            filter: Conditions on metadata, as Chroma writes them.
            **others: ``score_threshold``, as for `similarity_search`.
        """
        most = compared(k, fetch_k, lambda_mult)
        scored = self.similarity_search_with_score(query, most, filter=filter, **others)
        return _different(scored, lambda_mult)[:k]

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **others: Any
    ) -> list[Document]:
        most = compared(k, fetch_k, lambda_mult)
        scored = await self.asimilarity_search_with_score(query, most, **others)
        return _different(scored, lambda_mult)[:k]

    similarity_search_by_vector = max_marginal_relevance_search_by_vector = _by_text_alone

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return float  # a cosine similarity is one already

    # -- opening ------------------------------------------------------------------------------

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **settings: Any,
    ) -> Self:
        """Open a `RecallStore` with this embedding, and store texts in it.

        Args:
            texts: The texts.
            embedding: The embedding of the store.
            metadatas: The metadata of each text.
            ids: The id of each text.
            **settings: The other settings of the store: ``source``, ``name`` and so on.
        """
        vectors = cls(RecallStore(embedding=embedding, **settings))
        vectors.add_texts(texts, metadatas, ids=ids)
        return vectors


def _memories(documents: Sequence[Document], ids: Sequence[str | None] | None) -> list[Memory]:
    if ids is not None and len(ids) != len(documents):
        raise ValueError(f"expected an id for each of {len(documents)} documents; got {len(ids)}")
    named = [document.id for document in documents] if ids is None else ids
    return [
        with_its_fields(stored_memory(document), document.metadata).model_copy(
            update={"id": row_id or ""}
        )
        for document, row_id in zip(documents, named, strict=True)
    ]


async def _scored(
    find: Callable[[Sequence[Search]], Any], search: Search, others: dict[str, Any]
) -> list[tuple[Document, float]]:
    threshold = others.pop("score_threshold", None)
    lowest = SearchMethod(threshold_score=threshold).threshold_score or 0.0
    takes_no_more(others)
    [hits] = await settled(find([search]))
    return [(_document(hit.memory), hit.score) for hit in hits if hit.score >= lowest]


def _different(scored: Sequence[tuple[Document, float]], lambda_mult: float) -> list[Document]:
    memories = [Candidate(x.page_content, source=x, score=score) for x, score in scored]
    return [cast("Document", x.source) for x in diversified(memories, lambda_mult)]


def _document(memory: Candidate | Memory) -> Document:
    return Document(id=memory.id, page_content=memory.content, metadata=document_metadata(memory))
