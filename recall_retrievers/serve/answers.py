"""What a server answers, as models: they are the JSON of the HTTP API and its description."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Recall


class MemoryView(BaseModel):
    """A memory as a server shows it: made of a `Memory`, or of a `Candidate` with its score."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    content: str
    memory_type: str = "observation"
    created_at: datetime | None = None
    expires_at: datetime | None = None
    when_to_use: str = ""
    author: str = ""
    scope: Scope = Scope()
    metadata: dict[str, MetadataValue] = Field(default_factory=dict)
    quality: float | None = None
    score: float | None = Field(default=None, description="How well it answers; higher is better.")

    def candidate(self) -> Candidate:
        """The memory as a candidate, which prompts and fences are made of."""
        return Candidate(**dict(self))


class TimeView(BaseModel):
    """A time that was understood in a question."""

    words: str
    means: str
    start: datetime | None = None
    end: datetime | None = None


class RetrievedMetadata(BaseModel):
    """What was found, and what was understood."""

    memory_list: list[MemoryView]
    time: list[TimeView] = Field(default_factory=list, description="The times in the question.")
    degraded: list[str] = Field(default_factory=list, description="What could not be done.")


class Retrieved(BaseModel):
    """The answer to a question: the memories as one text, and one by one."""

    answer: str
    success: bool = True
    metadata: RetrievedMetadata

    @classmethod
    def of(cls, recall: Recall) -> Self:
        """The answer of a retriever."""
        times = [
            TimeView(words=each.text, means=each.describe(), start=each.start, end=each.end)
            for each in recall.query.time_ranges
        ]
        found = RetrievedMetadata(
            memory_list=recall.memories, time=times, degraded=recall.fallbacks
        )
        return cls(answer=recall.text, metadata=found)


class Added(BaseModel):
    """The ids of the memories that were stored, in order."""

    ids: list[str]


class Page(BaseModel):
    """Some memories, and where the next page begins."""

    memories: list[MemoryView]
    next: str | None = Field(default=None, description="Pass it as `after`; null = no more.")


class Counted(BaseModel):
    """How many memories there are."""

    count: int


class Deleted(BaseModel):
    """How many memories were deleted."""

    deleted: int


class Problem(BaseModel):
    """Why a request was not done: what was wrong, what was expected, what to do."""

    error: str


class Health(BaseModel):
    """Whether the server can answer."""

    status: str = "ok"
