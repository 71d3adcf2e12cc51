"""The arms of a search made one pool: what the meaning found, and what the words found.

Similarities and BM25 scores have different scales, so each is divided by the best of the pool
before the two are weighed. Fusing by rank alone would forget how much better the first is than the
second; stretching the similarities between the worst and the best of the pool would make much of
small differences, where a question is unlike everything (measured: worth 0.02 to 0.05 Recall@5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from recall_stages.core.candidate import Candidate, Hit, Note, Step

Fusion = Literal["scores", "ranks"]

_RANK_OFFSET = 60  # of reciprocal rank fusion (Cormack et al. 2009): how slowly ranks lose weight
_REPLY = 0.2  # how much of a reply's similarity speaks for the turn that it replies to


def fuse_arms(
    semantic: Sequence[Sequence[Hit]],
    keyword: Sequence[Sequence[Hit]],
    *,
    limit: int,
    weight: float = 0.6,
    by: Fusion = "scores",
) -> list[Candidate]:
    """One list of candidates out of the arms of a search, scored from 0 to about 1.

    A score is ``weight`` x the similarity, divided by the best one, plus the rest x the BM25 score,
    divided by the best one. What one kind of arm did not find is at most as good as the last that
    its first arm found, and counts as that, unless the arm came back short and has shown all there
    is. Where one kind of arm found nothing, the other counts alone. A turn of a conversation whose
    reply is in the pool gets a fifth of the reply's share: what is answered shows what was said.
    The two summands are two steps of each candidate. No more than ``limit`` of what the widest
    search found are kept, and as many of what each narrower one did.

    Args:
        semantic: What was found by meaning; the widest search first.
        keyword: What was found by words.
        limit: How many each arm was asked for, and how many of two arms of one width are kept.
        weight: The share of meaning, 0 to 1.
        by: "scores" as above; "ranks" puts 61 / (60 + rank) in the place of both quotients, for
            scores that cannot be compared (reciprocal rank fusion).

    Examples:
        >>> tea = Candidate(content="Tea at four.", id="1")
        >>> cup = Candidate(content="A cup of tea.", id="2")
        >>> fused = fuse_arms([[Hit(tea, 0.8)]], [[Hit(cup, 3.0)]], limit=10)
        >>> [(each.content, each.score) for each in fused]
        [('Tea at four.', 0.6), ('A cup of tea.', 0.4)]
    """
    pool, measures = _pooled(semantic, keyword)
    # A store whose scores are of an unknown scale says how near, not how similar.
    similar = measures.get("similarity") or measures.get("nearness") or {}
    worded = measures.get("keyword", {})
    share = weight if similar and worded else float(bool(similar))
    if by == "scores":
        unseen_similar, unseen_worded = _last(semantic, limit), _last(keyword, limit)
        meaning = _of_the_best({key: similar.get(key, unseen_similar) for key in pool})
        wording = _of_the_best({key: worded.get(key, unseen_worded) for key in pool})
    else:
        meaning, wording = _by_rank(similar), _by_rank(worded)
    replies = {
        each.turn_before: meaning.get(key, 0.0) for key, each in pool.items() if each.turn_before
    }
    scores = {
        key: (
            share * (meaning.get(key, 0.0) + _REPLY * replies.get(key, 0.0)),
            (1 - share) * wording.get(key, 0.0),
        )
        for key in pool
    }
    best = [key for _, key in sorted([(-sum(parts), key) for key, parts in scores.items()])]
    kept: set[str] = set()
    for ids in _found_by(semantic, keyword):
        kept.update([key for key in best if key in ids][:limit])
    return [_fused(pool[key], *scores[key], measures) for key in best if key in kept]


def _pooled(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> tuple[dict[str, Candidate], dict[str, dict[str, float]]]:
    """What all arms found by id, and what was measured of it, by the name of the measure and id."""
    pool: dict[str, Candidate] = {}
    measures: dict[str, dict[str, float]] = {}
    for name, arms in (("similarity", semantic), ("keyword", keyword)):
        for arm in arms:
            for memory, score, measured in arm:
                pool[memory.id] = memory
                for measure, value in measured.items() if measured else ((name, score),):
                    measures.setdefault(measure, {}).setdefault(memory.id, value)
    return pool, measures


def _found_by(
    semantic: Sequence[Sequence[Hit]], keyword: Sequence[Sequence[Hit]]
) -> Iterator[set[str]]:
    """What was found in the whole, by meaning or by words; then what in the time asked about."""
    for arms in zip_longest(semantic, keyword, fillvalue=()):
        yield {hit.memory.id for arm in arms for hit in arm}


def _fused(
    memory: Candidate,
    by_meaning: float,
    by_words: float,
    measures: Mapping[str, Mapping[str, float]],
) -> Candidate:
    score = by_meaning + by_words
    meaning: dict[str, Note] = {}
    words: dict[str, Note] = {}
    for name, values in measures.items():
        if memory.id in values:
            (meaning if name in ("similarity", "nearness") else words)[name] = values[memory.id]
    return memory.after(
        score,
        Step("Retrieve", "add", by_meaning, by_meaning, "by_meaning", "by meaning", meaning),
        Step("Retrieve", "add", by_words, score, "by_words", "by words", words),
    )


def _last(arms: Sequence[Sequence[Hit]], limit: int) -> float:
    """What a memory scores at the most that the widest search, cut at the limit, did not show."""
    first = arms[0] if arms else ()
    return min([hit.score for hit in first], default=0.0) if len(first) >= limit else 0.0


def _of_the_best(scores: Mapping[str, float]) -> dict[str, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best if best > 0 else 0.0 for key, score in scores.items()}


def _by_rank(scores: Mapping[str, float]) -> dict[str, float]:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: rank_score(rank) for rank, key in enumerate(ordered, 1)}


def rank_score(rank: int) -> float:
    """What a place counts: 1 for the first, slowly less for those after it.

    Examples:
        >>> rank_score(1), rank_score(62)
        (1.0, 0.5)
    """
    return (_RANK_OFFSET + 1) / (_RANK_OFFSET + rank)
