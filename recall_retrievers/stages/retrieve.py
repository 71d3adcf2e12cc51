"""Retrieve: Q -> R. The search by meaning and by words, in all memories and in the named time."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from recall_retrievers.core.candidate import Candidate, Hit, Step
from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.memory import Standing
from recall_retrievers.core.pool import Arm, Facts, Pool, arms_of, keys_of
from recall_retrievers.core.query import Evidence, Query, left_out
from recall_retrievers.core.requests import MOST_HITS, Listing, Work
from recall_retrievers.core.settings import Count, Settings, Share
from recall_retrievers.core.stage import Flow, Recall, Search, Stage
from recall_retrievers.ranking.evidence import evidence_for
from recall_retrievers.ranking.fusion import (
    Fusion,
    by_similarity,
    fuse_arms,
    in_turn,
    unmeasured,
)
from recall_retrievers.ranking.near_duplicates import copies, diversified, for_all
from recall_retrievers.ranking.ratios import day_of_clock, time_alone
from recall_retrievers.text.follow_ups import adds_nothing
from recall_retrievers.text.order import AskedOrder, asked_order, without_order
from recall_retrievers.text.questions import asks_for_time_alone, asks_what_was_before
from recall_retrievers.text.words import in_english, words
from recall_retrievers.timeline import TimeRange

Method = Literal["semantic", "keyword", "hybrid"]

_ONLY_IN_THE_POOL = (
    "the store cannot be searched for words: they weigh only among what was found by meaning"
)
_NAME = "Retrieve"
_AROUND = timedelta(days=7)
_FEW_WORDS = 8  # of a question; in a longer one each counts less, and so do all together


class SearchMethod(Settings):
    """How to search, and what is too far away; see `MemoryRetriever`."""

    method: Method = "hybrid"
    threshold_score: Share | None = None
    only_with_evidence: bool = False

    @model_validator(mode="after")
    def _can_compare(self) -> Self:
        if self.method == "keyword" and self.threshold_score is not None:
            raise ValueError(
                "threshold_score compares similarities, which keyword search does not have; leave "
                'it out, or use method "hybrid" or "semantic"'
            )
        return self


class SearchSettings(Settings):
    """The further settings of a search; see `MemoryRetriever`, which documents them."""

    fetch_k: Count = 50
    fusion: Fusion = "scores"
    semantic_weight: Share = 0.6
    token_weight: Share = 0.5
    similarity_floor: float = Field(default=0.0, ge=0, lt=1)
    duplicate_threshold: float | None = Field(default=0.95, gt=0, le=1)
    mmr_lambda: Share = 1.0


class Retrieve(SearchSettings, SearchMethod, Stage):
    """Find the candidates for a question.

    The stage searches all memories. If the question names a time, it also searches the memories of
    that time. People tell things later than they happen, so this adds candidates and removes none.
    If the question asks for the latest or the first, the words that say so are not searched for.

    Copies and near-copies are removed before the cut. The copy from the named time stays, else the
    newest; its trace has the ids of the others. If too few memories are left for k, the stage
    searches again for more.

    Its settings are those of a `MemoryRetriever`, which documents them; with ``require_time`` it
    searches only the time that the question names, if it names one. ``unmatched_weight`` takes the
    place of ``semantic_weight`` if no memory has much of the question's words; see `fuse_arms`.
    """

    require_time: bool = False
    unmatched_weight: Share | None = None

    def apply(self, recall: Recall) -> Flow:
        """Run the searches, and return the candidates without copies, best first."""
        query = recall.query
        spans = [each.span for each in query.time_ranges if each.span]
        hard = [each.span for each in query.time_ranges if each.span and not each.soft]
        order = asked_order(query.text, hard, in_conversation=bool(query.messages))
        if not query.text.strip():
            return (yield from _list(recall, "newest"))
        if order and asks_for_time_alone(query.text, [order.span, *spans]):
            try:
                return (yield from _list(recall, "newest" if order.newest else "oldest"))
            except StoreError as error:  # another store than ours: it is searched
                recall = recall.fell_back(_NAME, error)
        wanted = query.k or 1
        limit = max(self.fetch_k, 4 * wanted)
        texts = query.searched
        shares = [
            self.token_weight * min(1.0, _FEW_WORDS / (len(words(text)) or math.inf))
            for text in texts
        ]
        while True:
            searches = [
                self._searches(query, text, limit, order, by_tokens=share > 0)
                for text, share in zip(texts, shares, strict=True)
            ]
            answers: Sequence[Sequence[Hit]] = yield [*chain(*searches)]
            _check_hits(answers)
            arms = arms_of(answers)
            pools = [
                self._fused(part, arms[n * len(part) :][: len(part)], limit, share)
                for n, (part, share) in enumerate(zip(searches, shares, strict=True))
            ]
            pool = in_turn(pools) if len(pools) > 1 else pools[0]
            evidence = recall.evidence  # what a wider search adds is less near
            if evidence is None:
                signs = (
                    self._evidence(query, texts[0], part, arms[n * len(part) :][: len(part)])
                    for n, part in enumerate(searches)
                )
                evidence = Evidence("none")
                if not adds_nothing(query.text, query.said_before):
                    evidence = max(signs, key=lambda sign: sign.number)
                recall = replace(recall, evidence=evidence)
            if self.only_with_evidence and evidence.sign == "none" and len(pool):
                [made] = yield [Work(pool.at([0]).made)]
                return recall.silent(_NAME, made)
            near = self._near_enough(pool)
            # Copies are read from the store.
            [distinct] = yield [Work(partial(self._distinct, near, _bounded(query)))]
            exhausted = all(len(arm) < limit for arm in arms)
            if len(distinct) >= wanted or exhausted or limit >= MOST_HITS:
                if self.mmr_lambda < 1:
                    [made] = yield [Work(partial(diversified, distinct, self.mmr_lambda))]
                    distinct = Pool.of(made)
                # How many memories the store checked where it found too few.
                looked = max([a.looked_through or 0 for a in arms if len(a) < wanted], default=0)
                recall = recall.fell_back(_NAME, *_notes(arms, wanted, looked))
                too_far = f"below threshold_score {self.threshold_score}"
                return replace(
                    recall,
                    memories=_noted(distinct, looked),
                    dropped=(
                        *recall.dropped,
                        *left_out(pool.names(), pool.scores, near.names(), _NAME, too_far),
                        *left_out(near.names(), near.scores, distinct.names(), _NAME, "duplicates"),
                    ),
                )
            limit = min(4 * limit, MOST_HITS)

    def _searches(
        self, query: Query, text: str, limit: int, order: AskedOrder | None, *, by_tokens: bool
    ) -> list[Search]:
        if order is not None:
            said = query.text[slice(*order.span)]
            text = without_order(text.replace(said, " ", 1) if order.counted else text)
        zone = query.reference_time.tzinfo
        whole = Search(
            text,
            limit,
            query.scope,
            query.filter,
            timezone=zone,
            **_standing(query)._asdict(),
            by_tokens=self.method == "hybrid" and by_tokens,
            in_columns=True,
        )
        window, around = _bounded(query), _around(query)
        in_time = [replace(whole, within=window)] if window else []
        near = [replace(whole, within=around)] if around else []
        arms = in_time if in_time and self.require_time else [whole, *near, *in_time]
        by_words = [replace(arm, method="keyword") for arm in arms]
        by_words[0] = replace(by_words[0], with_lacking=True)
        return {"semantic": arms, "keyword": by_words, "hybrid": arms + by_words}[self.method]

    def _fused(
        self,
        searches: Sequence[Search],
        arms: Sequence[Arm],
        limit: int,
        token_weight: float,
    ) -> Pool:
        if self.method == "semantic":
            return by_similarity(arms)
        pairs = list(zip(searches, arms, strict=True))
        return fuse_arms(
            [arm for search, arm in pairs if search.method == "semantic"],
            [arm for search, arm in pairs if search.method == "keyword"],
            limit=limit,
            weight=self.semantic_weight,
            unmatched_weight=self.unmatched_weight,
            token_weight=token_weight,
            similarity_floor=self.similarity_floor,
            by=self.fusion,
        )

    def _evidence(
        self, query: Query, text: str, searches: Sequence[Search], arms: Sequence[Arm]
    ) -> Evidence:
        """Whether the memories are about the question, from the widest search of each kind."""
        widest = dict(
            reversed([(each.method, arm) for each, arm in zip(searches, arms, strict=True)])
        )
        evidence = evidence_for(
            text,
            widest.get("semantic"),
            widest.get("keyword"),
            arms[0].source.facts(keys_of(arms)),
            comparable=not self.similarity_floor and in_english(text),
        )
        named = [each for each in query.time_ranges if each.start and each.end and not each.soft]
        in_time = [arm for search, arm in zip(searches, arms, strict=True) if search.within]
        if not named or not in_time or any(map(len, in_time)):
            return evidence
        then = ", ".join(each.describe() for each in named)
        nothing = f"nothing is recorded of {then}, and what follows is of other times"
        return replace(evidence, about="; ".join(filter(None, [nothing, evidence.about])))

    def _distinct(self, pool: Pool, window: tuple[TimeRange, ...]) -> Pool:
        """The candidates without copies, best first; equal scores are sorted by id."""
        facts, scores = pool.facts, [*pool.scores]
        groups = [[place] for place in range(len(pool))]
        if self.duplicate_threshold is not None:
            groups = copies(facts, self.duplicate_threshold)
        steps: dict[int, Step] = {}
        for same in groups:
            if len(same) > 1:
                chosen = _preferred(same, facts, window)
                others = [facts.ids[place] for place in same if place != chosen]
                steps[chosen] = for_all([scores[n] for n in same], scores[chosen], others, _NAME)
                scores[chosen], same[:] = steps[chosen].after, [chosen]

        def finish(place: int, memory: Candidate) -> Candidate:
            return memory.after(scores[place], steps[place]) if place in steps else memory

        best = [place for [place] in groups]
        best.sort(key=lambda place: (-(scores[place] or 0.0), facts.ids[place]))
        if best == [*range(len(pool))]:  # the fusion has sorted them
            return pool
        return pool.then(scores, finish).at(best)

    def _near_enough(self, pool: Pool) -> Pool:
        if self.threshold_score is None:
            return pool
        if "nearness" in pool.measures:
            raise StoreError(
                "threshold_score compares similarities, and the store knows none; leave "
                "it out, or say what its scores mean: AnyStore(..., similarity=lambda "
                "distance: 1 - distance)"
            )
        similar = pool.measures.get("similarity", np.zeros(len(pool)))
        return pool.at(np.flatnonzero(similar >= self.threshold_score).tolist())


def _list(recall: Recall, order: Literal["newest", "oldest"]) -> Flow:
    """List the memories of the time, the scope and the filter of a question without a topic."""
    query = recall.query
    listing = Listing(
        query.k or 5, _standing(query), query.scope, query.filter, query.time_ranges, order
    )
    [found] = yield [listing]
    step = Step(_NAME, notes={"listed": f"{order} first"})
    return replace(recall, memories=tuple(memory.after(None, step) for memory in found))


def _standing(query: Query) -> Standing:
    """Which memories may answer: the ones of now, or of another moment."""
    before = query.include_superseded or asks_what_was_before(query.text)
    return Standing(query.as_of or query.reference_time, query.as_of is not None, before)


def _bounded(query: Query) -> tuple[TimeRange, ...]:
    """The ranges with bounds, which a store can search; "on Mondays" has none.

    "Recently" has bounds only for a question that asks for nothing else.
    """
    ranges = query.time_ranges
    soft = any(each.soft for each in ranges) and time_alone(query, ranges)
    return tuple(each for each in ranges if (soft or not each.soft) and (each.start or each.end))


def _around(query: Query) -> tuple[TimeRange, ...]:
    """The day of a time of day; and if a question asks for a time alone, what lies around it."""
    wide = [day for each in query.time_ranges if (day := day_of_clock(each))]
    for each in query.time_ranges if time_alone(query, query.time_ranges) else ():
        start, end = each.start, each.end
        more = max(end - start, _AROUND) if start and end else _AROUND
        around = replace(each, start=_moved(start, -more), end=_moved(end, more))
        wide += [around, *each.alternatives]
    return tuple(each for each in wide if each.start or each.end)


def _moved(moment: datetime | None, by: timedelta) -> datetime | None:
    """A later or an earlier moment; None = open, as where the calendar ends before it."""
    try:
        return moment and moment + by
    except OverflowError:
        return None


def _check_hits(arms: Sequence[Sequence[Hit]]) -> None:
    for arm in arms:
        for kind in set[type]() if isinstance(arm, Arm) else set(map(type, arm)) - {Hit}:
            raise StoreError(
                "the find of a store must return a list of Hit(candidate, score) for each search, "
                f"where Candidate.of(memory) makes a candidate of a Memory; got {kind.__name__}"
            )


def _notes(arms: Sequence[Arm], wanted: int, looked: int) -> list[str]:
    """What the store could not do."""
    notes = [_ONLY_IN_THE_POOL] if any("keyword_pool" in arm.measures for arm in arms) else []
    if looked:
        notes.append(
            f"only the first {looked} memories of the store were looked through, and fewer than "
            f"{wanted} of them fit: there may be more"
        )
    if lacking := unmeasured(arms):
        notes.append(
            f"{lacking} candidates have no token vectors, so all were compared by the vector of "
            "the whole text; new.add(store.memories(include_superseded=True)) fills a collection "
            "that has them"
        )
    return notes


def _noted(pool: Pool, looked: int) -> Pool:
    if not looked:
        return pool
    step = Step(_NAME, notes={"looked_through": looked})
    return pool.then(pool.scores, lambda _, memory: memory.after(memory.score, step))


def _preferred(same: Sequence[int], facts: Facts, window: tuple[TimeRange, ...]) -> int:
    """The copy that stays: the newest one from the named time, else the newest."""
    copied = facts.at(same)
    matches = copied.matches(window)

    def preference(place: int) -> tuple[bool, float, str]:
        moment = copied.created[place]
        recorded = moment.timestamp() if moment else 0.0
        return not any(matches[place]), -recorded, copied.ids[place]

    return same[min(range(len(same)), key=preference)]
