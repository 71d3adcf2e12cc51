"""Rankers: stages that sort the candidates and keep the best. No model call.

`SemanticRank` ranks with a model. `FuseRerank` also weighs types, authors, sessions and time.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Self

from pydantic import model_validator

from recall_retrievers.core.candidate import Candidate, Note, Step
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings import Days, Ratio
from recall_retrievers.core.stage import RankStage, Recall
from recall_retrievers.ranking.fusion import reweighed, start

_HYBRID = "HybridRank"
_DAY = timedelta(days=1)


class RelevanceRank(RankStage):
    """The most relevant first.

    Memories with equal scores keep their order. Memories without a score come last.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> memories = (Candidate(content="a", score=0.3), Candidate(content="b", score=0.8))
        >>> [each.content for each in RelevanceRank().apply(Recall(query, memories)).memories]
        ['b', 'a']
    """

    def apply(self, recall: Recall) -> Recall:
        """Sort by score, and cut."""
        ranked = sorted(recall.memories, key=lambda each: (each.score is None, -(each.score or 0)))
        return self.cut(recall, ranked)


class RecencyRank(RankStage):
    """The newest first; scores stay as they are.

    A memory from the future counts as one from now. Memories without a recorded time come last.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> old = Candidate(content="a", created_at=datetime(2024, 3, 1, tzinfo=UTC))
        >>> new = Candidate(content="b", created_at=datetime(2024, 3, 7, tzinfo=UTC))
        >>> [each.content for each in RecencyRank().apply(Recall(query, (old, new))).memories]
        ['b', 'a']
    """

    def apply(self, recall: Recall) -> Recall:
        """Sort by recorded time, and cut; equal times keep their order."""
        now = recall.query.reference_time

        def age(memory: Candidate) -> tuple[bool, float]:
            return memory.created_at is None, _days_old(memory.created_at or now, now)

        ranked = sorted(recall.memories, key=age)
        return self.cut(recall, ranked)


class HybridRank(RankStage):
    """Relevance and recency in one score.

    The score is the weighted mean of the relevance, 0 to 1, and of the recency, which falls in a
    straight line from 1 now to 0 at the horizon. A memory without a recorded time counts by its
    relevance alone. A second run changes nothing.

    Args:
        relevance_weight: The weight of relevance; only the ratio of the two weights matters.
        recency_weight: The weight of recency.
        horizon_days: The age, in days, from which the recency is 0.

    Raises:
        ValueError: When both weights are 0.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 16, tzinfo=UTC))
        >>> old = Candidate(content="a", score=0.8, created_at=datetime(2024, 3, 1, tzinfo=UTC))
        >>> [memory] = HybridRank().apply(Recall(query, (old,))).memories
        >>> round(memory.score, 2), memory.trace["recency"]
        (0.71, 0.5)
    """

    relevance_weight: Ratio = 0.7
    recency_weight: Ratio = 0.3
    horizon_days: Days = 30.0

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not self.relevance_weight + self.recency_weight:
            raise ValueError("relevance_weight and recency_weight must not both be 0")
        return self

    def apply(self, recall: Recall) -> Recall:
        """Weigh, sort and cut; equal scores keep their order."""
        weighed = partial(self._weighed, recall.query)
        return self.cut(recall, reweighed(recall.memories, _HYBRID, weighed))

    def _weighed(self, query: Query, memory: Candidate, relevance: float) -> Candidate:
        first = start(memory.score, relevance, _HYBRID)
        if memory.created_at is None:
            undated = Step(_HYBRID, after=relevance, notes={"weighed": relevance})
            return memory.after(relevance, first, undated)
        recency = 1 - min(_days_old(memory.created_at, query.reference_time) / self.horizon_days, 1)
        both = self.relevance_weight * relevance + self.recency_weight * recency
        whole = self.relevance_weight + self.recency_weight
        score = both / whole
        share, fresh = self.relevance_weight / whole, self.recency_weight / whole * recency
        about = f"for its recency of {recency:.2f}"
        notes: dict[str, Note] = {"recency": recency, "weighed": score}
        return memory.after(
            score,
            first,
            Step(_HYBRID, "times", share, share * relevance, about="as the share of relevance"),
            Step(_HYBRID, "add", fresh, score, about=about, notes=notes),
        )


def _days_old(moment: datetime, now: datetime) -> float:
    return max((now - moment) / _DAY, 0.0)
