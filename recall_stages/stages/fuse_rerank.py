"""FuseRerank: Q x R -> R. Relevance, kind and time in one score. No model call, never fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from math import prod

from pydantic import Field

from recall_stages.core.memory import Memory, Query
from recall_stages.core.stage import RankStage, Recall
from recall_stages.core.time_trace import stamped, stamped_ranges
from recall_stages.ranking.relevance import noted, relevances
from recall_stages.ranking.sessions import session_ratios
from recall_stages.text.names import asks_about
from recall_stages.timeline import TimeRange, half_life_weight

_BY = "fused"  # the name of its score in the trace
_SOFT_HALF_LIFE = timedelta(days=14)  # what "recently" prefers: a fortnight old counts half


class FuseRerank(RankStage):
    """Rank memories by relevance x type x author x session x time.

    - Relevance is the score that a memory comes with, between 0 and 1. Scores on another scale are
      divided by the best one. Memories without a score get one from their place.
    - Time prefers, it does not exclude. If the recorded time or the event time of a memory lies in
      a range that the question names, its score is multiplied by ``fuse_time_ratio``. The ratio is
      trusted by the square of (the best relevance in the range / the best of all). So a wrong range
      pulls up nothing irrelevant.
    - If a question names an author, the memories of that author are preferred. Memories of an
      assistant count less: they repeat the words of every question, and say little about the user.
    - A turn counts more if another turn of its conversation also fits.

    Running the stage twice changes nothing.

    Args:
        fuse_score_threshold: Memories that reach it neither before nor after fusing are dropped.
        fuse_ratio_dict: How much each memory type counts; types that are not named count 1.
        fuse_author_ratio: How much a memory counts if the question names its author; 1 = no
            preference.
        fuse_role_ratio_dict: How much the memories of a chat role count, by author in lower case;
            others count 1.
        fuse_session_share: How much of the score of the best other turn of its session is added to
            a turn, 0 to 1. A pause of an hour ends a session. 0 = nothing.
        fuse_time_ratio: How much a memory from the time asked about counts; 1 = no preference.
        top_n: How many to keep. None = as many as the retriever's k, else 5.
        show_time: Begin each content with the time it was recorded, for readers that see nothing
            else: ``[2024-03-12 15:20:00 Tuesday] content``.

    Examples:
        >>> from datetime import UTC, datetime
        >>> now = datetime(2024, 3, 6, tzinfo=UTC)
        >>> told = Memory(content="I like tea", memory_type="conversation", score=0.8)
        >>> known = Memory(content="Likes tea", memory_type="insight", score=0.5)
        >>> asked = Recall(Query(text="tea?", reference_time=now), (told, known))
        >>> [(memory.content, memory.score) for memory in FuseRerank().apply(asked).memories]
        [('Likes tea', 1.0), ('I like tea', 0.4)]
    """

    fuse_score_threshold: float = Field(default=0.1, ge=0, le=1)
    fuse_ratio_dict: dict[str, float] = Field(
        default_factory=lambda: {
            "conversation": 0.5,
            "observation": 1.0,
            "obs_customized": 1.2,
            "insight": 2.0,
        }
    )
    fuse_author_ratio: float = Field(default=1.25, gt=0)
    fuse_role_ratio_dict: dict[str, float] = Field(
        default_factory=lambda: {"assistant": 0.6, "ai": 0.6}
    )
    fuse_session_share: float = Field(default=0.15, ge=0, le=1)
    fuse_time_ratio: float = Field(default=2.0, gt=0)
    show_time: bool = False

    def apply(self, recall: Recall) -> Recall:
        """Score, sort and cut the candidates; memories with equal scores keep their order."""
        memories = recall.memories
        ranges = recall.query.time_ranges or stamped_ranges(memories)
        before = relevances(memories, _BY)
        trust = _trust(memories, before, ranges)
        ratios = self._ratios(memories, before, recall.query)
        times = [self._time_trace(memory, recall.query, ranges, trust) for memory in memories]
        fused = [
            relevance * prod(own.values()) * float(time["time_ratio"])
            for relevance, own, time in zip(before, ratios, times, strict=True)
        ]
        kept = [
            place
            for place, score in enumerate(fused)
            if self._worth_keeping(before[place], score, ratios[place])
        ]
        kept.sort(key=lambda place: -fused[place])
        best = [
            memories[place].scored(
                fused[place],
                relevance=before[place],
                **ratios[place],
                **times[place],
                **{_BY: fused[place]},
            )
            for place in kept[: self.limit(recall.query)]
        ]
        ranked = stamped(best, ranges)
        if self.show_time:
            zone = recall.query.reference_time.tzinfo
            ranked = tuple(_dated(memory, zone) for memory in ranked)
        return replace(recall, memories=ranked)

    def _ratios(
        self, memories: Sequence[Memory], before: Sequence[float], query: Query
    ) -> list[dict[str, float]]:
        """The ratios of each memory but that of time, by the names they have in the trace."""
        authors = {
            author: self._author_ratio(author, query)
            for author in {memory.author for memory in memories}
        }
        ratios = [
            {
                "type_ratio": self.fuse_ratio_dict.get(memory.memory_type, 1.0),
                "author_ratio": authors[memory.author],
            }
            for memory in memories
        ]
        worth = [
            relevance * prod(own.values()) for relevance, own in zip(before, ratios, strict=True)
        ]
        sessions = session_ratios(memories, worth, self.fuse_session_share)
        for memory, own, ratio in zip(memories, ratios, sessions, strict=True):
            # Fused before, what spoke for it may have been cut: take what was found then.
            own["session_ratio"] = noted(memory, _BY, "session_ratio") or ratio
        return ratios

    def _author_ratio(self, author: str, query: Query) -> float:
        named = asks_about(query.text, author)
        role_ratio = self.fuse_role_ratio_dict.get(author.lower(), 1.0)
        return self.fuse_author_ratio if named else role_ratio

    def _time_trace(
        self,
        memory: Memory,
        query: Query,
        ranges: Sequence[TimeRange],
        trust: Sequence[float],
    ) -> dict[str, float | str]:
        """The time ratio of a memory, and what of it lies in which range."""
        for time_range, trusted in zip(ranges, trust, strict=True):
            if not time_range.soft or time_range.start is None:  # "long ago" is no "recently"
                match = memory.matches(time_range)
                if match:
                    ratio = 1 + (self.fuse_time_ratio - 1) * trusted
                    return {"time_ratio": ratio, "time_match": match, "time_trust": trusted}
            elif memory.created_at is not None:
                age = query.reference_time - memory.created_at
                ratio = 1 + (self.fuse_time_ratio - 1) * half_life_weight(age, _SOFT_HALF_LIFE)
                return {"time_ratio": ratio, "time_match": "recency"}
        return {"time_ratio": 1.0, "time_match": "none"} if ranges else {"time_ratio": 1.0}

    def _worth_keeping(self, relevance: float, fused: float, ratios: Mapping[str, float]) -> bool:
        # Weights may rescue a memory, never condemn it: the threshold is on the relevance,
        # yet "what happened yesterday?" is barely similar to anything that happened yesterday.
        # What others said rescues none: the rest of a session would come with what answers.
        return max(relevance, fused / ratios["session_ratio"]) >= self.fuse_score_threshold


def _trust(
    memories: Sequence[Memory], found: Sequence[float], ranges: Sequence[TimeRange]
) -> list[float]:
    """How far to trust each range, 0 to 1: does anything in it answer as well as the rest?"""
    best = max(found, default=0.0)
    trusted = []
    for time_range in ranges:
        inside = [
            (relevance, memory)
            for memory, relevance in zip(memories, found, strict=True)
            if memory.matches(time_range)
        ]
        # Fused before, the best of the others may have been cut: take what was found then.
        noticed = (noted(memory, _BY, "time_trust") for _, memory in inside)
        before = [trust for trust in noticed if trust is not None]
        best_inside = max((relevance for relevance, _ in inside), default=0.0)
        trusted.append(before[0] if before else (best_inside / (best or 1.0)) ** 2)
    return trusted


def _dated(memory: Memory, timezone: tzinfo | None) -> Memory:
    prefix = f"[{memory.recorded(timezone)}] "
    if memory.created_at is None or memory.content.startswith(prefix):
        return memory
    return memory.model_copy(update={"content": prefix + memory.content})
