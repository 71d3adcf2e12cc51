"""Sessions: turns of one conversation support one another.

People spread a topic over several turns, and a single turn says little about it. If one turn fits a
question, the other turns of its conversation fit more likely than equal turns from elsewhere.

The notes of one person are no conversation: nobody answers anybody (measured: as sessions, they
cost 0.03 to 0.05 Recall@5 on two sets).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta

from recall_retrievers.core.pool import Facts

PAUSE = timedelta(hours=1)  # a longer pause ends a session


def session_ratios(
    facts: Facts, worth: Sequence[float], share: float, judged: Container[int] = ()
) -> list[float]:
    """The factor of each memory for the other turns of its session; 1 = there are none.

    A turn gains a share of the worth of the best other turn. A candidate that a model has judged
    neither gains nor gives: the model has read the text itself.

    Args:
        facts: The candidates.
        worth: The worth of every candidate by itself, not below 0.
        share: The share of the best other turn's worth that is added.
        judged: The places of candidates that a model has judged.

    Examples:
        >>> from dataclasses import replace
        >>> from recall_retrievers.core.candidate import Candidate
        >>> from recall_retrievers.core.pool import facts_of
        >>> noon = datetime.fromisoformat("2024-03-05T12:00:00Z")
        >>> times = [noon, noon + timedelta(minutes=5), noon + timedelta(days=1)]
        >>> turn = Candidate(content="Tea.", memory_type="conversation", turn_before="1")
        >>> turns = [replace(turn, created_at=moment) for moment in times]
        >>> session_ratios(facts_of(turns), [0.8, 0.4, 0.4], 0.25)
        [1.125, 1.5, 1.0]
    """
    ratios = [1.0] * len(facts)
    if not any(facts.turns_before):  # none answers another
        return ratios
    for session in _sessions(facts, judged):
        best, second = sorted((worth[place] for place in session), reverse=True)[:2]
        for place in session:
            if own := worth[place]:
                ratios[place] = 1 + share * (second if own == best else best) / own
    return ratios


def spread_ratios(facts: Facts, worth: Sequence[float]) -> list[float]:
    """The factor of each memory so that those of different hours come first.

    The best memory between two pauses has 1, the second 1/2, the third 1/3.

    Args:
        facts: The candidates.
        worth: The worth of every candidate by itself.

    Examples:
        >>> from recall_retrievers.core.candidate import Candidate
        >>> from recall_retrievers.core.pool import facts_of
        >>> noon = datetime.fromisoformat("2024-03-05T12:00:00Z")
        >>> notes = [Candidate(content="Tea.", created_at=noon + timedelta(hours=hours))
        ...          for hours in (0, 0.5, 3)]
        >>> spread_ratios(facts_of(notes), [0.8, 0.9, 0.4])
        [0.5, 1.0, 1.0]
    """
    ratios = [1.0] * len(facts)
    dated = [(moment, place) for place, moment in enumerate(facts.created) if moment is not None]
    for hour in _without_pause(dated):
        hour.sort(key=lambda place: -worth[place])
        for rank, place in enumerate(hour, 1):
            ratios[place] = 1 / rank
    return ratios


def _sessions(facts: Facts, judged: Container[int]) -> Iterable[list[int]]:
    """The places of the turns of each session: at least two, and one that answers another."""
    by_owner: dict[tuple[object, ...], list[tuple[datetime, int]]] = defaultdict(list)
    for place, moment in enumerate(facts.created):
        is_turn = facts.memory_types[place] == "conversation" and place not in judged
        if is_turn and moment is not None:
            by_owner[facts.owners[place]].append((moment, place))
    for turns in by_owner.values():
        for session in _without_pause(turns):
            if len(session) > 1 and any(facts.turns_before[place] for place in session):
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
