"""What the candidates are worth, on one scale, whatever found them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recall_stages.core.candidate import Candidate, Step


def own_marks(memories: Sequence[Candidate], stage: str) -> list[Step | None]:
    """For each candidate the first step of a stage, if no other stage has scored it since.

    A stage that meets this mark of its own leaves the score as it is, so that running a stage
    twice changes nothing.

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


def relevances(
    memories: Sequence[Candidate], marks: Sequence[Step | None] | None = None
) -> list[float]:
    """How relevant each candidate is before a stage weighs it, between 0 and 1.

    Scores on a larger scale are divided by the best one. A candidate without a finite score gets
    one from its place. Of a candidate that the stage has weighed already, it is the relevance that
    it had then.

    Args:
        memories: The candidates, best first.
        marks: See `own_marks`; None = the stage has weighed none of them.

    Examples:
        >>> found = [Candidate(content="a", score=4.0), Candidate(content="b", score=1.0)]
        >>> relevances(found)
        [1.0, 0.25]
        >>> relevances([Candidate(content="a"), Candidate(content="b")])
        [1.0, 0.5]
    """
    found = [memory.score for memory in memories]
    for place, mark in enumerate(marks or ()):
        found[place] = mark.after if mark else found[place]
    scores = [None if score is None or not math.isfinite(score) else score for score in found]
    scale = max([1.0, *[score for score in scores if score is not None]])
    return [
        1 - place / len(memories) if score is None else max(score, 0.0) / scale
        for place, score in enumerate(scores)
    ]


def start(memory: Candidate, relevance: float, stage: str) -> Step:
    """The first step of a stage that weighs: from the score of a candidate to its relevance.

    Examples:
        >>> start(Candidate(content="a", score=4.0), 0.5, "FuseRerank").label
        '/ 8 so that the best has 1'
    """
    score, notes = memory.score, {"relevance": relevance}
    if score == relevance:
        return Step(stage, after=relevance, notes=notes)
    if score is None or not math.isfinite(score):
        why = "without a score" if score is None else f"with the score {score}"
        return Step(stage, "set", relevance, relevance, about=f"for its place, {why}", notes=notes)
    if score < 0 or not relevance:
        return Step(stage, "set", relevance, relevance, about="for a score below 0", notes=notes)
    divisor = score / relevance
    return Step(stage, "divide", divisor, relevance, about="so that the best has 1", notes=notes)
