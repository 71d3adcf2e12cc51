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
        unseen_similar, unseen_worded = _last(semantic, limit), _last(keyword, limit)
        # A nearness has another scale, so its floor is not known.
        floor = similarity_floor if "similarity" in measures else 0.0
        seen = {key: similar.get(key, unseen_similar) for key in pool}
        meaning = _of_the_best(_above(seen, floor))
        wording = _of_the_best({key: worded.get(key, unseen_worded) for key in pool})
    else:
        meaning, wording = _by_rank(similar), _by_rank(worded)
    tokens = _token_scores(pool, measures) if by == "scores" else {}
    # Of the whole memory, and of its single words.
    own = {
        key: ((1 - token_weight) * meaning.get(key, 0.0), token_weight * tokens[key])
        if key in tokens
        else (meaning.get(key, 0.0), 0.0)
        for key in pool
    }
    replies = {each.turn_before: own[key] for key, each in pool.items() if each.turn_before}
    scores = {}
    for key, (whole, single) in own.items():
        reply_whole, reply_single = replies.get(key, (0.0, 0.0))
        scores[key] = (
            share * (whole + _REPLY * reply_whole),
            share * (single + _REPLY * reply_single),
            (1 - share) * wording.get(key, 0.0),
        )
    best = [key for _, key in sorted([(-sum(parts), key) for key, parts in scores.items()])]
    chosen: set[str] = set()
    for ids in _ids_by_width(semantic, keyword):
        chosen.update([key for key in best if key in ids][:limit])
    return [_fused(pool[key], *scores[key], measures) for key in best if key in chosen]


def _pooled(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> tuple[dict[str, Candidate], dict[str, dict[str, float]]]:
    """The candidates of all arms by id, and their measurements by name and id."""
    pool: dict[str, Candidate] = {}
    measures: dict[str, dict[str, float]] = {}
    for name, arms in (("similarity", semantic), ("keyword", keyword)):
        for arm in arms:
            for memory, score, values in arm:
                pool[memory.id] = memory
                for measure, value in values.items() if values else ((name, score),):
                    measures.setdefault(measure, {}).setdefault(memory.id, value)
    return pool, measures


def unmeasured(arms: Iterable[Sequence[Hit]]) -> int:
    """How many memories lack a measure of their words that many others have; 0 = it counts.

    Examples:
        >>> tea, cup = Candidate(content="Tea.", id="1"), Candidate(content="A cup.", id="2")
        >>> measured = Hit(tea, 0.8, {"similarity": 0.8, "token_similarity": 0.7})
        >>> unmeasured([[measured]]), unmeasured([[measured, Hit(cup, 0.5)]])
        (0, 1)
    """
    known = {hit.memory.id: False for arm in arms for hit in arm}
    known |= {hit.memory.id: True for arm in arms for hit in arm if _TOKENS in hit.measures}
    measured = sum(known.values())
    return len(known) - measured if 0 < measured < _ENOUGH * len(known) else 0


def _token_scores(
    pool: Mapping[str, Candidate], measures: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """How near memories come to every word of the question; empty if too few of them are known."""
    known = measures.get(_TOKENS, {})
    return _of_the_best(known) if len(known) >= _ENOUGH * len(pool) else {}


def _ids_by_width(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> Iterator[set[str]]:
    """The ids of the widest arms, by meaning or by words; then those of every narrower pair."""
    for arms in zip_longest(semantic, keyword, fillvalue=()):
        yield {hit.memory.id for arm in arms for hit in arm}


def _fused(
    memory: Candidate,
    by_meaning: float,
    by_tokens: float,
    by_words: float,
    measures: Mapping[str, Mapping[str, float]],
) -> Candidate:
    notes: dict[str, dict[str, Note]] = {"by_meaning": {}, "by_tokens": {}, "by_words": {}}
    for name, values in measures.items():
        if memory.id in values:
            notes[_SUMMANDS.get(name, "by_words")][name] = values[memory.id]
    score, steps = 0.0, []
    for name, value in (
        ("by_meaning", by_meaning),
        ("by_tokens", by_tokens),
        ("by_words", by_words),
    ):
        if value or name != "by_tokens":
            score += value
            steps.append(Step("Retrieve", "add", value, score, name, _ABOUT[name], notes[name]))
    return memory.after(score, *steps)


def _last(arms: Sequence[Sequence[Hit]], limit: int) -> float:
    """The highest possible score of a memory that the widest arm does not show."""
    first = arms[0] if arms else ()
    return min([hit.score for hit in first], default=0.0) if len(first) >= limit else 0.0


def _above(scores: Mapping[str, float], floor: float) -> Mapping[str, float]:
    if not floor or max(scores.values(), default=0.0) <= floor:
        return scores
    return {key: max(0.0, score - floor) for key, score in scores.items()}


def _of_the_best(scores: Mapping[str, float]) -> dict[str, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best if best > 0 else 0.0 for key, score in scores.items()}


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
