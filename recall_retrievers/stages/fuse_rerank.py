"""FuseRerank: Q x R -> R. Relevance, type, author, session and time in one score. No model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from math import inf
from typing import ClassVar

from pydantic import Field

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.pool import Pool
from recall_retrievers.core.query import Query, left_out
from recall_retrievers.core.settings import Ratio, Share
from recall_retrievers.core.stage import RankStage, Recall, limit, stamped, stamped_ranges
from recall_retrievers.ranking.fusion import own_marks, relevances, start, within_one
from recall_retrievers.ranking.ratios import (
    TimeRatio,
    fitting,
    later_first,
    names_a_day,
    near_the_time,
    order_ratios,
    session_ratios,
    short_times,
    spread_ratios,
    time_ratios,
    unsaid_first,
)
from recall_retrievers.text.order import AskedOrder, asked_order
from recall_retrievers.text.questions import asks_about, asks_the_assistant
from recall_retrievers.timeline import TimeRange

_NAME = "FuseRerank"
_ASKED = 0.25  # the power of the ratio of a role that the question asks about


class FuseRerank(RankStage):
    """Rank memories by relevance x type x author x session x time.

    - Relevance is the score of a memory before this stage, between 0 and 1. Scores on another scale
      are divided by the best one. Memories without a score get one from their place.
    - Time prefers, it does not exclude. If the recorded time or the event time of a memory lies in
      a range that the question names, its score is multiplied by ``fuse_time_ratio``. The ratio is
      trusted by the cube of (the best relevance in the range / the best of all), and less if many
      candidates lie in the range anyway. So a wrong range pulls up nothing irrelevant. A date and a
      place in the calendar ("in mid-May") are trusted more, a day or a week ("yesterday") by half
      at least. It decides if no memory is about the topic. The rest of a day counts beside a time
      of it, and a night beside its day. A day or a week that has at most k memories comes back
      whole if the best result is of it. If the question asks for nothing but a time, memories of
      that time come first, then those of other readings of it, and of the days around, nearest
      first.
    - If a question names an author, the memories of that author are preferred. Memories of an
      assistant count less: they repeat the words of every question, and say little about the user.
      They count nearly as much if the question asks what the assistant said.
    - A turn counts more if a better one was said in its session.
    - Where the best score is above 1, all are divided by it. So they lie between 0 and 1.

    A second run changes nothing.

    Args:
        fuse_score_threshold: A memory is dropped if its score is lower than this both before and
            after the fusion, and so was its relevance before a model judged it.
        fuse_ratio_dict: The factor of each memory type; other types have 1. None is above 1 for a
            memory outside a day or a week that the question names.
        fuse_author_ratio: The factor of a memory if the question names its author, or if it has no
            author and names the person itself; 1 = no preference.
        fuse_role_ratio_dict: The factor of each chat role, by author in lower case; others have 1.
        fuse_session_share: How far a turn is lifted towards the best turn of its session, 0 to 1;
            0 = not at all. A pause of an hour ends a session.
        fuse_time_ratio: The factor of a memory from a time that the question names; 1 = no
            preference.
        fuse_order: Whether a question for the latest or the first ("the latest three about the
            dentist", "the last time I ...") is answered in the order of the recorded times. Only
            memories with three quarters of the best relevance are put in order, or half of it if
            they share as many words with the question. If some of them are of the time that the
            question names, only those are. Also whether the later of two values comes first: for
            "Where does Ann live?", a later "Ann lives in Bath" before "Ann lives in Leeds".
        top_n: How many to keep. None = as many as the retriever's k, else 5.
        show_time: Whether to put the recorded time before each content, for readers that see
            nothing else: ``[2024-03-12 15:20:00 Tuesday] content``.

    Examples:
        >>> from datetime import UTC, datetime
        >>> now = datetime(2024, 3, 6, tzinfo=UTC)
        >>> turn = Candidate(content="I like tea", memory_type="conversation", score=0.8)
        >>> insight = Candidate(content="Likes tea", memory_type="insight", score=0.5)
        >>> recall = Recall(Query(text="tea?", reference_time=now), (turn, insight))
        >>> [(memory.content, memory.score) for memory in FuseRerank().apply(recall).memories]
        [('Likes tea', 1.0), ('I like tea', 0.4)]
    """

    reads_pool: ClassVar[bool] = True

    fuse_score_threshold: Share = 0.1
    fuse_ratio_dict: dict[str, Ratio] = Field(
        default_factory=lambda: {
            "conversation": 0.5,
            "observation": 1.0,
            "obs_customized": 1.2,
            "insight": 2.0,
        }
    )
    fuse_author_ratio: Ratio = Field(default=1.25, gt=0)
    fuse_role_ratio_dict: dict[str, Ratio] = Field(
        default_factory=lambda: {"assistant": 0.5, "ai": 0.5}
    )
    fuse_session_share: Share = 0.2
    fuse_time_ratio: Ratio = Field(default=2.0, gt=0)
    fuse_order: bool = True
    show_time: bool = False

    def apply(self, recall: Recall) -> Recall:
        """Score, sort and cut the candidates; equal scores keep their order."""
        query, found = recall.query, recall.memories
        pool = found if isinstance(found, Pool) else Pool.of(found)
        ranges = query.time_ranges or stamped_ranges(pool.seen)
        timed = ranges and self.fuse_time_ratio > 1
        near = near_the_time(pool.facts, query, ranges) if timed else []
        if near:
            pool = pool.at([place for place, _ in near])
        columns = self._columns(pool, query, spread=bool(near))
        before, fused, marks = columns.before, columns.fused, columns.marks
        if ranges:
            columns.put_in_time(
                time_ratios(
                    pool.facts,
                    before,
                    query,
                    ranges,
                    self.fuse_time_ratio,
                    recall.evidence.number if recall.evidence else inf,
                )
            )
            if names_a_day(ranges):
                columns.lift_no_type_outside()
            columns.fill_up([why for _, why in near])
        order = None
        if any(marks):
            columns.fuse_again()
        elif self.fuse_order:
            order = columns.order_by(query, ranges)
        lowest = self.fuse_score_threshold
        found_before = [memory.noted("found") for memory in pool.seen]
        found_well = {n for n, r in enumerate(found_before) if isinstance(r, float) and r >= lowest}
        worth_keeping = [
            place
            for place, relevance in enumerate(before)
            # Factors may rescue a memory, never condemn it. The threshold is for the relevance, but
            # "what happened yesterday?" is barely similar to any event of yesterday. The session
            # rescues no memory, else the whole session would follow the turn that answers.
            # A model's judgement condemns no memory either: its relevance as found counts too.
            if relevance >= lowest
            or fused[place] / columns.session[place] >= lowest
            or marks[place]
            or near
            or place in found_well
        ]
        worth_keeping.sort(key=[-score for score in fused].__getitem__)
        most = limit(self.top_n, query)
        best = worth_keeping[:most]
        if query.k and ranges and order is None:  # without k the collection is not known
            best = _whole(best, short_times(pool.facts, ranges, most), most, fused)
        names = pool.names()
        above, kept = ([names[place] for place in places] for places in (worth_keeping, best))
        too_low = f"below fuse_score_threshold {lowest}"
        zone = query.reference_time.tzinfo
        scale = max([1.0, *(fused[place] for place in best[:1])])
        scores = [score / scale for score in fused]
        dropped = recall.dropped + left_out(names, scores, [*above, *kept], _NAME, too_low)
        cut = [scores[place] for place in worth_keeping]
        dropped += left_out(above, cut, kept, self.stage_name, self.cut_reason(query))

        def finish(place: int, memory: Candidate) -> Candidate:
            [ranked] = stamped([within_one(columns.candidate(place, memory), scale, _NAME)], ranges)
            return _dated(ranked, zone) if self.show_time else ranked

        ranked = pool.then(scores, finish).at(best)
        return replace(
            recall, memories=ranked if isinstance(found, Pool) else ranked.made(), dropped=dropped
        )

    def _columns(self, pool: Pool, query: Query, *, spread: bool) -> _Columns:
        """The factors of the candidates, except those of time and order."""
        facts, marks = pool.facts, own_marks(pool.seen, _NAME) or [None] * len(pool)
        before = relevances(pool.scores, marks)
        authors = {author: self._author_ratio(author, query) for author in {*facts.authors}}
        kind = [self.fuse_ratio_dict.get(name, 1.0) for name in facts.memory_types]
        author = [authors[each] for each in facts.authors]
        if about := [x for x in authors if asks_about(query.text, x)]:
            nobodys = [n for n, name in enumerate(facts.authors) if not name]
            for place, memory in zip(nobodys, facts.candidates(nobodys), strict=True):
                if memory and any(asks_about(memory.content, x) for x in about):
                    author[place] = self.fuse_author_ratio
        weights = [one * other for one, other in zip(kind, author, strict=True)]
        worth = [relevance * weight for relevance, weight in zip(before, weights, strict=True)]
        session = (
            spread_ratios(facts, worth)
            if spread
            else session_ratios(facts, worth, self.fuse_session_share)
        )
        fused = [
            relevance * (weight * own)
            for relevance, weight, own in zip(before, weights, session, strict=True)
        ]
        return _Columns(pool, marks, before, kind, author, session, fused)

    def _author_ratio(self, author: str, query: Query) -> float:
        named = asks_about(query.text, author)
        role_ratio = self.fuse_role_ratio_dict.get(author.lower(), 1.0)
        if role_ratio != 1 and asks_the_assistant(query.text):
            role_ratio **= _ASKED
        return self.fuse_author_ratio if named else role_ratio


@dataclass(slots=True)
class _Columns:
    """The relevance, the factors and the score of the candidates, each as a column."""

    pool: Pool
    marks: Sequence[Step | None]
    before: list[float]
    kind: list[float]
    author: list[float]
    session: list[float]
    fused: list[float]
    time: list[TimeRatio] = field(default_factory=list)
    near: Sequence[str] = ()  # what each is instead of being of the time; empty = it is of it
    order: list[float] = field(default_factory=list)
    asked: str = ""

    def put_in_time(self, time: list[TimeRatio]) -> None:
        """Weigh the scores by time."""
        self.time = time
        self.fused[:] = [score * own for score, (own, _) in zip(self.fused, time, strict=True)]

    def lift_no_type_outside(self) -> None:
        """Take the lift of its type from what was recorded outside the time."""
        for place, created in enumerate(self.pool.facts.created):
            if created and self.time[place][1]["time_match"] == "none" and self.kind[place] > 1:
                self.fused[place] /= self.kind[place]
                self.kind[place] = 1.0

    def fill_up(self, near: Sequence[str]) -> None:
        """Put what is only near the time below what is of it, in this order."""
        self.near = near
        inside = [score for score, why in zip(self.fused, near, strict=False) if not why]
        lowest = min(inside or self.fused, default=0.0)
        for place, why in enumerate(near):
            if why:
                self.fused[place] = lowest * (1 - place / len(near))

    def fuse_again(self) -> None:
        """Keep the scores of memories that were fused before: only the time may be new."""
        for place, (memory, mark) in enumerate(zip(self.pool.seen, self.marks, strict=False)):
            if mark:
                if self.time and memory.noted("time_match") is not None:
                    self.time[place] = (1.0, self.time[place][1])
                self.fused[place] = (memory.score or 0.0) * self._time(place)[0]

    def order_by(self, query: Query, ranges: Sequence[TimeRange]) -> AskedOrder | None:
        """Weigh the scores by the order that is asked for, or else by what goes without saying."""
        hard = [each.span for each in ranges if each.span and not each.soft]
        order = asked_order(query.text, hard, in_conversation=bool(query.messages))
        if order is not None:
            self.put_in_order(order, query.text)
        elif exchange := query.answered:
            unsaid = unsaid_first(self.pool.facts, self.fused, exchange)
            self.put("behind what was not said just before", unsaid)
        elif not ranges:
            later = later_first(self.pool.facts, query.text, self.before, self.fused)
            self.put("the later of two values first", later)
        return order

    def put_in_order(self, order: AskedOrder, question: str) -> None:
        """Raise the scores of what fits, so that they are in the order that is asked for."""
        facts, in_time = self.pool.facts, ("recorded", "event")
        worth = [own * self._time(place)[0] for place, own in enumerate(self.before)]
        listed = {n for n, x in enumerate(self.pool.seen) if x.noted("listed") is not None}
        fit = listed or fitting(facts, worth, question)
        inside = {n for n, (_, notes) in enumerate(self.time) if notes["time_match"] in in_time}
        places = inside.intersection(fit) or fit
        self.put(order.name, order_ratios(facts, self.fused, places, order))

    def put(self, name: str, ratios: list[float]) -> None:
        """Weigh the scores by an order."""
        self.asked, self.order = name, ratios
        self.fused[:] = [score * own for score, own in zip(self.fused, ratios, strict=True)]

    def candidate(self, place: int, memory: Candidate) -> Candidate:
        """A candidate with its new score, and the steps to it."""
        score = self.fused[place]
        order = self.order[place] if self.order else 1.0
        time, time_notes = self._time(place)
        in_time = score / order
        about_time = f"{time_notes.get('time_match', '')} in time"
        notes = {**time_notes, "fused": in_time}
        timed = Step(_NAME, "times", time, in_time, "time_ratio", about_time, notes)
        if self.near and (why := self.near[place]):
            timed = Step(_NAME, "set", in_time, in_time, about=why, notes=notes)
        if self.marks[place]:
            return memory.after(score, timed) if time != 1 else memory.after(score)
        ordered = Step(_NAME, "times", order, score, "order_ratio", self.asked)
        last = (timed, ordered) if order != 1 else (timed,)
        return memory.after(score, *self._first_steps(place, memory), *last)

    def _time(self, place: int) -> TimeRatio:
        return self.time[place] if self.time else (1.0, {})

    def _first_steps(self, place: int, memory: Candidate) -> tuple[Step, ...]:
        before, session = self.before[place], self.session[place]
        kind, author = self.kind[place], self.author[place]
        typed = before * kind
        by_author = typed * author
        others = "a better one of its session" if session >= 1 else "a better one of its hour"
        in_session = by_author * session
        about_author = f"said by {memory.author}" if memory.author else "names the person"
        return (
            start(memory.score, before, _NAME),
            Step(_NAME, "times", kind, typed, "type_ratio", memory.memory_type),
            Step(_NAME, "times", author, by_author, "author_ratio", about_author),
            Step(_NAME, "times", session, in_session, "session_ratio", f"for {others}"),
        )


def _whole(best: list[int], whole: set[int], most: int, scores: Sequence[float]) -> list[int]:
    """The best places, with all of the whole times in place of the lowest of other times.

    If the best of all is of another time, the named one may be wrong, and nothing is added.
    """
    if not whole.intersection(best[:1]):
        return best
    others = [place for place in best if place not in whole]
    places = {*others[: most - len(whole)], *whole}
    return sorted(places, key=lambda place: (-scores[place], place))


def _dated(memory: Candidate, timezone: tzinfo | None) -> Candidate:
    prefix = f"[{memory.recorded(timezone)}] "
    if memory.created_at is None or memory.content.startswith(prefix):
        return memory
    return replace(memory, content=prefix + memory.content)
