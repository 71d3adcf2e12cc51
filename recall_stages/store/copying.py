"""Copying a collection into another one, with its vectors: nothing is embedded again."""

from __future__ import annotations

from recall_stages.core.candidate import Candidate
from recall_stages.core.memory import Memory
from recall_stages.core.progress import progress_bar
from recall_stages.store.adding import Adder
from recall_stages.store.chroma.prepare import make_ready
from recall_stages.store.live_collection import LiveCollection


def copy_collection(source: LiveCollection, target: Adder, *, progress: bool) -> int:
    """Copy all memories. What is there already, without any change, is not written again.

    Args:
        source: The collection to read.
        target: What adds to the other one.
        progress: Show a progress bar on standard error if it is a terminal.

    Returns:
        The number of memories.

    Raises:
        MemoryFormatError: When a memory is too large for the target; then none is copied.
        StoreError: When reading or writing fails. Copy again: it goes on where it ended.
    """

    def memory(row: Candidate) -> Memory:
        # The events of our rows are known. Those of others are read from the text, as in `add`.
        return row.memory(events_known=not source.identity.foreign)

    target.opened.check_writable()
    live = target.opened.made()
    if live.limited:
        for row in source.index.memories():
            live.check_fits(make_ready([memory(row)], target.clock, read_events=False))
    copied = 0
    total = source.collection.count()
    with progress_bar(total=total, desc="copying", unit="memories", wanted=progress) as bar:
        for rows, vectors in source.index.with_vectors():
            live.writer.copy(target.ready(map(memory, rows)), vectors).result()
            copied += len(rows)
            bar.update(len(rows))
    return copied
