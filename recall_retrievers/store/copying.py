"""Copying a collection into another one, with its vectors: nothing is embedded again."""

# ruff: noqa: SLF001 - it is a part of the store: users add and get memories, and no vectors

import warnings
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.tracing import progress_bar
from recall_retrievers.store.live_collection import LiveCollection
from recall_retrievers.store.store import Store
from recall_retrievers.store.writing import BATCH


def copy_collection(source: LiveCollection, target: Store, *, progress: bool) -> int:
    """Copy all memories; see `RecallStore.copy_to`."""

    def memory(row: Candidate) -> Memory:
        # The events of our rows are known. Those of others are read from the text, as in `add`.
        return row.memory(events_known=not source.collection.foreign)

    live = target._opened.made()
    copied = 0
    total = source.collection.count()
    with progress_bar(total=total, desc="copying", unit="memories", wanted=progress) as bar:
        for rows, vectors in source.collection.with_vectors():
            live.writer.write(target._ready(map(memory, rows)), vectors).result()
            copied += len(rows)
            bar.update(len(rows))
    return copied


def embed_again(source: Store, target: Store, *, progress: bool) -> None:
    """Store all memories with vectors of another model; see `RecallStore.reembed`."""
    live, count = source._opened.found(), 0
    if live is not None:
        known, total = not live.collection.foreign, live.collection.count()
        memories = (row.memory(events_known=known) for row in live.collection.memories())
        with progress_bar(total=total, desc="embedding", unit="memories", wanted=progress) as bar:
            while batch := list(islice(memories, BATCH)):
                target.add(batch)
                count += len(batch)
                bar.update(len(batch))
    there = target._opened.found()
    if there is not None and (more := there.collection.count() - count) > 0:
        warnings.warn(
            f"{more:,} memories of {target.name!r} are not in {source.name!r}, where they may have "
            "been deleted; delete those that nobody should find",
            stacklevel=3,
        )


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
