"""Rankers: the candidates in order, and the best of them.

No model call. `SemanticRank` asks one, `FuseRerank` weighs kinds and the time asked about.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Self

from pydantic import Field, model_validator

from recall_stages.core.memory import Memory, Query
from recall_stages.core.stage import RankStage, Recall
from recall_stages.ranking.relevance import relevances

_SECONDS_A_DAY = 86_400


class RelevanceRank(RankStage):
    """The most relevant first.

    Memories with equal scores keep their order, and those without a score come last.

    Examples:
        >>> from datetime import UTC, datetime
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> found = (Memory(content="a", score=0.3), Memory(content="b", score=0.8))
        >>> [each.content for each in RelevanceRank().apply(Recall(asked, found)).memories]
        ['b', 'a']
    """

    def apply(self, recall: Recall) -> Recall:
        """Sort by score, and cut."""
        ranked = sorted(recall.memories, key=lambda each: (each.score is None, -(each.score or 0)))
        return replace(recall, memories=tuple(ranked[: self.limit(recall.query)]))


class RecencyRank(RankStage):
    """The newest first; scores stay as they are.

    A memory from the future counts as of now, and those without a recorded time come last.

    Examples:
        >>> from datetime import UTC, datetime
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> old = Memory(content="a", created_at=datetime(2024, 3, 1, tzinfo=UTC))
        >>> new = Memory(content="b", created_at=datetime(2024, 3, 7, tzinfo=UTC))
        >>> [each.content for each in RecencyRank().apply(Recall(asked, (old, new))).memories]
        ['b', 'a']
    """

    def apply(self, recall: Recall) -> Recall:
        """Sort by recorded time, and cut; memories of one moment keep their order."""
        now = recall.query.reference_time

        def age(memory: Memory) -> tuple[bool, float]:
            return memory.created_at is None, _days_old(memory.created_at or now, now)

        ranked = sorted(recall.memories, key=age)
        return replace(recall, memories=tuple(ranked[: self.limit(recall.query)]))


class HybridRank(RankStage):
    """Relevance and recency in one score.

    The score is the weighted mean of the relevance, 0 to 1, and of the recency, which falls in a
    straight line from 1 now to 0 at the horizon. A memory without a recorded time counts by its
    relevance alone. Running the stage twice changes nothing.

    Args:
        relevance_weight: What relevance counts; only the ratio of the two weights matters.
        recency_weight: What recency counts.
        horizon_days: The age in days from which on a memory counts as old.

    Raises:
        ValueError: When both weights are 0.

    Examples:
        >>> from datetime import UTC, datetime
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 16, tzinfo=UTC))
        >>> told = Memory(content="a", score=0.8, created_at=datetime(2024, 3, 1, tzinfo=UTC))
        >>> [memory] = HybridRank().apply(Recall(asked, (told,))).memories
        >>> round(memory.score, 2), memory.trace["recency"]
        (0.71, 0.5)
    """

    relevance_weight: float = Field(default=0.7, ge=0)
    recency_weight: float = Field(default=0.3, ge=0)
    horizon_days: float = Field(default=30.0, gt=0)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not self.relevance_weight + self.recency_weight:
            raise ValueError("relevance_weight and recency_weight must not both be 0")
        return self

    def apply(self, recall: Recall) -> Recall:
        """Weigh, sort and cut; memories with equal scores keep their order."""
        before = relevances(recall.memories, "weighed")
        ranked = [
            self._weighed(memory, relevance, recall.query)
            for memory, relevance in zip(recall.memories, before, strict=True)
        ]
        ranked.sort(key=lambda memory: -(memory.score or 0.0))
        return replace(recall, memories=tuple(ranked[: self.limit(recall.query)]))

    def _weighed(self, memory: Memory, relevance: float, query: Query) -> Memory:
        if memory.created_at is None:
            return memory.scored(relevance, relevance=relevance, weighed=relevance)
        recency = 1 - min(_days_old(memory.created_at, query.reference_time) / self.horizon_days, 1)
        both = self.relevance_weight * relevance + self.recency_weight * recency
        score = both / (self.relevance_weight + self.recency_weight)
        return memory.scored(score, relevance=relevance, recency=recency, weighed=score)


def _days_old(moment: datetime, now: datetime) -> float:
    return max((now - moment).total_seconds() / _SECONDS_A_DAY, 0.0)
