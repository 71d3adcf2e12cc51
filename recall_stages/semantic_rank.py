"""SemanticRank: Q x R -> R. A model scores the candidates; one call a window.

On failure the order stands, the memories keep the scores they came with, and the trace says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel, Field

from recall_stages.model.forms import Judgement, Loose
from recall_stages.model.judge_stage import JudgeStage, by_score
from recall_stages.model.judging import read_scores
from recall_stages.model.quoting import QUOTED_MATERIAL
from recall_stages.ranking.copies import distinct
from recall_stages.stage import Recall, Steps

SYSTEM = f"""\
You judge how well memories answer a question. For every memory give a score between 0.0 (has \
nothing to do with it) and 1.0 (answers it). {QUOTED_MATERIAL} Reply with JSON only, one entry for \
each memory:
{{"scores": [{{"memory": 1, "score": 0.8}}, {{"memory": 2, "score": 0.1}}]}}"""


class Scores(BaseModel):
    """How well each memory answers the question."""

    scores: Loose[list[Judgement]]


class SemanticRank(JudgeStage):
    """Let a language model judge how well each candidate answers the question.

    Seed operation SemanticRankOp. Memories with the same text are judged once and kept once. A
    memory that the model leaves out stays below those it scored, in the order of before. Where the
    reply to one window of several cannot be used, its memories keep the scores they came with,
    brought to the scale of the others.

    Args:
        llm: The framework's model. None = the stage only sorts by score.
        enable_ranker: Whether to ask the model at all.
        top_n: How many to keep. Left alone inside a retriever, it never keeps fewer than its k.
        window: How many memories go into one prompt at the most; all prompts are asked at once.
        timeout_s: Seconds to wait for the replies; those that are late count as failed.
            None = as the model has it.
        attempts: How often a prompt is sent at the most, where the model turns it away or the
            connection drops. None = three times; once, where the model tries again by itself.
        structured: Whether to give the model the form of the reply as a schema. None = where it
            says that it takes one; where that fails, plain JSON is asked for.
        token_budget: How many tokens of memories go into one prompt at the most.
        token_counter: What counts them: a function from a text to a number. None = tiktoken where
            its files are on this machine, else an estimate.
        system_prompt: What the model is told to do, in place of the stage's own words; it must ask
            for the same JSON.
        user_prompt: How the material is put, in place of the stage's own: with ``$question``
            and ``$memories``.
    """

    form: ClassVar[type[BaseModel]] = Scores

    enable_ranker: bool = True
    top_n: int = Field(10, ge=1)

    def apply(self, recall: Recall) -> Steps:
        """Ask for scores, check every one against what was sent, and sort."""
        recall = replace(recall, memories=distinct(recall.memories))
        if self.llm is not None and self.enable_ranker:
            recall = yield from self.judge(recall, SYSTEM, read_scores)
        ranked = by_score(recall.memories)
        return replace(recall, memories=ranked[: self.limit(recall.query)])
