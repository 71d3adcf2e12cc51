"""The ready-made flows: which stages, in which order, in the classes of whichever face asks."""
# ruff: noqa: D102, N802 - the properties hand out the classes that they are named after

from __future__ import annotations

from typing import Literal, Protocol, get_args

from recall_stages.core.memory import Filter
from recall_stages.core.stage import Stage
from recall_stages.stages.build_query import BuildQuery
from recall_stages.stages.extract_time import ExtractTime
from recall_stages.stages.fuse_rerank import FuseRerank
from recall_stages.stages.merge_memory import MergeMemory
from recall_stages.stages.rank_and_rewrite import RankAndRewrite
from recall_stages.stages.rerank_memory import RerankMemory
from recall_stages.stages.rewrite_memory import RewriteMemory
from recall_stages.stages.semantic_rank import SemanticRank
from recall_stages.stages.stale_reflections import StaleReflections

TASKS: Filter = {"memory_type": "task"}
"""What the task flows look for, unless a filter is set."""

RecallPlan = Literal["steps", "single"]
"""How many model calls the personal flow makes: one for each step, or one for all of them."""


class StageClasses(Protocol):
    """The stages as a face wears them: its module of compressors or postprocessors."""

    @property
    def BuildQuery(self) -> type[BuildQuery]: ...
    @property
    def ExtractTime(self) -> type[ExtractTime]: ...
    @property
    def FuseRerank(self) -> type[FuseRerank]: ...
    @property
    def MergeMemory(self) -> type[MergeMemory]: ...
    @property
    def RankAndRewrite(self) -> type[RankAndRewrite]: ...
    @property
    def RerankMemory(self) -> type[RerankMemory]: ...
    @property
    def RewriteMemory(self) -> type[RewriteMemory]: ...
    @property
    def SemanticRank(self) -> type[SemanticRank]: ...
    @property
    def StaleReflections(self) -> type[StaleReflections]: ...


def personal_stages(
    face: StageClasses, llm: object, *, rewrite: bool, recall_plan: RecallPlan
) -> list[Stage]:
    """Time extracted, then what was retrieved ranked, fused and, if so wished, rewritten.

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
    tell = [face.RewriteMemory(llm=llm)] if rewrite else []
    return [face.ExtractTime(llm=llm), *rank, *fuse, *tell]


def task_stages(face: StageClasses, llm: object) -> list[Stage]:
    """A query built, then what was retrieved reranked and rewritten."""
    return [face.BuildQuery(llm=llm), face.RerankMemory(llm=llm), face.RewriteMemory(llm=llm)]


def simple_task_stages(face: StageClasses) -> list[Stage]:
    """A query built, then what was retrieved merged; no model."""
    return [face.BuildQuery(), face.MergeMemory()]
