"""SemanticRank: Q x R -> R. A model scores the candidates; one call a window.

On failure the order stands, the memories keep the scores they came with, and the trace says so.
"""

from __future__ import annotations

from dataclasses import replace
from string import Template
from typing import cast

from pydantic import Field

from recall_stages.memory import Query
from recall_stages.model.judging import judged, read_scores
from recall_stages.model.quoting import QUOTED_MATERIAL, quoted_question
from recall_stages.model.window_stage import WindowStage
from recall_stages.model.windows import Window
from recall_stages.stage import Prompt, RankStage, Recall, Replies, Steps

SYSTEM = f"""\
You judge how well memories answer a question. For every memory give a score between 0.0 (has \
nothing to do with it) and 1.0 (answers it). {QUOTED_MATERIAL} Reply with JSON only, one entry for \
each memory:
{{"scores": [{{"memory": 1, "score": 0.8}}, {{"memory": 2, "score": 0.1}}]}}"""

USER = Template("""\
$question

The memories:
$memories""")


class SemanticRank(WindowStage, RankStage):
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
        token_budget: How many tokens of memories go into one prompt at the most.
        token_counter: What counts them: a function from a text to a number. None = tiktoken where
            its files are on this machine, else an estimate.
        system_prompt: What the model is told to do, in place of the stage's own words; it must ask
            for the same JSON.
        user_prompt: How the material is put, in place of the stage's own: with ``$question``
            and ``$memories``.
    """

    enable_ranker: bool = True
    top_n: int = Field(10, ge=1)
    window: int = Field(20, ge=1)

    def apply(self, recall: Recall) -> Steps:
        """Ask for scores, check every one against what was sent, and sort."""
        distinct = {memory.content.strip(): memory for memory in reversed(recall.memories)}
        memories = [
            memory for memory in recall.memories if distinct[memory.content.strip()] is memory
        ]
        if self.llm is not None and self.enable_ranker and len(memories) > 1:
            windows = self.windows(memories, self.window)
            try:
                replies = yield [self._prompt(recall.query, window) for window in windows]
                memories, errors = judged(windows, cast("Replies", replies), read_scores)
            except Exception as error:  # noqa: BLE001 - whatever a model does wrong, nothing is lost
                recall = recall.fell_back(type(self).__name__, error)
            else:
                recall = self.some_failed(recall, errors, windows)
        memories.sort(key=lambda memory: -(memory.score or 0.0))
        return replace(recall, memories=tuple(memories[: self.limit(recall.query)]))

    def _prompt(self, query: Query, window: Window) -> Prompt:
        return self.prompt(SYSTEM, USER, question=quoted_question(query), memories=window.text)
