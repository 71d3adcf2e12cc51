"""RankAndRewrite: Q x R -> R with a draft. Scores and text in one reply, so one call is paid for.

If the model fails, the order and the scores stand, there is no draft, and the trace says so.
"""

from __future__ import annotations

from dataclasses import replace
from string import Template
from typing import ClassVar

from pydantic import BaseModel, Field

from recall_stages.core.draft import Draft, identity
from recall_stages.core.errors import ModelError, ReplyError
from recall_stages.core.memory import Query
from recall_stages.core.stage import Flow, Prompt, Recall, TopN, limit
from recall_stages.llm.claims import read_claims
from recall_stages.llm.fencing import QUOTED_MATERIAL
from recall_stages.llm.judging import SCORES_EXAMPLE, by_score, judged_memories, read_scores
from recall_stages.llm.model_stage import ModelStage, SystemPrompt, TokenBudget, TokenCounter
from recall_stages.llm.reply_schemas import CitedSentence, Judgement, Loose
from recall_stages.llm.rewrite_prompt import REWRITE_RULES, USER, material
from recall_stages.llm.windows import Window, windows
from recall_stages.ranking.copies import distinct

SYSTEM = Template(f"""\
You judge how well memories answer a question, and tell what they say. First give every memory a \
score between 0.0 (has nothing to do with it) and 1.0 (answers it). Then turn those with the \
highest scores, $most at the most, into a short text that helps with the question: {REWRITE_RULES} \
Leave out memories that do not help. {QUOTED_MATERIAL} So are the question and the messages. Reply \
with JSON only, one score for each memory and one entry for each sentence:
{{"scores": {SCORES_EXAMPLE}, \
"sentences": [{{"text": "...", "memories": [1]}}, {{"text": "...", "memories": [1, 3]}}]}}""")


_AT_LEAST = 10  # memories that stay without a top_n: FuseRerank ranks them again


class RankedText(BaseModel):
    """How well each memory answers the question, and a short text of the best ones."""

    scores: Loose[list[Judgement]]
    sentences: Loose[list[CitedSentence]]


class RankAndRewrite(ModelStage):
    """Let a language model score the candidates and write the text in one call.

    `SemanticRank` and `RewriteMemory` need two calls or more for that. The scores are checked and
    used here. The text is a draft: a `RewriteMemory` at the end of the list checks it, without
    another call. The model sees only the first candidates, as many as ``window`` and the budget
    allow. The others stay below, in proportion to their scores. Of memories with the same text, one
    is judged and stays.

    Args:
        llm: The framework's model. None = the stage only sorts by score, and there is no draft.
        top_n: How many to keep. None = 10, or the retriever's k if that is more: `FuseRerank` after
            it ranks them again.
        window: How many memories the model sees at most.
        timeout_s: Seconds to wait for the reply. None = the model's own limit.
        attempts: How often a prompt is sent at most. None = 3, or 1 if the model retries by itself.
        structured: Whether to pass the reply's form as a schema. None = if the model takes one.
        token_budget: How many tokens of memories the model sees at most.
        token_counter: Counts tokens. None = tiktoken if its files are here, else an estimate.
        system_prompt: Instructions in place of the stage's own; they must ask for the same JSON.
        user_prompt: Template of the material: ``$question``, ``$memories``, and optionally
            ``$messages``.
    """

    form: ClassVar[type[BaseModel]] = RankedText
    optional_placeholders: ClassVar[tuple[str, ...]] = ("messages",)

    top_n: TopN = None
    window: int = Field(default=20, ge=1)
    token_budget: TokenBudget = 4000
    token_counter: TokenCounter = None
    system_prompt: SystemPrompt = None
    user_prompt: str | None = None

    def apply(self, recall: Recall) -> Flow:
        """Ask once, check every score against what was sent, sort, and keep the text as a draft."""
        most = limit(self.top_n, recall.query, _AT_LEAST)
        recall = replace(recall, memories=distinct(recall.memories))
        if self.llm is not None and recall.memories:
            shown = windows(
                recall.memories[: self.window], budget=self.token_budget, count=self.token_counter
            )[0]
            try:
                [reply] = yield [self._prompt(recall.query, shown, most)]
            except ModelError as error:
                recall = recall.fell_back(self.stage_name, error)
            else:
                recall = self._drafted(self._judged(recall, reply, shown), reply, shown)
        return replace(recall, memories=by_score(recall.memories)[:most])

    def _prompt(self, query: Query, window: Window, most: int) -> Prompt:
        system = self.system_prompt or SYSTEM.substitute(most=query.k or most)
        user = self.user_prompt or USER.template
        return self.prompt(system, user, **material(query, window))

    def _judged(self, recall: Recall, reply: str, shown: Window) -> Recall:
        count = len(shown.memories)
        parts = [shown, Window(recall.memories[count:], "", count)]
        try:
            memories, _ = judged_memories(parts, [reply, ReplyError("not shown")], read_scores)
        except ReplyError as error:
            return recall.fell_back(self.stage_name, error)
        return replace(recall, memories=tuple(memories))

    def _drafted(self, recall: Recall, reply: str, shown: Window) -> Recall:
        try:
            claims = read_claims(reply, "sentences")
        except ReplyError as error:
            return recall.fell_back(self.stage_name, error)
        scored = {identity(each): each for each in recall.memories}
        memories = tuple(scored[identity(each)] for each in shown.memories)
        return replace(recall, draft=Draft(tuple(claims), memories))
