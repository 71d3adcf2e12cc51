"""Retrieve: Q -> R. The whole collection and the time asked about, searched at once and fused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from pydantic import Field

from recall_stages.memory import Memory, Query
from recall_stages.stage import Recall, Search, Stage, Steps
from recall_stages.timeline import TimeRange

_LARGEST_POOL = 100_000  # a pool that grows past this has met a collection of copies


class Retrieve(Stage):
    """Find the candidates for a question (seed operation RetrieveMemoryOp).

    Searches the whole and, where the question names a time, the memories of that time as well:
    people tell things later than they happen, so the window adds candidates and takes none away.
    Copies of a text are removed before anything is cut (of these the one from the time asked about
    stays, else the newest), and the pool grows until the asker can have the k memories there are.

    Args:
        fetch_k: The size of the candidate pool; never less than four times k.
        threshold_score: Similarity below which a memory is no candidate, 0 to 1. None = all are.
        require_time: Search only the time that the question names, where it names one.
    """

    fetch_k: int = Field(50, ge=1)
    threshold_score: float | None = Field(None, ge=0, le=1)
    require_time: bool = False

    def apply(self, recall: Recall) -> Steps:
        """Ask for the arms of the search; return distinct candidates, the most similar first."""
        query = recall.query
        wanted = query.k or 1
        limit = max(self.fetch_k, 4 * wanted)
        while True:
            searches = self._searches(query, limit)
            arms = cast("Sequence[list[Memory]]", (yield searches))
            candidates = _distinct((each for arm in arms for each in arm), _bounded(query))
            exhausted = all(len(arm) < limit for arm in arms)
            if len(candidates) >= wanted or exhausted or limit >= _LARGEST_POOL:
                break
            limit *= 4
        if self.threshold_score is not None:
            candidates = [each for each in candidates if (each.score or 0) >= self.threshold_score]
        return replace(recall, memories=tuple(candidates))

    def _searches(self, query: Query, limit: int) -> list[Search]:
        text = query.search_text or query.text
        zone = query.reference_time.tzinfo
        whole = Search(text, limit, query.scope, query.filter, timezone=zone)
        window = _bounded(query)
        if not window:
            return [whole]
        within = replace(whole, within=window)
        return [within] if self.require_time else [whole, within]


def _bounded(query: Query) -> tuple[TimeRange, ...]:
    """The ranges that a collection can be asked for: "recently" and "on Mondays" have no bounds."""
    return tuple(each for each in query.time_ranges if not each.soft and (each.start or each.end))


def _distinct(found: Iterable[Memory], window: tuple[TimeRange, ...]) -> list[Memory]:
    """The most similar first; of copies of a text the one asked about, else the newest."""
    copies: dict[str, dict[str, Memory]] = {}
    for memory in found:
        copies.setdefault(memory.content.strip(), {})[memory.id] = memory
    kept = []
    for same in copies.values():
        best, *others = sorted(same.values(), key=lambda each: _preference(each, window))
        if others:
            names = ", ".join(each.id for each in others)
            best = best.scored(best.score or 0.0, duplicates=names)
        kept.append(best)
    return sorted(kept, key=lambda memory: (-(memory.score or 0.0), memory.id))


def _preference(memory: Memory, window: tuple[TimeRange, ...]) -> tuple[bool, float, str]:
    asked_about = any(memory.matches(each) for each in window)
    recorded = memory.created_at.timestamp() if memory.created_at else 0.0
    return not asked_about, -recorded, memory.id
