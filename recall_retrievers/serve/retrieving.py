"""The operations that ask: for memories about somebody, and for experiences with a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from recall_retrievers.core.query import Filter
from recall_retrievers.serve.answers import Retrieved
from recall_retrievers.serve.operation import (
    MOST_PER_REQUEST,
    NotEmpty,
    ScopedService,
    TimedOperation,
)


class RetrievePersonalMemory(TimedOperation):
    """Find the memories that answer a question, best first."""

    result = Retrieved
    of_tasks: ClassVar[bool] = False

    query: str = Field(default="", description="The question, in plain words.")
    messages: Sequence[dict[str, object]] = Field(
        default=(), description="The conversation before it: messages with role and content."
    )
    k: int | None = Field(
        default=None, ge=1, le=MOST_PER_REQUEST, description="How many memories at most."
    )
    filter: Annotated[Filter | SkipJsonSchema[None], NotEmpty] = Field(
        default=None, description="Conditions on metadata, as Chroma writes them."
    )
    threshold_score: float | None = Field(
        default=None, ge=0, le=1, description="The lowest similarity that a candidate may have."
    )

    async def done_by(self, service: ScopedService) -> Retrieved:
        """Ask, with the settings of the call over those of the server."""
        found = await service.recall(self.query, self.options(), tasks=self.of_tasks)
        return Retrieved.of(found)


class RetrieveTaskMemory(RetrievePersonalMemory):
    """Find experiences with tasks like this one, and put them into one text.

    The query is the task. If it is empty, the last three messages are.
    """

    of_tasks = True
