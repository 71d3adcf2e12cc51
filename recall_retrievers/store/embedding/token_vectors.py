"""The vectors of the words of a text: what an embedding model sees before it takes their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class TokenVectors(NamedTuple):
    """The telling tokens of a text, each with its vector in the context of the text.

    Attributes:
        words: The word that each token is a part of. Words that tell nothing are left out.
        vectors: The vector of each token, of length 1, in as few dimensions as serve.

    Examples:
        >>> TokenVectors(["tea"], np.ones((1, 1), dtype=np.float32)).words
        ['tea']
    """

    words: Sequence[str]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Texts as an embedding model returns them.

    Attributes:
        vectors: The vector of each text.
        tokens: The vectors of the tokens of each text; None = the model has none, or they are not
            known.
    """

    vectors: NDArray[np.float32]
    tokens: Sequence[TokenVectors] | None = None


@runtime_checkable
class TokenEmbedding(Protocol):
    """What an embedding model may offer besides: the vectors of the tokens of a text.

    A question is then compared with the single words of a memory, too. 128 dimensions suffice; they
    are stored in 2 bits, so that a memory of twenty words takes some 650 bytes.
    """

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], Sequence[tuple[Sequence[str], NDArray[np.float32]]]]:
        """Embed texts as `embed_documents` does, and return the tokens of each text as well.

        Of each text: the word that each token is a part of, and the vector of each token. Words
        that tell nothing may be left out.
        """


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors scaled to length 1; a vector of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled
