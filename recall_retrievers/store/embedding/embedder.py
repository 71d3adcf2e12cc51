"""The embedding models of users, and the checks of their vectors.

A LangChain or a LlamaIndex model is recognised by its methods, so neither framework is imported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import call_all
from recall_retrievers.core.errors import RecallError, StoreError, StoreUnavailableError
from recall_retrievers.core.transient_errors import is_away
from recall_retrievers.store.embedding.local_model import LocalModel
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual
from recall_retrievers.store.embedding.token_vectors import (
    Embedded,
    TokenEmbedding,
    TokenVectors,
    unit,
)

DEFAULT: Final = "default"
MULTILINGUAL: Final = "multilingual"
_LANGCHAIN = ("embed_documents", "embed_query", "aembed_query")
_LLAMAINDEX = ("get_text_embedding_batch", "get_query_embedding", "aget_query_embedding")


def as_embedder(model: object | None) -> Embedder:
    """The embedding model of a user, its vectors checked; see the setting of `RecallStore`.

    Examples:
        >>> as_embedder(None).model_name
        'all-MiniLM-L6-v2'
        >>> as_embedder(384)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        TypeError: Expected an embedding model: ... got int.
    """
    if model is None or (isinstance(model, str) and model == DEFAULT):
        return MiniLM()
    model = getattr(model, "converted", model)  # what `MiniLM` of a face gives its framework
    if isinstance(model, LocalModel | _Checked):
        return model
    if isinstance(model, str):
        if model == MULTILINGUAL:
            return Multilingual()
        raise ValueError(
            f"the embeddings that have a name are {DEFAULT!r} and {MULTILINGUAL!r}; got {model!r}. "
            "Pass any other model as an object: a LangChain Embeddings or a LlamaIndex "
            "BaseEmbedding"
        )
    if not isinstance(model, type):  # a class has the methods too, but no model behind them
        for shape in (_LANGCHAIN, _LLAMAINDEX):
            methods: list[Any] = [getattr(model, name, None) for name in shape]
            if all(callable(method) for method in methods):
                tokens = model if isinstance(model, TokenEmbedding) else None
                return _Checked(_name(model), tokens, *methods)
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


@dataclass(frozen=True, slots=True)
class _Checked:
    """The model of a user; an error of it, or a vector that is none, is a `StoreError`."""

    model_name: str
    _model: TokenEmbedding | None  # which has vectors of tokens, too
    _embed_documents: Callable[[list[str]], object]
    _embed_query: Callable[[str], object]
    _aembed_query: Callable[[str], Awaitable[object]]

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Paid services refuse an empty list, so they are not asked; the width is then not known.
        with self._failing():
            answer = self._embed_documents(list(texts)) if texts else np.empty((0, 0))
        return self._rows(answer, len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        with self._failing():
            answer = self._embed_query(text)
        return self._row(answer)

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        with self._failing():
            answer = await self._aembed_query(text)
        return self._row(answer)

    @property
    def embeds_words(self) -> bool:
        return self._model is not None

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], Sequence[TokenVectors] | None]:
        """The vectors of texts, and of their tokens; of no texts no model is asked."""
        if self._model is None or not texts:
            return self.embed_documents(texts), [] if self.embeds_words else None
        with self._failing():
            vectors, tokens = self._model.embed_with_tokens(list(texts))
            own = [(list(words), rows) for words, rows in tokens]
        if len(own) != len(texts):
            raise self._error(f"returned the tokens of {len(own)} texts for {len(texts)}.")
        return self._rows(vectors, len(texts)), [self._tokens(*each) for each in own]

    def embed_query_with_tokens(self, text: str) -> tuple[NDArray[np.float32], TokenVectors | None]:
        if self._model is None:
            return self.embed_query(text), None
        [vector], tokens = self.embed_with_tokens([text])
        return vector, tokens[0] if tokens else None

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except RecallError:
            raise
        except Exception as error:  # a user's model may raise anything
            kind = StoreUnavailableError if is_away(error) else StoreError
            raise self._error(f"failed: {type(error).__name__}: {error}", kind) from error

    def _row(self, answer: object) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._rows([answer], 1)[0]
        return vector

    def _rows(self, answer: object, count: int) -> NDArray[np.float32]:
        try:
            with np.errstate(over="ignore"):  # too large for float32 is infinite, found below
                vectors = np.asarray(answer, dtype=np.float32)
        except (TypeError, ValueError) as error:
            told = f"returned something else than vectors of one length: {error}"
            raise self._error(told) from error
        if vectors.ndim != 2 or len(vectors) != count or (count and not vectors.shape[1]):
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

    def _tokens(self, words: list[str], vectors: object) -> TokenVectors:
        if not words:
            return TokenVectors([], np.empty((0, 0), dtype=np.float32))
        return TokenVectors(words, unit(self._rows(vectors, len(words))))

    def _error(self, what: str, kind: type[StoreError] = StoreError) -> StoreError:
        return kind(f"The embedding model {self.model_name!r} {what}")


Embedder = LocalModel | _Checked
"""An embedding model whose vectors are finite numbers, one row a text."""

Outcome = Embedded | Exception


class BoundedEmbedding:
    """An embedding model with a deadline for what is stored, and for awaited questions.

    A call that hangs cannot be stopped. It is left behind in a thread that does not keep the
    process alive. A question without ``await`` is embedded in the thread that asks, without a
    deadline: to hand it to another thread takes 0.2 ms, and 6 to 10 ms on a busy machine.

    """

    def __init__(self, model: Embedder, timeout_s: float | None) -> None:
        self._model = model
        self.model_name, self.embeds_words = model.model_name, model.embeds_words
        # None where only a call would show it.
        self.dimension = model.dimension if isinstance(model, LocalModel) else None
        # None = no limit. Models of ours run in this process and have none.
        self.timeout_s = timeout_s if self.dimension is None else None

    def embed_batches(self, batches: Sequence[Sequence[str]]) -> list[Outcome]:
        """Embed batches of texts to store side by side: vectors, or an error each."""
        outcomes = call_all(self._embed, batches, self.timeout_s)
        # A TimeoutError of the model itself has become a StoreError in `as_embedder`.
        return [
            self._too_late("texts to store", each) if isinstance(each, TimeoutError) else each
            for each in outcomes
        ]

    def embed(self, text: str) -> Embedded:
        [outcome] = self.embed_batches([[text]])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def embed_query(self, text: str) -> Embedded:
        vector, tokens = self._model.embed_query_with_tokens(text)
        return Embedded(vector[None], [tokens] if tokens else None)

    async def aembed_query(self, text: str) -> Embedded:
        try:
            async with asyncio.timeout(self.timeout_s):
                if self.embeds_words:
                    return await asyncio.to_thread(self.embed_query, text)
                return Embedded((await self._model.aembed_query(text))[None])
        except TimeoutError as error:
            raise self._too_late("a question", error) from error

    def _embed(self, texts: Sequence[str]) -> Embedded:
        return Embedded(*self._model.embed_with_tokens(texts))

    def _too_late(self, what: str, cause: TimeoutError) -> StoreUnavailableError:
        error = StoreUnavailableError(
            f"the embedding model {self.model_name!r} did not embed {what} within "
            f"{self.timeout_s:g} s. Check that it can be reached, then try again, or open the "
            "store with a larger embed_timeout_s"
        )
        error.__cause__ = cause
        return error
