"""A question, and its state: the input and the output of every stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import is_
from typing import Literal, TypeVar

from pydantic import ConfigDict

from recall_retrievers.core.candidate import Candidate, Step, candidates, identity
from recall_retrievers.core.errors import QueryError, described
from recall_retrievers.core.message import Message
from recall_retrievers.core.pool import Pool
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Count, Settings
from recall_retrievers.core.settings_messages import got
from recall_retrievers.text.follow_ups import USERS, search_texts
from recall_retrievers.timeline import TimeRange

Filter = Mapping[str, object]

LONGEST_QUESTION = 50_000  # the characters of a question; of a memory as many are searched


class Query(Settings):
    """A question, with the reference time of its time expressions.

    Args:
        text: The words of the user; empty if the framework passes none.
        reference_time: The moment of the question, with its time zone.
        scope: The owner of the memories that may answer.
        filter: Conditions on metadata, as Chroma writes them.
        time_ranges: The times that the question names, best first; set by `ExtractTime`.
        search_text: The text to search for. Empty = ``text``.
        k: How many memories the caller wants; None outside a retriever.
        messages: The conversation around the question, oldest first, if it is known. The last
            exchange is searched for, too.
        as_of: The moment whose memories are asked; None = those of the reference time.
        include_superseded: Whether superseded memories may answer.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    reference_time: datetime
    scope: Scope = Scope()
    filter: Filter | None = None
    time_ranges: tuple[TimeRange, ...] = ()
    search_text: str = ""
    k: Count | None = None
    messages: tuple[Message, ...] = ()
    as_of: datetime | None = None
    include_superseded: bool = False

    @property
    def searched(self) -> list[str]:
        """The texts to search for, the most important first."""
        names_time = any(named.span for named in self.time_ranges)
        return search_texts(self.search_text or self.text, self._said, names_time=names_time)

    @property
    def answered(self) -> str:
        """The last exchange with its answer, if the question can be understood only with it."""
        said = self._said
        if not said or said[-1][0] in USERS:
            return ""
        return self.searched[0].removeprefix(self.search_text or self.text)

    @property
    def said_before(self) -> str:
        """The message before the question."""
        return self._said[-1][1] if self._said else ""

    @property
    def _said(self) -> list[tuple[str, str]]:
        return [(x.role, x.content) for x in self.messages if x.content not in self.text]


def check_length(text: str) -> None:
    if len(text) > LONGEST_QUESTION:
        raise QueryError(
            f"query may have {LONGEST_QUESTION:,} characters at most; got {len(text):,}. Ask with "
            "the part that says what to look for"
        )


def query_text(text: object) -> str:
    if not isinstance(text, str):
        raise QueryError(f"query must be a string; got {type(text).__name__}")
    if not text.strip():
        raise QueryError(
            f"query must say what to look for; got {got(text)}. To list memories, the newest "
            "first, pass a time_range or a filter"
        )
    check_length(text)
    return text.strip()


T = TypeVar("T")

JOINED = "source"  # the note that names the origin of a candidate that is not from the collection
EvidenceSign = Literal["strong", "some", "none"]

OUTCOME = "outcome"  # the stage of the last step of a result, about the whole question

_LONGEST_REASON = 300  # characters of an error that a trace holds
_ONLY_CANDIDATES = frozenset({Candidate})


@dataclass(frozen=True, slots=True)
class Dropped:
    """Candidates that a stage left out, by their ids or texts, and why, such as "cut at top_n"."""

    stage: str
    reason: str
    ids: tuple[str, ...]
    scores: tuple[float | None, ...]  # at that stage, in the order of the ids


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sign of whether memories are about a question; it is no probability."""

    sign: EvidenceSign  # "some" also where too little is known
    about: str = ""  # what speaks against it, or is not known, such as ``no memory has "Lisbon"``
    number: float = 0.0  # what the sign is made of; it compares questions, and is no share
    nearest: Candidate | None = None  # where it is not returned

    @property
    def why(self) -> str:
        """Why nothing is returned, and what was nearest, in words; without a memory's text."""
        parts = ["no memory is about the question", self.about]
        if self.nearest is not None:
            day = f", {self.nearest.day}" if self.nearest.day else ""
            parts.append(f"the nearest was {self.nearest.id!r}{day}")
        return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model, and the numbers of the memories that it cites."""

    sentence: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of a text, and the memories that it rests on.

    Attributes:
        sentence: The sentence, without citation marks.
        numbers: The numbers of the memories, from 1, in the order of the text's sources.
        ids: The ids of the same memories; empty for a memory without an id.
        quotes: The words of the same memories that come nearest to the sentence, exactly as they
            are stored; empty where no word is shared.
        checked: Whether its words were compared. They cannot be if the memories are in another
            language; then only its figures, names in Latin letters and links were.
    """

    sentence: str
    numbers: tuple[int, ...]
    ids: tuple[str, ...]
    quotes: tuple[str, ...] = ()
    checked: bool = True

    def marked(self) -> str:
        """The sentence with its citation marks.

        Examples:
            >>> Citation("Tea is at four.", (1, 3), ("a", "c")).marked()
            'Tea is at four. [1, 3]'
            >>> Citation("四点喝茶。", (1,), ("a",), checked=False).marked()
            '四点喝茶。 [1, unchecked]'
        """
        marks = [*map(str, self.numbers), *([] if self.checked else ["unchecked"])]
        return f"{self.sentence} [{', '.join(marks)}]"


