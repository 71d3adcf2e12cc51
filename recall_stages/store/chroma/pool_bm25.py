"""BM25 among a few memories, for stores without an index of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from recall_stages.core.candidate import Hit
from recall_stages.store.chroma.search_text import keyword_text
from recall_stages.text.stems import indexed_words, wanted_words

_K1, _B = 1.2, 0.75  # as in `keywords`


def by_words(text: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that share a word with a question, best first.

    The score is BM25 (Robertson and Zaragoza 2009), with words counted among these hits alone. The
    measures are ``keyword``, the score, and ``keyword_pool``, the number of these hits.

    Args:
        text: The question.
        hits: The hits by meaning.

    Examples:
        >>> from recall_stages.core.candidate import Candidate
        >>> texts = ("Tea at four.", "No milk.", "Tea")
        >>> hits = [Hit(Candidate(content=text), 0.5) for text in texts]
        >>> [hit.memory.content for hit in by_words("When is tea?", hits)]
        ['Tea', 'Tea at four.']
    """
    terms = dict.fromkeys(wanted_words(text))
    counts = [Counter(indexed_words(keyword_text(hit.memory))) for hit in hits]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    rarity = {}
    for word in terms:
        having = sum(word in count for count in counts)
        rarity[word] = log(1 + (len(counts) - having + 0.5) / (having + 0.5))
    scored = []
    for hit, count, length in zip(hits, counts, lengths, strict=True):
        damping = _K1 * (1 - _B + _B * length / mean)
        score = sum(
            rarity[word] * count[word] * (_K1 + 1) / (count[word] + damping) for word in terms
        )
        if score > 0:
            measured = {"keyword": score, "keyword_pool": float(len(hits))}
            scored.append(Hit(hit.memory, score, {**hit.measures, **measured}))
    return sorted(scored, key=lambda hit: -hit.score)
