"""Scores on one scale: the arms of a search fused into one pool, and the relevance of candidates.

Similarities and BM25 scores have different scales. So both are divided by the best of the pool
before they are weighed. Fusion by rank alone would lose how much better the first is; scores
stretched between the worst and the best of the pool would exaggerate (0.02 to 0.05 Recall@5).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

import numpy as np

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.pool import Arm, Facts, Keys, Pool, Scores, keys_of, measures_at
from recall_retrievers.text.words import MOST_FREQUENT

Fusion = Literal["scores", "ranks"]

_TOKENS = "token_similarity"
_SUMMANDS = {"similarity": "by_meaning", "nearness": "by_meaning", _TOKENS: "by_tokens"}
_ABOUT = {
    "by_meaning": "by meaning",
    "by_tokens": "by single words' meaning",
    "by_words": "by exact words",
}
_RANK_OFFSET = 60  # of reciprocal rank fusion (Cormack et al. 2009): how slowly ranks lose weight
# Of the way to its reply, if that is more similar, a turn is lifted; and a reply to its turn.
_REPLY, _TURN = 0.4, 0.2
# How much the best memory has of the score of one with all words of a question: between these, the
# share of meaning falls, and that of single words in it rises. Chosen over fourteen sets together.
_MEANING_FALLS, _TOKENS_RISE = (0.15, 0.25), (0.05, 0.1)
_ENOUGH = 0.9  # of the candidates must have token vectors: a few are no scale for the others


def fuse_arms(  # noqa: PLR0913 - the shares of three kinds of score
    semantic: Sequence[Arm],
    keyword: Sequence[Arm],
    *,
    limit: int,
    weight: float = 0.6,
    unmatched_weight: float | None = None,
    token_weight: float = 0.0,
    similarity_floor: float = 0.0,
    by: Fusion = "scores",
) -> Pool:
    """Fuse the arms of a search, the widest first, into one pool, with scores from 0 to about 1.

    - The score is ``weight`` x similarity / best similarity, plus (1 - ``weight``) x BM25 score /
      best BM25 score. If one kind of arm is empty, the other counts alone.
    - The share of meaning grows up to ``unmatched_weight`` if no memory has much of the question's
      words: "Can you recommend a good film?" only asks, and names nothing. Then single words tell
      little, too: the share of ``token_weight`` falls to half. None = neither changes.
    - ``similarity_floor`` is taken off each similarity first, unless no similarity is above it.
    - How near a memory comes to every word of the question, divided by the best, takes
      ``token_weight`` of the share of meaning, if enough candidates have that measure.
    - A memory that one kind of arm does not have counts there like the last hit of its widest arm.
      It counts 0 if that arm has fewer hits than ``limit``: then it has shown all memories.
    - A turn of a conversation is lifted towards its reply, if the reply is in the pool and more
      similar: the answer shows the topic of the turn before it. A reply is lifted towards its turn.
    - The result has the best ``limit`` candidates of the widest arms, and the best ``limit`` of
      every narrower pair of arms.

    By "ranks", 61 / (60 + rank) takes the place of both quotients, for scores that cannot be
    compared (reciprocal rank fusion).
    """
    facts, measures = _measured(semantic, keyword)
    # Scores on an unknown scale are a nearness, not a similarity.
    name = "similarity" if "similarity" in measures else "nearness"
    similar, worded = measures.get(name), measures.get("keyword")
    share = float(similar is not None)
    if similar is not None and worded is not None:
        share = weight
        if unmatched_weight is not None and (matched := _matched(keyword[0])) is not None:
            falls = _ramp(matched, *_MEANING_FALLS)
            share = unmatched_weight + (weight - unmatched_weight) * falls
            token_weight *= 0.5 + 0.5 * _ramp(matched, *_TOKENS_RISE)
    tokens = None
    if by == "scores":
        # A nearness has another scale, so its floor is not known.
        floor = similarity_floor if name == "similarity" else 0.0
        shown = _filled(similar, len(facts), _last(semantic, limit))
        if shown.max(initial=0.0) > floor > 0:
            shown = np.maximum(shown - floor, 0.0)
        meaning = _of_the_best(shown)
        wording = _of_the_best(_filled(worded, len(facts), _last(keyword, limit)))
        tokens = measures.get(_TOKENS)
    else:
        meaning, wording = (_by_rank(scores, len(facts)) for scores in (similar, worded))
    summands = {"by_meaning": meaning}
    if tokens is not None and np.count_nonzero(known := ~np.isnan(tokens)) >= _ENOUGH * len(facts):
        whole = np.where(known, 1 - token_weight, 1.0)
        single = token_weight * _of_the_best(np.where(known, tokens, 0.0))
        summands = {"by_meaning": whole * meaning, "by_tokens": single}
    replies = _replies(facts)
    weighed = {name: share * _with_replies(part, replies) for name, part in summands.items()}
    weighed["by_words"] = (1 - share) * wording
    several = max(len(semantic), len(keyword)) > 1
    pairs = zip_longest(semantic, keyword) if several else ()
    widths = [keys_of([arm for arm in pair if arm is not None]) for pair in pairs]
    return _fused(facts, weighed, measures, widths, limit)


def in_turn(pools: Sequence[Pool]) -> Pool:
    """The pools of several texts as one, by the sum of 1 / rank; the scores are the first's.

    So each text has its best memories in front. What several find comes before them.
    """
    first = next((pool for pool in pools if len(pool)), pools[0])
    facts = first.facts.source.facts(np.unique(np.concatenate([x.facts.keys for x in pools])))
    keys = facts.keys.tolist()
    ranks = [{key: n for n, key in enumerate(pool.facts.keys.tolist())} for pool in pools]
    worth = [sum(1 / (1 + rank[key]) for rank in ranks if key in rank) for key in keys]
    own = dict(zip(first.facts.keys.tolist(), range(len(first)), strict=True))
    best = sorted(range(len(keys)), key=lambda n: (-worth[n], own.get(keys[n], len(keys))))
    lowest = first.scores[-1] if len(first) else 0.0
    scores = [*first.scores, *([lowest] * len(keys))][: len(keys)]
    places = [own.get(keys[place]) for place in best]

    def finish(place: int, memory: Candidate) -> Candidate:
        if (at := places[place]) is not None:
            memory = first.finish(at, memory)
        score = scores[place]
        about = f"for its place among what {len(pools)} texts find"
        return memory.after(score, Step("Retrieve", "set", score or 0.0, score, about=about))

    measures = {
        name: np.array([np.nan if at is None else values[at] for at in places])
        for name, values in first.measures.items()
    }
    return Pool(facts.at(best), scores, finish, measures)


def by_similarity(arms: Sequence[Arm]) -> Pool:
    """The hits of a search by meaning as candidates; of a memory in several arms, the last."""
    facts, measures = _measured([*reversed(arms)], [])
    name = "nearness" if "nearness" in measures else "similarity"
    summands = {name: _filled(measures.get(name), len(facts), 0.0)}
    return _fused(facts, summands, measures, [], len(facts))


def unmeasured(arms: Sequence[Arm]) -> int:
    """How many memories lack a measure of their words that many others have; 0 = it counts."""
    known = [arm.keys[~np.isnan(arm.measures[_TOKENS])] for arm in arms if _TOKENS in arm.measures]
    measured = len(np.unique(np.concatenate(known))) if known else 0
    number = len(keys_of(arms))
    return number - measured if 0 < measured < _ENOUGH * number else 0


def _measured(semantic: Sequence[Arm], keyword: Sequence[Arm]) -> tuple[Facts, dict[str, Scores]]:
    """The memories of all arms, by id, and their measurements; a hit without any has its score."""
    keys, number = np.unique(
        np.concatenate([arm.keys for arm in (*semantic, *keyword)]), return_inverse=True
    )
    facts = (*semantic, *keyword)[0].source.facts(keys)
    places = np.full(len(keys), len(facts))  # the last place takes what is gone
    places[np.searchsorted(keys, facts.keys)] = np.arange(len(facts))
    measures: dict[str, Scores] = {}
    start = 0
    for name, arms in (("similarity", semantic), ("keyword", keyword)):
        for arm in arms:
            at = places[number[start : start + len(arm)]][::-1]
            start += len(arm)
            bare = np.isnan([*arm.measures.values()]).all(axis=0)
            by_score = np.where(bare, arm.scores, arm.measures.get(name, np.nan))
            own = {name: by_score, **{x: y for x, y in arm.measures.items() if x != name}}
            for measure, values in own.items():
                column = np.full(len(facts) + 1, np.nan)
                column[at] = values[::-1]  # of a memory twice in an arm the first hit counts
                known = measures.setdefault(measure, column)
                np.copyto(known, column, where=np.isnan(known))
    columns = {name: column[:-1] for name, column in measures.items()}
    return facts, {name: column for name, column in columns.items() if not np.isnan(column).all()}


def _matched(widest: Arm) -> float | None:
    """How much of the question's words the best memory has, 0 to 1; None = not known."""
    if widest.words is None or not len(widest):
        return None
    return float(widest.scores.max()) / (MOST_FREQUENT * widest.words.rarity)


