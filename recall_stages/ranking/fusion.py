"""Fusion: one pool out of the arms of a search, by meaning and by words.

Similarities and BM25 scores have different scales. So both are divided by the best of the pool
before they are weighed. Fusion by rank alone would lose how much better the first is than the
second. Similarities stretched between the worst and the best of the pool would exaggerate small
differences if no memory is similar to the question (measured: worth 0.02 to 0.05 Recall@5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from recall_stages.core.candidate import Candidate, Hit, Note, Step

Fusion = Literal["scores", "ranks"]

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
    # Scores on an unknown scale are a nearness, not a similarity.
    similar = measures.get("similarity") or measures.get("nearness") or {}
    worded = measures.get("keyword", {})
    share = weight if similar and worded else float(bool(similar))
    if by == "scores":
        # A nearness has another scale, so its floor is not known.
        floor = similarity_floor if measures.get("similarity") else 0.0
        meaning = _of_the_best(_above(_column(pool, similar, _last(semantic, limit)), floor))
        wording = _of_the_best(_column(pool, worded, _last(keyword, limit)))
    else:
        meaning = _column(pool, _by_rank(similar), 0.0)
        wording = _column(pool, _by_rank(worded), 0.0)
    whole, single = meaning, [0.0] * len(pool)  # of the memory, and of its single words
    if tokens := _token_scores(pool, measures) if by == "scores" else {}:
        whole = [
            (1 - token_weight) * score if key in tokens else score
            for key, score in zip(pool, meaning, strict=True)
        ]
        single = [token_weight * score for score in _column(pool, tokens, 0.0)]
    replies = {each.turn_before: n for n, each in enumerate(pool.values()) if each.turn_before}
    scores: dict[str, tuple[float, float, float]] = {}
    for place, key in enumerate(pool):
        by_meaning, by_tokens = whole[place], single[place]
        if key in replies:
            by_meaning += _REPLY * whole[replies[key]]
            by_tokens += _REPLY * single[replies[key]]
        scores[key] = share * by_meaning, share * by_tokens, (1 - share) * wording[place]
    totals = {key: -(x + y + z) for key, (x, y, z) in scores.items()}
    best = sorted(sorted(totals), key=totals.__getitem__)
    chosen: set[str] = set()
    for ids in _ids_by_width(semantic, keyword):
        chosen.update([key for key in best if key in ids][:limit])
    return _fused([(pool[key], scores[key]) for key in best if key in chosen], measures)


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


def _token_scores(
    pool: Mapping[str, Candidate], measures: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """How near memories come to every word of the question; empty if too few of them are known."""
    known = measures.get(_TOKENS, {})
    enough = len(known) >= _ENOUGH * len(pool)
    return dict(zip(known, _of_the_best([*known.values()]), strict=True)) if enough else {}


def _ids_by_width(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> Iterator[set[str]]:
    """The ids of the widest arms, by meaning or by words; then those of every narrower pair."""
    for arms in zip_longest(semantic, keyword, fillvalue=()):
        yield {hit.memory.id for arm in arms for hit in arm}


def _fused(
    scored: Iterable[tuple[Candidate, tuple[float, float, float]]],
    measures: Mapping[str, Mapping[str, float]],
) -> list[Candidate]:
    """The candidates with their score, and a step for each of its summands."""
    known: dict[str, list[tuple[str, Mapping[str, float]]]] = {name: [] for name in _ABOUT}
    for measure, values in measures.items():
        known[_SUMMANDS.get(measure, "by_words")].append((measure, values))
    kinds = [(name, about, known[name]) for name, about in _ABOUT.items()]
    fused = []
    for memory, summands in scored:
        key, score, steps = memory.id, 0.0, list[Step]()
        for value, (name, about, measured) in zip(summands, kinds, strict=True):
            if value or name != "by_tokens":
                notes: dict[str, Note] = {}
                for measure, values in measured:
                    if key in values:
                        notes[measure] = values[key]
                score += value
                steps.append(Step("Retrieve", "add", value, score, name, about, notes))
        fused.append(memory.after(score, *steps))
    return fused


def _last(arms: Sequence[Sequence[Hit]], limit: int) -> float:
    """The highest possible score of a memory that the widest arm does not show."""
    first = arms[0] if arms else ()
    return min([hit.score for hit in first], default=0.0) if len(first) >= limit else 0.0


def _column(pool: Iterable[str], scores: Mapping[str, float], missing: float) -> list[float]:
    """The score of each memory of the pool, in its order."""
    return [scores.get(key, missing) for key in pool]


def _above(scores: Sequence[float], floor: float) -> Sequence[float]:
    if not floor or max(scores, default=0.0) <= floor:
        return scores
    return [max(0.0, score - floor) for score in scores]


def _of_the_best(scores: Sequence[float]) -> list[float]:
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


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
