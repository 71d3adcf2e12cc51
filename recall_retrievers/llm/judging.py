"""The judgements of a model or of a scorer as a share of the score of each memory.

A judgement moves a memory and removes none. The share of the score is a setting, as a model may be
weaker than the search.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp, isfinite
from statistics import StatisticsError, correlation, fmean
from typing import Any, ClassVar, cast

from recall_retrievers.core.candidate import Candidate, Step, identity
from recall_retrievers.core.errors import ModelError, ReplyError
from recall_retrievers.core.requests import Refine, Score, Scorer
from recall_retrievers.core.settings import Count, Share
from recall_retrievers.core.stage import Flow, Recall, TopN
from recall_retrievers.llm.fencing import body
from recall_retrievers.llm.model_stage import ShowsMemories
from recall_retrievers.llm.prompts import MOST_PAIRS, REPLY_FORMS
from recall_retrievers.llm.replies import (
    Answer,
    decimal_number,
    read_answer,
    whole_number,
    without_thoughts,
)
from recall_retrievers.llm.windows import Orders, Window, failures, read_replies, some_failed
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
        orders: In how many orders each window is sent, 1 to 3. The scores are averaged, which helps
            a weak model and costs as many calls.
        top_n: How many to keep.
        window: How many memories go into one prompt at most; all prompts are sent at once.
    """

    piece: ClassVar[type | None] = None  # the framework's rerankers are of this class

    semantic_share: Share = 0.35  # `benchmarks.weak_models` has the measurements
    orders: Orders = 1
    top_n: TopN = None
    window: Count = 20


def judged(stage: Judge, recall: Recall, system: str, *, ranked: bool = False) -> Flow:
    """Let the model judge the candidates, check its judgements, and sort.

    All of them stay. A single memory is not judged: its place is certain. A memory in several
    windows has the mean of its scores. If no reply can be used, the order and the scores stand,
    and the trace says so.
    """
    if len(recall.memories) < 2:
        return recall
    shown = stage.windows(recall.memories, most=stage.window, orders=stage.orders)
    form = REPLY_FORMS["ranking" if ranked else "scores"]
    try:
        replies = yield [stage.about(recall.query, each, system, form) for each in shown]
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
    recall = replace(recall, memories=_mixed(recall.memories, scores, stage.semantic_share))
    return some_failed(recall, stage.stage_name, outcomes).fell_back(
        stage.stage_name, *dict.fromkeys(notes)
    )


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


# -- the scores in a reply, on one scale from 0 to 1 ----------------------------------------------

_NUMBER_NAME = re.compile(r"memory|number|index|(?<![a-z])id$", re.IGNORECASE)
_SCORE_NAME = re.compile("score|relevan|rating", re.IGNORECASE)
_SCALES = (1.0, 5.0, 10.0, 100.0)  # models use the others instead of 0 to 1
_LABEL = r"(?:[^\W\d]+[\W_]{1,3})?"
_ITEM = rf"[^\w>]*{_LABEL}\d{{1,6}}[^\w>]*"
_CHAIN = re.compile(rf"(?:[^>]*:)?{_ITEM}(?:>{_ITEM})+")  # [2] > [1]
_LINE = re.compile(  # Memory 2: 0.9
    rf"""
      (?:[-–]\s)?[^\w.-]*{_LABEL}(\d{{1,6}})\s*
      (?:(?:[\]|:=,*()→]\s*|[-–—]+>?\s+)+|\.\s+(?=\d?\.)|(?<=\s)(?=\d?\.\d|[^\W\d]+:))
      (?:\w*(?:score|relevan|rating)\w*\W{{1,3}})?
      (\d*\.?\d+(?:\s?%|\s?(?:/|out\sof)\s?\d+)?)
      (?:[^\w.]*|\W+[^\W\d].*)\.?         # a reason
    """,
    re.VERBOSE | re.IGNORECASE,
)
_APART = re.compile(rf"\n|[;,/]\s+(?={_LABEL}\W?\d{{1,6}}\W{{0,2}}[:=\]])")
_LONGEST_LINE = 1_000  # characters

Entry = tuple[int | None, float | None]
"""The number of a memory and its score; None for what is not there."""

Scores = Answer[Mapping[int, float]]
"""The score of each memory, by its number in the prompt."""


def read_scores(reply: str, count: int, shown: str = "", *, ranked: bool = False) -> Scores:
    """The scores in a reply. Unknown numbers are left out; of two equal ones, the last counts.

    They may still be on a scale of the model's own; see `on_one_scale`. Scores in the text that was
    ``shown`` are a quotation, and do not count. Of a ranking without scores, the places make them.
    """
    name = "ranking" if ranked else "scores"
    try:
        answer = read_answer(reply, name, shown)
    except ReplyError:
        answer = Answer(without_thoughts(reply), ("it is lines, and no JSON",))
        if not [*_entries(answer.value, count, shown)]:
            raise
    value, notes = answer.value, answer.notes
    found, more = _by_number([*_entries(value, count, shown)], count)
    if not found and ranked and isinstance(value, list):
        found, more = _by_number(_without_scores(value, count), count)
    odd = (*notes, *more)
    whole = isinstance(value, list | dict) and len(value) == len(found) < MOST_PAIRS and not odd
    if whole and (found or name in reply):
        found = dict.fromkeys(range(1, count + 1), 0.0) | found  # the others do not help
    if not found:
        raise ReplyError(f"expected {name} for memories 1 to {count}; got {reply[:80]!r}")
    return Answer(found, odd)


