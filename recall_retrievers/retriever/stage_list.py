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

StageInput = Stage | MemoryFunction  # what may be passed as a stage
AnyStage = Annotated[Stage, BeforeValidator(as_stage)]  # a stage, or a function that works as one


def _a_text_comes_last(stages: list[Stage]) -> list[Stage]:
    for stage, following in pairwise(stages):
        if stage.writes_text:
            raise ValueError(
                f"{type(stage).__name__} writes the text that is returned: put it last, not "
                f"before {type(following).__name__}"
            )
    return stages


Stages = Annotated[list[AnyStage], AfterValidator(_a_text_comes_last)]  # a text comes last


def default_stages() -> list[Stage]:
    return [ExtractTime(), FuseRerank()]


# The ready-made flows; ``face`` is the module with a framework's classes of the stages.

TASKS: Filter = {"memory_type": "task"}  # the filter of the task flows, unless another one is set


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
        alike = [isinstance(new, type(x)) or isinstance(x, type(new)) for x in replaced]
        places = [place for place, is_alike in enumerate(alike) if is_alike]
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
        is_piece = [isinstance(x, kind) and not isinstance(x, Stage) for x in stages]
        return [StockStage(piece=x) if y else x for x, y in zip(stages, is_piece, strict=True)]


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
            total, key = len(recall.memories), self.fields.get("created_at", "created_at")
            dated = sum(memory.created_at is not None for memory in recall.memories)
            scored = sum(memory.score is not None for memory in recall.memories)
            keys = sorted({key for memory in recall.memories for key in memory.metadata})
            _log.log(
                logging.DEBUG if dated == scored == total else logging.WARNING,
                "%d of %d candidates have a time, read from %r, and %d a score, read from "
                "relevance_score or the node; without one, their order counts. Other keys there: "
                "%s. Pass fields={'created_at': ...} to read another one",
                *(dated, total, key, scored, ", ".join(keys) or "none"),
            )
        return pipeline(self.stages, recall, self.deadline_s)

    def flow(self, recall: Recall) -> Flow:
        return self.apply(recall)
