"""RankAndRewrite: Q x R -> R with a draft. Scores and text in one reply, so one call is paid for.

If the model fails, the order and the scores stand, there is no draft, and the trace says so.
"""

from __future__ import annotations

from dataclasses import replace
from string import Template

from recall_retrievers.core.citation import Draft, identity
from recall_retrievers.core.errors import ModelError, ReplyError
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings import Count
from recall_retrievers.core.stage import Flow, Prompt, Recall, TopN
from recall_retrievers.llm.cited_text import read_sentences
from recall_retrievers.llm.fencing import QUOTED_MATERIAL
from recall_retrievers.llm.judging import SHARE, SemanticShare, judged
from recall_retrievers.llm.model_stage import ModelStage, SystemPrompt, TokenBudget, TokenCounter
from recall_retrievers.llm.prompts import (
    CITED_SENTENCES,
    REWRITE_RULES,
    SCALE,
    SCORE_PAIRS,
    USER_WITH_MESSAGES,
    reply_form,
)
from recall_retrievers.llm.windows import Window, windows
from recall_retrievers.ranking.copies import distinct
from recall_retrievers.ranking.relevance import by_score

SYSTEM = Template(f"""\
You judge how well memories answer a question, and tell what they say. First give every memory a \
score from 0.0 to 1.0: {SCALE} Then turn those with the highest scores, $most at the most, into a \
short text that helps with the question: {REWRITE_RULES} Leave out memories that do not help. \
{QUOTED_MATERIAL} So are the question and the messages. Reply with JSON only, one pair for each \
memory, its number and its score, and one entry for each sentence:
{{"scores": {SCORE_PAIRS}, "sentences": {CITED_SENTENCES}}}""")

_USUAL = 10  # memories in the text without a k


class RankAndRewrite(ModelStage):
    """Let a language model score the candidates and write the text in one call.

    `SemanticRank` and `RewriteMemory` need two calls or more for that. The scores are checked and
    used here. The text is a draft: a `RewriteMemory` at the end of the list checks it, without
    another call. The model sees only the first candidates, as many as ``window`` and the budget
    allow. The new score is the relevance as it was found, mixed with the score of the model. A
    memory without one counts like the average of the others. Of memories with the same text, one is
    judged and stays.

    Args:
        llm: The framework's model. None = the stage only sorts by score, and there is no draft.
        semantic_share: The share of the model in the score, 0 to 1. More for a strong model; with
            1 its score replaces the relevance.
        top_n: How many to keep. None = all: a later stage or the retriever's k cuts.
        window: How many memories the model sees at most.
        timeout_s: Seconds to wait for the reply. None = the model's own limit.
        attempts: How often a prompt is sent at most. None = 3, or 1 if the model retries by itself.
        structured: Whether to pass the reply's form as a schema. None = if the model takes one.
        token_budget: How many tokens of memories the model sees at most.
        token_counter: Counts tokens. None = tiktoken if its files are here, else an estimate.
        system_prompt: Instructions in place of the stage's own; they must ask for the same JSON.
        user_prompt: Template of the material: ``$question``, ``$memories``, and optionally
            ``$messages`` and ``$count``.
    """

    semantic_share: SemanticShare = SHARE
    top_n: TopN = None
    window: Count = 20
    token_budget: TokenBudget = 4000
    token_counter: TokenCounter = None
    system_prompt: SystemPrompt = None
    user_prompt: str | None = None

    def apply(self, recall: Recall) -> Flow:
        """Ask once, check every score against what was sent, sort, and keep the text as a draft."""
        recall = replace(recall, memories=distinct(recall.memories))
        if self.llm is not None and recall.memories:
            shown = windows(
                recall.memories[: self.window], budget=self.token_budget, count=self.token_counter
            )[0]
            try:
                [reply] = yield [self._prompt(recall.query, shown)]
            except ModelError as error:
                recall = recall.fell_back(self.stage_name, error)
            else:
                recall = judged(recall, self.stage_name, [(shown, reply)], self.semantic_share)
                recall = self._drafted(recall, reply, shown)
        return replace(recall, memories=by_score(recall.memories)[: self.top_n])

    def _prompt(self, query: Query, window: Window) -> Prompt:
        most = query.k or self.top_n or _USUAL
        system = self.system_prompt or SYSTEM.substitute(most=most)
        form = reply_form(len(window.memories), scores="scores", sentences="sentences")
        user = self.user_prompt or USER_WITH_MESSAGES.template
        return self.prompt(system, user, form, **window.material(query))

    def _drafted(self, recall: Recall, reply: str, shown: Window) -> Recall:
        try:
            text = read_sentences(reply, "sentences")
        except ReplyError as error:
            return recall.fell_back(self.stage_name, error)
        recall = recall.fell_back(self.stage_name, *text.notes)
        scored = {identity(each): each for each in recall.memories}
        memories = tuple(scored[identity(each)] for each in shown.memories)
        return replace(recall, draft=Draft(text.value, memories))
