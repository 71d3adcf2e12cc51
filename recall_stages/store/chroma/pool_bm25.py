"""BM25 among a few memories, for stores without an index of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recall_stages.core.candidate import Hit
from recall_stages.store.chroma.search_text import keyword_text
from recall_stages.text.bm25 import frequency, rarity
from recall_stages.text.stems import indexed_words, wanted_words


def by_words(text: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that share a word with a question, best first.

    The score is BM25, with words counted among these hits alone. The measures are ``keyword``, the
    score, and ``keyword_pool``, the number of these hits.

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
    rare = {word: rarity(len(counts), sum(word in count for count in counts)) for word in terms}
    scored = []
    for hit, count, length in zip(hits, counts, lengths, strict=True):
        score = sum(rare[word] * frequency(count[word], length / mean) for word in terms)
        if score > 0:
            measured = {"keyword": score, "keyword_pool": float(len(hits))}
            scored.append(Hit(hit.memory, score, {**hit.measures, **measured}))
    return sorted(scored, key=lambda hit: -hit.score)
