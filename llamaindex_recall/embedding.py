"""MiniLM: the default embedding, for a vector store of your own."""

from typing import ClassVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import ConfigDict, Field

from recall_retrievers.core.settings import Settings
from recall_retrievers.store.embedding.minilm import MiniLM as _MiniLM


class MiniLM(Settings, BaseEmbedding):
    """Turns texts into vectors with all-MiniLM-L6-v2, on this machine.

    It is the default of `RecallStore`. So a vector store of yours that has its vectors can be
    searched by a `RecallRetriever`, too.

    Examples:
        >>> len(MiniLM().get_query_embedding("green tea"))
        384
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    converted: ClassVar[_MiniLM] = _MiniLM()

    model_name: str = _MiniLM.model_name
    num_workers: int | None = Field(default=None, ge=1, le=1000)  # asynchronous calls at once

    def _get_query_embedding(self, query: str) -> list[float]:
        return [*map(float, self.converted.embed_query(query))]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return [*map(float, await self.converted.aembed_query(query))]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [vector.tolist() for vector in self.converted.embed_documents(texts)]
