"""The relevance of candidates on one scale, whatever the source of their scores."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.pool import Facts

_OF_THE_BEST = "so that the best has 1"


def own_marks(memories: Sequence[Candidate], stage: str) -> list[Step | None]:
    """For each candidate, the first step of a stage if no other stage has scored it since.

    A stage leaves such a score as it is, so a second run changes nothing.
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
    one from its place. A candidate with a mark (`own_marks`) has the relevance of then.
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
    marks = own_marks(memories, stage)
    worths = relevances([memory.score for memory in memories], marks)
    pairs = zip(memories, worths, marks, strict=True)
    return by_score([memory if mark else weigh(memory, worth) for memory, worth, mark in pairs])


def by_score(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(memories, key=lambda memory: -(memory.score or 0.0)))


def start(score: float | None, relevance: float, stage: str) -> Step:
    notes = {"relevance": relevance}
    if score == relevance:
        return Step(stage, after=relevance, notes=notes)
    if score is None:
        why = "for its place, without a score"
    elif not math.isfinite(score):
        why = f"for its place, with the score {score}"
    elif score < 0 or not relevance:
        why = "for a score below 0"
    else:
        return Step(stage, "divide", score / relevance, relevance, about=_OF_THE_BEST, notes=notes)
    return Step(stage, "set", relevance, relevance, about=why, notes=notes)


def within_one(memory: Candidate, best: float, stage: str) -> Candidate:
    """A candidate with its score divided by the best of all, if that is above 1; as a last step."""
    if best <= 1 or memory.score is None:
        return memory
    score = memory.score / best
    return memory.after(score, Step(stage, "divide", best, score, about=_OF_THE_BEST))


PAUSE = timedelta(hours=1)  # a longer pause ends a session


def session_ratios(facts: Facts, worth: Sequence[float], share: float) -> list[float]:
    """The factors that lift a turn by a share of the way to the best turn of its session.

    A memory that stands alone loses nothing to a long talk.
    """
    ratios = [1.0] * len(facts)
    if not any(facts.turns_before):  # none answers another
        return ratios
    for session in _sessions(facts):
        best = max(worth[place] for place in session)
        for place in session:
            if own := worth[place]:
                ratios[place] = 1 + share * (best - own) / own
    return ratios


def spread_ratios(facts: Facts, worth: Sequence[float]) -> list[float]:
    """The factors that put memories of different hours first: 1, 1/2, 1/3 between two pauses."""
    ratios = [1.0] * len(facts)
    dated = [(moment, place) for place, moment in enumerate(facts.created) if moment is not None]
    for hour in _without_pause(dated):
        hour.sort(key=lambda place: -worth[place])
        for rank, place in enumerate(hour, 1):
            ratios[place] = 1 / rank
    return ratios


def _sessions(facts: Facts) -> Iterable[list[int]]:
    """The places of the turns of each session: at least two, and one that answers another."""
    by_owner: dict[tuple[object, ...], list[tuple[datetime, int]]] = defaultdict(list)
    for place, moment in enumerate(facts.created):
        if facts.memory_types[place] == "conversation" and moment is not None:
            by_owner[facts.owners[place]].append((moment, place))
    for turns in by_owner.values():
        for session in _without_pause(turns):
            if len(session) > 1 and any(facts.turns_before[place] for place in session):
                yield session


def _without_pause(dated: Iterable[tuple[datetime, int]]) -> list[list[int]]:
    groups: list[list[int]] = []
    last: datetime | None = None
    for moment, place in sorted(dated):
        if last is None or moment - last >= PAUSE:
            groups.append([])
        groups[-1].append(place)
        last = moment
    return groups
