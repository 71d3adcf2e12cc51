"""Which memories were said in one conversation, and what they say for one another.

People speak of a thing in several turns, each of which alone says little of it: where one turn
answers a question, the others of that conversation are likelier to than equal ones from elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from recall_stages.core.candidate import Candidate

PAUSE = timedelta(hours=1)  # after a longer one, a turn is not about the one before it


def session_ratios(
    memories: Sequence[Candidate], worth: Sequence[float], share: float
) -> list[float]:
    """How much each memory counts for what else was said in its session; 1 = nothing was.

    A turn gains a share of what the best of the other turns is worth. What a model has judged
    neither gains nor gives: the model has read the text itself.

    Args:
        memories: The candidates.
        worth: What each is worth for itself, not below 0.
        share: How much of the best other turn's worth counts.

    Examples:
        >>> from dataclasses import replace
        >>> noon = datetime.fromisoformat("2024-03-05T12:00:00Z")
        >>> times = [noon, noon + timedelta(minutes=5), noon + timedelta(days=1)]
        >>> turn = Candidate(content="Tea.", memory_type="conversation")
        >>> turns = [replace(turn, created_at=moment) for moment in times]
        >>> session_ratios(turns, [0.8, 0.4, 0.4], 0.25)
        [1.125, 1.5, 1.0]
    """
    ratios = [1.0] * len(memories)
    for session in _sessions(memories):
        best, second = sorted((worth[place] for place in session), reverse=True)[:2]
        for place in session:
            if own := worth[place]:
                ratios[place] = 1 + share * (second if own == best else best) / own
    return ratios


def _sessions(memories: Sequence[Candidate]) -> Iterable[list[int]]:
    """The places of those said together, two at the least; only turns are said, not notes."""
    told: dict[tuple[str | None, ...], list[tuple[datetime, int]]] = defaultdict(list)
    for place, memory in enumerate(memories):
        if memory.memory_type != "conversation" or memory.created_at is None:
            continue
        for step in memory.steps:
            if step.name == "semantic" or "semantic" in step.notes:
                break
        else:
            owners = tuple(vars(memory.scope).values())  # to hash scopes takes three times as long
            told[owners].append((memory.created_at, place))
    for turns in told.values():
        turns.sort()
        sessions: list[list[int]] = []
        last: datetime | None = None
        for said_at, place in turns:
            if last is None or said_at - last >= PAUSE:
                sessions.append([])
            sessions[-1].append(place)
            last = said_at
        yield from (session for session in sessions if len(session) > 1)