def cited_ids(citations: Sequence[Citation]) -> list[str]:
    """The ids of all cited memories, without repetition, in the order of their numbers."""
    pairs = {
        (number, memory_id)
        for citation in citations
        for number, memory_id in zip(citation.numbers, citation.ids, strict=True)
    }
    return [memory_id for _, memory_id in sorted(pairs) if memory_id]


@dataclass(frozen=True, slots=True)
class Recall:
    """The state of a question: the input and the output of every stage.

    Attributes:
        query: The question, with the times that were understood so far.
        memories: The candidates, best first. A `Memory` among them becomes a `Candidate`. Between
            the search and `FuseRerank` they are a `Pool`; other stages get a tuple.
        text: The text of the answer, once a stage has written it.
        fallbacks: The stages that could not do their work, with the reason. No memory is lost.
        citations: The sentences of the text with their sources, if a model wrote them.
        usage: The cost of the model calls, by stage.
        skipped: The stage that decided against a search, with its reason; empty if none did.
        dropped: The candidates that stages left out, with the reason.
        evidence: Whether memories are about the question; None = nothing was searched for.
    """

    query: Query
    memories: Sequence[Candidate] = ()
    text: str = ""
    fallbacks: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: tuple[str, ...] = ()
    skipped: str = ""
    dropped: tuple[Dropped, ...] = ()
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        of_a_pool = isinstance(self.memories, Pool)
        if not of_a_pool and not _ONLY_CANDIDATES.issuperset(map(type, self.memories)):
            object.__setattr__(self, "memories", candidates(self.memories))

    def fell_back(self, stage: str, *reasons: str | Exception) -> Recall:
        lines = [f"{stage}: {_in_short(reason)}" for reason in reasons]
        return replace(self, fallbacks=(*self.fallbacks, *lines)) if lines else self

    def keep(self, memories: Sequence[Candidate], stage: str, reason: str) -> Recall:
        """A copy with some of its memories; the stage has dropped the others for a reason."""
        if len(memories) == len(self.memories) and all(map(is_, memories, self.memories)):
            return self
        before, staying = ([*map(identity, some)] for some in (self.memories, memories))
        scores = [memory.score for memory in self.memories]
        dropped = left_out(before, scores, staying, stage, reason)
        return replace(self, memories=tuple(memories), dropped=(*self.dropped, *dropped))

    def notes(self) -> dict[str, float | str]:
        lines = {"degraded": self.fallbacks, "usage": self.usage}
        notes = {name: "; ".join(parts) for name, parts in lines.items()}
        if self.evidence is not None:
            notes |= {"evidence": self.evidence.sign, "evidence_about": self.evidence.about}
        return {name: note for name, note in notes.items() if note}

    def at_most(self, k: int | None) -> Recall:
        """A copy with no more than k memories. Candidates from elsewhere do not count, and stay."""
        if k is None or len(self.memories) <= k:
            return self
        joined = [memory for memory in self.memories if memory.noted(JOINED) is not None]
        best = [memory for memory in self.memories if memory.noted(JOINED) is None][:k]
        return self.keep([*best, *joined], "", "cut at k")

    def finished(self, k: int | None = None) -> Recall:
        """A copy with no more than k memories, each with a step about the whole question."""
        recall = self.at_most(k)
        notes, left_out = recall.notes(), recall.left_out()
        if not notes and not left_out:
            return recall
        step = Step(OUTCOME, about=left_out, notes=notes)
        return replace(recall, memories=tuple([m.after(m.score, step) for m in recall.memories]))

    def left_out(self) -> str:
        """The numbers of dropped candidates by reason, such as "3 duplicates, 29 cut at k"."""
        counts: dict[str, int] = {}
        for dropped in self.dropped:
            counts[dropped.reason] = counts.get(dropped.reason, 0) + len(dropped.ids)
        return ", ".join(f"{count} {reason}" for reason, count in counts.items())

    def why_left_out(self, memory_id: str) -> str:
        """Why a stage left a memory out, such as "cut at k"; empty if none did."""
        reasons = (drop.reason for drop in reversed(self.dropped) if memory_id in drop.ids)
        kept = (
            f"duplicate of {other.id}"
            for other in self.memories
            if memory_id in str(other.noted("duplicates")).split(", ")
        )
        return next(kept, next(reasons, ""))

    @property
    def why_nothing(self) -> str:
        """Why the results are held back, and what was nearest; empty where none are."""
        return self.evidence.why if self.evidence and self.evidence.nearest else ""

    def silent(self, stage: str, nearest: Sequence[Candidate]) -> Recall:
        """A copy without memories, as none is about the question; it says what was nearest."""
        evidence = replace(self.evidence or Evidence("none"), nearest=next(iter(nearest), None))
        return replace(self, evidence=evidence).skip(stage, evidence.why)

    def skip(self, stage: str, why: str) -> Recall:
        return replace(self, memories=(), skipped=f"{stage}: {why}")


class Nothing(list[T]):
    """An empty list of results that says why it is empty, and what was nearest."""

    def __init__(self, why: str = "") -> None:
        super().__init__()
        self.why = why


def left_out(
    before: Sequence[str],
    scores: Sequence[float | None],
    staying: Sequence[str],
    stage: str,
    reason: str,
) -> tuple[Dropped, ...]:
    """The candidates that a stage leaves out, by `identity`; empty if all stay."""
    stay = set(staying)
    gone = {name: score for name, score in zip(before, scores, strict=True) if name not in stay}
    return (Dropped(stage, reason, tuple(gone), tuple(gone.values())),) if gone else ()


def _in_short(reason: str | Exception) -> str:
    text = described(reason) if isinstance(reason, Exception) else reason
    # A server may answer with a whole page.
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
