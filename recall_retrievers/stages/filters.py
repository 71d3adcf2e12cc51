"""Filters: stages that remove or weaken candidates. No model call.

Put `RelevanceThreshold` before `TimeDecay`. In the other order, a perfect memory falls below any
threshold once it is a month old.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pydantic import Field

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.errors import IdLookupError
from recall_retrievers.core.memory import REFLECTION, digest
from recall_retrievers.core.pool import facts_of
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings import Days, Share
from recall_retrievers.core.stage import Fetch, Flow, Recall, Stage
from recall_retrievers.llm.windows import fit_budget
from recall_retrievers.ranking.fusion import by_score, reweighed, start
from recall_retrievers.ranking.near_duplicates import copies, for_all
from recall_retrievers.text.tokens import Counter
from recall_retrievers.timeline import half_life_weight

_DECAY = "TimeDecay"


class RelevanceThreshold(Stage):
    """Keep the memories that are relevant enough.

    The stage compares the score of a memory. After a semantic search, the score is a similarity.
    After a hybrid search, it is relative to the best of the pool. To cut by similarity after any
    search, set the retriever's ``threshold_score``. Memories without a score stay.

    Args:
        threshold_score: The lowest score that stays, 0 to 1. None = all stay. recall-kit has 0.7;
            with most embeddings, good answers do not reach it.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memories = (Candidate(content="a", score=0.8), Candidate(content="b", score=0.3))
        >>> recall = RelevanceThreshold(threshold_score=0.5).apply(Recall(query, memories))
        >>> [memory.content for memory in recall.memories]
        ['a']
    """

    threshold_score: Share | None = None

    def apply(self, recall: Recall) -> Recall:
        """Drop the memories below the threshold; the others keep their order."""
        if self.threshold_score is None:
            return recall
        lowest = self.threshold_score
        # Written so that a score that is no number stays too, as one that is not there does.
        memories = [m for m in recall.memories if m.score is None or not m.score < lowest]
        return recall.keep(memories, self.stage_name, f"below threshold_score {lowest}")


class Deduplicate(Stage):
    """Keep one of several memories that say nearly the same.

    The one with the best score stays. Its trace names the ids of the others. The words of two
    people are never copies. The work grows with the number of memories, not with its square. A
    retriever does this already; see its ``duplicate_threshold``.

    Args:
        similarity_threshold: The share of common words, in order, from which two memories are
            copies, above 0 to 1. Numbers, names and negations must be the same.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memories = (Candidate(content="I like tea.", score=0.4, id="a"),
        ...             Candidate(content="Coffee."),
        ...             Candidate(content="i like tea", score=0.6, id="b"))
        >>> best = Deduplicate().apply(Recall(query, memories)).memories
        >>> [memory.content for memory in best], best[0].trace
        (['i like tea', 'Coffee.'], {'duplicates': 'a'})
    """

    similarity_threshold: float = Field(default=0.95, gt=0, le=1)

    def apply(self, recall: Recall) -> Recall:
        """Group the copies, and keep the best of each group."""
        memories, best = recall.memories, list[Candidate]()
        for group in copies(facts_of(memories), self.similarity_threshold):
            same = [memories[place] for place in group]
            chosen = max(same, key=lambda each: each.score or 0.0)
            others, scores = [x.id for x in same if x is not chosen], [x.score for x in same]
            step = for_all(scores, chosen.score, others, self.stage_name)
            best.append(chosen.after(step.after, step) if others else chosen)
        return recall.keep(best, self.stage_name, "duplicates")


class TimeDecay(Stage):
    """Lower the scores of old memories: 2^(-age / half-life).

    No memory is removed. A memory without a recorded time keeps its relevance, and so does one from
    the future. A second run changes nothing.

    Args:
        half_life_days: The age, in days, at which a memory counts half.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> old = Candidate(content="a", score=0.8, created_at=datetime(2024, 3, 1, tzinfo=UTC))
        >>> TimeDecay().apply(Recall(query, (old,))).memories[0].score
        0.4
    """

    half_life_days: Days = 7.0

    def apply(self, recall: Recall) -> Recall:
        """Weigh the memories by age, and sort them; equal scores keep their order."""
        decayed = partial(self._decayed, recall.query)
        return replace(recall, memories=reweighed(recall.memories, _DECAY, decayed))

    def _decayed(self, query: Query, memory: Candidate, relevance: float) -> Candidate:
        weight = 1.0
        if memory.created_at is not None:
            age = query.reference_time - memory.created_at
            weight = half_life_weight(age, timedelta(days=self.half_life_days))
        score = relevance * weight
        return memory.after(
            score,
            start(memory.score, relevance, _DECAY),
            Step(_DECAY, "times", weight, score, "decay", "for its age", {"decayed": score}),
        )


class TokenBudget(Stage):
    """Keep the best memories that fit into a number of tokens, in their order.

    A memory that is too long for the rest of the budget is left out. Shorter ones after it may
    still fit. The trace names the memories that are left out, as ``left_out``. The best memory
    always stays. If it is longer than the whole budget, it is cut, with a mark.

    Args:
        token_budget: The number of tokens for the memories' texts and conditions of use.
        token_counter: Counts the tokens of a text. None = tiktoken if its files are on this
            machine, else an estimate; nothing is downloaded.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> texts = ("Tea at four.", "No milk.", "Jam.")
        >>> memories = tuple(Candidate(content=text) for text in texts)
        >>> stage = TokenBudget(token_budget=16, token_counter=len)
        >>> [each.content for each in stage.apply(Recall(query, memories)).memories]
        ['Tea at four.', 'Jam.']
    """

    token_budget: int = Field(default=2000, ge=1, le=10_000_000)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)

    def apply(self, recall: Recall) -> Recall:
        """Keep the memories that fit."""
        fitting = fit_budget(recall.memories, self.token_budget, self.token_counter)
        return replace(recall, memories=tuple(fitting))


class StaleReflections(Stage):
    """Lower the score of stored reflections whose sources have changed.

    A reflection is stale if one of its sources was deleted or changed since. Its score is then
    multiplied, and its trace says ``stale``. Put this stage after the stages that score and before
    `FuseRerank`. It costs nothing if no reflection is among the memories. It works only inside a
    retriever.

    Args:
        stale_ratio: The factor of the score of a stale reflection.
    """

    stale_ratio: Share = 0.5

    def apply(self, recall: Recall) -> Flow:
        """Fetch the sources of the reflections, and weigh the stale ones."""
        wanted = dict.fromkeys(source for each in recall.memories for source in _sources(each))
        if not wanted:
            return recall
        try:
            [sources] = yield [Fetch(tuple(wanted))]
        except IdLookupError as error:  # some stores cannot; the reflections keep their weight
            return recall.fell_back(type(self).__name__, str(error))
        now = {memory.id: digest(memory.content) for memory in sources}
        weighed = [self._weigh(each, now) for each in recall.memories]
        return replace(recall, memories=by_score(weighed))

    def _weigh(self, memory: Candidate, now: Mapping[str, str]) -> Candidate:
        is_stale = any(now.get(source) != then for source, then in _sources(memory).items())
        if not is_stale or memory.noted("stale") is not None:  # it is weighed already
            return memory
        score = (memory.score or 0.0) * self.stale_ratio
        about = "as what it rests on has changed"
        step = Step(self.stage_name, "times", self.stale_ratio, score, "stale", about)
        return memory.after(score, step)


def _sources(memory: Candidate) -> dict[str, str]:
    """The digests that the sources of a reflection had, by their ids; other memories have none."""
    ids, digests = map(memory.metadata.get, ("source_ids", "source_digests"))
    if memory.memory_type == REFLECTION and isinstance(ids, list) and isinstance(digests, list):
        return dict(zip(map(str, ids), map(str, digests), strict=False))
    return {}
