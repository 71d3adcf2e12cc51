"""BM25 among a few memories: for stores that have no index of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from recall_stages.core.memory import Memory
from recall_stages.store.chroma.search_text import keyword_text
from recall_stages.text.stems import words

_K1, _B = 1.2, 0.75  # as in `keywords`


def by_words(text: str, memories: Sequence[Memory]) -> list[Memory]:
    """Those of the memories that share a word with a question, the best first.

    A score is BM25 (Robertson and Zaragoza 2009), with words counted among these memories alone;
    it is in the trace as ``keyword``, beside ``keyword_pool``, the number of these memories.

    Args:
        text: The question.
        memories: What was found by meaning.

    Examples:
        >>> told = [Memory(content=text) for text in ("Tea at four.", "No milk.", "Tea")]
        >>> [each.content for each in by_words("When is tea?", told)]
        ['Tea', 'Tea at four.']
    """
    asked = dict.fromkeys(words(text))
    counts = [Counter(words(keyword_text(memory))) for memory in memories]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    rarity = {}
    for word in asked:
        having = sum(word in count for count in counts)
        rarity[word] = log(1 + (len(counts) - having + 0.5) / (having + 0.5))
    found = []
    for memory, count, length in zip(memories, counts, lengths, strict=True):
        damping = _K1 * (1 - _B + _B * length / mean)
        score = sum(
            rarity[word] * count[word] * (_K1 + 1) / (count[word] + damping) for word in asked
        )
        if score > 0:
            pool = float(len(memories))
            found.append(memory.scored(score, keyword=score, keyword_pool=pool))
    return sorted(found, key=lambda memory: -(memory.score or 0.0))
