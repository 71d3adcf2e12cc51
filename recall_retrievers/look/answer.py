"""One answer as data: what was understood, the memories with the way to their scores, the rest.

The widget in a notebook and the server's page draw it; both get it from here.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import IdLookupError
from recall_retrievers.core.memory import Memory, MetadataValue
from recall_retrievers.core.requests import Fetch
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Settings, Share
from recall_retrievers.core.stage import Recall, Stage
from recall_retrievers.core.usage import Meter
from recall_retrievers.core.world import ListingStore, World
from recall_retrievers.explain.rows import Row, remarks, rows
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.retriever.stage_list import StageList
from recall_retrievers.stages.foreign_stages import StockStage
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.stages.retrieve import Method, SearchSettings
from recall_retrievers.timeline import TimeRange

_MOST_LEFT_OUT = 50  # that are listed one by one
_WEIGHTS = ("semantic_weight", "token_weight")
_LONGEST = 300  # characters of a memory that was left out


class Sliders(Settings):
    """The settings that a reader may move for one question; None = as the retriever is set."""

    method: Method | None = Field(default=None, description="How to search.")
    semantic_weight: Share | None = Field(
        default=None, strict=True, description="The share of meaning."
    )
    token_weight: Share | None = Field(
        default=None, strict=True, description="The share of single words in it."
    )
    time_ratio: float | None = Field(
        default=None,
        strict=True,
        gt=0,
        le=1_000,
        description="The factor of a memory of the named time.",
    )


class MemoryView(BaseModel):
    """A memory as a server shows it: made of a `Memory`, or of a `Candidate` with its score."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    content: str
    memory_type: str = "observation"
    created_at: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: str = Field(default="", description="The id of the memory in its place.")
    superseded_at: datetime | None = None
    when_to_use: str = ""
    author: str = ""
    scope: Scope = Scope()
    metadata: dict[str, MetadataValue] = Field(default_factory=dict)
    quality: float | None = None
    score: float | None = Field(default=None, description="How well it answers; higher is better.")

    def candidate(self) -> Candidate:
        """The memory as a candidate, which prompts and fences are made of."""
        return Candidate(**{name: getattr(self, name) for name in MemoryView.model_fields})


class Span(BaseModel):
    """A stretch of time: from ``start`` up to, not including, ``end``; null = open."""

    means: str
    start: datetime | None = None
    end: datetime | None = None

    @classmethod
    def of(cls, time_range: TimeRange) -> Self:
        """A time range."""
        return cls(means=time_range.describe(), start=time_range.start, end=time_range.end)


class TimeView(Span):
    """A time that was understood in a question."""

    words: str


class ReadTime(TimeView):
    """A time that was understood in a question, with the other readings of its words."""

    other: list[Span]


class ExplainedMemory(MemoryView):
    """A memory with the way to its score."""

    events: list[Span]
    steps: list[Row]
    remarks: list[str]


class LeftOut(BaseModel):
    """A memory that a stage left out, and why; without a text where the store finds none by id."""

    id: str
    content: str = ""
    created_at: datetime | None = None
    events: list[Span] = Field(default_factory=list)
    score: float | None = Field(default=None, description="Its score when it was left out.")
    reason: str


class Explained(BaseModel):
    """One answer: what was understood, the memories, what was left out, and the settings."""

    query: str
    asked_at: datetime
    searched: str = Field(default="", description="The text searched for, if it is another one.")
    times: list[ReadTime]
    memories: list[ExplainedMemory]
    left_out: list[LeftOut]
    left_out_counts: str
    evidence: str = ""
    evidence_about: str = ""
    degraded: list[str] = Field(default_factory=list)
    settings: dict[str, str | float | None] = Field(description="What was in effect.")


async def explained(
    retriever: MemoryRetriever,
    question: str,
    options: CallOptions,
    sliders: Sliders,
    world: Callable[[ListingStore], World],
) -> Explained:
    """Ask a retriever, with some of its settings moved, and tell all about the answer."""
    moved = {name: value for name, value in sliders if value is not None}
    given: CallOptions = {**options, **({"method": moved["method"]} if "method" in moved else {})}
    asked = _moved(retriever, moved)
    recall = await asked.recalled(question, given, world)
    scores = _left_out(recall)
    found: Sequence[Memory] = []
    if scores:
        with suppress(IdLookupError):  # then their texts are not known
            wanted = [Fetch(tuple(scores))]
            [found] = await world(asked.scoped(given)).answer(wanted, Meter(""))
    by_id = {memory.id: memory for memory in found}
    sign, about = (str(recall.notes().get(x, "")) for x in ("evidence", "evidence_about"))
    text = "\n".join(recall.query.searched)
    return Explained(
        query=recall.query.text,
        asked_at=recall.query.reference_time,
        searched="" if text == recall.query.text else text,
        times=[_read(each) for each in recall.query.time_ranges],
        memories=[_explained(each) for each in recall.memories],
        left_out=[_gone(each, score, by_id, recall) for each, score in scores.items()],
        left_out_counts=recall.left_out(),
        evidence=sign,
        evidence_about=about if recall.memories else recall.why_nothing or about,
        degraded=list(recall.fallbacks),
        settings=_in_effect(asked, given, recall.query.text),
    )


