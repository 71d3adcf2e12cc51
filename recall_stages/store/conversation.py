"""A conversation as memories: each turn knows what was said before it.

A turn alone is often no answer that words could find: "Yes, three of them." So the end of the turn
before it is kept beside its text, in its row, where a keyword index that is built anew finds it
too. It is searched by words only (it blurs the vector) and is part of no text that is returned.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from recall_stages.core.errors import MemoryFormatError, StoreError
from recall_stages.core.memory import Memory, Scope
from recall_stages.ranking.sessions import PAUSE
from recall_stages.store.chroma.search_text import index_text
from recall_stages.store.message_memory import read_turn
from recall_stages.text.split_words import CJK

# Words of the turn before. Measured on LoCoMo and BEAM together: with 10 fewer turns are found; so
# they are with the whole turn, where that is a long reply.
_KEPT = 20
_STEP = timedelta(milliseconds=1)  # between turns of one time, so that their order stays
_WORD = re.compile(rf"[{CJK}]{{1,2}}|[^\s{CJK}]+")  # two Chinese characters count as a word

Stored = Callable[[Sequence[str]], list[Memory]]
"""What gives the memories with some ids that are stored already."""


def conversation(  # noqa: PLR0913 - all that a turn's place in time and in the store depends on
    messages: Iterable[object],
    *,
    scope: Scope,
    created_at: datetime | None,
    now: datetime,
    turn_before: str,
    stored: Stored,
) -> list[Memory]:
    """The turns of a conversation as memories that can be stored, the oldest first.

    Args:
        messages: What was said, the oldest first; see `read_turn`.
        scope: Whose conversation it is.
        created_at: When it took place, for messages that do not say.
        now: The time of messages of which nobody says it, and which are not stored yet.
        turn_before: The id of the turn before the first of them; empty = there is none.
        stored: What gives the turns that are stored already.

    Raises:
        MemoryFormatError: When a message is none.
        StoreError: When there is no turn with the id ``turn_before``.
    """
    if isinstance(messages, str | Mapping | Memory) or hasattr(messages, "content"):
        raise MemoryFormatError(
            f"expected a list of messages; got one {type(messages).__name__}: put it in a list"
        )
    read = (read_turn(message, scope) for message in messages)
    turns = named([turn for turn in read if turn is not None], created_at)
    before = stored([turn_before]) if turn_before else []
    if turn_before and not before:
        raise StoreError(
            f"turn_before names {turn_before!r}, which is not stored; give the last id that "
            "add_conversation returned, or leave it out"
        )
    return _linked(_dated(turns, created_at, now, stored), before[0] if before else None)


def named(turns: Sequence[Memory], created_at: datetime | None) -> list[Memory]:
    """Turns, each with an id made of what was said: storing it again stores nothing twice."""
    said: Counter[tuple[str, ...]] = Counter()
    named = []
    for turn in turns:
        if turn.id:
            named.append(turn)
            continue
        moment = turn.created_at or created_at
        when = str(moment.timestamp()) if moment else ""
        key = (*map(str, turn.scope.fields().items()), when, turn.author, turn.content)
        said[key] += 1  # "OK" may be said twice
        digest = hashlib.sha256(repr((key, said[key])).encode("utf-8", "replace")).hexdigest()
        named.append(turn.model_copy(update={"id": digest[:24]}))
    return named


def _dated(
    turns: Sequence[Memory], created_at: datetime | None, now: datetime, stored: Stored
) -> list[Memory]:
    """Each with a time; where nobody says it, turns that are stored keep theirs."""
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
    linked = []
    for turn in turns:
        if before is not None and _goes_on(before, turn):
            said = {"said_before": _end_of(index_text(before)), "turn_before": before.id}
            linked.append(turn.model_copy(update=said))
        else:
            linked.append(turn)
        before = turn
    return linked


def _goes_on(before: Memory, turn: Memory) -> bool:
    if before.created_at is None or turn.created_at is None or before.scope != turn.scope:
        return False
    return abs(turn.created_at - before.created_at) < PAUSE


def _end_of(text: str) -> str:
    words = list(_WORD.finditer(text))
    return text[words[-_KEPT].start() :] if len(words) > _KEPT else text
