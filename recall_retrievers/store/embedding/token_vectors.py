"""The vectors of the words of a text: what an embedding model sees before it takes their mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class TokenVectors(NamedTuple):
    """The telling tokens of a text, each with its vector in the context of the text."""

    words: Sequence[str]  # the word that each token is a part of
    vectors: NDArray[np.float32]  # of length 1, in as few dimensions as serve


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of texts, and of their tokens; None = the model has none, or none are known."""

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
