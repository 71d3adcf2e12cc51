"""What searches find, as columns: candidates are made where somebody looks at them.

A question compares some hundred memories and returns ten. So a search returns an `Arm`: keys and
scores. Ranking reads `Facts` of the memories. A `Pool` makes its candidates at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from math import isnan
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit, Hits, identity
from recall_retrievers.core.memory import TimeMatch
from recall_retrievers.timeline import TimeRange

T = TypeVar("T")

Keys = NDArray[np.intp]  # memories, as numbers that only their source can read
Scores = NDArray[np.float64]
Finish = Callable[[int, Candidate], Candidate]  # at its place, with its score and its steps


class Made(Sequence[T]):
    """A list that is made as a whole where somebody looks at a part of it."""

    __slots__ = ()

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]


class WordsInScope(NamedTuple):
    lacking: frozenset[str]  # the words that none of them has
    rarity: float  # of all words together, as BM25 weighs them


@dataclass(frozen=True, slots=True, eq=False)
class Arm(Made[Hit]):
    """The hits of a search, best first, as columns; a hit is made where somebody looks at it.

    The columns are those of `Hit` and `Hits`. A measurement that is not there is not a number.
    """

    source: Found
    keys: Keys
    scores: Scores
    measures: Mapping[str, Scores] = field(default_factory=dict)
    looked_through: int | None = None
    words: WordsInScope | None = None  # None = not asked for, or not known

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Hit]:
        hits = [
            Hit(memory, float(self.scores[n]), measures_at(self.measures, n))
            for n, memory in enumerate(self.source.candidates(self.keys))
            if memory is not None
        ]
        if len({hit.score for hit in hits}) < len(hits):
            # Equal scores are sorted by id: the order of storing differs between processes. A score
            # of 0 may be a negative cosine, and these are in order.
            hits.sort(key=lambda hit: (-hit.score, hit.id if hit.score else ""))
        return iter(hits)


def measures_at(measures: Mapping[str, Scores], place: int) -> dict[str, float]:
    """The measurements of one memory, without those that are not there."""
    values = {name: float(column[place]) for name, column in measures.items()}
    return {name: value for name, value in values.items() if not isnan(value)}


class Found:
    """Where arms read their memories; here they are at hand.

    Keys are places in a list, or below 0 for memories of arms.
    """

    def __init__(self, memories: Sequence[Candidate] = ()) -> None:
        self.memories = dict(enumerate(memories))
        self._keys: dict[str, int] = {}

    def arm(self, hits: Sequence[Hit]) -> Arm:
        """The hits of a search as an arm, which reads its memories here."""
        keys = self.keys([hit.memory.id for hit in hits])
        self.memories |= zip(keys, [hit.memory for hit in hits], strict=True)
        names = dict.fromkeys(name for hit in hits for name in hit.measures)
        return Arm(
            self,
            np.array(keys, dtype=np.intp),
            np.array([hit.score for hit in hits], dtype=np.float64),
            {name: np.array([hit.measures.get(name, np.nan) for hit in hits]) for name in names},
            hits.looked_through if isinstance(hits, Hits) else None,
        )

    def keys(self, ids: Sequence[str]) -> list[int]:
        return [self._keys.setdefault(row_id, -1 - len(self._keys)) for row_id in ids]

    def candidates(self, keys: Keys) -> Sequence[Candidate | None]:
        """The memories; None where one is gone."""
        return [self.memories.get(key) for key in keys.tolist()]

    def at_hand(self, keys: Keys) -> Sequence[Candidate]:
        """The memories; empty where they would have to be read."""
        return [self.memories[key] for key in keys.tolist()]

    def facts(self, keys: Keys) -> Facts:
        """The facts, sorted by id, without memories that are gone."""
        known = zip(self.candidates(keys), keys.tolist(), strict=True)
        there = sorted([(x.id, key, x) for x, key in known if x is not None])
        memories, sorted_keys = [x for *_, x in there], [key for _, key, _ in there]
        return replace(facts_of(memories), source=self, keys=np.array(sorted_keys, dtype=np.intp))


def arms_of(answers: Sequence[Sequence[Hit]]) -> list[Arm]:
    arms = [hits for hits in answers if isinstance(hits, Arm)]
    if len(arms) == len(answers) and len({id(arm.source) for arm in arms}) <= 1:
        return arms
    found = Found()
    return [found.arm(hits if isinstance(hits, list) else [*hits]) for hits in answers]


def keys_of(arms: Sequence[Arm]) -> Keys:
    return np.unique(np.concatenate([np.empty(0, np.intp), *(arm.keys for arm in arms)]))


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What ranking reads of memories, each as a column."""

    source: Found
    keys: Keys
    ids: Sequence[str]
    turns_before: Sequence[str]  # the id of the turn that each answers
    memory_types: Sequence[str]
    authors: Sequence[str]
    owners: Sequence[tuple[Hashable, ...]]  # the user, the agent, the session, the workspace
    created: Sequence[datetime | None]
    with_events: Sequence[bool]  # whether their text names a time
    profiles: NDArray[np.uint8] | None = None  # see `Wording.profile`; None = not known

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, places: Sequence[int]) -> Facts:
        order = [*places]
        columns = {column.name: getattr(self, column.name) for column in fields(self)[1:]}
        return replace(self, **{name: _part(column, order) for name, column in columns.items()})

    def candidates(self, places: Sequence[int]) -> Sequence[Candidate | None]:
        return self.source.candidates(self.keys[[*places]])

    def matches(self, ranges: Sequence[TimeRange]) -> list[list[TimeMatch | None]]:
        """Which time of each memory lies in each of the ranges; see `Dated.matches`."""
        dated = [n for n, events in enumerate(self.with_events) if events] if ranges else []
        events = dict(zip(dated, self.candidates(dated), strict=True))
        return [
            [known.matches(named) for named in ranges]
            if (known := events.get(n)) is not None
            else ["recorded" if moment and named.contains(moment) else None for named in ranges]
            for n, moment in enumerate(self.created)
        ]


