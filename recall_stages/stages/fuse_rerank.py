"""FuseRerank: Q x R -> R. Relevance, type, author, session and time in one score. No model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from pydantic import Field

from recall_stages.core.candidate import Candidate, Note, Step
from recall_stages.core.query import Query
from recall_stages.core.stage import RankStage, Recall, limit
from recall_stages.core.time_trace import stamped, stamped_ranges
from recall_stages.ranking.by_time import order_ratios
from recall_stages.ranking.relevance import own_marks, relevances, start
from recall_stages.ranking.sessions import session_ratios, spread_ratios
from recall_stages.ranking.time_ratios import of_the_time, time_ratios
from recall_stages.text.asks_assistant import asks_the_assistant
from recall_stages.text.asks_for_order import AskedOrder, asked_order
from recall_stages.text.names import asks_about, person
from recall_stages.text.split_words import split_words
from recall_stages.timeline import TimeRange

_NAME = "FuseRerank"
_SHORT = 8  # words
_LONGEST_SHORT = 200  # characters: longer texts need not be split
_ASKED = 0.25  # the power of the ratio of a role that the question asks about


class FuseRerank(RankStage):
    """Rank memories by relevance x type x author x session x time.

    - Relevance is the score of a memory before this stage, between 0 and 1. Scores on another scale
      are divided by the best one. Memories without a score get one from their place.
    - Time prefers, it does not exclude. If the recorded time or the event time of a memory lies in
      a range that the question names, its score is multiplied by ``fuse_time_ratio``. The ratio is
      trusted by the cube of (the best relevance in the range / the best of all), and less if many
      candidates lie in the range anyway. So a wrong range pulls up nothing irrelevant. A date is
      trusted more. If the question asks for nothing but a time, only memories of that time stay,
      those of different hours first; if there are none, all stay.
    - If a question names an author, the memories of that author are preferred. Memories of an
      assistant count less: they repeat the words of every question, and say little about the user.
      They count nearly as much if the question asks what the assistant said.
    - A turn counts more if another turn of its conversation also fits.

    A second run changes nothing.

    Args:
        fuse_score_threshold: A memory is dropped if its score is lower than this both before and
            after the fusion, and so was its relevance before a model judged it.
        fuse_ratio_dict: The factor of each memory type; other types have 1.
        fuse_author_ratio: The factor of a memory if the question names its author; 1 = no
            preference.
        fuse_role_ratio_dict: The factor of each chat role, by author in lower case; others have 1.
        fuse_short_ratio: The factor of a turn of a person that has fewer than eight words, such as
            "Hey Kevin!"; 1 = none. Turns of the roles of a chat have none.
        fuse_session_share: The share of the best other turn of a session that is added to the score
            of a turn, 0 to 1. A pause of an hour ends a session.
        fuse_time_ratio: The factor of a memory from a time that the question names; 1 = no
            preference.
        fuse_order: Whether a question for the latest or the first ("the latest three about the
            dentist", "the last time I ...") is answered in the order of the recorded times, among
            the memories that fit it.
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
        default_factory=lambda: {"assistant": 0.5, "ai": 0.5}
    )
    fuse_short_ratio: float = Field(default=0.8, gt=0)
    fuse_session_share: float = Field(default=0.15, ge=0, le=1)
    fuse_time_ratio: float = Field(default=2.0, gt=0)
    fuse_order: bool = True
    show_time: bool = False

    def apply(self, recall: Recall) -> Recall:
        """Score, sort and cut the candidates; equal scores keep their order."""
        memories, query = recall.memories, recall.query
        ranges = query.time_ranges or stamped_ranges(memories)
        alone = of_the_time(memories, query, ranges) if self.fuse_time_ratio > 1 else []
        if alone:
            recall = recall.keep(alone, _NAME, "not of the time asked for")
            memories = recall.memories
        marks = own_marks(memories, _NAME)
        before = relevances(memories, marks)
        ratios = self._ratios(memories, before, query, spread=bool(alone))
        if ranges:
            timed = time_ratios(memories, before, query, ranges, self.fuse_time_ratio)
            for own, (own_time, notes) in zip(ratios, timed, strict=True):
                own.time, own.time_notes = own_time, notes
        fused = [
            relevance * (own.kind * own.author * own.session) * own.time
            for relevance, own in zip(before, ratios, strict=True)
        ]
        if any(marks):
            _fuse_again(memories, marks, ratios, fused)
            order = None
        else:
            order = self._asked_order(query, ranges)
            _put_in_order(memories, before, ratios, fused, order)
        worth_keeping = [
            place
            for place, own in enumerate(ratios)
            if marks[place]
            or alone
            # Factors may rescue a memory, never condemn it. The threshold is for the relevance, but
            # "what happened yesterday?" is barely similar to any event of yesterday. The session
            # rescues no memory, else the whole session would follow the turn that answers.
            # A model's judgement condemns no memory either: its relevance as found counts too.
            or max(before[place], fused[place] / own.session) >= self.fuse_score_threshold
            or _found(memories[place]) >= self.fuse_score_threshold
        ]
        worth_keeping.sort(key=[-score for score in fused].__getitem__)
        most = limit(self.top_n, query)
        best = worth_keeping[: min((order and order.count) or most, most)]
        if len(best) < len(memories):
            above = [memories[place] for place in worth_keeping]
            reason = f"below fuse_score_threshold {self.fuse_score_threshold}"
            recall = recall.keep(above, _NAME, reason)
            recall = self.cut(recall, above)
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

    def _asked_order(self, query: Query, ranges: Sequence[TimeRange]) -> AskedOrder | None:
        spans = [each.span for each in ranges if each.span]
        return asked_order(query.text, spans) if self.fuse_order else None

    def _ratios(
        self,
        memories: Sequence[Candidate],
        before: Sequence[float],
        query: Query,
        *,
        spread: bool,
    ) -> list[_Ratios]:
        """The ratios of each candidate, except the time ratio."""
        authors = {
            author: self._author_ratio(author, query)
            for author in {memory.author for memory in memories}
        }
        people = {author for author in authors if person(author)}
        short = [memory.author in people and _is_short_turn(memory) for memory in memories]
        kinds = {
            kind: self.fuse_ratio_dict.get(kind, 1.0)
            for kind in {memory.memory_type for memory in memories}
        }
        ratios = [
            _Ratios(
                kinds[memory.memory_type] * (self.fuse_short_ratio if is_short else 1.0),
                authors[memory.author],
                is_short,
            )
            for memory, is_short in zip(memories, short, strict=True)
        ]
        worth = [
            relevance * (own.kind * own.author)
            for relevance, own in zip(before, ratios, strict=True)
        ]
        sessions = (
            spread_ratios(memories, worth)
            if spread
            else session_ratios(memories, worth, self.fuse_session_share)
        )
        for own, ratio in zip(ratios, sessions, strict=True):
            own.session = ratio
        return ratios

    def _author_ratio(self, author: str, query: Query) -> float:
        named = asks_about(query.text, author)
        role_ratio = self.fuse_role_ratio_dict.get(author.lower(), 1.0)
        if role_ratio != 1 and asks_the_assistant(query.text):
            role_ratio **= _ASKED
        return self.fuse_author_ratio if named else role_ratio


