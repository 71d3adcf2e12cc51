"""Candidate: a memory under consideration, and the steps by which it got its score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Literal, NamedTuple, Self

from recall_retrievers.core.memory import Dated, Memory, MetadataValue, UnreadEvents
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.text.words import Wording
from recall_retrievers.timeline import TimeRange

Change = Literal["add", "times", "divide", "set", "note"]
Note = float | str

_MEASURES = {"similarity": "similarity", "nearness": "nearness", "keyword": "BM25"}


class Step(NamedTuple):  # a question makes two hundred; a frozen dataclass takes ten times as long
    """The effect of a stage on the score of a candidate."""

    stage: str
    change: Change = "note"  # a note leaves the score alone
    value: float = 0.0
    after: float | None = None  # the score; None if there is none
    name: str = ""  # of the value in flat metadata; empty = it has none
    about: str = ""  # the meaning of the value in words, such as "insight"
    notes: Mapping[str, Note] = {}  # further values for flat metadata; never written to
    ranges: tuple[TimeRange, ...] = ()  # the times that the question names, of `ExtractTime`

    @property
    def label(self) -> str:
        """The step in words, such as "x 2 insight"."""
        by = f"by {self.stage}" if self.change == "set" and self.stage else ""
        about = f" {self.about or by}" if self.about or by else ""
        measured = [
            f"{shown} {value:.3f}"
            for name, shown in _MEASURES.items()
            if isinstance(value := self.notes.get(name), float)
        ]
        about += f" ({', '.join(measured)})" if measured else ""
        if self.change in ("times", "divide"):
            return f"{'x' if self.change == 'times' else '/'} {self.value:.4g}{about}"
        return f"{self.value:.3f}{about}"


@dataclass(frozen=True)
class Candidate(Dated):
    """A memory under consideration: its stored fields, its score, and the steps to that score.

    The first fields are the fields of `Memory`. A candidate never changes: a stage makes a new one.

    Attributes:
        score: How well it answers the question; higher is better. None before a search.
        steps: The effects of the stages on the score, in order.
        source: The framework's object that it was read from. Stages never look at it.
        wording: The words of its content. All copies share it, so a text is split once.

    Examples:
        >>> tea = Candidate(content="Tea at four.").scored(0.5, similarity=0.5)
        >>> tea.score, tea.trace
        (0.5, {'similarity': 0.5})
    """

    content: str
    id: str = ""
    memory_type: str = "observation"
    created_at: datetime | None = None
    events: tuple[TimeRange, ...] = ()
    when_to_use: str = ""
    author: str = ""
    said_before: str = ""
    turn_before: str = ""
    scope: Scope = ANYBODY
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    quality: float | None = None
    expires_at: datetime | None = None
    superseded_by: str = ""
    superseded_at: datetime | None = None
    score: float | None = None
    steps: tuple[Step, ...] = ()
    source: object = field(default=None, repr=False)
    wording: Wording = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wording", Wording(self.content))

    @classmethod
    def of(cls, memory: Memory, score: float | None = None) -> Self:
        return cls(**dict(zip(_STORED, _stored(memory), strict=True)), score=score)

    def memory(self, *, events_known: bool = True) -> Memory:
        """The stored fields as a `Memory`, without another validation.

        If its events are not known, and there are none, the store reads them from the text.
        """
        values = dict(zip(_STORED, _stored(self), strict=True))
        values["metadata"] = copied(self.metadata)
        if not events_known and not self.events:
            values["events"] = UnreadEvents()
        return Memory.model_construct(**values)

    def scored(self, score: float, *, by: str = "", **notes: Note) -> Self:
        """A copy with a new score.

        Args:
            score: The score; higher is better.
            by: The source of the score. A function in a retriever's stages may leave it out.
            **notes: Values that explain the score. They are in the metadata of the result, with
                ``recall_`` before each name.
        """
        return self.after(score, Step(by, "set", score, score, notes=notes))

    def after(self, score: float | None, *steps: Step) -> Self:
        """A copy with this score, after further steps."""
        # A question does this sixty times, and `replace` takes four times as long.
        later = object.__new__(type(self))
        values = vars(self).copy()
        values["score"], values["steps"] = score, self.steps + steps
        object.__setattr__(later, "__dict__", values)
        return later

    def noted(self, name: str) -> Note | None:
        """The latest value with this name in the steps; None if there is none."""
        for step in reversed(self.steps):
            if step.name == name:
                return step.value
            if name in step.notes:
                return step.notes[name]
        return None

    @property
    def trace(self) -> dict[str, Note]:
        """The values and notes of all steps, by name; of two with one name, the later one."""
        trace: dict[str, Note] = {}
        for step in self.steps:
            if step.name:
                trace[step.name] = step.value
            if step.notes:
                trace.update(step.notes)
        return trace


_OWN = frozenset({"score", "steps", "source", "wording"})
_STORED = tuple(own.name for own in fields(Candidate) if own.name not in _OWN)
_stored = attrgetter(*_STORED)


class Hit(NamedTuple):
    """One answer of a store to a search: a memory and its score; higher is better.

    ``measures`` has ``similarity``, ``keyword`` (BM25) or ``nearness``, with which no threshold can
    be compared. Empty = the score is the similarity or the BM25 score, as the search was made.
    """

    memory: Candidate
    score: float
    measures: Mapping[str, float] = {}  # never written to

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def content(self) -> str:
        return self.memory.content


class Hits(list[Hit]):
    """The hits of a search, best first.

    Where too few of the memories fitted the search, ``looked_through`` is the number of memories
    that the store checked before it stopped; None = it left nothing unchecked.
    """

    looked_through: int | None = None


def identity(memory: Candidate) -> str:
    """The name of a memory that stays the same in all stages: its id, else its text."""
    return memory.id or memory.content


def copied(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    """A copy of metadata that the caller may change: all questions share the original."""
    return {k: [*value] if isinstance(value, list) else value for k, value in metadata.items()}


def candidates(memories: Sequence[Candidate | Memory]) -> tuple[Candidate, ...]:
    return tuple([x if isinstance(x, Candidate) else Candidate.of(x) for x in memories])
