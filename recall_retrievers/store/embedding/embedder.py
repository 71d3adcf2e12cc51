"""The embedding model of a store: one of ours or of a user, whose vectors are checked.

A LangChain or a LlamaIndex model is recognised by its methods, so neither framework is imported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import call_all
from recall_retrievers.core.errors import RecallError, StoreError, StoreUnavailableError
from recall_retrievers.core.transient_errors import is_away
from recall_retrievers.store.embedding.local_model import Embedded, LocalModel, TokenVectors, unit
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual

DEFAULT: Final = "default"
MULTILINGUAL: Final = "multilingual"
_LANGCHAIN = ("embed_documents", "embed_query", "aembed_query")
_LLAMAINDEX = ("get_text_embedding_batch", "get_query_embedding", "aget_query_embedding")

Outcome = Embedded | Exception


class Embedder:
    """An embedding model with a deadline for what is stored, and for awaited questions.

    An error of a user's model, or a vector that is none, is a `StoreError`. A call that hangs
    cannot be stopped. It is left behind in a thread that does not keep the process alive. A
    question without ``await`` is embedded in the thread that asks, without a deadline: to hand it
    to another thread takes 0.2 ms, and 6 to 10 ms on a busy machine.

    Examples:
        >>> Embedder(None).model_name
        'all-MiniLM-L6-v2'
        >>> Embedder(384)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        TypeError: Expected an embedding model: ... got int.
    """

    def __init__(self, model: object | None, timeout_s: float | None = None) -> None:
        model = _named(model) if model is None or isinstance(model, str) else model
        model = getattr(model, "converted", model)  # what `MiniLM` of a face gives its framework
        self._embed_documents, self._embed_query, self._aembed_query = _methods(model)
        self._ours = model if isinstance(model, LocalModel) else None
        # What a model may offer besides: docs/how_to/own_embedding.md. 128 dimensions suffice.
        self._embed_with_tokens = getattr(model, "embed_with_tokens", None)
        self.embeds_words = self._embed_with_tokens is not None
        self.model_name = _name(model)
        # None where only a call would show it.
        self.dimension = self._ours.dimension if self._ours else None
        # None = no limit. Models of ours run in this process and have none.
        self.timeout_s = None if self._ours else timeout_s

    def embed_batches(self, batches: Sequence[Sequence[str]]) -> list[Outcome]:
        """Embed batches of texts to store side by side: vectors, or an error each."""
        outcomes = call_all(self.embed_texts, batches, self.timeout_s)
        # A TimeoutError of the model itself has become a StoreError.
        return [
            self._too_late("texts to store", each) if isinstance(each, TimeoutError) else each
            for each in outcomes
        ]

    def embed(self, text: str) -> Embedded:
        [outcome] = self.embed_batches([[text]])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def embed_texts(self, texts: Sequence[str]) -> Embedded:
        """Embed texts to store, without a deadline."""
        if self._ours:
            return Embedded(*self._ours.embed_with_tokens(texts))
        # Paid services refuse an empty list, so they are not asked; the width is then not known.
        if not texts:
            return Embedded(np.empty((0, 0), np.float32), [] if self.embeds_words else None)
        with self._failing():
            if self._embed_with_tokens is None:
                return Embedded(self._rows(self._embed_documents(list(texts)), len(texts)))
            vectors, tokens = self._embed_with_tokens(list(texts))
            own = [(list(words), rows) for words, rows in tokens]
        if len(own) != len(texts):
            raise self._error(f"returned the tokens of {len(own)} texts for {len(texts)}.")
        return Embedded(
            self._rows(vectors, len(texts)),
            [TokenVectors(words, self._token_rows(rows, len(words))) for words, rows in own],
        )

    def embed_query(self, text: str) -> Embedded:
        if self._ours:
            vector, tokens = self._ours.embed_query_with_tokens(text)
            return Embedded(vector[None], [tokens])
        if self.embeds_words:
            return self.embed_texts([text])
        with self._failing():
            return Embedded(self._rows([self._embed_query(text)], 1))

    async def aembed_query(self, text: str) -> Embedded:
        try:
            async with asyncio.timeout(self.timeout_s):
                if self.embeds_words:
                    return await asyncio.to_thread(self.embed_query, text)
                with self._failing():
                    return Embedded(self._rows([await self._aembed_query(text)], 1))
        except TimeoutError as error:
            raise self._too_late("a question", error) from error

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except RecallError:
            raise
        except Exception as error:  # a user's model may raise anything
            kind = StoreUnavailableError if is_away(error) else StoreError
            raise self._error(f"failed: {type(error).__name__}: {error}", kind) from error

    def _rows(self, answer: object, count: int) -> NDArray[np.float32]:
        try:
            with np.errstate(over="ignore"):  # too large for float32 is infinite, found below
                vectors = np.asarray(answer, dtype=np.float32)
        except (TypeError, ValueError) as error:
            told = f"returned something else than vectors of one length: {error}"
            raise self._error(told) from error
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
            raise self._error(
                f"returned an array of shape {vectors.shape} for {count} text(s); expected "
                f"({count}, dimension)."
            )
        # Chroma searches with NaN without a word, and finds garbage.
        broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(broken):
            raise self._error(
                f"returned NaN or infinity for text {broken[0] + 1} of {count}. Is the text empty, "
                "or the model broken?"
            )
        return vectors

    def _token_rows(self, rows: object, count: int) -> NDArray[np.float32]:
        return unit(self._rows(rows, count)) if count else np.empty((0, 0), np.float32)

    def _error(self, what: str, kind: type[StoreError] = StoreError) -> StoreError:
        return kind(f"The embedding model {self.model_name!r} {what}")

    def _too_late(self, what: str, cause: TimeoutError) -> StoreUnavailableError:
        error = StoreUnavailableError(
            f"the embedding model {self.model_name!r} did not embed {what} within "
            f"{self.timeout_s:g} s. Check that it can be reached, then try again, or open the "
            "store with a larger embed_timeout_s"
        )
        error.__cause__ = cause
        return error


def _named(name: str | None) -> LocalModel:
    if name in (None, DEFAULT):
        return MiniLM()
    if name == MULTILINGUAL:
        return Multilingual()
    raise ValueError(
        f"the embeddings that have a name are {DEFAULT!r} and {MULTILINGUAL!r}; got {name!r}. "
        "Pass any other model as an object: a LangChain Embeddings or a LlamaIndex BaseEmbedding"
    )


def _methods(model: object) -> list[Any]:
    """The methods of a model that embed texts to store, a question, and a question awaited."""
    if not isinstance(model, type):  # a class has the methods too, but no model behind them
        for shape in (_LANGCHAIN, _LLAMAINDEX):
            methods = [getattr(model, name, None) for name in shape]
            if all(map(callable, methods)):
                return methods
    kind = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
    raise TypeError(
        "Expected an embedding model: a LangChain Embeddings, a LlamaIndex BaseEmbedding, an "
        f"object with the methods {', '.join(_LANGCHAIN)}, {DEFAULT!r}, {MULTILINGUAL!r}, or None "
        f"for one of these two; got {kind}."
    )


def _name(model: object) -> str:
    for attribute in ("model_name", "model"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name.strip() not in ("", "unknown"):  # LlamaIndex's default
            # Providers and frameworks write one model in two ways ("models/gemini-embedding-001",
            # "sentence-transformers/all-MiniLM-L6-v2", or bare). A collection filled through
            # LangChain must open through LlamaIndex, so the prefix is not part of the name.
            return name.strip().removeprefix("models/").removeprefix("sentence-transformers/")
    return type(model).__name__
