"""An embedding model with a deadline: one that hangs must not hold up the adds of others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from recall_retrievers.core.concurrent import call_all
from recall_retrievers.core.errors import StoreUnavailableError
from recall_retrievers.store.embedding.embedder import CheckedTokens, Embedder
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual
from recall_retrievers.store.embedding.token_vectors import Embedded

Outcome = Embedded | Exception


class BoundedEmbedding:
    """An embedding model with a deadline for what is stored, and for awaited questions.

    A call that hangs cannot be stopped. It is left behind in a thread that does not keep the
    process alive. A question without ``await`` is embedded in the thread that asks, without a
    deadline: to hand it to another thread takes 0.2 ms, and 6 to 10 ms on a busy machine.

    Args:
        model: The model. Models of ours run in this process and have no deadline.
        timeout_s: Seconds a call may take; None = no limit.

    Attributes:
        dimension: How many numbers a vector has; None where only a call would show it.
    """

    def __init__(self, model: Embedder, timeout_s: float | None) -> None:
        self._model = model
        self._with_tokens = model if isinstance(model, MiniLM | CheckedTokens) else None
        self.dimension = model.dimension if isinstance(model, MiniLM | Multilingual) else None
        self._timeout_s = timeout_s if self.dimension is None else None

    @property
    def model_name(self) -> str:
        """The name that a collection records for the model of its vectors."""
        return self._model.model_name

    @property
    def embeds_words(self) -> bool:
        """Whether the model has vectors of single words; see `TokenEmbedding`."""
        return self._with_tokens is not None

    @property
    def timeout_s(self) -> float | None:
        """Seconds after which a call is left behind; None = never."""
        return self._timeout_s

    def embed_batches(self, batches: Sequence[Sequence[str]]) -> list[Outcome]:
        """Embed batches of texts side by side, within one deadline.

        Returns:
            The vectors of each batch, those of tokens too if the model has any; or the error that
            the model raised.
        """
        outcomes = call_all(self._embed, batches, self._timeout_s)
        # A TimeoutError of the model itself has become a StoreError in `as_embedder`.
        return [
            self._too_late("texts to store", each) if isinstance(each, TimeoutError) else each
            for each in outcomes
        ]

    def embed(self, text: str) -> Embedded:
        """Embed one text to store, within the deadline.

        Raises:
            StoreUnavailableError: When the model has not answered in time.
            StoreError: When the model fails, or returns something else than a vector.
        """
        [outcome] = self.embed_batches([[text]])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def embed_query(self, text: str) -> Embedded:
        """Embed a question, in the thread of the caller and without a deadline.

        Raises:
            StoreError: When the model fails, or returns something else than a vector.
        """
        if self._with_tokens:
            vector, tokens = self._with_tokens.embed_query_with_tokens(text)
            return Embedded(vector[None], [tokens])
        return Embedded(self._model.embed_query(text)[None])

    async def aembed_query(self, text: str) -> Embedded:
        """Embed a question, without blocking the event loop.

        Raises:
            StoreUnavailableError: When the model has not answered in time.
            StoreError: When the model fails, or returns something else than a vector.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                if self._with_tokens:
                    return await asyncio.to_thread(self.embed_query, text)
                return Embedded((await self._model.aembed_query(text))[None])
        except TimeoutError as error:
            raise self._too_late("a question", error) from error

    def _embed(self, texts: Sequence[str]) -> Embedded:
        if self._with_tokens:
            return Embedded(*self._with_tokens.embed_with_tokens(texts))
        return Embedded(self._model.embed_documents(texts))

    def _too_late(self, what: str, cause: TimeoutError) -> StoreUnavailableError:
        error = StoreUnavailableError(
            f"the embedding model {self.model_name!r} did not embed {what} within "
            f"{self._timeout_s:g} s. Check that it can be reached, then try again, or open the "
            "store with a larger embed_timeout_s"
        )
        error.__cause__ = cause
        return error
