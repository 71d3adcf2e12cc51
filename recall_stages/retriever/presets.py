"""The ready-made flows: which stages, in which order.

``face`` is the module with a framework's classes of the stages.
"""

from __future__ import annotations

from types import ModuleType
from typing import Literal, get_args

from recall_stages.core.query import Filter
from recall_stages.core.stage import Stage

TASKS: Filter = {"memory_type": "task"}
"""The filter of the task flows, unless another one is set."""

RecallPlan = Literal["steps", "single"]
"""How often the personal flow asks a model: once a step, or once for all steps."""


def personal_stages(
    face: ModuleType, llm: object, *, rewrite: bool, recall_plan: RecallPlan
) -> list[Stage]:
    """Stages that read the time, rank and fuse the memories, and rewrite them if that is wanted.

    Raises:
        ValueError: When there is no such plan.
    """
    if recall_plan not in get_args(RecallPlan):
        raise ValueError(f'recall_plan must be "steps" or "single"; got {recall_plan!r}')
    fuse = [face.StaleReflections(), face.FuseRerank()]
    if recall_plan == "single":  # the grammar alone reads the time, or it would be two calls
        rank_and_rewrite = face.RankAndRewrite(llm=llm)
        return [face.ExtractTime(), rank_and_rewrite, *fuse, face.RewriteMemory()]
    rank = [] if llm is None else [face.SemanticRank(llm=llm)]
    last = [face.RewriteMemory(llm=llm)] if rewrite else []
    return [face.ExtractTime(llm=llm), *rank, *fuse, *last]


def task_stages(face: ModuleType, llm: object) -> list[Stage]:
    """Stages that build a query, and rerank and rewrite the memories."""
    return [face.BuildQuery(llm=llm), face.RerankMemory(llm=llm), face.RewriteMemory(llm=llm)]


def simple_task_stages(face: ModuleType) -> list[Stage]:
    """Stages that build a query and merge the memories, without a model."""
    return [face.BuildQuery(), face.MergeMemory()]
