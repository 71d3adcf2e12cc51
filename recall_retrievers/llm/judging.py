"""The judgements of a model or of a scorer as a share of the score of each memory.

A judgement moves a memory and removes none. The share of the score is a setting, as a model may be
weaker than the search.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, isfinite
from statistics import StatisticsError, correlation, fmean
from typing import Any, ClassVar, cast

from recall_retrievers.core.candidate import Candidate, Step, identity
from recall_retrievers.core.errors import ModelError, ReplyError, described
from recall_retrievers.core.requests import Refine, Score, Scorer
from recall_retrievers.core.settings import Count, Share
from recall_retrievers.core.stage import Flow, Recall, TopN
from recall_retrievers.llm.fencing import body
from recall_retrievers.llm.model_stage import ShowsMemories
from recall_retrievers.llm.prompts import MOST_PAIRS, REPLY_FORMS
from recall_retrievers.llm.replies import Answer, decimal_number, read_answer, whole_number
from recall_retrievers.llm.windows import Orders
from recall_retrievers.ranking.fusion import by_score, relevances, start

NOT_JUDGED = "not judged"
"""The value of ``semantic`` in the trace of a memory that has no score by the model."""

_MODEL = "model"  # the stage name of the steps
_MIDDLE = 0.5
_A_FEW = 20  # memories; of fewer, half may well be good


def as_scorer(scorer: Any, piece: type | None) -> object:
    """What scores, as a `Scorer`; a reranker of the framework, which is a piece, stays as it is."""
    if scorer is None or isinstance(scorer, piece or ()):
        return scorer
    for method in ("score", "predict"):  # of LangChain's cross-encoders, of sentence-transformers'
        if score := getattr(scorer, method, None):
            return lambda question, texts: score([(question, text) for text in texts])
    if callable(scorer):
        return scorer
    raise ValueError(
        "scorer must be a function (question, texts) -> scores, a cross-encoder or a reranker; "
        f"got {type(scorer).__name__}"
    )


class Judge(ShowsMemories):
    """A stage in which a model judges the candidates.

    Args:
        semantic_share: The most that the judgements get of the score, 0 to 1. A model that finds
            many memories relevant tells them apart badly, so it gets less: the share falls with
            the square of (1 - the mean of the scores; of fewer than 20, the others count as 0). It
            also falls if ``orders`` contradict each other. With 1 the judgement is the score.
        orders: In how many orders they are sent, 1 to 3. The scores are averaged, which helps a
            weak model and costs as many calls.
        top_n: How many to keep.
        window: How many of the best memories the model is shown, if the ``token_budget`` has room.
            The others count like the average of those.
    """

    piece: ClassVar[type | None] = None  # the framework's rerankers are of this class

    semantic_share: Share = 0.35  # `benchmarks.weak_models` has the measurements
    orders: Orders = 1
    top_n: TopN = None
    window: Count = 20


def judged(stage: Judge, recall: Recall, system: str, *, ranked: bool = False) -> Flow:
    """Let the model judge the candidates, check its judgements, and sort.

    All of them stay. A single memory is not judged: its place is certain. A memory that is sent in
    several orders has the mean of its scores. If no reply can be used, the order and the scores
    stand, and the trace says so.
    """
    if len(recall.memories) < 2:
        return recall
    shown = stage.windows(recall.memories[: stage.window], orders=stage.orders)
    form = REPLY_FORMS["ranking" if ranked else "scores"]
    try:
        replies = yield [stage.about(recall.query, each, system, form) for each in shown]
    except ModelError as error:
        return recall.fell_back(stage.stage_name, error)
    scores: dict[str, list[float]] = {}
    notes: list[str] = []
    errors: list[Exception] = []
    for window, reply in zip(shown, replies, strict=True):
        if isinstance(reply, ModelError):
            errors.append(reply)
            continue
        try:
            answer = read_scores(reply, len(window.memories), window.text, ranked=ranked)
        except ReplyError as error:
            errors.append(error)
            continue
        notes += answer.notes
        for number, score in answer.value.items():
            scores.setdefault(identity(window.memories[number - 1]), []).append(score)
    if not scores:
        return recall.fell_back(stage.stage_name, errors[0])
    if errors:
        notes.append(f"{len(errors)} of {len(shown)} prompts failed: {described(errors[0])}")
    sent = len(shown[0].memories)
    if len(scores) < sent:
        notes.append(f"{sent - len(scores)} of {sent} {NOT_JUDGED}")
    recall = replace(recall, memories=_mixed(recall.memories, scores, stage.semantic_share))
    return recall.fell_back(stage.stage_name, *dict.fromkeys(notes))


def scored(stage: Judge, recall: Recall, scorer: object) -> Flow:
    """Let a scorer judge the candidates, and sort; if it fails, the order and the scores stand."""
    if len(recall.memories) < 2:
        return recall
    query, memories, wait = recall.query, tuple(recall.memories), stage.timeout_s
    try:
        if isinstance(scorer, stage.piece or ()):
            [given] = yield [Refine(scorer, query, memories, wait)]
            if not isinstance(given, Exception):
                known = {identity(memory): memory.score for memory in given}
                given = [known.get(identity(memory)) for memory in memories]
        else:
            texts = tuple(map(body, memories))
            [given] = yield [Score(cast("Scorer", scorer), query.text, texts, wait)]
        if isinstance(given, Exception):
            return recall.fell_back(stage.stage_name, given)
        scores = _from_zero_to_one(given, len(memories))
    except (TimeoutError, ReplyError) as error:
        return recall.fell_back(stage.stage_name, error)
    by_memory = {identity(x): [score] for x, score in zip(memories, scores, strict=True)}
    return replace(recall, memories=_mixed(memories, by_memory, stage.semantic_share))


def _from_zero_to_one(given: Sequence[Any], count: int) -> list[float]:
    """The scores of a scorer; if some lie outside, all are log-odds. What it leaves out has 0."""
    try:
        scores = [None if each is None else float(each) for each in given]
    except (TypeError, ValueError):
        scores = []
    known = [score for score in scores if score is not None and isfinite(score)]
    if len(known) + scores.count(None) != count:
        raise ReplyError(f"expected {count} numbers, one for each text; got {len(known)}")
    if any(not 0 <= score <= 1 for score in known):
        scores = [None if x is None else 1 / (1 + exp(-max(-500.0, x))) for x in scores]
    return [score or 0.0 for score in scores]


def _mixed(
    memories: Sequence[Candidate], scores: Mapping[str, Sequence[float]], most: float
) -> tuple[Candidate, ...]:
    """The memories with the model's share in their scores, best first.

    A memory that was not judged takes the mean of the judgements, but at most the middle of the
    scale. So it keeps its place among memories with an average judgement.
    """
    means = {name: fmean(each) for name, each in scores.items()}
    good = sum(means.values()) / max(len(means), _A_FEW)
    share = most if most == 1 else most * (1 - good) ** 2 * _agreement([*scores.values()])
    unknown = min(fmean(means.values()), _MIDDLE)
    found = relevances([each.score for each in memories])
    mixed = []
    for memory, relevance in zip(memories, found, strict=True):
        judgement = means.get(identity(memory))
        value = unknown if judgement is None else judgement
        about = NOT_JUDGED if judgement is None else "by the model"
        notes = {"semantic": NOT_JUDGED if judgement is None else judgement, "found": relevance}
        rest, whole = (1 - share) * relevance, f"{about} ({value:.2f})"
        score = value if share == 1 else rest + share * value
        steps = (
            start(memory.score, relevance, _MODEL),
            Step(_MODEL, "times", 1 - share, rest, about="as the share of relevance"),
            Step(_MODEL, "add", share * value, score, about=whole, notes=notes),
        )
        replaced = (Step(_MODEL, "set", value, value, about=about, notes=notes),)
        mixed.append(memory.after(score, *(replaced if share == 1 else steps)))
    return by_score(mixed)


def _agreement(scores: Sequence[Sequence[float]]) -> float:
    """How far the scores in several orders agree: their correlation, 0 to 1; 1 = one order."""
    several = [(each[0], fmean(each[1:])) for each in scores if len(each) > 1]
    try:
        return max(0.0, correlation(*zip(*several, strict=True))) if several else 1.0
    except StatisticsError:  # one score for all: it changes nothing
        return 1.0


# -- the scores in a reply, from 0 to 1 ------------------------------------------------------------

_NUMBER_NAME = re.compile(r"memory|number|index|(?<![a-z])id$", re.IGNORECASE)
_SCORE_NAME = re.compile("score|relevan|rating", re.IGNORECASE)
_SCALES = (1.0, 5.0, 10.0, 100.0)  # models use the others instead of 0 to 1

Scores = Answer[Mapping[int, float]]
"""The score of each memory, by its number in the prompt."""


def read_scores(reply: str, count: int, shown: str = "", *, ranked: bool = False) -> Scores:
    """The scores in a reply. Unknown numbers are left out; of two equal ones, the last counts.

    Scores in the text that was ``shown`` are a quotation, and do not count. Of a ranking without
    scores, the places make them. A scale of 5, 10 or 100 is known by scores above 1.
    """
    name = "ranking" if ranked else "scores"
    answer = read_answer(reply, name, shown)
    entries = answer.value
    if not isinstance(entries, list):
        raise ReplyError(f"expected a list of {name}; got {reply[:80]!r}")
    pairs = [pair for each in entries if (pair := _pair(each)) is not None]
    if ranked and not pairs:
        ranking = dict.fromkeys(map(whole_number, entries))
        places = enumerate([] if None in ranking else ranking)
        pairs = [(number or 0, max(0.0, 1 - place / count)) for place, number in places]
    known = [(number, score) for number, score in pairs if 1 <= number <= count and score >= 0]
    scores, notes = dict(known), [*answer.notes]
    if len({*known}) > len(scores):
        notes.append("of several scores, the last one counts")
    if not notes and len(entries) == len(scores) < MOST_PAIRS and (scores or name in reply):
        scores = dict.fromkeys(range(1, count + 1), 0.0) | scores  # the others do not help
    from_0 = 0 in dict(pairs) and count not in scores  # the numbers may be those of others
    if not scores or (from_0 and len(scores) > 1):
        raise ReplyError(f"expected {name} for memories 1 to {count}; got {reply[:80]!r}")
    return _on_scale(scores, notes)


def _pair(entry: object) -> tuple[int, float] | None:
    """The number of a memory and its score, from a pair or from an object with these two names."""
    parts = entry if isinstance(entry, list) else []
    if isinstance(entry, Mapping):
        named = [[v for n, v in entry.items() if x.search(n)] for x in (_NUMBER_NAME, _SCORE_NAME)]
        parts = [values[0] for values in named if len(values) == 1]
    if len(parts) != 2:
        return None
    number, score = whole_number(parts[0]), decimal_number(parts[1])
    return None if number is None or score is None else (number, score)


def _on_scale(scores: Mapping[int, float], notes: Sequence[str]) -> Scores:
    """The scores from 0 to 1; an error if they are on two scales, or on none that models use."""
    values = list(scores.values())
    scale = next((each for each in _SCALES if max(values) <= each), None)
    above = sum(each > 1 for each in values)
    if scale is None or (above and sum(0 < each < 1 for each in values) >= above):
        raise ReplyError(f"expected scores from 0 to 1; got {sorted(set(values))[-8:]}")
    if scale == 1:
        return Answer(scores, tuple(notes))
    divided = {number: score / scale for number, score in scores.items()}
    return Answer(divided, (*notes, f"scores on a scale of {scale:g}"))
