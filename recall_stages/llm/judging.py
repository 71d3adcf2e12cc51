"""The judgements of a model as new scores, checked against the memories that were sent.

Windows are independent. If the reply to a window cannot be used, its memories keep their scores, on
the scale of the scores by the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from string import Template

from recall_stages.core.candidate import Candidate, Step
from recall_stages.core.errors import ModelError, ReplyError
from recall_stages.core.stage import Flow, Prompt, Recall
from recall_stages.llm.replies import answer_under, decimal_number, whole_number
from recall_stages.llm.windows import Window, read_replies, some_failed

NOT_JUDGED = "not judged"
"""The value of ``semantic`` in the trace of a memory that has no score by the model."""

SCORES_EXAMPLE = '[{"memory": 1, "score": 0.8}, {"memory": 2, "score": 0.1}]'
RANKING_EXAMPLE = '[{"memory": 2, "score": 0.9}, {"memory": 1, "score": 0.3}]'
"""The examples in the prompts."""

USER = Template("""\
$question

The memories:
$memories""")

_MODEL = "model"  # the stage name of the steps
_BELOW = 0.999  # keeps memories without a judgement strictly below the others

Read = Callable[[str, int, str], Mapping[int, float]]
"""Takes a reply, the number of memories and their text in the prompt; returns scores by number."""


def read_scores(reply: str, count: int, shown: str = "") -> dict[int, float]:
    """The scores in a reply. Unknown numbers are left out; of two equal ones, the first counts.

    Args:
        reply: The reply of the model.
        count: The number of memories in the prompt.
        shown: Their text in the prompt. Scores in this text are a quotation, and do not count.

    Raises:
        ReplyError: When it has no score between 0 and 1 for a memory from 1 to ``count``.

    Examples:
        >>> read_scores('{"scores": [{"memory": 2, "score": "0.8"}, {"memory": 9, "score": 1}]}', 2)
        {2: 0.8}
    """
    example = f'{{"scores": {SCORES_EXAMPLE}}}'
    scores = _scores(_entries(answer_under(reply, "scores", f"{example}\n{shown}")), count)
    if not scores:
        raise ReplyError(
            f"expected scores between 0 and 1 for memories 1 to {count}; got {reply[:80]!r}"
        )
    return scores


def read_ranking(reply: str, count: int, shown: str = "") -> dict[int, float]:
    """The scores in a ranking, best first. If it has numbers only, the places make the scores.

    Raises:
        ReplyError: When it has no memory from 1 to ``count``.

    Examples:
        >>> read_ranking('{"ranking": [2, 1, 2, 7]}', 3)
        {2: 1.0, 1: 0.6666666666666667}
    """
    example = f'{{"ranking": {RANKING_EXAMPLE}}}'
    entries = _entries(answer_under(reply, "ranking", f"{example}\n{shown}"))
    scores = _scores(entries, count)
    if scores:
        return scores
    numbers = (each.get("memory") if isinstance(each, Mapping) else each for each in entries)
    ranked = dict.fromkeys(
        n for each in numbers if (n := whole_number(each)) and n in range(1, count + 1)
    )
    if not ranked:
        raise ReplyError(f"expected a ranking of memories 1 to {count}; got {reply[:80]!r}")
    return {number: 1 - place / count for place, number in enumerate(ranked)}


def judge(
    recall: Recall, stage: str, windows: Sequence[Window], prompts: Sequence[Prompt], read: Read
) -> Flow:
    """Let a model judge the candidates, check its judgements, and sort.

    A single memory is not judged: its place is certain. If no reply can be used, the order and the
    scores stand, and the trace says so.

    Args:
        recall: The question and the candidates.
        stage: The name of the stage.
        windows: The candidates, as the prompts show them.
        prompts: The prompt for each window.
        read: Reads the scores in a reply.
    """
    if len(recall.memories) < 2:
        return recall
    try:
        replies = yield prompts
        memories, outcomes = judged_memories(windows, replies, read)
    except (ModelError, ReplyError) as error:
        return recall.fell_back(stage, error)
    return some_failed(replace(recall, memories=tuple(memories)), stage, outcomes)


def judged_memories(
    windows: Sequence[Window], replies: Sequence[str | Exception], read: Read
) -> tuple[list[Candidate], Sequence[object]]:
    """All memories with their new scores, best first, and the outcome of each window.

    Args:
        windows: The windows that were sent.
        replies: The reply for each window, or the error in its place.
        read: Reads the scores in a reply.

    Raises:
        Exception: The error of the first window, when no reply can be used.
    """
    outcomes = read_replies(
        windows, replies, lambda reply, window: read(reply, len(window.memories), window.text)
    )
    scores = [{} if isinstance(each, Exception) else each for each in outcomes]
    scale = _scale(windows, scores)
    memories = [
        memory
        for window, by_number in zip(windows, scores, strict=True)
        for memory in _rescored(window.memories, by_number, scale)
    ]
    memories.sort(key=lambda each: (-(each.score or 0.0), each.steps[-1].change != "set"))
    return memories, outcomes


def by_score(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The memories with the highest score first; equal scores keep their order."""
    return tuple(sorted(memories, key=lambda memory: -(memory.score or 0.0)))


def _entries(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _scores(entries: Sequence[object], count: int) -> dict[int, float]:
    scores: dict[int, float] = {}
    for entry in entries:
        if isinstance(entry, Mapping):
            number, score = whole_number(entry.get("memory")), decimal_number(entry.get("score"))
            if number and number in range(1, count + 1) and score is not None and 0 <= score <= 1:
                scores.setdefault(number, score)
    return scores


def _rescored(
    memories: Sequence[Candidate], scores: Mapping[int, float], scale: float
) -> list[Candidate]:
    """The memories of a window with the model's scores.

    Memories without one stay below these, in proportion to their old scores. In a window without
    any score by the model, all old scores stay, on the scale of the other windows.
    """
    if scores:
        best = max((memory.score or 0.0 for memory in memories), default=0.0) or 1.0
        scale = _BELOW * min(scores.values()) / best
    return [
        _judged(memory, scores[number]) if number in scores else _not_judged(memory, scale)
        for number, memory in enumerate(memories, 1)
    ]


def _judged(memory: Candidate, score: float) -> Candidate:
    return memory.after(score, Step(_MODEL, "set", score, score, "semantic", "by the model"))


def _not_judged(memory: Candidate, scale: float) -> Candidate:
    score = min(max((memory.score or 0.0) * scale, 0.0), 1.0)
    notes = {"semantic": NOT_JUDGED}
    return memory.after(score, Step(_MODEL, "times", scale, score, about=NOT_JUDGED, notes=notes))


def _scale(windows: Sequence[Window], scores: Sequence[Mapping[int, float]]) -> float:
    """The sum of the model's scores, divided by the sum of the old scores of the same memories."""
    judged = [(window, each) for window, each in zip(windows, scores, strict=True) if each]
    before = sum(w.memories[n - 1].score or 0.0 for w, each in judged for n in each)
    after = sum(sum(each.values()) for _, each in judged)
    return after / before if before > 0 else 1.0
