"""TurnWriter: stores the messages of sessions as turns; what could not be stored is tried again."""

import asyncio
import logging
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recall_retrievers.core.errors import MemoryFormatError, ScopeError, log_failure
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.retriever.call_options import CallOptions, combine_options
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store.conversation import conversation, read_turn

_log = logging.getLogger(__name__)

MOST_WAITING = 1_000
"""How many batches wait at most; then the oldest are given up."""

ScopeOf = Callable[[str], Scope | Mapping[str, str]]
"""The owner of a session, by the id of the session."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """Messages of one session that came at one time."""

    session: str
    messages: Sequence[object]
    time: datetime


class TurnWriter:
    """Stores messages through a retriever, each session in its own scope.

    A short answer that nothing is known ("I don't know.") is not stored: it would be found when the
    same is asked again.

    It never raises. Errors are logged, and a batch that failed waits for the next call.
    """

    def __init__(self, expires_in: timedelta | None = None) -> None:
        self._expires_in = expires_in
        self._waiting: list[_Batch] = []

    async def store(
        self,
        sessions: Mapping[str, Sequence[object]],
        retriever: MemoryRetriever,
        scope_of: ScopeOf | None,
    ) -> None:
        """Store the messages of sessions, and then the batches that wait, until one fails.

        A store that is down is asked once for each new batch, not once for each that waits. A batch
        that fails goes to the end, so that it holds up no other.
        """
        now = retriever.moment(datetime.now(UTC))
        new = [_Batch(session, messages, now) for session, messages in sessions.items()]
        waiting, self._waiting = [*new, *self._waiting], []
        failed: list[_Batch] = []
        handled = 0
        try:
            while waiting and (handled < len(new) or not failed):
                try:
                    await asyncio.to_thread(self._store, waiting[0], retriever, scope_of)
                except Exception as error:  # noqa: BLE001 - an error here would end an agent's run
                    log_failure(_log, "messages could not be stored; they wait for the next", error)
                    failed.append(waiting[0])
                del waiting[0]
                handled += 1
        finally:  # also where the task is cancelled
            self._waiting = [*waiting, *failed, *self._waiting]
        if len(self._waiting) > MOST_WAITING:
            _log.error("the messages that wait have become too many; the oldest are given up")
            del self._waiting[:-MOST_WAITING]

    def _store(self, batch: _Batch, retriever: MemoryRetriever, scope_of: ScopeOf | None) -> None:
        owner: CallOptions = {"scope": session_scope(batch.session, scope_of)}
        session = {"session_id": batch.session} if batch.session else {}
        own = retriever.scoped(combine_options(owner, {"scope": session}))
        turns = conversation(
            [turn for message in batch.messages for turn in _turns(message, own.scope)],
            scope=own.scope,
            now=batch.time,
            stored=own.get,
        )
        if turns:  # a message that comes with its id may have been another session's before
            retriever.scoped(owner).add([self._expiring(turn) for turn in turns])

    def _expiring(self, turn: Memory) -> Memory:
        if self._expires_in is None or turn.created_at is None or turn.expires_at is not None:
            return turn
        return turn.model_copy(update={"expires_at": turn.created_at + self._expires_in})


def session_scope(session: str, scope_of: ScopeOf | None) -> Scope:
    """The scope of a session, which must name somebody; without ``scope_of``, any."""
    if scope_of is None:
        return Scope()
    if not session:
        raise ScopeError("scope_of says whose a session is, and there is no session id here")
    scope = Scope.model_validate(scope_of(session))
    if not scope.fields():
        raise ScopeError(
            f"scope_of must say whose the session {session!r} is, as in "
            '{"user_id": "ann"}; it named nobody'
        )
    return scope


def _turns(message: object, scope: Scope) -> list[Memory]:
    """The message as a turn; empty if it is none, or can never be stored."""
    try:
        turn = read_turn(message, scope)
    except MemoryFormatError as error:  # it would hold up the others of its batch for ever
        log_failure(_log, "a message cannot be stored and is left out", error)
        return []
    return [] if turn is None or says_nothing_known(turn) else [turn]


_LONGEST = 160  # characters of an answer that may say nothing else
_PHRASES = tomllib.loads(Path(__file__).with_name("nothing_known.toml").read_text(encoding="utf-8"))
_BEFORE, _SAYS, _BUT = (
    "|".join(_PHRASES[kind].split("\n")[:-1]) for kind in ("before", "says", "but")
)


def says_nothing_known(turn: Memory) -> bool:
    """Whether a turn is the assistant's, and says no more than that it does not know.

    Examples:
        >>> says_nothing_known(Memory(content="Sorry, I don't know that.", author="assistant"))
        True
        >>> says_nothing_known(Memory(content="Not sure, but call Tom.", author="assistant"))
        False
    """
    said = turn.content.lower().replace("\u2019", "'")
    if turn.author != "assistant" or len(said) > _LONGEST:
        return False
    opening = re.match(f"(?:(?:{_BEFORE})[\\s,.:!，。、]*)*(?:{_SAYS})", said)
    return opening is not None and re.search(_BUT, said[opening.end() :]) is None