def _ramp(value: float, start: float, end: float) -> float:
    return min(1.0, max(0.0, (value - start) / (end - start)))


def _replies(facts: Facts) -> tuple[list[int], list[int]]:
    """The places of turns whose replies are among the memories, and those of the replies."""
    if not any(facts.turns_before):
        return [], []
    turns = {row_id: place for place, row_id in enumerate(facts.ids)}
    pairs = [(turns[turn], reply) for reply, turn in enumerate(facts.turns_before) if turn in turns]
    return [turn for turn, _ in pairs], [reply for _, reply in pairs]


def _with_replies(scores: Scores, replies: tuple[list[int], list[int]]) -> Scores:
    """The scores; those of a turn and its replies are lifted towards each other's."""
    turns, answers = replies
    raised = scores.copy()
    np.maximum.at(raised, turns, (1 - _REPLY) * scores[turns] + _REPLY * scores[answers])
    np.maximum.at(raised, answers, (1 - _TURN) * scores[answers] + _TURN * scores[turns])
    return raised


def _fused(
    facts: Facts,
    summands: Mapping[str, Scores],
    measures: Mapping[str, Scores],
    widths: Sequence[Keys],
    limit: int,
) -> Pool:
    """The best candidates of each width, with a step for each summand of their score.

    A width is the memories in a pair of arms; there is none where there is one pair.
    """
    sums = dict(zip(summands, np.cumsum([*summands.values()], axis=0), strict=True))
    scores = [*sums.values()][-1]
    best = np.argsort(-scores, kind="stable")
    if widths:
        chosen = np.zeros(len(best), dtype=np.bool_)
        for keys in widths:
            chosen[best[np.isin(facts.keys[best], keys)][:limit]] = True
        best = best[chosen[best]]
    else:
        best = best[:limit]

    def finish(place: int, memory: Candidate) -> Candidate:
        steps, known = [], measures_at(measures, place)
        for name, values in summands.items():
            # Most memories have a share of their words, and the others no step for it.
            if values[place] or name != "by_tokens":
                value, score = float(values[place]), float(sums[name][place])
                about = _ABOUT.get(name, "by meaning")
                notes = {x: y for x, y in known.items() if _SUMMANDS.get(x, "by_words") == name}
                steps.append(Step("Retrieve", "add", value, score, name, about, notes))
        return memory.after(float(scores[place]), *steps)

    return Pool(facts, scores.tolist(), finish, measures).at(best.tolist())


def _last(arms: Sequence[Arm], limit: int) -> float:
    """The highest possible score of a memory that the widest arm does not show."""
    return float(arms[0].scores.min()) if arms and len(arms[0]) >= limit else 0.0


def _filled(scores: Scores | None, number: int, missing: float) -> Scores:
    return np.zeros(number) if scores is None else np.where(np.isnan(scores), missing, scores)


def _of_the_best(scores: Scores) -> Scores:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else np.zeros(len(scores))


def _by_rank(scores: Scores | None, number: int) -> Scores:
    ranks = np.zeros(number)
    if scores is not None:
        order = np.argsort(-scores, kind="stable")[: np.count_nonzero(~np.isnan(scores))]
        ranks[order] = [rank_score(rank) for rank in range(1, len(order) + 1)]
    return ranks


def rank_score(rank: int) -> float:
    return (_RANK_OFFSET + 1) / (_RANK_OFFSET + rank)


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
