"""Adding memories and conversations to a store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from functools import partial

from recall_stages.core.scope import Scope, ScopeInput
from recall_stages.store.chroma.prepare import MemoryInput
from recall_stages.store.conversation import conversation
from recall_stages.store.finds_memories import FindsMemories
from recall_stages.timeline.parse_time import parse_time


class AddsMemories(FindsMemories):
    """A store that adds memories; in a scope, all of them are of that scope."""

    def add(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories. A memory with a known id replaces the old one completely.

        A memory that is stored already, without any change, is neither embedded nor written again.
        So a long load of memories with ids can be run again after it was killed: it goes on where
        it ended.

        A text is stored and returned whole. Its first 50,000 characters are embedded and searched
        by words; the default model reads the first 256 tokens.

        Args:
            memories: Memories, mappings of their fields, bare texts, documents of LangChain or
                nodes of LlamaIndex. In a mapping ``user_id``, ``agent_id``, ``session_id`` and
                ``workspace`` may stand at the top, as in a file. Metadata of documents and nodes
                with the name of a field of `Memory` becomes that field.
            progress: Show progress bars on standard error if it is a terminal: one while the
                memories are checked, one while they are embedded and stored.

        Returns:
            Their ids, in order. A memory without an id gets one that sorts by time.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            MemoryFormatError: When a memory cannot be stored; then none is.
            ScopeError: When a field of a memory's scope is empty, or a required one is missing, or
                the memory would replace one of another owner; then none is stored.
            StoreError: When the embedding or the writing fails. Its ``stored`` has the ids of the
                memories that are stored nevertheless, its ``unsure`` of those that may be.
        """
        return self._adder.add(memories, progress=progress)

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        The memories of several tasks are embedded and written together. A task that is cancelled
        may have stored the first of its memories. The other tasks are not affected.
        """
        return await self._adder.aadd(memories, progress=progress)

    def add_conversation(
        self,
        messages: Iterable[object],
        *,
        scope: ScopeInput = None,
        created_at: float | str | datetime | None = None,
        turn_before: str = "",
        progress: bool = False,
    ) -> list[str]:
        """Store the turns of a conversation; the words around a turn find it, too.

        A turn answers the last one of another speaker, in the same scope and less than an hour
        older. By these links keyword search reads a turn together with the two turns before it and
        the one after it; its own words count most. Only the turn itself is returned. Notes are not
        linked: the turns of one speaker alone, or texts without a speaker that have one date and no
        clock time. Storing the same turns again stores nothing twice. `add` links nothing.

        Args:
            messages: The oldest first: LangChain messages, LlamaIndex ``ChatMessage``, mappings
                with ``role`` (or ``name``), ``content`` and, if you like, ``id`` and
                ``created_at``, or memories. Messages of system and tools are left out.
            scope: The owner of the conversation, and its ``session_id``.
            created_at: When it took place, for messages without a time; None = the clock.
            turn_before: The id of the turn before the first of these, if an earlier call stored
                it.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The ids of the turns, in order.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            MemoryFormatError: When a message cannot be stored; then none is.
            StoreError: When there is no turn with the id ``turn_before`` in the scope.
            ScopeError: As `add` does.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     question = {"role": "assistant", "content": "Which pets do you have?"}
            ...     reply = {"role": "user", "content": "Three of them, all cats."}
            ...     ids = store.add_conversation([question, reply], created_at="2024-03-12")
            ...     store.get(ids)[1].content
            'Three of them, all cats.'
        """
        self._opened.check_writable()
        turns = conversation(
            messages,
            scope=self._scope.narrow(Scope.model_validate(scope)),
            created_at=None if created_at is None else parse_time(created_at, name="created_at"),
            now=self._now(),
            turn_before=turn_before,
            stored=partial(self.get, scope=scope),
        )
        return self.add(turns, progress=progress)

    async def aadd_conversation(
        self,
        messages: Iterable[object],
        *,
        scope: ScopeInput = None,
        created_at: float | str | datetime | None = None,
        turn_before: str = "",
        progress: bool = False,
    ) -> list[str]:
        """Store a conversation as `add_conversation` does, without blocking the event loop."""
        return await asyncio.to_thread(
            self.add_conversation,
            messages,
            scope=scope,
            created_at=created_at,
            turn_before=turn_before,
            progress=progress,
        )
