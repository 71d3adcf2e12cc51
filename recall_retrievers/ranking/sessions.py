"""Sessions: turns of one conversation support one another.

People spread a topic over several turns, and a single turn says little about it. If one turn fits a
question, the other turns of its conversation fit more likely than equal turns from elsewhere.

The notes of one person are no conversation: nobody answers anybody (measured: as sessions, they
cost 0.03 to 0.05 Recall@5 on two sets).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter

from recall_retrievers.core.candidate import Candidate

PAUSE = timedelta(hours=1)  # a longer pause ends a session

_TURN_BEFORE = attrgetter("turn_before")


def session_ratios(
    memories: Sequence[Candidate], worth: Sequence[float], share: float
) -> list[float]:
    """The factor of each memory for the other turns of its session; 1 = there are none.

    A turn gains a share of the worth of the best other turn. A candidate that a model has judged
    neither gains nor gives: the model has read the text itself.

    Args:
        memories: The candidates.
        worth: The worth of every candidate by itself, not below 0.
        share: The share of the best other turn's worth that is added.

    Examples:
        >>> from dataclasses import replace
        >>> noon = datetime.fromisoformat("2024-03-05T12:00:00Z")
        >>> times = [noon, noon + timedelta(minutes=5), noon + timedelta(days=1)]
        >>> turn = Candidate(content="Tea.", memory_type="conversation", turn_before="1")
        >>> turns = [replace(turn, created_at=moment) for moment in times]
        >>> session_ratios(turns, [0.8, 0.4, 0.4], 0.25)
        [1.125, 1.5, 1.0]
    """
    ratios = [1.0] * len(memories)
    if not any(map(_TURN_BEFORE, memories)):  # none answers another
        return ratios
    for session in _sessions(memories):
        best, second = sorted((worth[place] for place in session), reverse=True)[:2]
        for place in session:
            if own := worth[place]:
                ratios[place] = 1 + share * (second if own == best else best) / own
    return ratios


def spread_ratios(memories: Sequence[Candidate], worth: Sequence[float]) -> list[float]:
    """The factor of each memory so that those of different hours come first.

    The best memory between two pauses has 1, the second 1/2, the third 1/3.

    Args:
        memories: The candidates.
        worth: The worth of every candidate by itself.

    Examples:
        >>> noon = datetime.fromisoformat("2024-03-05T12:00:00Z")
        >>> notes = [Candidate(content="Tea.", created_at=noon + timedelta(hours=hours))
        ...          for hours in (0, 0.5, 3)]
        >>> spread_ratios(notes, [0.8, 0.9, 0.4])
        [0.5, 1.0, 1.0]
    """
    ratios = [1.0] * len(memories)
    dated = [
        (memory.created_at, place)
        for place, memory in enumerate(memories)
        if memory.created_at is not None
    ]
    for hour in _without_pause(dated):
        hour.sort(key=lambda place: -worth[place])
        for rank, place in enumerate(hour, 1):
            ratios[place] = 1 / rank
    return ratios


def _sessions(memories: Sequence[Candidate]) -> Iterable[list[int]]:
    """The places of the turns of each session: at least two, and one that answers another."""
    by_owner: dict[tuple[str | None, ...], list[tuple[datetime, int]]] = defaultdict(list)
    for place, memory in enumerate(memories):
        if memory.memory_type != "conversation" or memory.created_at is None:
            continue
        for step in memory.steps:
            if step.name == "semantic" or "semantic" in step.notes:
                break
        else:
            owners = tuple(vars(memory.scope).values())  # to hash scopes takes three times as long
            by_owner[owners].append((memory.created_at, place))
    for turns in by_owner.values():
        for session in _without_pause(turns):
            if len(session) > 1 and any(memories[place].turn_before for place in session):
                yield session


def _without_pause(dated: Iterable[tuple[datetime, int]]) -> list[list[int]]:
    """The places of moments in groups; between two groups there is a pause."""
    groups: list[list[int]] = []
    last: datetime | None = None
    for moment, place in sorted(dated):
        if last is None or moment - last >= PAUSE:
            groups.append([])
        groups[-1].append(place)
        last = moment
    return groups
