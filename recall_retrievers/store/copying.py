"""Copying a collection into another one: its vectors, too, if both have one model."""

# ruff: noqa: SLF001 - it is a part of the store: users add and get memories, and no vectors

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.store.opened import Opened
from recall_retrievers.store.store import Store
from recall_retrievers.store.writing import BATCH


def copy_collection(source: Opened, target: Store, *, vectors: bool, progress: bool) -> int:
    """Copy all memories, with their vectors or embedded anew; see `RecallStore.copy_to`."""
    # The events of our rows are known. Those of others are read from the text, as in `add`.
    known = not source.collection.foreign
    if vectors:  # they go to a collection with their model, whatever script the memories have
        target._opened.made()
    copied = 0
    total = source.collection.chroma.count()
    with progress_bar(total=total, desc="copying", unit="memories", wanted=progress) as bar:
        for rows, read in source.collection.memories(vectors=vectors):
            ready = target._ready(row.memory(events_known=known) for row in rows)
            target._opened.made().writer.write(ready, read).result()
            copied += len(rows)
            bar.update(len(rows))
    return copied


def add_with_vectors(
    store: Store,
    memories: Mapping[str, Memory],
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    progress: bool,
) -> None:
    """Store memories. A memory with a vector of the store's model is not embedded."""
    embedded = [each for each in memories.values() if each.id in vectors]
    with progress_bar(total=len(embedded), desc="storing", unit="memories", wanted=progress) as bar:
        for start in range(0, len(embedded), BATCH):
            batch = embedded[start : start + BATCH]
            rows = store._ready(batch)
            their = np.stack([vectors[each.memory.id] for each in rows])
            store._opened.made().writer.write(rows, their).result()
            bar.update(len(batch))
    store.add([each for each in memories.values() if each.id not in vectors], progress=progress)


def vectors_in(store: Store, ids: Sequence[str]) -> dict[str, list[float]]:
    """The vectors of memories by id; those that are not there are left out."""
    live = store._opened.found()
    if live is None:
        return {}
    return {row_id: vector.tolist() for row_id, vector in live.collection.vectors(ids).items()}
