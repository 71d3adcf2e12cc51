"""The relevance of candidates on one scale, whatever the source of their scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from recall_retrievers.core.candidate import Candidate, Step


def own_marks(memories: Sequence[Candidate], stage: str) -> list[Step | None]:
    """For each candidate, the first step of a stage if no other stage has scored it since.

    A stage that finds its own mark leaves the score as it is. So a second run changes nothing.

    Examples:
        >>> once = Candidate(content="Tea.").scored(0.8, by="TimeDecay")
        >>> own_marks([once], "TimeDecay") == [once.steps[0]], own_marks([once], "FuseRerank")
        (True, [None])
    """
    marks: list[Step | None] = []
    for memory in memories:
        mark: Step | None = None
        for step in reversed(memory.steps):
            if step.stage == stage and (mark or step.after == memory.score):
                mark = step
            elif step.change != "note" or step.stage == stage:
                break
        marks.append(mark)
    return marks


def relevances(scores: Sequence[float | None], marks: Sequence[Step | None] = ()) -> list[float]:
    """The relevance of each candidate before a stage weighs it, 0 to 1.

    Scores on a larger scale are divided by the best one. A candidate without a finite score gets
    one from its place. A candidate that the stage has already weighed has the relevance of then.

    Args:
        scores: The scores of the candidates, best first.
        marks: See `own_marks`; empty = the stage has weighed none of them.

    Examples:
        >>> relevances([4.0, 1.0])
        [1.0, 0.25]
        >>> relevances([None, None])
        [1.0, 0.5]
    """
    before = [*scores]
    for place, mark in enumerate(marks):
        before[place] = mark.after if mark else before[place]
    finite = [None if score is None or not math.isfinite(score) else score for score in before]
    scale = max([1.0, *[score for score in finite if score is not None]])
    return [
        1 - place / len(finite) if score is None else (score if score > 0 else 0.0) / scale
        for place, score in enumerate(finite)
    ]


def reweighed(
    memories: Sequence[Candidate], stage: str, weigh: Callable[[Candidate, float], Candidate]
) -> tuple[Candidate, ...]:
    """The memories with a new score each, best first. What the stage has weighed already stays.

    Args:
        memories: The candidates.
        stage: The stage.
        weigh: Makes a candidate with the new score, of a candidate and its relevance.
    """
    marks = own_marks(memories, stage)
    worths = relevances([memory.score for memory in memories], marks)
    pairs = zip(memories, worths, marks, strict=True)
    return by_score([memory if mark else weigh(memory, worth) for memory, worth, mark in pairs])


def by_score(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The memories with the highest score first; equal scores keep their order."""
    return tuple(sorted(memories, key=lambda memory: -(memory.score or 0.0)))


def start(score: float | None, relevance: float, stage: str) -> Step:
    """The first step of a stage that weighs candidates: from the score to the relevance.

    Examples:
        >>> start(4.0, 0.5, "FuseRerank").label
        '/ 8 so that the best has 1'
    """
    notes = {"relevance": relevance}
    if score == relevance:
        return Step(stage, after=relevance, notes=notes)
    if score is None or not math.isfinite(score):
        why = "without a score" if score is None else f"with the score {score}"
        return Step(stage, "set", relevance, relevance, about=f"for its place, {why}", notes=notes)
    if score < 0 or not relevance:
        return Step(stage, "set", relevance, relevance, about="for a score below 0", notes=notes)
    divisor = score / relevance
    return Step(stage, "divide", divisor, relevance, about="so that the best has 1", notes=notes)
