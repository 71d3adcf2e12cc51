"""RecallMemoryBlock: what an agent's memory holds beyond the messages that still fit.

LlamaIndex's own vector block keeps the first session's filter for all that follow and hands one
user's memories to the next; this one asks a retriever, whose scope no call can widen.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock, Memory
from pydantic import ConfigDict, Field, PrivateAttr

from llamaindex_recall._convert import to_memory
from llamaindex_recall.retriever import RecallRetriever
from recall_stages.agents.agent_prompt import recalled_text
from recall_stages.core import memory as nouns
from recall_stages.core.errors import MemoryFormatError, ScopeError
from recall_stages.core.settings import Settings
from recall_stages.retriever.memory_retriever import CallOptions, laid_over
from recall_stages.store.conversation import conversation
from recall_stages.store.message_memory import read_turn
from recall_stages.text.tokens import token_counter

_log = logging.getLogger(__name__)

_LAST_FENCE = "\n<memory "
_ANSWERS = 100  # that are kept for agents that read them again
_WAITING = 1_000  # batches of messages that wait to be stored


class _Batch(NamedTuple):
    """Messages of one session that were handed over at once, and when."""

    session: str
    messages: Sequence[ChatMessage]
    handed_over: datetime


class RecallMemoryBlock(Settings, BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory` that recalls and keeps memories in a collection.

    It recalls: the retriever searches for the last message of the user, once for each message. The
    memories come back as quoted material. It stores: messages that no longer fit into the memory,
    as turns of a conversation (see `RecallStore.add_conversation`). ``await block.aflush(memory)``
    at the end of a session stores the rest. An error here never ends an agent's run. It is logged,
    and messages that could not be stored are tried again with the next ones.

    The scope is the retriever's ``scope``. One block can serve several users if ``scope_of`` says
    whose a session is. Else each user needs a retriever and a block. The time of a message is its
    ``additional_kwargs["timestamp"]``, or else the clock.

    Args:
        retriever: The retriever that searches and stores.
        scope_of: Whose a session is, by its id: ``lambda session: {"user_id": users[session]}``.
            It narrows the retriever's scope. If it raises, or names nobody (None, ``{}``, an empty
            id), nothing is recalled or stored, and that is logged. None = the retriever's scope
            holds for every session.
        by_session: Recall only memories of the same session. Without a session id nothing is
            recalled.
        priority: What happens when the memory is over its limit. 0 = never cut, else the lowest
            ranked memories are left out first.

    Examples:
        >>> import asyncio
        >>> from llama_index.core.memory import Memory
        >>> from llamaindex_recall import RecallMemoryBlock, RecallRetriever, RecallStore
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes green tea."])
        >>> block = RecallMemoryBlock(retriever=RecallRetriever(store=store))
        >>> memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        >>> seen = asyncio.run(memory.aget(input="What does Anna drink?"))
        >>> "Anna likes green tea." in str(seen[0].content)
        True
        >>> store.close()
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    name: str = "recall"
    description: str | None = "Memories of earlier conversations."
    priority: int = 1
    retriever: RecallRetriever = Field(repr=False)
    scope_of: Callable[[str], nouns.Scope | Mapping[str, str]] | None = None
    by_session: bool = False
    _answers: dict[str, str] = PrivateAttr(default_factory=dict)
    _waiting: list[_Batch] = PrivateAttr(default_factory=list)

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **options: Any,
    ) -> str:
        spoken = [each for each in messages or [] if each.role == MessageRole.USER]
        question = (spoken[-1].content or "").strip() if spoken else ""
        if not question:
            return ""
        try:
            call = self._call(session_id or "", options)
            # An agent reads its memory after every round of tools; the question is still the same.
            # Within an hour, that is: tomorrow "yesterday" is another day.
            asked = f"{datetime.now(UTC):%Y-%m-%d %H} {call!r} {question}"
            if asked not in self._answers:
                found = await self.retriever.aretrieve(question, **call)
                if len(self._answers) >= _ANSWERS:
                    self._answers.clear()
                self._answers[asked] = recalled_text([to_memory(node) for node in found])
            return self._answers[asked]
        except Exception:  # noqa: BLE001 - what leaves a block aborts the agent's run
            _log.exception("the memories could not be asked; the agent goes on without")
            return ""

    def _call(self, session: str, options: dict[str, Any]) -> CallOptions:
        known = CallOptions.__annotations__
        call: CallOptions = {k: v for k, v in options.items() if k in known}  # type: ignore[assignment]  # the keys were looked up
        around: CallOptions = {"scope": self._whose(session)}
        call = laid_over(around, call)
        if self.by_session:
            call = laid_over(call, {"scope": {"session_id": session}})
        return call

    def _whose(self, session: str) -> nouns.Scope:
        if self.scope_of is None:
            return nouns.Scope()
        if not session:
            raise ScopeError("scope_of says whose a session is, and there is no session id here")
        scope = nouns.Scope.model_validate(self.scope_of(session))
        if not scope.fields():
            raise ScopeError(
                f"scope_of must say whose the session {session!r} is, as in "
                '{"user_id": "ann"}; it named nobody'
            )
        return scope

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str, list[ChatMessage]] = defaultdict(list)
        for message in messages:
            by_session[str(message.additional_kwargs.get("session_id") or "")].append(message)
        await self._keep(by_session)

    async def aflush(self, memory: Memory) -> None:
        """Keep what the memory still holds: call it when a session ends. Twice is once."""
        try:
            await self._keep({memory.session_id: await memory.aget_all()})
        except Exception:  # noqa: BLE001 - as above
            _log.exception("the messages of the session could not be read; they are not kept")

    async def _keep(self, messages: Mapping[str, Sequence[ChatMessage]]) -> None:
        """Store these messages, each session's for itself; then those that wait, till one fails.

        So a store that is down is not asked again and again for all that wait; and what fails goes
        to the end, where it holds up no other.
        """
        now = self.retriever.moment(datetime.now(UTC))
        new = [_Batch(*each, now) for each in messages.items()]
        waiting, self._waiting = [*new, *self._waiting], []
        failed: list[_Batch] = []
        handled = 0
        try:
            while waiting and (handled < len(new) or not failed):
                try:
                    await asyncio.to_thread(self._store, waiting[0])
                except Exception:  # noqa: BLE001 - as above
                    _log.exception("messages could not be stored; they wait for the next")
                    failed.append(waiting[0])
                del waiting[0]
                handled += 1
        finally:  # also where the task is cancelled
            self._waiting = [*waiting, *failed, *self._waiting]
        if len(self._waiting) > _WAITING:
            _log.error("the messages that wait have become too many; the oldest are given up")
            del self._waiting[:-_WAITING]
        self._answers.clear()  # what was stored may answer better

    def _store(self, batch: _Batch) -> None:
        whose: CallOptions = {"scope": self._whose(batch.session)}
        session = {"session_id": batch.session} if batch.session else {}
        known = self.retriever.scoped(laid_over(whose, {"scope": session}))
        turns = conversation(
            [turn for message in batch.messages for turn in _turns(message, known.scope)],
            scope=known.scope,
            created_at=None,
            now=batch.handed_over,
            turn_before="",
            stored=known.get,
        )
        if turns:  # a message that comes with its id may have been another session's before
            self.retriever.scoped(whose).add(turns)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the lowest ranked memories until it is short enough; None if none is left."""
        count = token_counter()
        allowed = count(content) - tokens_to_truncate
        while count(content) > allowed:
            content, fence, _ = content.rpartition(_LAST_FENCE)
            if not fence or _LAST_FENCE not in content:
                return None
        return content


def _turns(message: ChatMessage, scope: nouns.Scope) -> list[nouns.Memory]:
    """The message as a turn; nothing where it is none, or can never be stored."""
    try:
        turn = read_turn(message, scope)
    except MemoryFormatError:  # it would hold up the others of its batch for ever
        _log.exception("a message cannot be stored and is left out")
        return []
    return [] if turn is None else [turn]
