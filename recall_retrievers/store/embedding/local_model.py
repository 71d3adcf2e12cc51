"""What the embedding models on this machine share: texts in runs, their means and their tokens.

A network gives a vector for each token of a text, and their mean is the vector of the text. The
telling tokens are compared, too, in 128 dimensions.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding import bert
from recall_retrievers.store.embedding.bert import Numbers, Vectors
from recall_retrievers.store.embedding.token_vectors import TokenVectors, unit

# Tokens a run, padding included. A run holds its intermediate values in memory, and the runtime
# keeps what it once took: texts of 256 tokens peak at 0.4 GB two a run, at 1.1 GB 16 a run, and two
# a run take three quarters of the time. Runs of 256 tokens are no quicker.
_RUN_TOKENS: Final = 512
WORKERS: Final = min(os.cpu_count() or 1, 8)

W = TypeVar("W", bound=bert.Weights)
Run = Callable[[Numbers, Numbers], Vectors]
"""The vectors of the tokens of texts; the mask is 1 for a token, and 0 for padding."""

_loading = threading.Lock()


class LocalModel(ABC):
    """An embedding model on this machine, with vectors of single words."""

    model_name: ClassVar[str]
    dimension: Final = 384
    embeds_words: Final = True

    @staticmethod
    @abstractmethod
    def load() -> Network:
        """The network, the same one at each call: another would cost 0.2 s and 60 MB."""

    def network(self) -> Network:
        with _loading:
            return self.load()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to store, of any length: one row of length 1 a text, in order."""
        return _embedded(self.network(), texts, "passage", read=False)[0]

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        """Embed texts to store, and the tokens of each, without those of words that tell nothing.

        Examples:
            >>> from recall_retrievers.store.embedding.minilm import MiniLM
            >>> _, [tokens] = MiniLM().embed_with_tokens(["Three of the green teas"])
            >>> tokens.words, tokens.vectors.shape
            (['three', 'green', 'teas', 'teas'], (4, 128))
        """
        return _embedded(self.network(), texts, "passage")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question."""
        vector: Vectors = _embedded(self.network(), [text], "query", read=False)[0][0]
        return vector

    aembed_query = awaited(embed_query)

    def embed_query_with_tokens(self, text: str) -> tuple[NDArray[np.float32], TokenVectors]:
        """Embed a question and its tokens."""
        return asked(self.network(), text)


@lru_cache(maxsize=64)
def asked(network: Network, text: str) -> tuple[Vectors, TokenVectors]:
    """A question and its tokens, as arrays into which nobody may write.

    It is remembered for a tool that is called again with the same words, and for a search that is
    made wider because it found too little.
    """
    [vector], [tokens] = _embedded(network, [text], "query")
    vector.flags.writeable = tokens.vectors.flags.writeable = False
    return vector, tokens


def _embedded(
    network: Network, texts: Sequence[str], lead: str, *, read: bool = True
) -> tuple[Vectors, list[TokenVectors]]:
    vectors = np.empty((len(texts), LocalModel.dimension), dtype=np.float32)
    tokens = [TokenVectors([], vectors[:0]) for _ in texts]
    numbers = [network.tokens(lead, text) for text in texts]

    def run(rows: list[int]) -> None:
        vectors[rows], hidden = _run(network, [numbers[row] for row in rows])
        for row, vectors_of_tokens in zip(rows, hidden, strict=True):
            if read:
                tokens[row] = network.read(numbers[row], vectors_of_tokens)

    runs = _runs(numbers)
    if len(runs) > 1:
        with ThreadPoolExecutor(min(len(runs), WORKERS)) as pool:
            list(pool.map(run, runs))  # the list makes an error in a thread ours
    else:
        list(map(run, runs))
    return vectors, tokens


def _runs(numbers: Sequence[Sequence[int]]) -> list[list[int]]:
    """The texts of each run: neighbours in length, so that little of it is padding."""
    runs: list[list[int]] = []
    for row in sorted(range(len(numbers)), key=lambda row: len(numbers[row])):
        # The one that comes now is the longest of its run, and the others are padded to it.
        if not runs or (len(runs[-1]) + 1) * len(numbers[row]) > _RUN_TOKENS:
            runs.append([])
        runs[-1].append(row)
    return runs


def _run(network: Network, tokens: Sequence[Sequence[int]]) -> tuple[Vectors, Vectors]:
    """The mean over the tokens of each text, of length 1; and the vectors of its tokens."""
    ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, numbers in enumerate(tokens):
        ids[row, : len(numbers)] = numbers
        mask[row, : len(numbers)] = 1
    hidden = network.run(ids, mask)
    summed = (hidden * mask[:, :, None].astype(np.float32)).sum(axis=1)  # scaling makes it a mean
    return unit(summed), hidden


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """A network in memory, with its tokenizer, and what makes the vectors of tokens."""

    tokens: Callable[[str, str], list[int]]  # of a "query" or a "passage", and its text
    run: Run
    pieces: Sequence[str]  # the vocabulary
    mark: str  # what leads pieces, and is no letter of them
    begins: Callable[[str], bool]  # whether a word begins with a piece
    tells: Callable[[str], bool]  # whether a piece tells anything
    before: int  # the piece that comes before a text; one piece ends it
    # The mean of token vectors, and the 128 directions in which they differ most, turned so that
    # all directions count alike; `benchmarks.token_basis` makes them.
    basis: Vectors

    def read(self, numbers: Sequence[int], hidden: Vectors) -> TokenVectors:
        chosen, words = self.telling(numbers), self._words(numbers)
        turned: Vectors = np.dot(unit(hidden[chosen]) - self.basis[0], self.basis[1:].T)
        return TokenVectors([words[place] for place in chosen], unit(turned))

    def telling(self, numbers: Sequence[int]) -> NDArray[np.intp]:
        """The places of the telling tokens of a text; of a text without any, of all its tokens."""
        inner = range(numbers.index(self.before) + 1, len(numbers) - 1)
        telling = [place for place in inner if self.tells(self.pieces[numbers[place]])]
        return np.array(telling or inner, dtype=np.intp)

    def _words(self, numbers: Sequence[int]) -> list[str]:
        """The whole word that each token is a part of."""
        parts: list[list[str]] = []
        for piece in [self.pieces[number] for number in numbers]:
            if not parts or self.begins(piece):
                parts.append([])
            parts[-1].append(piece.removeprefix(self.mark))
        return ["".join(word).lower() for word in parts for _ in word]


def token_basis(file: str) -> Vectors:
    return np.asarray(np.load(Path(__file__).with_name(file)), dtype=np.float32)


def whole(text: str) -> str:
    """A text without half an emoji (of a text cut in the middle), an error of tokenizers."""
    return text.encode("utf-8", "replace").decode("utf-8")


def loaded(
    read: Callable[[Path], W], file: Path, *, broken: str, install: str
) -> tuple[W, Run, Any]:
    """The weights of a file, their network, and the package tokenizers.

    ``broken`` and ``install`` are what errors say at their end.
    """
    # From 1.31 on it reports to its maker unless told before its import: it starts a thread that
    # keeps a forked process from ending, and writes an identifier into the home directory. Who
    # wants that can set the variable to 0.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:  # 0.1 s: a user with another model need not wait for them
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise StoreError(f"{error.name} is missing. {install}") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors; its warnings are about graphs, not about us
    # No threads of its own: they keep spinning after each query (32 ms of processor time
    # against 8, measured on two cores) and queries asked at once get in each other's way. One
    # query alone takes a millisecond more; long loads run side by side in `embed_documents`.
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    try:
        weights = read(file)
        network = onnxruntime.InferenceSession(bert.network(weights), options, providers=providers)
    except Exception as error:  # a file may be torn; the runtime's own classes share no parent
        raise StoreError(f"The embedding model cannot be loaded: {error}. {broken}") from error

    def run(ids: Numbers, mask: Numbers) -> Vectors:
        tokens, places = weights.embedded(ids)
        inputs = {"tokens": tokens, "places": places, "mask": mask.astype(np.int32)}
        hidden: Vectors = network.run(None, inputs)[0]
        return hidden

    return weights, run, tokenizers
