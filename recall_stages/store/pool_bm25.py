"""BM25 among a few memories: for stores that have no index of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from recall_stages.core.candidate import Hit
from recall_stages.store.chroma.search_text import keyword_text
from recall_stages.text.stems import words

_K1, _B = 1.2, 0.75  # as in `keywords`


def by_words(text: str, hits: Sequence[Hit]) -> list[Hit]:
    """Those of the memories that share a word with a question, the best first.

    A score is BM25 (Robertson and Zaragoza 2009), with words counted among these memories alone.
    It is measured as ``keyword``, and the number of these memories as ``keyword_pool``.

    Args:
        text: The question.
        hits: What was found by meaning.

    Examples:
        >>> from recall_stages.core.candidate import Candidate
        >>> texts = ("Tea at four.", "No milk.", "Tea")
        >>> found = [Hit(Candidate(content=text), 0.5) for text in texts]
        >>> [hit.memory.content for hit in by_words("When is tea?", found)]
        ['Tea', 'Tea at four.']
    """
    asked = dict.fromkeys(words(text))
    counts = [Counter(words(keyword_text(hit.memory))) for hit in hits]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    rarity = {}
    for word in asked:
        having = sum(word in count for count in counts)
        rarity[word] = log(1 + (len(counts) - having + 0.5) / (having + 0.5))
    found = []
    for hit, count, length in zip(hits, counts, lengths, strict=True):
        damping = _K1 * (1 - _B + _B * length / mean)
        score = sum(
            rarity[word] * count[word] * (_K1 + 1) / (count[word] + damping) for word in asked
        )
        if score > 0:
            measured = {"keyword": score, "keyword_pool": float(len(hits))}
            found.append(Hit(hit.memory, score, {**hit.measures, **measured}))
    return sorted(found, key=lambda hit: -hit.score)
