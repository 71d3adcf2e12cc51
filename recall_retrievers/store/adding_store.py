"""Adding memories and conversations: checked as a whole, then written batch by batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from time import monotonic

from recall_retrievers.core.awaited import awaited
from recall_retrievers.core.errors import RecallError
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import Scope, ScopeInput
from recall_retrievers.core.tracing import memory_operation
from recall_retrievers.store.chroma.prepare import MemoryInput, Ready, id_is_taken, make_ready
from recall_retrievers.store.cloud.limits import check_fits
from recall_retrievers.store.conversation import conversation
from recall_retrievers.store.reading_store import ReadingStore
from recall_retrievers.store.writing.row_writer import BATCH
from recall_retrievers.timeline.parse_time import parse_time

_FIRST_SEEN = 16  # memories of the first batch where a progress bar is wanted


class AddingStore(ReadingStore):
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
            StoreError: When the embedding or the writing fails. Some memories may be stored then.
                ``stored`` of the error has their ids. ``unsure`` has the ids of memories for which
                it is not known.
        """
        with memory_operation("upsert_memory", self.name) as operation:
            ready = self._ready(memories, progress=progress)
            operation.records(each.memory for each in ready)
            ids = [each.memory.id for each in ready]
            with _in_batches(ready, ids, progress) as batches:
                for batch in batches:
                    self._opened.made().writer.write(batch).result()
        return ids

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        The memories of several tasks are embedded and written together. A task that is cancelled
        may have stored the first of its memories. The other tasks are not affected.
        """
        with memory_operation("upsert_memory", self.name) as operation:
            ready = await asyncio.to_thread(self._ready, memories, progress=progress)
            operation.records(each.memory for each in ready)
            ids = [each.memory.id for each in ready]
            with _in_batches(ready, ids, progress) as batches:
                for batch in batches:
                    await asyncio.wrap_future(self._opened.made().writer.write(batch))
        return ids

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
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     question = {"role": "assistant", "content": "Which pets do you have?"}
            ...     reply = {"role": "user", "content": "Three of them, all cats."}
            ...     ids = store.add_conversation([question, reply], created_at="2024-03-12")
            ...     store.get(ids)[1].content
            'Three of them, all cats.'
        """
        self._opened.check_open()
        turns = conversation(
            messages,
            scope=self._scope.narrow(Scope.model_validate(scope)),
            created_at=None if created_at is None else parse_time(created_at, name="created_at"),
            now=self._clock(),
            turn_before=turn_before,
            stored=partial(self.get, scope=scope),
        )
        return self.add(turns, progress=progress)

    aadd_conversation = awaited(add_conversation)
    """Store a conversation as `add_conversation` does, without blocking the event loop."""

    def _ready(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[Ready]:
        """Check memories as `add` does, before any of them is stored; an empty store is made."""
        self._opened.check_open()
        ready = make_ready(
            memories,
            self._clock,
            read_events=self._event_times,
            within=self._scope,
            progress=progress,
        )
        for each in ready:
            each.memory.scope.require(self._require_scope)
        # Only now: what is refused makes nothing.
        live = self._opened.made() if ready else self._opened.found()
        if live is not None:
            if live.index.cloud:
                check_fits(ready)
            live.identity.check_writable()
            if self._require_scope or self._scope.fields():
                # Checked once more when it is written: others may write in between.
                ready = [replace(each, guard=self._guard(each)) for each in ready]
                guards = {each.memory.id: each.guard for each in ready if not each.is_new}
                for row_id, stored in live.index.read(list(guards), None).items():
                    if not guards[row_id].holds(stored.scope):
                        raise id_is_taken(row_id, guards[row_id])
        return ready

    def _guard(self, ready: Ready) -> Scope:
        """The scope in which a row must be that a memory replaces."""
        fields = ready.memory.scope.fields()
        required = {name: fields[name] for name in self._require_scope}
        return Scope.model_validate({**required, **self._scope.fields()})


@contextmanager
def _in_batches(
    ready: list[Ready], ids: Sequence[str], progress: bool
) -> Iterator[Iterator[list[Ready]]]:
    """Take the memories batch by batch; an error then says which of them are stored.

    A batch counts as stored, and is released, when the next one is taken. With a progress bar,
    batches are small at first and grow while one takes less than a second. So the bar moves with a
    slow model, too.
    """
    stored = 0

    def batches() -> Iterator[list[Ready]]:
        nonlocal stored
        size = _FIRST_SEEN if progress else BATCH
        while ready:
            started, number = monotonic(), len(ready[:size])
            yield ready[:size]
            del ready[:size]
            stored += number
            bar.update(number)
            if monotonic() - started < 1:
                size = min(2 * size, BATCH)

    total = len(ready)
    with progress_bar(total=total, desc="storing", unit="memories", wanted=progress) as bar:
        try:
            yield batches()
        except RecallError as error:
            error.stored = (*ids[:stored], *error.stored)
            if error.stored or error.unsure:
                unsure = f"; of {len(error.unsure):,} more it is not known (`unsure`)"
                message = (
                    f"{error}. Of {len(ids):,} memories {len(error.stored):,} are stored; the "
                    f"error has their ids (`stored`){unsure if error.unsure else ''}. Delete those "
                    "before you add all again; memories that have ids of your own need not be "
                    "deleted"
                )
                error.args = (message,)
            raise
