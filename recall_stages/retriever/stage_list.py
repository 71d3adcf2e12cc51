"""StageList: several stages, one after the other, for those who have the candidates already."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from recall_stages.core.settings import Settings
from recall_stages.core.stage import Recall, Stage, Steps, pipeline
from recall_stages.stages.extract_time import ExtractTime
from recall_stages.stages.function_stage import MemoryFunction, as_stage
from recall_stages.stages.fuse_rerank import FuseRerank

StageInput = Stage | MemoryFunction
"""What may be handed in as a stage."""

AnyStage = Annotated[Stage, BeforeValidator(as_stage)]
"""A stage, or a function that does the work of one."""


def _a_text_comes_last(stages: list[Stage]) -> list[Stage]:
    for stage, following in pairwise(stages):
        if stage.writes_text:
            raise ValueError(
                f"{type(stage).__name__} writes the text that is returned: put it last, not "
                f"before {type(following).__name__}"
            )
    return stages


Stages = Annotated[list[AnyStage], AfterValidator(_a_text_comes_last)]
"""Stages in order; one that writes a text comes last."""


def default_stages() -> list[Stage]:
    """The time of the question understood, and its memories ranked by it, their kind and score."""
    return [ExtractTime(), FuseRerank()]


class StageList(Settings):
    """Several stages as one: what the first understands of the question, the next one knows.

    For candidates that any retriever found. Each stage also stands alone in the framework's own
    lists; there only the candidates are passed on, and what was understood travels on them.

    Args:
        stages: What is done, in order. One that writes a text comes last: then that text is
            returned, as a single result. A function ``(memories, query) -> memories`` is a stage
            too.
        deadline_s: Seconds after which no model is asked or waited for any more: what is ranked by
            then is returned, and the trace says so. None = no limit.

    Raises:
        SettingsError: On construction, when there is no stage, or a text does not come last.
    """

    stages: Stages = Field(default_factory=default_stages, min_length=1)
    deadline_s: float | None = Field(default=None, gt=0)

    def steps(self, recall: Recall) -> Steps:
        """The steps of all stages; `run` or `arun` drives them."""
        return pipeline(self.stages, recall, self.deadline_s)
