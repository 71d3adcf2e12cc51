"""MiniLM: the default embedding, for a vector store of your own."""

from typing import ClassVar

from langchain_core.embeddings import Embeddings

from recall_retrievers.store.embedding.minilm import MiniLM as _MiniLM


class MiniLM(Embeddings):
    """Turns texts into vectors with all-MiniLM-L6-v2, on this machine.

    It is the default of `RecallStore`. So a vector store of yours that has its vectors can be
    searched by a `RecallRetriever`, too.

    Examples:
        >>> len(MiniLM().embed_query("green tea"))
        384
    """

    converted: ClassVar[_MiniLM] = _MiniLM()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector.tolist() for vector in self.converted.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [*map(float, self.converted.embed_query(text))]
