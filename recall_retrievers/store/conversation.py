"""A conversation as memories: each turn is linked to what somebody else said before it.

The words of a question often miss a turn such as "Yes, three of them." So the row of a turn also
holds the end of the turn that it answers: the last one of another speaker. Keyword search reads it,
and by its id finds the other turns around the turn (`rows.turns`). It is not embedded,
because it blurs the vector, and it is part of no text that is returned.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from recall_retrievers.core.errors import MemoryFormatError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.message import read_message
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings_messages import got
from recall_retrievers.ranking.ratios import PAUSE
from recall_retrievers.store.chroma.rows import filled_in
from recall_retrievers.store.chroma.search_text import ending, index_text
from recall_retrievers.text.follow_ups import adds_nothing
from recall_retrievers.timeline import parse_time

_AUTHORS = {"human": "user", "ai": "assistant", "chatbot": "assistant", "model": "assistant"}
NO_TURNS = frozenset({"system", "developer", "tool", "function", "remove"})
"""Roles whose messages are no turns: instructions, calls and results of tools."""

_STEP = timedelta(milliseconds=1)  # between turns of one time, so that their order stays

Stored = Callable[[Sequence[str]], list[Memory]]
"""A function that returns the stored memories with some ids."""


def conversation(  # noqa: PLR0913 - all that a turn's place in time and in the store depends on
    messages: Iterable[object],
    *,
    scope: Scope,
    now: datetime,
    stored: Stored,
    created_at: datetime | None = None,
    turn_before: str = "",
) -> list[Memory]:
    """The turns of a conversation as memories that can be stored; see `Store.add_conversation`.

    New messages without a time are of ``now`` if ``created_at`` is None, too.
    """
    if isinstance(messages, str | Mapping | Memory) or hasattr(messages, "content"):
        raise MemoryFormatError(
            f"expected a list of messages; got one {type(messages).__name__}: put it in a list"
        )
    read = (read_turn(message, scope) for message in messages)
    turns = named([*without_courtesies(filter(None, read))], created_at)
    before = stored([turn_before]) if turn_before else []
    if turn_before and not before:
        raise StoreError(
            f"turn_before names {got(turn_before)}, which is not stored; give the last id that "
            "add_conversation returned, or leave it out"
        )
    return _linked(_dated(turns, created_at, now, stored), before[0] if before else None)


def without_courtesies(turns: Iterable[Memory]) -> Iterator[Memory]:
    """The turns without "ok" and "Thanks!"; "Yes." stays where it answers a question."""
    before = ""
    for turn in turns:
        if not adds_nothing(turn.content, before):
            yield turn
        before = turn.content


def named(turns: Sequence[Memory], created_at: datetime | None) -> list[Memory]:
    """Turns with an id made of their content, so that storing them again stores nothing twice."""
    counts: Counter[tuple[str, ...]] = Counter()

    def id_of(turn: Memory) -> str:
        moment = turn.created_at or created_at
        when = str(moment.timestamp()) if moment else ""
        key = (*map(str, turn.scope.fields().items()), when, turn.author, turn.content)
        counts[key] += 1  # "OK" may come twice
        return hashlib.sha256(repr((key, counts[key])).encode("utf-8", "replace")).hexdigest()[:24]

    return [turn if turn.id else turn.model_copy(update={"id": id_of(turn)}) for turn in turns]


def _dated(
    turns: Sequence[Memory], created_at: datetime | None, now: datetime, stored: Stored
) -> list[Memory]:
    """Turns with a time; without one in the message, a stored turn keeps its time."""
    undated = [turn.id for turn in turns if turn.created_at is None and created_at is None]
    known = {turn.id: turn.created_at for turn in (stored(undated) if undated else ())}
    moment = created_at or now
    dated = []
    for turn in turns:
        when = turn.created_at or known.get(turn.id)
        if when is None:
            when, moment = moment, moment + _STEP
        dated.append(turn.model_copy(update={"created_at": when}))
    return dated


def _linked(turns: Sequence[Memory], before: Memory | None) -> list[Memory]:
    linked: list[Memory] = []
    for turn in turns:
        links: dict[str, str] = {}
        if before is not None and _goes_on(before, turn):
            # Several turns of one speaker answer the same turn; notes of one person answer none.
            said, answered = before.said_before, before.turn_before
            if not turn.author or turn.author != before.author:
                said, answered = ending(index_text(before)), before.id
            links = {"said_before": said, "turn_before": answered}
        before = turn.model_copy(update=links)
        linked.append(before)
    return linked


def _goes_on(before: Memory, turn: Memory) -> bool:
    if before.created_at is None or turn.created_at is None or before.scope != turn.scope:
        return False
    moment, unnamed = turn.created_at, not (turn.author or before.author)
    # Notes of one day have a date without a clock time, which is midnight somewhere.
    is_day = moment.minute % 15 == moment.second == moment.microsecond == 0
    notes = unnamed and is_day and moment == before.created_at
    return not notes and abs(moment - before.created_at) < PAUSE


def read_turn(message: object, scope: Scope) -> Memory | None:
    """A message as a memory of the type "conversation"; it is not linked to the turn before it.

    None for a message that is no turn: instructions of the system, calls and results of tools, and
    messages without text. Its ``created_at`` may be None. A `Memory` keeps its own scope, too.

    Examples:
        >>> read_turn({"role": "user", "content": "I moved to Elm Street."}, Scope()).author
        'user'
    """
    if isinstance(message, Memory):
        return filled_in(message, scope)
    try:
        turn = read_message(message)
        role = turn.role.lower()
        if role in NO_TURNS or not turn.content:
            return None
        return Memory(
            content=turn.content,
            id=turn.id,
            memory_type="conversation",
            created_at=turn.sent_at and parse_time(turn.sent_at, name="created_at"),
            author=turn.name or _speaker(role),
            scope=scope,
        )
    except (TypeError, ValueError) as error:
        raise MemoryFormatError(f"not a message that can be stored: {error}") from error


def _speaker(role: str) -> str:
    if not role:
        raise ValueError("it has neither a role nor a name")
    return _AUTHORS.get(role, role)