def to_look_at(retriever: MemoryRetriever, *, models: bool = False) -> MemoryRetriever:
    """The retriever without what a look has no use for: stages that write a text of the memories.

    Without ``models`` it asks none, and no piece of a framework, which may be one.
    """
    gate = retriever.gate
    if gate is not None and not models:
        gate = gate.model_copy(update={"llm": None})
    return retriever.model_copy(update={"stages": _kept(retriever.stages, models), "gate": gate})


def _kept(stages: Sequence[Stage], models: bool) -> list[Stage]:
    kept: list[Stage] = []
    for stage in stages:
        if isinstance(stage, StageList):
            kept.append(stage.model_copy(update={"stages": _kept(stage.stages, models)}))
        elif stage.writes_text or (isinstance(stage, StockStage) and not models):
            continue
        elif models or getattr(stage, "llm", None) is None:
            kept.append(stage)
        elif stage.before_search:  # it reads the question without a model, too
            kept.append(stage.model_copy(update={"llm": None}))
    return kept


def _moved(retriever: MemoryRetriever, moved: dict[str, object]) -> MemoryRetriever:
    changes = {name: moved[name] for name in SearchSettings.model_fields if name in moved}
    if "time_ratio" in moved:
        ratio = {"fuse_time_ratio": moved["time_ratio"]}
        changes["stages"] = [
            stage.model_copy(update=ratio) if isinstance(stage, FuseRerank) else stage
            for stage in retriever.stages
        ]
    return retriever.model_copy(update=changes)


def sliders_of(retriever: MemoryRetriever) -> dict[str, str | float | None]:
    """The settings of a retriever that a reader may move; None = it depends on the question."""
    ratios = [each.fuse_time_ratio for each in retriever.stages if isinstance(each, FuseRerank)]
    weights = {name: getattr(retriever, name) for name in _WEIGHTS}
    return {
        **{name: getattr(retriever, name) for name in ("k", "method", "time_mode")},
        **{name: x if name in retriever.model_fields_set else None for name, x in weights.items()},
        "time_ratio": next(iter(ratios), None),
    }


def _in_effect(
    retriever: MemoryRetriever, options: CallOptions, text: str
) -> dict[str, str | float | None]:
    """The settings of an answer, with those that depend on the question's words."""
    call = retriever.for_call(options)
    search = retriever.search_for(call, text)
    return {
        **sliders_of(retriever),
        **{name: getattr(call, name) for name in ("k", "method", "time_mode", "threshold_score")},
        **{name: getattr(search, name) for name in _WEIGHTS},
    }


def _read(time_range: TimeRange) -> ReadTime:
    other = [Span.of(each) for each in time_range.alternatives]
    return ReadTime(words=time_range.text, other=other, **dict(Span.of(time_range)))


def _explained(memory: Candidate) -> ExplainedMemory:
    return ExplainedMemory(
        **dict(MemoryView.model_validate(memory)),
        events=[Span.of(each) for each in memory.events],
        steps=rows(memory),
        remarks=list(remarks(memory)),
    )


def _left_out(recall: Recall) -> dict[str, float | None]:
    """The ids of what was left out with the scores: the later and the better first."""
    listed: dict[str, float | None] = {}
    for dropped in reversed(recall.dropped):
        scored = [*zip(dropped.ids, dropped.scores, strict=True)]
        scored.sort(key=lambda pair: -(pair[1] or 0.0))
        for memory_id, score in scored:
            listed.setdefault(memory_id, score)
    return dict(islice(listed.items(), _MOST_LEFT_OUT))


def _gone(
    memory_id: str, score: float | None, stored: dict[str, Memory], recall: Recall
) -> LeftOut:
    memory, reason = stored.get(memory_id), recall.why_left_out(memory_id)
    if memory is None:
        return LeftOut(id=memory_id[:_LONGEST], score=score, reason=reason)
    text = memory.content
    return LeftOut(
        id=memory.id,
        content=text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
        created_at=memory.created_at,
        events=[Span.of(each) for each in memory.events],
        score=score,
        reason=reason,
    )
