"""FuseRerank: Q x R -> R. Relevance, kind and time in one score. No model call, never fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo
from math import prod

from pydantic import Field

from recall_stages.core.candidate import Candidate, Note, Step
from recall_stages.core.memory import Query, TimeMatch
from recall_stages.core.stage import RankStage, Recall
from recall_stages.core.time_trace import stamped, stamped_ranges
from recall_stages.ranking.relevance import own_marks, relevances, start
from recall_stages.ranking.sessions import session_ratios
from recall_stages.text.names import asks_about
from recall_stages.timeline import TimeRange, half_life_weight

_NAME = "FuseRerank"
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
        >>> told = Candidate(content="I like tea", memory_type="conversation", score=0.8)
        >>> known = Candidate(content="Likes tea", memory_type="insight", score=0.5)
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
        memories, query = recall.memories, recall.query
        ranges = query.time_ranges or stamped_ranges(memories)
        marks = own_marks(memories, _NAME)
        before = relevances(memories, marks)
        ratios = self._ratios(memories, before, query)
        self._add_time_ratios(ratios, memories, before, query, ranges)
        fused = [
            relevance * prod((own.kind, own.author, own.session)) * own.time
            for relevance, own in zip(before, ratios, strict=True)
        ]
        for place, mark in enumerate(marks):
            if mark:  # fused before: only the time may be new
                timed = memories[place].noted("time_match") is not None
                ratios[place].time = 1.0 if timed else ratios[place].time
                fused[place] = (memories[place].score or 0.0) * ratios[place].time
        worth_keeping = [
            place
            for place, own in enumerate(ratios)
            if marks[place]
            # Weights may rescue a memory, never condemn it: the threshold is on the relevance,
            # yet "what happened yesterday?" is barely similar to anything that happened yesterday.
            # What others said rescues none: the rest of a session would come with what answers.
            or max(before[place], fused[place] / own.session) >= self.fuse_score_threshold
        ]
        worth_keeping.sort(key=[-score for score in fused].__getitem__)
        best = worth_keeping[: self.limit(query)]
        if len(best) < len(memories):
            kept = [memories[place] for place in worth_keeping]
            recall = recall.keep(kept, _NAME, "below fuse_score_threshold")
            recall = self.cut(recall, kept)
        ranked = [
            memories[place].after(
                fused[place],
                *_steps(memories[place], before[place], ratios[place], fused[place], marks[place]),
            )
            for place in best
        ]
        stamped_memories = stamped(ranked, ranges)
        if self.show_time:
            zone = query.reference_time.tzinfo
            stamped_memories = tuple([_dated(memory, zone) for memory in stamped_memories])
        return replace(recall, memories=stamped_memories)

    def _ratios(
        self, memories: Sequence[Candidate], before: Sequence[float], query: Query
    ) -> list[_Ratios]:
        """The ratios of each candidate but that of time."""
        authors = {
            author: self._author_ratio(author, query)
            for author in {memory.author for memory in memories}
        }
        ratios = [
            _Ratios(self.fuse_ratio_dict.get(memory.memory_type, 1.0), authors[memory.author])
            for memory in memories
        ]
        worth = [
            relevance * (own.kind * own.author)
            for relevance, own in zip(before, ratios, strict=True)
        ]
        sessions = session_ratios(memories, worth, self.fuse_session_share)
        for own, ratio in zip(ratios, sessions, strict=True):
            own.session = ratio
        return ratios

    def _author_ratio(self, author: str, query: Query) -> float:
        named = asks_about(query.text, author)
        role_ratio = self.fuse_role_ratio_dict.get(author.lower(), 1.0)
        return self.fuse_author_ratio if named else role_ratio

    def _add_time_ratios(
        self,
        ratios: Sequence[_Ratios],
        memories: Sequence[Candidate],
        before: Sequence[float],
        query: Query,
        ranges: Sequence[TimeRange],
    ) -> None:
        if not ranges:
            return
        matches = [[memory.matches(each) for each in ranges] for memory in memories]
        trust = _trust(matches, before, len(ranges))
        for memory, own, matching in zip(memories, ratios, matches, strict=True):
            own.time, own.time_notes = self._time_ratio(memory, query, ranges, matching, trust)

    def _time_ratio(
        self,
        memory: Candidate,
        query: Query,
        ranges: Sequence[TimeRange],
        matching: Sequence[TimeMatch | None],
        trust: Sequence[float],
    ) -> tuple[float, dict[str, Note]]:
        """The time ratio of a memory, and what of it lies in which range."""
        for time_range, match, trusted in zip(ranges, matching, trust, strict=True):
            if not time_range.soft or time_range.start is None:  # "long ago" is no "recently"
                if match:
                    ratio = 1 + (self.fuse_time_ratio - 1) * trusted
                    return ratio, {"time_match": match, "time_trust": trusted}
            elif memory.created_at is not None:
                age = query.reference_time - memory.created_at
                ratio = 1 + (self.fuse_time_ratio - 1) * half_life_weight(age, _SOFT_HALF_LIFE)
                return ratio, {"time_match": "recency"}
        return 1.0, {"time_match": "none"}


@dataclass(slots=True)
class _Ratios:
    """What the score of one candidate is multiplied with."""

    kind: float
    author: float
    session: float = 1.0
    time: float = 1.0
    time_notes: dict[str, Note] = field(default_factory=dict)


def _steps(
    memory: Candidate, relevance: float, own: _Ratios, fused: float, mark: Step | None
) -> list[Step]:
    """The steps from the score that a candidate came with to its new one."""
    about_time = f"{own.time_notes.get('time_match', '')} in time"
    notes = {**own.time_notes, "fused": fused}
    timed = Step(_NAME, "times", own.time, fused, "time_ratio", about_time, notes)
    if mark:
        return [timed] if own.time != 1 else []
    typed = relevance * own.kind
    by_author = typed * own.author
    in_session = by_author * own.session
    session = "for the rest of its session"
    return [
        start(memory, relevance, _NAME),
        Step(_NAME, "times", own.kind, typed, "type_ratio", memory.memory_type),
        Step(_NAME, "times", own.author, by_author, "author_ratio", f"said by {memory.author}"),
        Step(_NAME, "times", own.session, in_session, "session_ratio", session),
        timed,
    ]


def _trust(
    matches: Sequence[Sequence[TimeMatch | None]], found: Sequence[float], ranges: int
) -> list[float]:
    """How far to trust each range, 0 to 1: does anything in it answer as well as the rest?"""
    best = max(found, default=0.0) or 1.0
    inside = [
        max([relevance for own, relevance in zip(matches, found, strict=True) if own[n]], default=0)
        for n in range(ranges)
    ]
    return [(relevance / best) ** 2 for relevance in inside]


def _dated(memory: Candidate, timezone: tzinfo | None) -> Candidate:
    prefix = f"[{memory.recorded(timezone)}] "
    if memory.created_at is None or memory.content.startswith(prefix):
        return memory
    return replace(memory, content=prefix + memory.content)
