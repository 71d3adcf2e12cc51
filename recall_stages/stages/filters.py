"""Filters: which candidates stay. No model call.

In a list, let `RelevanceThreshold` come before `TimeDecay`: decayed first, a memory that answers
perfectly and is a month old falls below any threshold.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import Field

from recall_stages.core.candidate import Candidate, Step
from recall_stages.core.memory import Query
from recall_stages.core.stage import Recall, Stage
from recall_stages.ranking.copies import copies, for_all
from recall_stages.ranking.relevance import own_marks, relevances, start
from recall_stages.timeline import half_life_weight

_DECAY = "TimeDecay"


class RelevanceThreshold(Stage):
    """Keep the memories that are relevant enough.

    It looks at the score that a memory comes with: a similarity right after a semantic search; in
    a hybrid one its place between the worst and the best of the pool. To cut by similarity
    whatever the search, set the retriever's ``threshold_score``. Memories without a score stay.

    Args:
        threshold_score: The lowest score that stays, 0 to 1. None = all stay. recall-kit has 0.7,
            which is above what good answers reach with most embeddings.

    Examples:
        >>> from datetime import UTC, datetime
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> found = (Candidate(content="a", score=0.8), Candidate(content="b", score=0.3))
        >>> kept = RelevanceThreshold(threshold_score=0.5).apply(Recall(asked, found))
        >>> [memory.content for memory in kept.memories]
        ['a']
    """

    threshold_score: float | None = Field(default=None, ge=0, le=1)

    def apply(self, recall: Recall) -> Recall:
        """Drop the memories below the threshold; the others keep their order."""
        if self.threshold_score is None:
            return recall
        lowest = self.threshold_score
        kept = [each for each in recall.memories if each.score is None or each.score >= lowest]
        return recall.keep(kept, self.stage_name, "below threshold_score")


class Deduplicate(Stage):
    """Keep the best of memories that say nearly the same.

    The better-scored one stays, in its place, with the ids of the others in its trace. What two
    people said are no copies of each other. The work grows with the number of memories, not with
    its square. Inside a retriever this has been done already; see its ``duplicate_threshold``.

    Args:
        similarity_threshold: The share of words, in order, from which two memories count as one,
            above 0 to 1; numbers, names and negations must be the same.

    Examples:
        >>> from datetime import UTC, datetime
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> found = (Candidate(content="I like tea.", score=0.4, id="a"),
        ...          Candidate(content="Coffee."),
        ...          Candidate(content="i like tea", score=0.6, id="b"))
        >>> kept = Deduplicate().apply(Recall(asked, found)).memories
        >>> [memory.content for memory in kept], kept[0].trace
        (['i like tea', 'Coffee.'], {'duplicates': 'a'})
    """

    similarity_threshold: float = Field(default=0.95, gt=0, le=1)

    def apply(self, recall: Recall) -> Recall:
        """Put copies together, and keep the best of each."""
        groups = copies(recall.memories, self.similarity_threshold)
        kept = [
            for_all(max(same, key=lambda each: each.score or 0.0), same, self.stage_name)
            for same in groups
        ]
        return recall.keep(kept, self.stage_name, "duplicates")


class TimeDecay(Stage):
    """Let old memories count less: 2^(-age / half-life).

    Nothing is removed. A memory without a recorded time keeps its relevance, and so does one from
    the future. Running the stage twice changes nothing.

    Args:
        half_life_days: After how many days a memory counts half.

    Examples:
        >>> from datetime import UTC, datetime
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> told = Candidate(content="a", score=0.8, created_at=datetime(2024, 3, 1, tzinfo=UTC))
        >>> TimeDecay().apply(Recall(asked, (told,))).memories[0].score
        0.4
    """

    half_life_days: float = Field(default=7.0, gt=0)

    def apply(self, recall: Recall) -> Recall:
        """Weigh by age, and sort; memories with equal scores keep their order."""
        memories = recall.memories
        marks = own_marks(memories, _DECAY)
        weighed = [
            memory if mark else self._decayed(memory, relevance, recall.query)
            for memory, relevance, mark in zip(
                memories, relevances(memories, marks), marks, strict=True
            )
        ]
        weighed.sort(key=lambda memory: -(memory.score or 0.0))
        return replace(recall, memories=tuple(weighed))

    def _decayed(self, memory: Candidate, relevance: float, query: Query) -> Candidate:
        weight = 1.0
        if memory.created_at is not None:
            age = query.reference_time - memory.created_at
            weight = half_life_weight(age, timedelta(days=self.half_life_days))
        score = relevance * weight
        return memory.after(
            score,
            start(memory, relevance, _DECAY),
            Step(_DECAY, "times", weight, score, "decay", "for its age", {"decayed": score}),
        )
