"""SemanticRank and RerankMemory: Q x R -> R. A model judges the best of the candidates.

If the model fails, the order and the scores stand, and the trace says so.
"""

from dataclasses import replace

from pydantic import Field, field_validator

from recall_retrievers.core.settings import Share
from recall_retrievers.core.stage import Flow, Recall, limit
from recall_retrievers.llm.fencing import QUOTED_MATERIAL
from recall_retrievers.llm.judging import Judge, as_scorer, judged, scored
from recall_retrievers.llm.prompts import SCORE_PAIRS
from recall_retrievers.ranking.fusion import by_score
from recall_retrievers.ranking.near_duplicates import distinct

SEMANTIC = f"""\
You judge how well memories answer a question. Give each memory that bears on the question a \
score: 1.0 = it answers the question; 0.7 = it answers a part of it; 0.4 = it is about the same \
matter and does not answer. Use the values between them too. Leave out every other memory, also \
one that only shares words with the question: it counts as 0.0. {QUOTED_MATERIAL} So is the \
question. Reply with JSON only, one pair for each memory that you score, its number and its score:
{{"scores": {SCORE_PAIRS}}}"""

RERANK = f"""\
You rank memories of earlier tasks by how well they help with a task at hand: whether they bear \
on it directly, whether their situation is like it, whether they can be acted on, and how sound \
they are. Name each memory that helps once, the most helpful first, with a score: 1.0 = just what \
is needed; 0.7 = a good part of it; 0.4 = of a similar task, with little to act on. Use the values \
between them too. Leave out every other memory: it counts as 0.0. {QUOTED_MATERIAL} So is the \
question. Reply with JSON only, one pair for each memory that you name, its number and its score:
{{"ranking": {SCORE_PAIRS}}}"""


class SemanticRank(Judge):
    """Let a language model or a cross-encoder judge how well each candidate answers.

    The new score is the relevance as it was found, mixed with the judgement. A judgement removes no
    memory. One that a whole reply leaves out counts as 0. One that a broken reply does not judge
    counts like the average of the others, and the trace counts those; so does one that the model is
    not shown. Scores on a scale of 5, 10 or 100 are divided. Of memories with the same text, one is
    judged and stays.

    Args:
        llm: The framework's model. None = the stage only sorts by score.
        scorer: What judges in place of the model: a function that gets the question and the texts,
            and returns a score for each, sync or async; a cross-encoder of LangChain or of
            sentence-transformers; or a reranker of the framework, which should keep all. It is
            called once, so ``orders`` and ``window`` do not apply. Scores outside 0 to 1 are taken
            for log-odds.
        enable_ranker: Whether to use the model or the scorer.
        top_n: How many to keep. None = all: a later stage or the retriever's k cuts.
    """

    scorer: object = Field(default=None, exclude=True, repr=False)
    enable_ranker: bool = True

    @field_validator("scorer")
    @classmethod
    def _that_scores(cls, scorer: object) -> object:
        return as_scorer(scorer, cls.piece)

    def apply(self, recall: Recall) -> Flow:
        """Ask for scores, check every one against what was sent, and sort."""
        recall = replace(recall, memories=distinct(recall.memories))
        if self.scorer is not None and self.enable_ranker:
            recall = yield from scored(self, recall, self.scorer)
        elif self.llm is not None and self.enable_ranker:
            recall = yield from judged(self, recall, SEMANTIC)
        return replace(recall, memories=by_score(recall.memories)[: self.top_n])


class RerankMemory(Judge):
    """Put memories of tasks in the order in which they help with the one at hand.

    The reply is a ranking of the memories that were sent. A memory counts once, and an unknown one
    not at all. If the reply has no scores, the ranks make them. The new score is the relevance as
    it was found, mixed with the score of the model. A memory that the reply leaves out counts as in
    `SemanticRank`.

    Args:
        llm: The framework's model. None = the memories stay in order.
        enable_llm_rerank: Whether to use the model.
        enable_score_filter: Whether to leave out memories whose stored quality is low. It is not
            their relevance. A memory without a quality stays.
        min_score_threshold: The quality from which a memory is good enough, 0 to 1.
        top_n: How many to keep. None = as many as the retriever's k, else 5.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_retrievers.core.candidate import Candidate
        >>> from recall_retrievers.core.query import Query
        >>> from recall_retrievers.core.world import run
        >>> query = Query(text="Uploads?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> poor = Candidate(content="Retry.", quality=0.2)
        >>> memories = (poor, Candidate(content="Check the type."))
        >>> stage = RerankMemory(enable_score_filter=True)
        >>> [each.content for each in run(stage.apply(Recall(query, memories))).memories]
        ['Check the type.']
    """

    enable_llm_rerank: bool = True
    enable_score_filter: bool = False
    min_score_threshold: Share = 0.3

    def apply(self, recall: Recall) -> Flow:
        """Leave out the poor, ask for a ranking of the others, check it, and cut."""
        lowest = self.min_score_threshold if self.enable_score_filter else 0.0
        good = tuple(x for x in recall.memories if x.quality is None or x.quality >= lowest)
        recall = replace(recall, memories=good)
        if self.llm is not None and self.enable_llm_rerank:
            recall = yield from judged(self, recall, RERANK, ranked=True)
        return replace(recall, memories=recall.memories[: limit(self.top_n, recall.query)])
