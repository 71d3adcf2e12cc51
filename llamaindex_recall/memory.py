"""RecallMemoryBlock: what an agent's memory holds beyond the messages that still fit.

LlamaIndex's own vector block keeps the first session's filter for all that follow and hands one
user's memories to the next; this one asks a retriever, whose scope no call can widen.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock, Memory
from pydantic import Field, PrivateAttr

from llamaindex_recall._convert import to_memory
from llamaindex_recall.retriever import RecallRetriever
from recall_stages import memory as nouns
from recall_stages.agents.recalled import recalled_text
from recall_stages.model.tokens import token_counter
from recall_stages.retriever import CallOptions, MemoryStore

_log = logging.getLogger(__name__)

_SPOKEN = (MessageRole.USER, MessageRole.ASSISTANT)
_LAST_FENCE = "\n<memory "


class RecallMemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory` that recalls and keeps memories in a collection.

    Read: what the user said last is asked of the retriever, once for each message, and comes back
    as quoted material. Kept: messages that no longer fit into the memory, each as one memory with
    its speaker; ``await block.aflush(memory)`` at the end of a session keeps the rest. Nothing
    that goes wrong here ends an agent's run: it is logged, and messages that could not be stored
    are tried again with the next ones.

    Whose memories is the retriever's ``scope``; each user has a retriever, and a block, of their
    own. The moment of a message is its ``additional_kwargs["timestamp"]``, else that of storing.

    Args:
        retriever: What is asked, and where messages are kept.
        by_session: Recall only what was said in the memory's own session.
        priority: When the memory is over its limit: 0 = never cut, else the lowest ranked
            memories are left out first.

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

    name: str = "recall"
    description: str | None = "Memories of earlier conversations."
    priority: int = 1
    retriever: RecallRetriever = Field(repr=False)
    by_session: bool = False
    _answer: tuple[tuple[str, str], str] | None = PrivateAttr(default=None)
    _waiting: list[nouns.Memory] = PrivateAttr(default_factory=list)

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
        # An agent reads its memory after every round of tools; the question is still the same.
        asked = (session_id or "", question)
        if self._answer is None or self._answer[0] != asked:
            try:
                found = await self.retriever.aretrieve(question, **self._call(session_id, options))
            except Exception:  # noqa: BLE001 - what leaves a block aborts the agent's run
                _log.exception("the memories could not be asked; the agent goes on without")
                return ""
            self._answer = asked, recalled_text([to_memory(node) for node in found])
        return self._answer[1]

    def _call(self, session_id: str | None, options: dict[str, Any]) -> CallOptions:
        known = CallOptions.__annotations__
        call: CallOptions = {k: v for k, v in options.items() if k in known}  # type: ignore[assignment]  # the keys were looked up
        if self.by_session and session_id:
            call["scope"] = nouns.Scope(session_id=session_id)
        return call

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self._keep(messages, None)

    async def aflush(self, memory: Memory) -> None:
        """Keep what the memory still holds: call it when a session ends. Twice is once."""
        await self._keep(await memory.aget_all(), memory.session_id)

    async def _keep(self, messages: Sequence[ChatMessage], session_id: str | None) -> None:
        waiting = {memory.id: memory for memory in self._waiting}
        try:
            for message in messages:
                if message.role in _SPOKEN and (message.content or "").strip():
                    told = self._told(message, session_id)
                    waiting.setdefault(told.id, told)
            await asyncio.to_thread(_store_new, self.retriever.store, waiting)
        except Exception:  # noqa: BLE001 - the same; what could not be stored waits
            _log.exception("%d messages could not be stored; they wait for the next", len(waiting))
            self._waiting = list(waiting.values())
        else:
            self._waiting = []
            self._answer = None  # what was stored may answer better

    def _told(self, message: ChatMessage, session_id: str | None) -> nouns.Memory:
        noted = message.additional_kwargs
        content, role = (message.content or "").strip(), str(message.role.value)
        session = session_id or noted.get("session_id")
        own = self.retriever.scope
        scope = own.narrow(nouns.Scope(session_id=session)) if session else own
        said = [*scope.fields().values(), role, content, str(noted.get("timestamp", ""))]
        return nouns.Memory(
            # The same message has the same id, however often a memory hands it over.
            id=hashlib.sha256("\n".join(said).encode("utf-8", "replace")).hexdigest()[:32],
            content=content,
            author=role,
            memory_type="conversation",
            created_at=noted.get("timestamp") or datetime.now(UTC),
            scope=scope,
        )

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the lowest ranked memories until it is short enough; None if none is left."""
        count = token_counter()
        allowed = count(content) - tokens_to_truncate
        while count(content) > allowed:
            content, fence, _ = content.rpartition(_LAST_FENCE)
            if not fence or _LAST_FENCE not in content:
                return None
        return content


def _store_new(store: MemoryStore, memories: Mapping[str, nouns.Memory]) -> None:
    """Store what is not there yet: a memory that is keeps the time at which it was first told."""
    known = {memory.id for memory in store.get(list(memories))}
    new = [memory for memory_id, memory in memories.items() if memory_id not in known]
    if new:
        store.add(new)
