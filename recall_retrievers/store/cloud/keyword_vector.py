"""The words of a memory as a sparse vector, which Chroma Cloud compares with those of a question.

A memory's number for a word is its BM25 weight without the rarity of the word. The cloud multiplies
it by the rarity, which it counts itself (``bm25=True``). So the score is that of the row index,
with two differences:

- BM25 compares the length of a memory with the mean length of all memories. A stored vector cannot
  follow that mean, so it is a constant here.
- A turn of a conversation has its own words and those of the turn that it answers, counted alike.
  Those of the turns around these would need another write of each turn when the next one comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.search_text import keyword_text
from recall_retrievers.text.bm25 import frequency
from recall_retrievers.text.stems import words

if TYPE_CHECKING:
    from chromadb.base_types import SparseVector

_MEAN_WORDS = 48.0  # of a turn with the end of the turn before it, without stop words
_MOST_WORDS = 256  # of a question; of a longer one, the first words count


def keyword_vector(memory: Candidate) -> SparseVector | None:
    """The sparse vector of a memory; None if it has no words.

    Examples:
        >>> vector = keyword_vector(Candidate(content="Tea, tea and bread."))
        >>> [round(weight, 2) for weight in vector.values]
        [1.87, 1.62]
    """
    parts = words(keyword_text(memory))
    length = len(parts) / _MEAN_WORDS
    counts = Counter(_number_of(word) for word in parts)
    return _sparse((number, frequency(count, length)) for number, count in counts.items())


def question_vector(text: str) -> SparseVector | None:
    """The sparse vector of a question; None if it has no words."""
    wanted = list(dict.fromkeys(words(text)))[:_MOST_WORDS]
    return _sparse(dict.fromkeys(map(_number_of, wanted), 1.0).items())


def _number_of(word: str) -> int:
    # 31 bits, as the numbers of Chroma's own function. Stored vectors depend on it: never change it
    # without another format of the collection.
    return crc32(word.encode("utf-8", "replace")) & 0x7FFF_FFFF


def _sparse(weights: Iterable[tuple[int, float]]) -> SparseVector | None:
    from chromadb.base_types import SparseVector  # noqa: PLC0415 - it takes a second to import

    ordered = sorted(weights)
    if not ordered:
        return None
    return SparseVector([n for n, _ in ordered], [weight for _, weight in ordered])
