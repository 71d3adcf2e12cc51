"""Retrieve: Q -> R. By meaning and by words, in the whole and in the time asked about, fused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator

from recall_stages.core.candidate import Candidate, Hit, Step
from recall_stages.core.errors import StoreError
from recall_stages.core.memory import Query
from recall_stages.core.stage import Flow, Recall, Search, Stage
from recall_stages.ranking.copies import copies, for_all
from recall_stages.ranking.diversity import diversified
from recall_stages.ranking.fusion import Fusion, fuse_arms
from recall_stages.timeline import TimeRange

Method = Literal["semantic", "keyword", "hybrid"]

_ONLY_IN_THE_POOL = (
    "the store cannot be searched for words: they weigh only among what was found by meaning"
)
_NAME = "Retrieve"
_LARGEST_POOL = 100_000  # a pool that grows past this has met a collection of copies


class Retrieve(Stage):
    """Find the candidates for a question.

    Searches the whole and, where the question names a time, the memories of that time as well:
    people tell things later than they happen, so the window adds candidates and takes none away.
    Copies of a text and near-copies are removed before anything is cut (of these the one from the
    time asked about stays, else the newest; the ids of the others are in the trace), and the pool
    grows until the asker can have the k memories there are.

    Args:
        method: "semantic" finds by meaning and scores by similarity; "keyword" finds by words
            (BM25); "hybrid" does both and scores by the two, each normalised over the pool.
        fusion: How a hybrid search makes one score of two: "scores" weighs the similarity and the
            BM25 score, "ranks" only how they rank (reciprocal rank fusion).
        semantic_weight: The share of meaning in that score, 0 to 1; the rest is that of the words.
        duplicate_threshold: The share of words, in order, from which two memories count as one,
            above 0 to 1; None = all are kept, equal texts too.
        mmr_lambda: Below 1, candidates that repeat better ones lose score (maximal marginal
            relevance): 1 = relevance alone, 0 = difference alone.
        fetch_k: The size of the candidate pool; never less than four times k. Where the question
            names a time, the pool holds as many again of that time.
        threshold_score: Similarity below which a memory is no candidate, 0 to 1. None = all are.
            What only its words found has no similarity, and is none either.
        require_time: Search only the time that the question names, where it names one.

    Raises:
        ValueError: When a threshold is set and the method knows no similarity.
        StoreError: When a threshold is set and the store knows none; when keyword search is wanted
            and the store has none.
    """

    method: Method = "hybrid"
    fusion: Fusion = "scores"
    semantic_weight: float = Field(default=0.6, ge=0, le=1)
    duplicate_threshold: float | None = Field(default=0.95, gt=0, le=1)
    mmr_lambda: float = Field(default=1.0, ge=0, le=1)
    fetch_k: int = Field(default=50, ge=1)
    threshold_score: float | None = Field(default=None, ge=0, le=1)
    require_time: bool = False

    @model_validator(mode="after")
    def _can_compare(self) -> Self:
        check_threshold(self.method, self.threshold_score)
        return self

    def apply(self, recall: Recall) -> Flow:
        """Ask for the arms of the search; return distinct candidates, the best first."""
        query = recall.query
        wanted = query.k or 1
        limit = max(self.fetch_k, 4 * wanted)
        while True:
            searches = self._searches(query, limit)
            arms: Sequence[list[Hit]] = yield searches
            _check_hits(arms)
            found = {memory.id: memory for memory in self._fused(searches, arms, limit)}
            near = self._near_enough(found.values())
            candidates = self._distinct(near, _bounded(query))
            exhausted = all(len(arm) < limit for arm in arms)
            if len(candidates) >= wanted or exhausted or limit >= _LARGEST_POOL:
                if self.mmr_lambda < 1:
                    candidates = diversified(candidates, self.mmr_lambda)
                if any("keyword_pool" in hit.measures for arm in arms for hit in arm[:1]):
                    recall = recall.fell_back(_NAME, _ONLY_IN_THE_POOL)
                recall = replace(recall, memories=tuple(found.values()))
                recall = recall.keep(near, _NAME, "below threshold_score")
                recall = recall.keep(candidates, _NAME, "duplicates")
                return replace(recall, memories=tuple(candidates))
            limit *= 4

    def _searches(self, query: Query, limit: int) -> list[Search]:
        text = query.search_text or query.text
        zone = query.reference_time.tzinfo
        whole = Search(text, limit, query.scope, query.filter, timezone=zone)
        window = _bounded(query)
        within = [replace(whole, within=window)] if window else []
        arms = within if within and self.require_time else [whole, *within]
        by_words = [replace(arm, method="keyword") for arm in arms]
        return {"semantic": arms, "keyword": by_words, "hybrid": arms + by_words}[self.method]

    def _fused(
        self, searches: Sequence[Search], arms: Sequence[list[Hit]], limit: int
    ) -> list[Candidate]:
        if self.method == "semantic":  # one scale, and an absolute one
            return [_found_by_meaning(hit) for arm in arms for hit in arm]
        found = list(zip(searches, arms, strict=True))
        return fuse_arms(
            [arm for search, arm in found if search.method == "semantic"],
            [arm for search, arm in found if search.method == "keyword"],
            limit=limit,
            weight=self.semantic_weight,
            by=self.fusion,
        )

    def _distinct(
        self, found: Sequence[Candidate], window: tuple[TimeRange, ...]
    ) -> list[Candidate]:
        """The best first; of copies of a text the one asked about, else the newest."""
        if self.duplicate_threshold is None:
            return _best_first(found)
        return _best_first(
            [
                same[0] if len(same) == 1 else for_all(_preferred(same, window), same, _NAME)
                for same in copies(found, self.duplicate_threshold)
            ]
        )

    def _near_enough(self, found: Iterable[Candidate]) -> list[Candidate]:
        if self.threshold_score is None:
            return [*found]
        near = []
        for memory in found:
            if memory.noted("nearness") is not None:
                raise StoreError(
                    "threshold_score compares similarities, and the store knows none; leave "
                    "it out, or say what its scores mean: AnyStore(..., similarity=lambda "
                    "distance: 1 - distance)"
                )
            similarity = memory.noted("similarity")
            if isinstance(similarity, float) and similarity >= self.threshold_score:
                near.append(memory)
        return near


def check_threshold(method: Method, threshold_score: float | None) -> None:
    """Refuse a threshold on similarities that are not there.

    Raises:
        ValueError: When the method finds by words alone.
    """
    if method == "keyword" and threshold_score is not None:
        raise ValueError(
            "threshold_score compares similarities, which keyword search does not have; leave it "
            'out, or use method "hybrid" or "semantic"'
        )


def _bounded(query: Query) -> tuple[TimeRange, ...]:
    """The ranges that a collection can be asked for: "recently" and "on Mondays" have no bounds."""
    return tuple(each for each in query.time_ranges if not each.soft and (each.start or each.end))


def _check_hits(arms: Sequence[Sequence[Hit]]) -> None:
    for arm in arms:
        for kind in set(map(type, arm)) - {Hit}:
            raise StoreError(
                "the find of a store must return a list of Hit(candidate, score) for each search, "
                f"where Candidate.of(memory) makes a candidate of a Memory; got {kind.__name__}"
            )


def _found_by_meaning(hit: Hit) -> Candidate:
    memory, score, measures = hit
    [(name, value)] = (measures or {"similarity": score}).items()
    return memory.after(score, Step(_NAME, "add", value, score, name, "by meaning"))


def _best_first(memories: Iterable[Candidate]) -> list[Candidate]:
    listed = [*memories]
    keys = [(-(memory.score or 0.0), memory.id) for memory in listed]
    return [listed[place] for place in sorted(range(len(listed)), key=keys.__getitem__)]


def _preferred(same: Sequence[Candidate], window: tuple[TimeRange, ...]) -> Candidate:
    """Of memories that say the same: one of the time asked about, the newest of these."""

    def preference(memory: Candidate) -> tuple[bool, float, str]:
        asked_about = any(memory.matches(each) for each in window)
        recorded = memory.created_at.timestamp() if memory.created_at else 0.0
        return not asked_about, -recorded, memory.id

    return min(same, key=preference)
