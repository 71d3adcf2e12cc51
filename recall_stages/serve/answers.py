"""What a server answers, as models: they are the JSON of the HTTP API and its description."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from recall_stages.core.candidate import Candidate
from recall_stages.core.memory import Memory, MetadataValue
from recall_stages.core.stage import Recall


class MemoryView(BaseModel):
    """A memory as a server shows it."""

    id: str
    content: str
    memory_type: str = "observation"
    created_at: datetime | None = None
    expires_at: datetime | None = None
    when_to_use: str = ""
    author: str = ""
    scope: dict[str, str] = Field(default_factory=dict)
    metadata: dict[str, MetadataValue] = Field(default_factory=dict)
    quality: float | None = None
    score: float | None = Field(default=None, description="How well it answers; higher is better.")

    @classmethod
    def of(cls, memory: Memory | Candidate) -> Self:
        """The view of a memory that is stored, or that was found."""
        return cls(
            id=memory.id,
            content=memory.content,
            memory_type=memory.memory_type,
            created_at=memory.created_at,
            expires_at=memory.expires_at,
            when_to_use=memory.when_to_use,
            author=memory.author,
            scope=memory.scope.fields(),
            metadata=dict(memory.metadata),
            quality=memory.quality,
            score=memory.score if isinstance(memory, Candidate) else None,
        )

    def candidate(self) -> Candidate:
        """The memory as a candidate, which prompts and fences are made of."""
        return Candidate(
            content=self.content,
            id=self.id,
            memory_type=self.memory_type,
            created_at=self.created_at,
            when_to_use=self.when_to_use,
            author=self.author,
            metadata=self.metadata,
            quality=self.quality,
            score=self.score,
        )


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
            memory_list=views(recall.memories), time=times, degraded=list(recall.fallbacks)
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


def views(memories: Sequence[Memory | Candidate]) -> list[MemoryView]:
    """The views of several memories."""
    return [MemoryView.of(each) for each in memories]