def facts_of(memories: Sequence[Candidate]) -> Facts:
    return Facts(
        Found(memories),
        np.arange(len(memories)),
        [memory.id for memory in memories],
        [memory.turn_before for memory in memories],
        [memory.memory_type for memory in memories],
        [memory.author for memory in memories],
        # To hash scopes takes three times as long.
        [tuple(vars(memory.scope).values()) for memory in memories],
        [memory.created_at for memory in memories],
        [bool(memory.events) for memory in memories],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Pool(Made[Candidate]):
    """Candidates, best first, that `finish` makes of memories where somebody looks at them."""

    facts: Facts
    scores: Sequence[float | None]
    finish: Finish
    measures: Mapping[str, Scores] = field(default_factory=dict)

    @classmethod
    def of(cls, memories: Sequence[Candidate]) -> Self:
        scores = [memory.score for memory in memories]
        return cls(facts_of(memories), scores, lambda _, memory: memory)

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.made())

    @property
    def seen(self) -> Sequence[Candidate]:
        """The candidates where they are at hand, with earlier steps; else none have any."""
        return self.facts.source.at_hand(self.facts.keys)

    def at(self, places: Sequence[int]) -> Pool:
        finish = self.finish
        return Pool(
            self.facts.at(places),
            [self.scores[place] for place in places],
            lambda place, memory: finish(places[place], memory),
            {name: values[[*places]] for name, values in self.measures.items()},
        )

    def then(self, scores: Sequence[float | None], finish: Finish) -> Pool:
        """The candidates with new scores, and with what else is then done to each."""
        first = self.finish
        return replace(
            self, scores=scores, finish=lambda place, memory: finish(place, first(place, memory))
        )

    def names(self) -> list[str]:
        return [*self.facts.ids] if all(self.facts.ids) else [*map(identity, self)]

    def made(self) -> tuple[Candidate, ...]:
        """The candidates themselves, without those that were deleted meanwhile."""
        memories = self.facts.candidates(range(len(self)))
        return tuple(
            self.finish(place, memory)
            for place, memory in enumerate(memories)
            if memory is not None
        )


def _part(column: Sequence[object] | NDArray[Any] | None, places: list[int]) -> Any:
    if column is None or isinstance(column, np.ndarray):
        return None if column is None else column[places]
    return [column[place] for place in places]
