"""LateInteractionRank: R -> R. Each word of the question against each word of a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recall_stages.core.candidate import Candidate, Step
from recall_stages.core.errors import RecallError
from recall_stages.core.stage import Flow, Recall, Stage, Work
from recall_stages.ranking.relevance import own_marks, relevances, start
from recall_stages.store.chroma.search_text import index_text
from recall_stages.store.embedding.minilm import MiniLM

_NAME = "LateInteractionRank"


class LateInteractionRank(Stage):
    """Rank the first candidates by the meaning of their words in context. No model call.

    Every word of the question is compared with every word of a memory, by the word vectors of
    all-MiniLM-L6-v2. The mean of the best similarities is mixed into the relevance (MaxSim, "late
    interaction": Khattab and Zaharia 2020). The stage helps after a search by meaning alone, as in
    an `AnyStore`. After a hybrid search it helps little. Put it before `FuseRerank`. A second run
    changes nothing.

    The vectors are computed anew for each question, whatever embedding the store has. If that
    fails, the order stands.

    Args:
        top_n: How many of the first candidates are compared. The others count as the least similar
            of these. No candidate is dropped.
        late_weight: The share of this similarity in the score, 0 to 1; the rest is relevance.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.memory import Query
        >>> from recall_stages.core.world import run
        >>> now = datetime(2024, 3, 6, tzinfo=UTC)
        >>> query = Query(text="What does she drink?", reference_time=now)
        >>> memories = (Candidate(content="Her house is on Elm Street.", score=0.5),
        ...             Candidate(content="She likes a cup of green tea.", score=0.5))
        >>> run(LateInteractionRank().apply(Recall(query, memories))).memories[0].content
        'She likes a cup of green tea.'
    """

    top_n: int = Field(default=30, ge=1)
    late_weight: float = Field(default=0.3, ge=0, le=1)

    def apply(self, recall: Recall) -> Flow:
        """Compare the words, mix, and sort; equal scores keep their order."""
        query, compared = recall.query, recall.memories[: self.top_n]
        text = query.search_text or query.text
        marks = own_marks(recall.memories, _NAME)
        if all(marks) or not text:
            return recall
        texts = [index_text(memory) for memory in compared]
        try:
            [similar] = yield [Work(lambda: max_sim(text, texts))]
        except (RecallError, MemoryError) as error:  # no weights, or no room for the vectors
            return recall.fell_back(type(self).__name__, error)
        before = relevances(recall.memories, marks)
        best, best_similar, least = max(before), max(similar), min(similar)
        similar += [least] * (len(before) - len(similar))
        ranked = [
            memory
            if mark
            else self._mixed(memory, relevance, best or 1.0, alike / (best_similar or 1))
            for memory, relevance, alike, mark in zip(
                recall.memories, before, similar, marks, strict=True
            )
        ]
        ranked.sort(key=lambda memory: -(memory.score or 0.0))
        return replace(recall, memories=tuple(ranked))

    def _mixed(self, memory: Candidate, relevance: float, best: float, similar: float) -> Candidate:
        share, weight = relevance / best, self.late_weight
        relevant = (1 - weight) * share
        score = relevant + weight * similar
        about = "as the share of relevance"
        return memory.after(
            score,
            start(memory, relevance, _NAME),
            Step(_NAME, "divide", best, share, about="so that the best has 1"),
            Step(_NAME, "times", 1 - weight, relevant, about=about),
            Step(
                _NAME,
                "add",
                weight * similar,
                score,
                about="for the likeness of its words",
                notes={"late": score},
            ),
        )


def max_sim(question: str, texts: Sequence[str]) -> list[float]:
    """For each text, the mean of the best similarities of the tokens of a question.

    Examples:
        >>> near, far = max_sim("green tea", ["a cup of green tea", "my car"])
        >>> near > far
        True
    """
    [of_question, *of_texts] = MiniLM().embed_tokens([question, *texts])
    return [_mean_of_best(of_question, tokens) for tokens in of_texts]


def _mean_of_best(question: NDArray[np.float32], tokens: NDArray[np.float32]) -> float:
    if not len(question) or not len(tokens):
        return 0.0
    return max(float((question @ tokens.T).max(axis=1).mean()), 0.0)
