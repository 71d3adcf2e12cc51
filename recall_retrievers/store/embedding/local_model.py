"""What the embedding models on this machine share: texts in runs, their means and their tokens.

A network gives a vector for each token of a text, and their mean is the vector of the text. The
telling tokens are compared, too, in 128 dimensions. A file of each model has the mean of its token
vectors, and the 128 directions in which they differ most, turned so that all directions count alike
(`benchmarks.token_basis` makes it).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.token_vectors import TokenVectors, unit

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

# Tokens a run, padding included. A run holds its intermediate values in memory, and the runtime
# keeps what it once took: texts of 256 tokens peak at 0.4 GB two a run, at 1.1 GB 16 a run, and two
# a run take three quarters of the time. Runs of 256 tokens are no quicker.
_RUN_TOKENS: Final = 512
WORKERS: Final = min(os.cpu_count() or 1, 8)
_NONE: Final = TokenVectors([], np.empty((0, 0), dtype=np.float32))


class LoadedNetwork(Protocol):
    """A network in memory, with its tokenizer."""

    reader: TokenReader

    def tokens(self, text: str, *, question: bool) -> list[int]:
        """The numbers of the tokens of a text, with those that lead and end it."""

    def run(self, ids: Numbers, mask: Numbers, *, question: bool) -> Vectors:
        """The vectors of the tokens of texts; the mask is 1 for a token, and 0 for padding."""


class LocalModel(ABC):
    """An embedding model on this machine, with vectors of single words."""

    model_name: ClassVar[str]
    dimension: Final = 384

    @abstractmethod
    def network(self) -> LoadedNetwork:
        """The loaded network; the first call loads it."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to store, of any length: one row of length 1 a text, in order.

        Raises:
            StoreError: The model is not installed, or its file is not the expected one.

        Examples:
            >>> from recall_retrievers.store.embedding.minilm import MiniLM
            >>> MiniLM().embed_documents([]).shape
            (0, 384)
        """
        return self._embedded(texts)

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        """Embed texts as `embed_documents` does, and return the vectors of their tokens as well.

        Both come from one run of the network. Tokens have 128 dimensions; those of words that tell
        nothing are left out.

        Examples:
            >>> from recall_retrievers.store.embedding.minilm import MiniLM
            >>> _, [tokens] = MiniLM().embed_with_tokens(["Three of the green teas"])
            >>> tokens.words, tokens.vectors.shape
            (['three', 'green', 'teas', 'teas'], (4, 128))
        """
        tokens = [_NONE for _ in texts]
        return self._embedded(texts, tokens), tokens

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question.

        Raises:
            StoreError: The model is not installed, or its file is not the expected one.
        """
        return self._question(text)[0]

    aembed_query = awaited(embed_query)
    """Embed a question as `embed_query` does, in a thread."""

    def embed_query_with_tokens(self, text: str) -> tuple[NDArray[np.float32], TokenVectors]:
        """Embed a question as `embed_query` does, and return the vectors of its tokens as well."""
        vector, numbers, hidden = self._question(text)
        return vector, self.network().reader.read(numbers, hidden)

    def _question(self, text: str) -> tuple[Vectors, list[int], Vectors]:
        """The vector of a question; its tokens, and their vectors."""
        network = self.network()
        numbers = network.tokens(text, question=True)
        [vector], [hidden] = _run(network, [numbers], question=True)
        return vector, numbers, hidden

    def _embedded(self, texts: Sequence[str], tokens: list[TokenVectors] | None = None) -> Vectors:
        """The vectors of texts; those of their tokens are put into a list, if there is one."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        network = self.network()
        numbers = [network.tokens(text, question=False) for text in texts]

        def run(rows: list[int]) -> None:
            vectors[rows], hidden = _run(network, [numbers[row] for row in rows], question=False)
            if tokens is not None:
                for row, each in zip(rows, hidden, strict=True):
                    tokens[row] = network.reader.read(numbers[row], each)

        runs = _runs(numbers)
        if len(runs) == 1:
            run(runs[0])
        else:
            with ThreadPoolExecutor(min(len(runs), WORKERS)) as pool:
                list(pool.map(run, runs))  # the list makes an error in a thread ours
        return vectors


def _runs(numbers: Sequence[Sequence[int]]) -> list[list[int]]:
    """The texts of each run: neighbours in length, so that little of it is padding."""
    runs: list[list[int]] = []
    for row in sorted(range(len(numbers)), key=lambda row: len(numbers[row])):
        # The one that comes now is the longest of its run, and the others are padded to it.
        if not runs or (len(runs[-1]) + 1) * len(numbers[row]) > _RUN_TOKENS:
            runs.append([])
        runs[-1].append(row)
    return runs


def _run(
    network: LoadedNetwork, tokens: Sequence[Sequence[int]], *, question: bool
) -> tuple[Vectors, Vectors]:
    """The mean over the tokens of each text, of length 1; and the vectors of its tokens."""
    ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, numbers in enumerate(tokens):
        ids[row, : len(numbers)] = numbers
        mask[row, : len(numbers)] = 1
    hidden = network.run(ids, mask, question=question)
    summed = (hidden * mask[:, :, None].astype(np.float32)).sum(axis=1)  # scaling makes it a mean
    return unit(summed), hidden


class TokenReader:
    """Makes the token vectors of texts.

    Args:
        pieces: The vocabulary.
        mark: What leads pieces, and is no letter of them.
        begins: Whether a word begins with a piece.
        tells: Whether a piece tells anything.
        before: The piece that comes before a text; one piece ends it.
        basis: The file with the mean and the directions.
    """

    def __init__(  # noqa: PLR0913 - what differs between two vocabularies
        self,
        pieces: Sequence[str],
        *,
        mark: str,
        begins: Callable[[str], bool],
        tells: Callable[[str], bool],
        before: str,
        basis: Path,
    ) -> None:
        self._pieces, self._mark, self._begins, self._tells = pieces, mark, begins, tells
        self._before = pieces.index(before)
        rows = np.load(basis).astype(np.float32)
        self._mean, self._directions = rows[0], np.ascontiguousarray(rows[1:].T)

    def read(self, numbers: Sequence[int], hidden: Vectors) -> TokenVectors:
        """The vectors of the telling tokens of a text."""
        chosen = self.telling(numbers)
        words = self._words(numbers)
        turned: Vectors = np.dot(unit(hidden[chosen]) - self._mean, self._directions)
        return TokenVectors([words[place] for place in chosen], unit(turned))

    def telling(self, numbers: Sequence[int]) -> NDArray[np.intp]:
        """The places of the telling tokens of a text; of a text without any, of all its tokens."""
        inner = range(numbers.index(self._before) + 1, len(numbers) - 1)
        telling = [place for place in inner if self._tells(self._pieces[numbers[place]])]
        return np.array(telling or inner, dtype=np.intp)

    def _words(self, numbers: Sequence[int]) -> list[str]:
        """The whole word that each token is a part of."""
        pieces = [self._pieces[number] for number in numbers]
        words: list[str] = []
        begin = 0
        for end in range(1, len(pieces) + 1):
            if end == len(pieces) or self._begins(pieces[end]):
                parts = [piece.removeprefix(self._mark) for piece in pieces[begin:end]]
                words += ["".join(parts).lower()] * len(parts)
                begin = end
        return words


def runtime(install: str) -> Any:
    """onnxruntime; ``install`` is what the error says where it is missing."""
    # From 1.31 on it reports to its maker unless told before its import: it starts a thread that
    # keeps a forked process from ending, and writes an identifier into the home directory. Who
    # wants that can set the variable to 0.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime  # noqa: PLC0415 - 0.1 s: a user with another model need not wait for it
    except ModuleNotFoundError as error:
        raise StoreError(f"{error.name} is missing. {install}") from error
    return onnxruntime


def session(onnxruntime: Any, model: bytes | str, broken: str) -> Any:
    """A network in onnxruntime; ``broken`` is what an error says after its cause."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors; its warnings are about graphs, not about us
    # No threads of its own: they keep spinning after each query (32 ms of processor time
    # against 8, measured on two cores) and queries asked at once get in each other's way. One
    # query alone takes a millisecond more; long loads run side by side in `embed_documents`.
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's own classes share no parent
        raise StoreError(f"The embedding model cannot be loaded: {error}. {broken}") from error
