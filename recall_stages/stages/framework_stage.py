"""StockStage: R -> R. A document compressor or node postprocessor of the framework, as a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from recall_stages.core.candidate import Candidate, Step
from recall_stages.core.stage import Flow, Recall, Refine, Stage

_PLACE = "place"  # the note of what is handed over: by it a memory is known again


class StockStage(Stage):
    """A stage that lets a piece of the framework's own do the work, and takes it on trust no more.

    It is not called without candidates. When it raises, these stay as they are and the trace says
    so. A memory whose id the piece lost has it again. Where it puts memories in another order and
    leaves their scores alone, they get each other's scores, so that the order holds for the stages
    that follow; ``recall_ranked_by`` in their trace says who did it.

    Args:
        piece: The framework's compressor or postprocessor.
    """

    piece: object = Field(exclude=True)

    @property
    def stage_name(self) -> str:
        """The piece, by its class."""
        return type(self.piece).__name__

    def apply(self, recall: Recall) -> Flow:
        """Hand the candidates over, and take what comes back."""
        if not recall.memories:
            return recall
        handed = tuple(
            memory.after(memory.score, Step(_PLACE, value=float(place), name=_PLACE))
            for place, memory in enumerate(recall.memories)
        )
        try:
            [outcome] = yield [Refine(self.piece, recall.query, handed)]
        except TimeoutError as error:  # no time is left: the order stands
            return recall.fell_back(self.stage_name, error)
        if isinstance(outcome, Exception):
            return recall.fell_back(self.stage_name, outcome)
        taken = [_known(each, handed) for each in outcome]
        return replace(recall, memories=tuple(_in_order(taken, self.stage_name)))


def with_stock(stages: object, kind: type) -> object:
    """A list of stages in which the framework's own pieces are stages too; anything else as it is.

    Args:
        stages: What a user gave.
        kind: The base of the framework's pieces, which our stages have as well.
    """
    if not isinstance(stages, list | tuple):
        return stages
    return [
        StockStage(piece=each) if isinstance(each, kind) and not isinstance(each, Stage) else each
        for each in stages
    ]


def _known(returned: Candidate, handed: Sequence[Candidate]) -> tuple[Candidate, Candidate | None]:
    """A memory that came back, without its mark, beside the one that was handed over."""
    place = returned.noted(_PLACE)
    steps = tuple([step for step in returned.steps if step.name != _PLACE])
    if not isinstance(place, float):  # the piece added it
        return replace(returned, steps=steps), None
    before = handed[int(place)]
    return replace(returned, steps=steps, id=returned.id or before.id), before


def _in_order(taken: Sequence[tuple[Candidate, Candidate | None]], name: str) -> list[Candidate]:
    """The memories as they came back; where only their order says how good they are, scored so."""
    memories = [memory for memory, _ in taken]
    scores = [memory.score for memory in memories if memory.score is not None]
    best_first = sorted(scores, reverse=True)
    scored = any(before and memory.score != before.score for memory, before in taken)
    if scored or len(scores) < len(memories) or scores == best_first:
        return memories
    dealt = zip(memories, best_first, strict=True)
    return [memory.scored(score, by=name, ranked_by=name) for memory, score in dealt]
