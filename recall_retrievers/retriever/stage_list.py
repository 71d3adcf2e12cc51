"""Lists of stages: those of the ready-made flows, changes to them, and several stages as one."""

import logging
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, field_validator

from recall_retrievers.core.query import Filter
from recall_retrievers.core.settings import Seconds, Settings
from recall_retrievers.core.stage import Flow, Recall, Stage, pipeline
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.foreign_stages import MemoryFunction, StockStage, as_stage
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.store.chroma.fields import Fields

_log = logging.getLogger(__name__)

StageInput = Stage | MemoryFunction
"""What may be passed as a stage."""

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
    return [ExtractTime(), FuseRerank()]


# The ready-made flows; ``face`` is the module with a framework's classes of the stages.

TASKS: Filter = {"memory_type": "task"}
"""The filter of the task flows, unless another one is set."""


def personal_stages(face: ModuleType, llm: object, *, rewrite: bool) -> list[Stage]:
    rank = [] if llm is None else [face.SemanticRank(llm=llm)]
    last = [face.RewriteMemory(llm=llm)] if rewrite else []
    fuse = [face.StaleReflections(), face.FuseRerank()]
    return [face.ExtractTime(llm=llm), *rank, *fuse, *last]


def task_stages(face: ModuleType, llm: object) -> list[Stage]:
    return [face.BuildQuery(llm=llm), face.RerankMemory(llm=llm), face.RewriteMemory(llm=llm)]


def simple_task_stages(face: ModuleType) -> list[Stage]:
    return [face.BuildQuery(), face.MergeMemory()]


def replaced(stages: Sequence[Stage], replacements: Sequence[Stage]) -> list[Stage]:
    """The stages, with each replacement in the place of the one stage of its class."""
    replaced = list(stages)
    for new in replacements:
        # The default stages are those without a framework; a face's and a user's are made of them.
        places = [
            place
            for place, old in enumerate(replaced)
            if isinstance(new, type(old)) or isinstance(old, type(new))
        ]
        if len(places) != 1:
            raise ValueError(
                f"there must be one {new.stage_name} among the stages to replace, and there are "
                f"{len(places)}: {', '.join(stage.stage_name for stage in replaced)}. Write the "
                "whole list: stages=[...]"
            )
        [place] = places
        model = getattr(replaced[place], "llm", None)
        takes_it = model is not None and getattr(new, "llm", None) is None
        replaced[place] = new.model_copy(update={"llm": model}) if takes_it else new
    return replaced


class TakesStages(Settings):
    """Settings with ``stages``, among which pieces of the framework may stand: of this base."""

    piece: ClassVar[type | None] = None

    @field_validator("stages", mode="before", check_fields=False)
    @classmethod
    def _pieces_as_stages(cls, stages: object) -> object:
        kind = cls.piece
        if kind is None or not isinstance(stages, list | tuple):
            return stages
        ours = [isinstance(each, Stage) or not isinstance(each, kind) for each in stages]
        pairs = zip(stages, ours, strict=True)
        return [each if is_ours else StockStage(piece=each) for each, is_ours in pairs]


def _known_fields(fields: dict[str, str]) -> dict[str, str]:
    Fields.model_validate(fields)  # raises where a name is none
    return fields


class StageList(TakesStages, Stage):
    """Several stages as one: each knows what the stages before it understood of the question.

    It works on candidates of any retriever. A single stage also works in the framework's own lists.
    There only the candidates are passed on, and the time of the question travels in their trace.

    Args:
        stages: The stages, in order. A stage that writes a text comes last: that text is then the
            only result. A function ``(memories, query) -> memories`` is a stage
            too.
        deadline_s: Seconds for all stages. After that no model is called, and you get what is
            ranked by then; the trace says so. None = no limit.
        fields: The metadata keys of time, type, author and scope, as of `RecallStore`:
            ``{"created_at": "date"}``. The log says once how many of the first candidates have a
            time and a score under the keys that are read.

    Raises:
        SettingsError: On construction, when there is no stage, or a text does not come last.
    """

    stages: Stages = Field(default_factory=default_stages, min_length=1)
    deadline_s: Seconds | None = None
    fields: Annotated[dict[str, str], AfterValidator(_known_fields)] = Field(default_factory=dict)
    _has_read: bool = PrivateAttr(default=False)

    def in_our_names(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Metadata of a user's own retriever, with the fields of a memory under our names too."""
        named = self.fields.items()
        return {**metadata, **{name: metadata[key] for name, key in named if key in metadata}}

    def apply(self, recall: Recall) -> Flow:
        if recall.memories and not self._has_read:
            self._has_read = True
            total = len(recall.memories)
            dated = sum(1 for each in recall.memories if each.created_at)
            scored = sum(1 for each in recall.memories if each.score is not None)
            is_whole = dated == total and scored == total
            keys = {key for each in recall.memories for key in each.metadata}
            _log.log(
                logging.DEBUG if is_whole else logging.WARNING,
                "%d of %d candidates have a time, read from %r, and %d a score, read from "
                "relevance_score or the node; without one, their order counts. Other keys there: "
                "%s. Pass fields={'created_at': ...} to read another one",
                dated,
                total,
                self.fields.get("created_at", "created_at"),
                scored,
                ", ".join(sorted(keys)) or "none",
            )
        return pipeline(self.stages, recall, self.deadline_s)

    def flow(self, recall: Recall) -> Flow:
        return self.apply(recall)