@dataclass(slots=True)
class _Ratios:
    """The factors of the score of one candidate."""

    kind: float
    author: float
    short: bool
    session: float = 1.0
    time: float = 1.0
    time_notes: dict[str, Note] = field(default_factory=dict)
    order: float = 1.0
    asked: str = ""


def _fuse_again(
    memories: Sequence[Candidate],
    marks: Sequence[Step | None],
    ratios: Sequence[_Ratios],
    fused: list[float],
) -> None:
    """Keep the scores of memories that were fused before: only the time may be new."""
    for place, mark in enumerate(marks):
        if mark:
            if memories[place].noted("time_match") is not None:
                ratios[place].time = 1.0
            fused[place] = (memories[place].score or 0.0) * ratios[place].time


def _put_in_order(
    memories: Sequence[Candidate],
    before: Sequence[float],
    ratios: Sequence[_Ratios],
    fused: list[float],
    order: AskedOrder | None,
) -> None:
    """Raise the scores of what fits, so that they are in the order that the question asks for."""
    if order is None:
        return
    worth = [relevance * own.time for relevance, own in zip(before, ratios, strict=True)]
    for place, ratio in enumerate(order_ratios(memories, worth, fused, order)):
        ratios[place].order, ratios[place].asked = ratio, order.name
        fused[place] *= ratio


def _steps(
    memory: Candidate, relevance: float, own: _Ratios, fused: float, mark: Step | None
) -> list[Step]:
    """The steps from the old score of a candidate to its new one."""
    about_time = f"{own.time_notes.get('time_match', '')} in time"
    in_time = fused / own.order
    notes = {**own.time_notes, "fused": in_time}
    timed = Step(_NAME, "times", own.time, in_time, "time_ratio", about_time, notes)
    if mark:
        return [timed] if own.time != 1 else []
    ordered = Step(_NAME, "times", own.order, fused, "order_ratio", own.asked)
    typed = relevance * own.kind
    by_author = typed * own.author
    in_session = by_author * own.session
    about_type = f"{'short ' * own.short}{memory.memory_type}"
    session = "for the rest of its session" if own.session >= 1 else "for a better one of its hour"
    return [
        start(memory, relevance, _NAME),
        Step(_NAME, "times", own.kind, typed, "type_ratio", about_type),
        Step(_NAME, "times", own.author, by_author, "author_ratio", f"said by {memory.author}"),
        Step(_NAME, "times", own.session, in_session, "session_ratio", session),
        timed,
        *([ordered] if own.order != 1 else []),
    ]


def _is_short_turn(memory: Candidate) -> bool:
    """Whether what a person said is a few words to another: these name people, and say little."""
    if memory.memory_type != "conversation":
        return False
    return len(memory.content) < _LONGEST_SHORT and len(split_words(memory.content)) < _SHORT


def _found(memory: Candidate) -> float:
    found = memory.noted("found")
    return found if isinstance(found, float) else 0.0


def _dated(memory: Candidate, timezone: tzinfo | None) -> Candidate:
    prefix = f"[{memory.recorded(timezone)}] "
    if memory.created_at is None or memory.content.startswith(prefix):
        return memory
    return replace(memory, content=prefix + memory.content)
