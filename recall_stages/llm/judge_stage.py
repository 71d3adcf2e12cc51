"""The base of the stages in which a model judges the candidates, each against the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from string import Template

from pydantic import Field

from recall_stages.core.memory import Memory, Query
from recall_stages.core.stage import Prompt, RankStage, Recall, Steps
from recall_stages.llm.fencing import quoted_question
from recall_stages.llm.judging import Read, judged
from recall_stages.llm.window_stage import WindowStage
from recall_stages.llm.windows import Window

USER = Template("""\
$question

The memories:
$memories""")


class JudgeStage(WindowStage, RankStage):
    """A stage that lets a model judge the candidates and keeps the best of them.

    On failure the order stands, the memories keep the scores they came with, and the trace says so.

    Args:
        window: How many memories go into one prompt at most; all prompts are sent at once.
    """

    window: int = Field(default=20, ge=1)

    def judge(self, recall: Recall, system: str, read: Read) -> Steps:
        """Ask about all memories, check what is said of each against what was sent, and sort.

        A single memory is not asked about: its place is certain.

        Args:
            recall: The question and the memories.
            system: How the model is to judge.
            read: What makes scores of a reply.
        """
        if len(recall.memories) < 2:
            return recall
        windows = self.windows(recall.memories, self.window)
        try:
            replies = yield [self._prompt(system, recall.query, window) for window in windows]
            memories, errors = judged(windows, replies, read)
        except Exception as error:  # noqa: BLE001 - whatever a model does wrong, nothing is lost
            return recall.fell_back(type(self).__name__, error)
        return self.some_failed(replace(recall, memories=tuple(memories)), errors, windows)

    def _prompt(self, system: str, query: Query, window: Window) -> Prompt:
        return self.prompt(system, USER, question=quoted_question(query), memories=window.text)


def by_score(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """The memories with the highest score first; equal ones keep their order."""
    return tuple(sorted(memories, key=lambda memory: -(memory.score or 0.0)))
