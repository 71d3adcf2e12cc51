"""StockStage: R -> R. A document compressor or node postprocessor of the framework, as a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from recall_stages.core.candidate import Candidate, Step
from recall_stages.core.stage import Flow, Recall, Refine, Stage

_PLACE = "place"  # the note that identifies a memory when it comes back


class StockStage(Stage):
    """A stage that calls a compressor or postprocessor of the framework, and checks its result.

    The piece is not called if there are no candidates. If it raises, the candidates stay as they
    are, and the trace says so. If it loses the id of a memory, the stage restores the id. If it
    changes only the order, the stage deals out the old scores in the new order, so that the order
    holds for later stages. ``recall_ranked_by`` in the trace then names the piece.

    Args:
        piece: The framework's compressor or postprocessor.
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


def with_stock(stages: object, kind: type) -> object:
    """Wrap the framework's own pieces in a list of stages; any other value stays as it is.

    Args:
        stages: The value of the user.
        kind: The base class of the framework's pieces; our stages have it too.
    """
    if not isinstance(stages, list | tuple):
        return stages
    return [
        StockStage(piece=each) if isinstance(each, kind) and not isinstance(each, Stage) else each
        for each in stages
    ]


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
