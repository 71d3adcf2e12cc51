"""Stages made of other things: of a function, or of a piece of the framework.

A piece is a document compressor or a node postprocessor.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pydantic import Field, field_validator

from recall_retrievers.core.candidate import Candidate, Step, candidates, copied
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.stage import Flow, Recall, Refine, Stage

_PLACE = "place"  # the note that identifies a memory when it comes back
_MEMORIES = (Candidate, Memory)

MemoryFunction = Callable[[list[Candidate], Query], Iterable[Candidate | Memory]]


class FunctionStage(Stage):
    """A stage that applies a function, which must not wait for anything, after the search."""

    function: MemoryFunction = Field(exclude=True)

    @field_validator("function")
    @classmethod
    def _takes_both_and_does_not_wait(cls, function: MemoryFunction) -> MemoryFunction:
        if inspect.iscoroutinefunction(function):
            raise ValueError(
                "a stage's function must not be async: stages never wait; make it a plain "
                "function, or a Stage subclass whose `apply` yields its prompts"
            )
        try:
            signature = inspect.signature(function)
        except ValueError:  # some functions of C have none
            return function
        try:
            signature.bind([], None)
        except TypeError as error:
            raise ValueError(
                f"a stage's function is called with (memories, query); got one with {signature}"
            ) from error
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
        name, signed = self.stage_name, []
        for memory in candidates(memories):  # steps without a stage name get that of the function
            steps = [step if step.stage else step._replace(stage=name) for step in memory.steps]
            signed.append(replace(memory, steps=tuple(steps)))
        return replace(recall, memories=tuple(signed))


class StockStage(Stage):
    """A stage that calls a compressor or postprocessor of the framework, and checks its result.

    The piece is not called if there are no candidates. If it raises, the candidates stay as they
    are, and the trace says so. If it loses the id of a memory, the stage restores the id. If it
    changes only the order, the stage deals out the old scores in the new order, so that the order
    holds for later stages. ``recall_ranked_by`` in the trace then names the piece.
    """

    piece: object = Field(exclude=True)

    @property
    def stage_name(self) -> str:
        """The class name of the piece."""
        return type(self.piece).__name__

    def apply(self, recall: Recall) -> Flow:
        """Pass the candidates to the piece, and take over its result."""
        if not recall.memories:
            return recall
        marked = tuple(
            memory.after(memory.score, Step(_PLACE, value=float(place), name=_PLACE))
            for place, memory in enumerate(recall.memories)
        )
        try:
            [outcome] = yield [Refine(self.piece, recall.query, marked)]
        except TimeoutError as error:  # no time is left: the order stands
            return recall.fell_back(self.stage_name, error)
        if isinstance(outcome, Exception):
            return recall.fell_back(self.stage_name, outcome)
        pairs = [_paired(each, marked) for each in outcome]
        return replace(recall, memories=tuple(_in_order(pairs, self.stage_name)))


def as_stage(value: object) -> Stage:
    """Wrap a function in a stage; a stage stays as it is."""
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


def _paired(returned: Candidate, sent: Sequence[Candidate]) -> tuple[Candidate, Candidate | None]:
    """A returned memory without its mark, and the candidate that was sent."""
    place = returned.noted(_PLACE)
    steps = tuple([step for step in returned.steps if step.name != _PLACE])
    if not isinstance(place, float):  # the piece added it
        return replace(returned, steps=steps), None
    before = sent[int(place)]
    return replace(returned, steps=steps, id=returned.id or before.id), before


def _in_order(pairs: Sequence[tuple[Candidate, Candidate | None]], name: str) -> list[Candidate]:
    """The returned memories; if only the order is new, with the scores dealt out in that order."""
    memories = [memory for memory, _ in pairs]
    scores = [memory.score for memory in memories if memory.score is not None]
    best_first = sorted(scores, reverse=True)
    scored = any(before and memory.score != before.score for memory, before in pairs)
    if scored or len(scores) < len(memories) or scores == best_first:
        return memories
    dealt = zip(memories, best_first, strict=True)
    return [memory.scored(score, by=name, ranked_by=name) for memory, score in dealt]
