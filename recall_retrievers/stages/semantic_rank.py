"""SemanticRank: Q x R -> R. A model scores the candidates; one call a window.

If the model fails, the order and the scores stand, and the trace says so.
"""

from __future__ import annotations

from dataclasses import replace

from recall_retrievers.core.stage import Flow, Recall
from recall_retrievers.llm.fencing import QUOTED_MATERIAL
from recall_retrievers.llm.judging import Judge, judged
from recall_retrievers.llm.prompts import SCALE, SCORE_PAIRS
from recall_retrievers.ranking.near_duplicates import distinct
from recall_retrievers.ranking.relevance import by_score

SYSTEM = f"""\
You judge how well memories answer a question. Give every memory a score from 0.0 to 1.0: {SCALE} \
{QUOTED_MATERIAL} Reply with JSON only, one pair for each memory, its number and its score:
{{"scores": {SCORE_PAIRS}}}"""


class SemanticRank(Judge):
    """Let a language model judge how well each candidate answers the question.

    The new score is the relevance as it was found, mixed with the score of the model. A judgement
    removes no memory. One that the model leaves out counts like the average of the others, and the
    trace counts those. Scores on a scale of 5, 10 or 100 are divided. Of memories with the same
    text, one is judged and stays.

    Args:
        llm: The framework's model. None = the stage only sorts by score.
        enable_ranker: Whether to use the model.
        semantic_share: The share of the model in the score, 0 to 1. More for a strong model; with
            1 its score replaces the relevance.
        orders: In how many orders each window is sent, 1 to 3. The scores are averaged, which helps
            a weak model and costs as many calls.
        top_n: How many to keep. None = all: a later stage or the retriever's k cuts.
        window: How many memories go into one prompt at most; all prompts are sent at once.
        timeout_s: Seconds to wait for the replies; late ones fail. None = the model's own limit.
        attempts: How often a prompt is sent at most. None = 3, or 1 if the model retries by itself.
        structured: Whether to pass the reply's form as a schema. None = if the model takes one.
        token_budget: How many tokens of memories go into one prompt at most.
        token_counter: Counts tokens. None = tiktoken if its files are here, else an estimate.
        system_prompt: Instructions in place of the stage's own; they must ask for the same JSON.
        user_prompt: Template of the material: ``$question``, ``$memories``, and optionally
            ``$messages`` and ``$count``.
    """

    enable_ranker: bool = True

    def apply(self, recall: Recall) -> Flow:
        """Ask for scores, check every one against what was sent, and sort."""
        recall = replace(recall, memories=distinct(recall.memories))
        if self.llm is not None and self.enable_ranker:
            recall = yield from judged(self, recall, SYSTEM)
        return replace(recall, memories=by_score(recall.memories)[: self.top_n])
