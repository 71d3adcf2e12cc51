"""What our retriever is compared with: keywords, vectors, and the two fused, without any time.

Each ranks exactly the memories that a question may find, by the text that the retriever's
embedding sees too, which has the speaker's name in front.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from benchmarks.datasets import Question, RetrievalSet
from benchmarks.embedding import OncePerText
from recall_retrievers.core.memory import Memory
from recall_retrievers.store.chroma.search_text import index_text

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+")
_stem = Stemmer.Stemmer("english").stemWord


def tokens(text: str) -> list[str]:
    """English words stemmed, none left out; Chinese as single characters and pairs of them.

    Examples:
        >>> tokens("Running to 博物馆")
        ['run', 'to', '博', '物', '馆', '博物', '物馆']
    """
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if re.match(f"[{_CJK}]", word):
            found += [*word, *(word[place : place + 2] for place in range(len(word) - 1))]
        else:
            found.append(_stem(word))
    return found


class Baselines:
    """The three baselines over one retrieval set.

    Args:
        data: The set.
        vectors: The embedding that the retriever uses too, so that both see equal vectors.
    """

    def __init__(self, data: RetrievalSet, vectors: OncePerText) -> None:
        self._data = data
        self._vectors = vectors
        self._indexes: dict[tuple[str, int], bm25s.BM25] = {}

    def rank(self, question: Question, text: str) -> dict[str, list[str]]:
        """Rank the memories that a question may find, asked with these words, by each baseline."""
        memories = self._data.visible(question)
        words, meaning = self._bm25(question.corpus, memories, text), self._dense(memories, text)
        return {"bm25": words, "dense": meaning, "rrf": reciprocal_rank_fusion([words, meaning])}

    def _bm25(self, corpus: str, memories: Sequence[Memory], text: str) -> list[str]:
        asked = tokens(text)
        if not asked or not memories:
            return []
        # A prefix of the corpus by time is named by its length; each has word counts of its own.
        key = (corpus, len(memories))
        if key not in self._indexes:
            self._indexes[key] = bm25s.BM25(k1=0.9, b=0.4)
            self._indexes[key].index(
                [tokens(index_text(each)) for each in memories], show_progress=False
            )
        scores = self._indexes[key].get_scores(asked)
        return [memory_id for memory_id, score in _best_first(memories, scores) if score > 0]

    def _dense(self, memories: Sequence[Memory], text: str) -> list[str]:
        if not memories:
            return []
        stored = self._vectors.embed_documents([index_text(each) for each in memories])
        # The vectors have length 1, so this is the cosine.
        ranked = _best_first(memories, stored @ self._vectors.embed_query(text))
        return [memory_id for memory_id, _ in ranked]


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]], k: int = 60) -> list[str]:
    """Sum 1 / (k + place) over the rankings; the best sum first.

    Examples:
        >>> reciprocal_rank_fusion([["a", "b"], ["b", "c"]])
        ['b', 'a', 'c']
    """
    sums: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for place, memory_id in enumerate(ranking, start=1):
            sums[memory_id] += 1 / (k + place)
    return sorted(sums, key=lambda memory_id: -sums[memory_id])


def _best_first(memories: Sequence[Memory], scores: NDArray[np.float32]) -> list[tuple[str, float]]:
    order = np.argsort(-scores, kind="stable")
    return [(memories[place].id, float(scores[place])) for place in order]
