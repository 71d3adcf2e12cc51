"""Fusion: one pool out of the arms of a search, by meaning and by words.

Similarities and BM25 scores have different scales. So both are divided by the best of the pool
before they are weighed. Fusion by rank alone would lose how much better the first is than the
second. Similarities stretched between the worst and the best of the pool would exaggerate small
differences if no memory is similar to the question (measured: worth 0.02 to 0.05 Recall@5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit, Note, Step

Fusion = Literal["scores", "ranks"]
Scores = NDArray[np.float64]
"""A score for each memory of the pool."""

_TOKENS = "token_similarity"
_SUMMANDS = {
    "similarity": "by_meaning",
    "nearness": "by_meaning",
    _TOKENS: "by_tokens",
}
_ABOUT = {
    "by_meaning": "by meaning",
    "by_tokens": "by the meaning of its words",
    "by_words": "by words",
}
_RANK_OFFSET = 60  # of reciprocal rank fusion (Cormack et al. 2009): how slowly ranks lose weight
_REPLY = 0.2  # the share of a reply's similarity that counts for the turn before it
_ENOUGH = 0.9  # of the candidates must have token vectors: a few are no scale for the others


def fuse_arms(  # noqa: PLR0913 - the shares of three kinds of score
    semantic: Sequence[Sequence[Hit]],
    keyword: Sequence[Sequence[Hit]],
    *,
    limit: int,
    weight: float = 0.6,
    token_weight: float = 0.0,
    similarity_floor: float = 0.0,
    by: Fusion = "scores",
) -> list[Candidate]:
    """Fuse the arms of a search into one list of candidates, with scores from 0 to about 1.

    - The score is ``weight`` x similarity / best similarity, plus (1 - ``weight``) x BM25 score /
      best BM25 score. If one kind of arm is empty, the other counts alone.
    - ``similarity_floor`` is taken off each similarity first, unless no similarity is above it.
    - Where the store has measured how near the memories come to every word of the question, that
      takes ``token_weight`` of the share of meaning, divided by the best, too. Less than nine of
      ten candidates with that measure are no scale for the others, and it counts for none.
    - A memory that one kind of arm does not have counts there like the last hit of its widest arm.
      It counts 0 if that arm has fewer hits than ``limit``: then it has shown all memories.
    - A turn of a conversation gets a fifth of its reply's share if the reply is in the pool: the
      answer shows the topic of the turn before it.
    - The result has the best ``limit`` candidates of the widest arms, and the best ``limit`` of
      every narrower pair of arms.

    The summands are steps in the trace.

    Args:
        semantic: The hits by meaning; the widest search first.
        keyword: The hits by words.
        limit: The limit of every arm, and of every pair of arms of one width.
        weight: The share of meaning, 0 to 1.
        token_weight: The share of single words in the share of meaning, 0 to 1.
        similarity_floor: The similarity of texts that have nothing to do with each other.
        by: "scores" as above. "ranks" takes 61 / (60 + rank) in place of both quotients, for scores
            that cannot be compared (reciprocal rank fusion).

    Examples:
        >>> tea = Candidate(content="Tea at four.", id="1")
        >>> cup = Candidate(content="A cup of tea.", id="2")
        >>> fused = fuse_arms([[Hit(tea, 0.8)]], [[Hit(cup, 3.0)]], limit=10)
        >>> [(each.content, each.score) for each in fused]
        [('Tea at four.', 0.6), ('A cup of tea.', 0.4)]
    """
    pool, measures = _pooled(semantic, keyword)
    ids = sorted(pool)  # equal scores are sorted by id
    # Scores on an unknown scale are a nearness, not a similarity.
    similar = measures.get("similarity") or measures.get("nearness") or {}
    worded = measures.get("keyword", {})
    share = weight if similar and worded else float(bool(similar))
    tokens: Mapping[str, float] = {}
    if by == "scores":
        # A nearness has another scale, so its floor is not known.
        floor = similarity_floor if measures.get("similarity") else 0.0
        meaning = _of_the_best(_above(_column(ids, similar, _last(semantic, limit)), floor))
        wording = _of_the_best(_column(ids, worded, _last(keyword, limit)))
        tokens = measures.get(_TOKENS, {})
    else:
        meaning = _column(ids, _by_rank(similar), 0.0)
        wording = _column(ids, _by_rank(worded), 0.0)
    summands = {"by_meaning": meaning}
    if tokens and len(tokens) >= _ENOUGH * len(ids):
        whole = np.array([1 - token_weight if key in tokens else 1.0 for key in ids])
        single = token_weight * _of_the_best(_column(ids, tokens, 0.0))
        summands = {"by_meaning": whole * meaning, "by_tokens": single}
    replies = _replies(pool, ids)
    weighed = {name: share * _with_replies(each, replies) for name, each in summands.items()}
    weighed["by_words"] = (1 - share) * wording
    several = max(len(semantic), len(keyword)) > 1
    widths = [*_ids_by_width(semantic, keyword)] if several else [pool.keys()]
    return _fused([pool[key] for key in ids], weighed, measures, widths, limit)


def _pooled(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> tuple[dict[str, Candidate], dict[str, dict[str, float]]]:
    """The candidates of all arms by id, and their measurements by name and id."""
    pool: dict[str, Candidate] = {}
    measures: dict[str, dict[str, float]] = {}
    for name, arms in (("similarity", semantic), ("keyword", keyword)):
        unnamed = measures.setdefault(name, {})
        for arm in arms:
            for memory, score, values in arm:
                key = memory.id
                pool[key] = memory
                if values:
                    for measure, value in values.items():
                        measures.setdefault(measure, {}).setdefault(key, value)
                else:
                    unnamed.setdefault(key, score)
    return pool, measures


def unmeasured(arms: Iterable[Sequence[Hit]]) -> int:
    """How many memories lack a measure of their words that many others have; 0 = it counts.

    Examples:
        >>> tea, cup = Candidate(content="Tea.", id="1"), Candidate(content="A cup.", id="2")
        >>> measured = Hit(tea, 0.8, {"similarity": 0.8, "token_similarity": 0.7})
        >>> unmeasured([[measured]]), unmeasured([[measured, Hit(cup, 0.5)]])
        (0, 1)
    """
    hits = [hit for arm in arms for hit in arm]
    measured = {hit.memory.id for hit in hits if _TOKENS in hit.measures}
    if not measured:
        return 0
    number = len({hit.memory.id for hit in hits})
    return number - len(measured) if len(measured) < _ENOUGH * number else 0


def _ids_by_width(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> Iterator[set[str]]:
    """The ids of the widest arms, by meaning or by words; then those of every narrower pair."""
    for arms in zip_longest(semantic, keyword, fillvalue=()):
        yield {hit.memory.id for arm in arms for hit in arm}


def _replies(pool: Mapping[str, Candidate], ids: Sequence[str]) -> list[tuple[int, int]]:
    """The places of turns whose reply is in the pool, and the place of the reply."""
    answers = {each.turn_before: key for key, each in pool.items() if each.turn_before}
    places = {key: n for n, key in enumerate(ids)} if answers else {}
    return [(places[turn], places[reply]) for turn, reply in answers.items() if turn in places]


def _with_replies(scores: Scores, replies: Iterable[tuple[int, int]]) -> Scores:
    """The scores, and with that of a turn a share of that of its reply."""
    raised = scores.copy()
    for turn, reply in replies:
        raised[turn] += _REPLY * scores[reply]
    return raised


def _fused(
    memories: Sequence[Candidate],
    summands: Mapping[str, Scores],
    measures: Mapping[str, Mapping[str, float]],
    widths: Sequence[AbstractSet[str]],
    limit: int,
) -> list[Candidate]:
    """The best candidates of each width, with a step for each summand of their score.

    Args:
        memories: The candidates; of those with equal scores the first ones are taken.
        summands: The summands of their scores, by name.
        measures: The measurements from which these were made.
        widths: The ids in the widest arms, and in every narrower pair of arms.
        limit: How many candidates of each.
    """
    sums: dict[str, Scores] = {}
    scores = np.zeros(len(memories))
    for name, values in summands.items():
        scores = scores + values
        sums[name] = scores
    best = np.argsort(-scores, kind="stable").tolist()
    chosen: set[int] = set()
    for ids in widths:
        among = len(ids) < len(memories)
        chosen.update([n for n in best if memories[n].id in ids][:limit] if among else best[:limit])
    places = [place for place in best if place in chosen]
    fused = [memories[place] for place in places]
    columns = [
        _steps(name, values[places], sums[name][places], _notes(fused, name, measures))
        for name, values in summands.items()
    ]
    steps: Iterable[Sequence[Step]] = zip(*columns, strict=True)
    if "by_tokens" in summands:  # most memories have such a share, and the others no step for it
        steps = [[step for step in own if step.value or step.name != "by_tokens"] for own in steps]
    return [
        memory.after(score, *own)
        for memory, score, own in zip(fused, scores[places].tolist(), steps, strict=True)
    ]


def _steps(
    name: str, values: Scores, scores: Scores, notes: Iterable[dict[str, Note]]
) -> list[Step]:
    """A step for each candidate, by which a summand is added to its score."""
    return [
        Step("Retrieve", "add", value, score, name, _ABOUT[name], noted)
        for value, score, noted in zip(values.tolist(), scores.tolist(), notes, strict=True)
    ]


def _notes(
    memories: Sequence[Candidate], summand: str, measures: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Note]]:
    """The measurements of candidates from which one summand of their scores is made."""
    made_of = [each for each in measures if _SUMMANDS.get(each, "by_words") == summand]
    notes: list[dict[str, Note]] = [{} for _ in memories]
    for measure in made_of:
        values = measures[measure]
        for memory, own in zip(memories, notes, strict=True):
            if memory.id in values:
                own[measure] = values[memory.id]
    return notes


def _last(arms: Sequence[Sequence[Hit]], limit: int) -> float:
    """The highest possible score of a memory that the widest arm does not show."""
    first = arms[0] if arms else ()
    return min([hit.score for hit in first], default=0.0) if len(first) >= limit else 0.0


def _column(ids: Iterable[str], scores: Mapping[str, float], missing: float) -> Scores:
    """The score of each memory, in their order."""
    return np.array([scores.get(key, missing) for key in ids], dtype=np.float64)


def _above(scores: Scores, floor: float) -> Scores:
    return np.maximum(scores - floor, 0.0) if scores.max(initial=0.0) > floor > 0 else scores


def _of_the_best(scores: Scores) -> Scores:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else np.zeros(len(scores))


def _by_rank(scores: Mapping[str, float]) -> dict[str, float]:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: rank_score(rank) for rank, key in enumerate(ordered, 1)}


def rank_score(rank: int) -> float:
    """The score of a rank: 1 for the first, and slowly less for the next ones.

    Examples:
        >>> rank_score(1), rank_score(62)
        (1.0, 0.5)
    """
    return (_RANK_OFFSET + 1) / (_RANK_OFFSET + rank)
