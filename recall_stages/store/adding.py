"""Memories on their way into a collection: checked as a whole, then written batch by batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

from recall_stages.core.errors import RecallError, ScopeError
from recall_stages.core.progress import progress_bar
from recall_stages.core.scope import Scope, ScopeName
from recall_stages.core.tracing import memory_operation
from recall_stages.store.chroma.prepare import MemoryInput, Ready, make_ready
from recall_stages.store.chroma.row_writer import BATCH
from recall_stages.store.live_collection import LiveCollection
from recall_stages.store.named_collection import NamedCollection

if TYPE_CHECKING:
    from tqdm import tqdm

_FIRST_SEEN = 16  # memories of the first batch where a progress bar is wanted


@dataclass(frozen=True, slots=True)
class Adder:
    """Stores memories in one collection.

    Attributes:
        opened: The collection.
        clock: Gives the time of a memory that comes without one.
        event_times: Whether to read the times that a text names.
        require_scope: The fields that the scope of a memory must name.
        within: The scope of all memories; fields that a memory does not set are filled in.
    """

    opened: NamedCollection
    clock: Callable[[], datetime]
    event_times: bool
    require_scope: tuple[ScopeName, ...]
    within: Scope = field(default_factory=Scope)

    def add(self, memories: Iterable[MemoryInput], *, progress: bool) -> list[str]:
        """Store memories; see `RecallStore.add`."""
        with memory_operation("upsert_memory", self.opened.name) as operation:
            ready = self.ready(memories, progress=progress)
            operation.records(each.memory for each in ready)
            ids = [each.memory.id for each in ready]
            with _bar(ready, progress) as bar, _stored_of(ids) as stored:
                for batch in _batches(ready, progress):
                    self.opened.made().writer.write(batch).result()
                    stored.append(len(batch))
                    bar.update(len(batch))
        return ids

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool) -> list[str]:
        """Store memories without blocking the event loop; see `RecallStore.aadd`."""
        with memory_operation("upsert_memory", self.opened.name) as operation:
            ready = await asyncio.to_thread(self.ready, memories, progress=progress)
            operation.records(each.memory for each in ready)
            ids = [each.memory.id for each in ready]
            with _bar(ready, progress) as bar, _stored_of(ids) as stored:
                for batch in _batches(ready, progress):
                    await asyncio.wrap_future(self.opened.made().writer.write(batch))
                    stored.append(len(batch))
                    bar.update(len(batch))
        return ids

    def ready(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[Ready]:
        """Check memories as `add` does, before any of them is stored; an empty store is made."""
        self.opened.check_writable()
        ready = make_ready(
            memories,
            self.clock,
            read_events=self.event_times,
            within=self.within,
            progress=progress,
        )
        for each in ready:
            each.memory.scope.require(self.require_scope)
        # Only now: what is refused makes nothing.
        live = self.opened.made() if ready else self.opened.found()
        if live is not None:
            live.check_fits(ready)
            if ready:
                live.adopt_if_empty()
            live.identity.check_writable()
            if self.require_scope or self.within.fields():
                self._check_owners(ready, live)
                # Checked once more when it is written: others may write in between.
                return [replace(each, guard=self._guard(each)) for each in ready]
        return ready

    def _guard(self, ready: Ready) -> Scope:
        """The scope in which a row must be that a memory replaces."""
        fields = ready.memory.scope.fields()
        required = {name: fields[name] for name in self.require_scope}
        return Scope.model_validate({**required, **self.within.fields()})

    def _check_owners(self, ready: Sequence[Ready], live: LiveCollection) -> None:
        """Refuse a memory that would replace another owner's."""
        owners = {each.memory.id: each.memory.scope for each in ready}
        named = [each.memory.id for each in ready if not each.is_new]
        for row_id, stored in live.index.read(named, None).items():
            for name in self.require_scope:
                if getattr(stored.scope, name) != getattr(owners[row_id], name):
                    raise ScopeError(
                        f"a memory with the id {row_id!r} is there already, of another {name}; "
                        "give the new one another id"
                    )
            if not self.within.holds(stored.scope):
                raise ScopeError(
                    f"a memory with the id {row_id!r} is there already, outside the scope "
                    f"{self.within.fields()}; give the new one another id"
                )


@contextmanager
def _stored_of(ids: Sequence[str]) -> Iterator[list[int]]:
    """Count batches as they are stored; an error then says which of the memories are."""
    sizes: list[int] = []
    try:
        yield sizes
    except RecallError as error:
        error.stored = (*ids[: sum(sizes)], *error.stored)
        if error.stored or error.unsure:
            unsure = f"; of {len(error.unsure):,} more it is not known (`unsure`)"
            message = (
                f"{error}. Of {len(ids):,} memories {len(error.stored):,} are stored; the error "
                f"has their ids (`stored`){unsure if error.unsure else ''}. Delete those before "
                "you add all again; memories that have ids of your own need not be deleted"
            )
            error.args = (message,)
        raise


def _bar(ready: Sequence[Ready], progress: bool) -> tqdm[None]:
    return progress_bar(total=len(ready), desc="storing", unit="memories", wanted=progress)


def _batches(ready: list[Ready], progress: bool) -> Iterator[list[Ready]]:
    """Take the memories batch by batch. A batch is released when it is written.

    With a progress bar, batches are small at first and grow while one takes less than a second.
    So the bar moves with a slow model, too.
    """
    size = _FIRST_SEEN if progress else BATCH
    while ready:
        started = monotonic()
        yield ready[:size]
        del ready[:size]
        if monotonic() - started < 1:
            size = min(2 * size, BATCH)