def on_one_scale(outcomes: Sequence[Scores | Exception]) -> list[Scores | Exception]:
    """The scores of all windows from 0 to 1, as a model has one scale for all of them.

    A scale of 5, 10 or 100 is known by scores above 1. A window with scores on two scales, or on
    none of these, is an error in its place.
    """
    checked = [_checked(each) if isinstance(each, Answer) else each for each in outcomes]
    tops = [max(each.value.values()) for each in checked if isinstance(each, Answer)]
    scale = next(each for each in _SCALES if max(tops, default=1.0) <= each)
    return [_divided(each, scale) if isinstance(each, Answer) else each for each in checked]


def _checked(scores: Scores) -> Scores | Exception:
    values = list(scores.value.values())
    above = sum(each > 1 for each in values)
    if max(values) > _SCALES[-1]:
        return ReplyError(f"expected scores from 0 to 1; got {max(values):g}")
    if above and sum(0 < each < 1 for each in values) >= above:
        return ReplyError(f"expected scores on one scale; got {sorted(set(values))[:8]}")
    return scores


def _divided(scores: Scores, scale: float) -> Scores:
    values = scores.value.values()
    if scale == 1 or (max(values) <= 1 and any(0 < each < 1 for each in values)):
        return scores  # this window is on the right scale
    divided = {number: score / scale for number, score in scores.value.items()}
    return Answer(divided, (*scores.notes, f"scores on a scale of {scale:g}"))


def _entries(value: object, count: int, shown: str = "") -> Iterator[Entry]:
    """The entries in a value: in a list, an object, a pair or a text."""
    if isinstance(value, str):
        yield from _in_lines(value, count, shown)
    elif isinstance(value, Mapping):
        under = [(whole_number(name), part) for name, part in value.items()]
        yield _named(value)
        yield from (
            (n, (_named(x) if isinstance(x, Mapping) else (n, _score(x)))[1]) for n, x in under
        )
    elif isinstance(value, list):
        for each in value:
            if not isinstance(each, list):
                yield from _entries(each, count, shown)
            elif len(each) > 1 and all(isinstance(reason, str) for reason in each[2:]):
                yield whole_number(each[0]), _score(each[1])


def _named(fields: Mapping[str, object]) -> Entry:
    """The entry in an object: by its names, or its only whole number and its only decimal."""
    scores = [part for name, part in fields.items() if _SCORE_NAME.search(name)]
    others = {name: part for name, part in fields.items() if not _SCORE_NAME.search(name)}
    numbers = [whole_number(x) for name, x in others.items() if _NUMBER_NAME.search(name)]
    whole = numbers or [n for part in others.values() if (n := whole_number(part)) is not None]
    scores = scores or [part for part in others.values() if whole_number(part) is None]
    decimals = [score for part in scores if (score := _score(part)) is not None]
    return whole[0] if len(whole) == 1 else None, decimals[0] if len(decimals) == 1 else None


def _in_lines(text: str, count: int, shown: str) -> list[Entry]:
    """The entries of lines such as "Memory 2: 0.9", or of the last ranking such as "[2] > [1]"."""
    entries: list[Entry] = []
    for part in _APART.split(text):
        line = part.strip()
        if len(line) > _LONGEST_LINE or (line and line in shown):
            continue
        if match := _LINE.fullmatch(line):
            entries.append((int(match[1]), _score(match[2])))
        elif _CHAIN.fullmatch(line):
            numbers = map(int, re.findall(r"\d+", line.rpartition(":")[2]))
            entries = _in_order([*numbers], count)
    return entries


def _without_scores(values: Sequence[object], count: int) -> list[Entry]:
    """The entries of a ranking of numbers alone; none if it has scores, too."""
    numbers = [_named(x)[0] if isinstance(x, Mapping) else whole_number(x) for x in values]
    others = [x for x, number in zip(values, numbers, strict=True) if number is None]
    if any(_score(other) is not None for other in others):
        return []
    return _in_order([number for number in numbers if number is not None], count)


def _in_order(numbers: Sequence[int], count: int) -> list[Entry]:
    """The places of a ranking as scores, the best first."""
    first = 0 if _from_zero(numbers, count) else 1
    known = dict.fromkeys(number for number in numbers if first <= number < first + count)
    return [(number, 1 - place / count) for place, number in enumerate(known)]


def _score(value: object) -> float | None:
    """A score, also as "80%", "4/5" or "4 out of 5"."""
    if isinstance(value, str):
        above, slash, below = value.replace("out of", "/").strip().partition("/")
        whole = decimal_number(below) if slash else 100.0 if above.endswith("%") else 1.0
        part = decimal_number(above.removesuffix("%"))
        return part / whole if part is not None and whole else None
    return decimal_number(value)


def _by_number(entries: Sequence[Entry], count: int) -> tuple[dict[int, float], tuple[str, ...]]:
    numbers = [number for number, _ in entries if number is not None]
    first = 1 if _from_zero(numbers, count) else 0
    scores: dict[int, float] = {}
    again = False
    for number, score in entries:
        if number is not None and 1 <= number + first <= count and score is not None and score >= 0:
            again = again or scores.get(number + first, score) != score
            scores[number + first] = score
    notes = {"numbers from 0": first and scores, "of several scores, the last one counts": again}
    return scores, tuple(note for note, holds in notes.items() if holds)


def _from_zero(numbers: Sequence[int], count: int) -> bool:
    """Whether a reply counts the memories from 0: it has 0, and not the highest number."""
    return len(set(numbers)) > 1 and min(numbers) == 0 and max(numbers) < count
