"""FunctionStage: R -> R. A function ``(memories, query) -> memories`` as a stage."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace

from pydantic import Field, field_validator

from recall_stages.core.candidate import Candidate, candidates, copied
from recall_stages.core.memory import Memory
from recall_stages.core.query import Query
from recall_stages.core.settings_messages import got
from recall_stages.core.stage import Recall, Stage

_MEMORIES = (Candidate, Memory)

MemoryFunction = Callable[[list[Candidate], Query], Iterable[Candidate | Memory]]


class FunctionStage(Stage):
    """A stage that applies a function after the search.

    Args:
        function: Takes the candidates (see `Candidate`), best first, and the query. It returns the
            memories that stay, in their new order. It must not wait for anything: write a class for
            a stage that needs a model.

    Raises:
        TypeError: When the function does not return memories.

    Examples:
        >>> from datetime import UTC, datetime
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
        >>> short = FunctionStage(
        ...     function=lambda memories, query: [m for m in memories if len(m.content) < 20]
        ... )
        >>> teas = (Candidate(content="Green tea."), Candidate(content="A long story of tea."))
        >>> [memory.content for memory in short.apply(Recall(query, teas)).memories]
        ['Green tea.']
    """

    function: MemoryFunction = Field(exclude=True)

    @field_validator("function")
    @classmethod
    def _does_not_wait(cls, function: MemoryFunction) -> MemoryFunction:
        if inspect.iscoroutinefunction(function):
            raise ValueError(
                "a stage's function must not be async: stages never wait; make it a plain "
                "function, or a Stage subclass whose `apply` yields its prompts"
            )
        return function

    @property
    def stage_name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def apply(self, recall: Recall) -> Recall:
        """Pass the candidates to the function, and take over its result."""
        copies = [replace(each, metadata=copied(each.metadata)) for each in recall.memories]
        returned = self.function(copies, recall.query)
        memories = tuple(returned) if isinstance(returned, Iterable) else (returned,)
        wrong = [type(each).__name__ for each in memories if not isinstance(each, _MEMORIES)]
        if wrong:
            raise TypeError(
                f"{self.stage_name} must return memories, as (memories, query) -> memories; "
                f"got {wrong[0]}"
            )
        return replace(recall, memories=tuple(map(self._signed, candidates(memories))))

    def _signed(self, memory: Candidate) -> Candidate:
        """A memory with the name of the function on the steps without a stage name."""
        steps = [
            step if step.stage else step._replace(stage=self.stage_name) for step in memory.steps
        ]
        return replace(memory, steps=tuple(steps))


def as_stage(value: object) -> Stage:
    """Wrap a function in a stage; a stage stays as it is.

    Raises:
        ValueError: When the value is neither.
    """
    if isinstance(value, Stage):
        return value
    if isinstance(value, type) and issubclass(value, Stage):
        raise ValueError(  # noqa: TRY004 - pydantic gathers it among its errors
            f"must be a stage; got {got(value)}. Construct it: {value.__name__}()"
        )
    if callable(value) and not isinstance(value, type):
        return FunctionStage(function=value)
    raise ValueError(
        "must be a stage such as FuseRerank(), or a function (memories, query) -> memories; got "
        f"{got(value)}"
    )
