"""The judgements of a model as a share of the score of each memory.

A judgement moves a memory and removes none. The model's share of the score is a setting, as a model
may be weaker than the search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from recall_retrievers.core.candidate import Candidate, Step, identity
from recall_retrievers.core.errors import ModelError
from recall_retrievers.core.stage import Flow, Recall
from recall_retrievers.llm.model_stage import ShowsMemories, about, windows_of
from recall_retrievers.llm.prompts import reply_form
from recall_retrievers.llm.replies import Answer
from recall_retrievers.llm.scores import Scores, on_one_scale, read_scores
from recall_retrievers.llm.windows import Window, failures, read_replies, some_failed
from recall_retrievers.ranking.relevance import by_score, relevances, start

NOT_JUDGED = "not judged"
"""The value of ``semantic`` in the trace of a memory that has no score by the model."""

SHARE = 0.3
"""The share of the model in the score; `benchmarks.weak_models` has the measurements."""

_MODEL = "model"  # the stage name of the steps
_MIDDLE = 0.5


class Judge(ShowsMemories, Protocol):
    """A stage in which a model judges the candidates."""

    semantic_share: float
    orders: int
    window: int


def judged(stage: Judge, recall: Recall, system: str, *, ranked: bool = False) -> Flow:
    """Let the model judge the candidates, check its judgements, and sort.

    All of them stay. A single memory is not judged: its place is certain. A memory in several
    windows has the mean of its scores. If no reply can be used, the order and the scores stand,
    and the trace says so.
    """
    if len(recall.memories) < 2:
        return recall
    shown = windows_of(stage, recall.memories, stage.window, stage.orders)
    name = "ranking" if ranked else "scores"
    try:
        replies = yield [
            about(stage, recall.query, each, system, reply_form(len(each.memories), scores=name))
            for each in shown
        ]
    except ModelError as error:
        return recall.fell_back(stage.stage_name, error)

    def read(reply: str, window: Window) -> Scores:
        return read_scores(reply, len(window.memories), window.text, ranked=ranked)

    outcomes = on_one_scale(read_replies([*zip(shown, replies, strict=True)], read))
    scores: dict[str, list[float]] = {}
    notes: list[str] = []
    for window, outcome in zip(shown, outcomes, strict=True):
        if isinstance(outcome, Answer):
            notes += outcome.notes
            for number, score in outcome.value.items():
                scores.setdefault(identity(window.memories[number - 1]), []).append(score)
    if not scores:
        return recall.fell_back(stage.stage_name, failures(outcomes)[0])
    sent = {*map(identity, recall.memories)}
    if len(scores) < len(sent):
        notes.append(f"{len(sent) - len(scores)} of {len(sent)} {NOT_JUDGED}")
    means = {name: sum(each) / len(each) for name, each in scores.items()}
    recall = replace(recall, memories=_mixed(recall.memories, means, stage.semantic_share))
    return some_failed(recall, stage.stage_name, outcomes).fell_back(
        stage.stage_name, *dict.fromkeys(notes)
    )


def _mixed(
    memories: Sequence[Candidate], scores: Mapping[str, float], share: float
) -> tuple[Candidate, ...]:
    """The memories with the model's share in their scores, best first.

    A memory that was not judged takes the mean of the judgements, but at most the middle of the
    scale. So it keeps its place among memories with an average judgement.
    """
    unknown = min(sum(scores.values()) / len(scores), _MIDDLE)
    return by_score(
        [
            _with_share(memory, relevance, scores.get(identity(memory)), unknown, share)
            for memory, relevance in zip(
                memories, relevances([each.score for each in memories]), strict=True
            )
        ]
    )


def _with_share(
    memory: Candidate, relevance: float, judgement: float | None, unknown: float, share: float
) -> Candidate:
    value = unknown if judgement is None else judgement
    about = NOT_JUDGED if judgement is None else "by the model"
    notes = {"semantic": NOT_JUDGED if judgement is None else judgement, "found": relevance}
    if share == 1:
        return memory.after(value, Step(_MODEL, "set", value, value, about=about, notes=notes))
    rest = (1 - share) * relevance
    score = rest + share * value
    return memory.after(
        score,
        start(memory.score, relevance, _MODEL),
        Step(_MODEL, "times", 1 - share, rest, about="as the share of relevance"),
        Step(_MODEL, "add", share * value, score, about=f"{about} ({value:.2f})", notes=notes),
    )
