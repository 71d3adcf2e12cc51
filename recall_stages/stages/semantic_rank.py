"""SemanticRank: Q x R -> R. A model scores the candidates; one call a window.

If the model fails, the order and the scores stand, and the trace says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel, Field

from recall_stages.core.memory import Query
from recall_stages.core.stage import Flow, Prompt, Recall, TopN, limit
from recall_stages.llm.fencing import QUOTED_MATERIAL, quoted_question
from recall_stages.llm.judging import SCORES_EXAMPLE, USER, by_score, judge, read_scores
from recall_stages.llm.model_stage import ModelStage, SystemPrompt, TokenBudget, TokenCounter
from recall_stages.llm.reply_schemas import Judgement, Loose
from recall_stages.llm.windows import Window, windows
from recall_stages.ranking.copies import distinct

SYSTEM = f"""\
You judge how well memories answer a question. For every memory give a score between 0.0 (has \
nothing to do with it) and 1.0 (answers it). {QUOTED_MATERIAL} Reply with JSON only, one entry for \
each memory:
{{"scores": {SCORES_EXAMPLE}}}"""


_AT_LEAST = 10  # memories that stay without a top_n: FuseRerank ranks them again


class Scores(BaseModel):
    """How well each memory answers the question."""

    scores: Loose[list[Judgement]]


class SemanticRank(ModelStage):
    """Let a language model judge how well each candidate answers the question.

    Of memories with the same text, one is judged and stays. A memory that the model leaves out
    stays below the scored ones, in the old order. If the reply to one window of several cannot be
    used, its memories keep their scores, on the scale of the others.

    Args:
        llm: The framework's model. None = the stage only sorts by score.
        enable_ranker: Whether to use the model.
        top_n: How many to keep. None = 10, or the retriever's k if that is more: `FuseRerank` after
            it ranks them again.
        window: How many memories go into one prompt at most; all prompts are sent at once.
        timeout_s: Seconds to wait for the replies; late ones fail. None = the model's own limit.
        attempts: How often a prompt is sent at most. None = 3, or 1 if the model retries by itself.
        structured: Whether to pass the reply's form as a schema. None = if the model takes one.
        token_budget: How many tokens of memories go into one prompt at most.
        token_counter: Counts tokens. None = tiktoken if its files are here, else an estimate.
        system_prompt: Instructions in place of the stage's own; they must ask for the same JSON.
        user_prompt: Template of the material: ``$question`` and ``$memories``.
    """

    form: ClassVar[type[BaseModel]] = Scores

    enable_ranker: bool = True
    top_n: TopN = None
    window: int = Field(default=20, ge=1)
    token_budget: TokenBudget = 4000
    token_counter: TokenCounter = None
    system_prompt: SystemPrompt = None
    user_prompt: str | None = None

    def apply(self, recall: Recall) -> Flow:
        """Ask for scores, check every one against what was sent, and sort."""
        recall = replace(recall, memories=distinct(recall.memories))
        if self.llm is not None and self.enable_ranker:
            shown = windows(
                recall.memories,
                budget=self.token_budget,
                count=self.token_counter,
                most=self.window,
            )
            prompts = [self._prompt(recall.query, window) for window in shown]
            recall = yield from judge(recall, self.stage_name, shown, prompts, read_scores)
        ranked = by_score(recall.memories)
        return replace(recall, memories=ranked[: limit(self.top_n, recall.query, _AT_LEAST)])

    def _prompt(self, query: Query, window: Window) -> Prompt:
        return self.prompt(
            self.system_prompt or SYSTEM,
            self.user_prompt or USER.template,
            question=quoted_question(query),
            memories=window.text,
        )
