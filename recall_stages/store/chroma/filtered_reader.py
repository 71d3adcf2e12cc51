"""Reads the memories of rows that fulfil a condition, once for all searches of a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recall_stages.core.candidate import Candidate
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.where import Where
from recall_stages.store.rows.mirror import Mirror


class Reader:
    """Reads memories by id, and remembers them.

    Args:
        index: The collection in Chroma.
        mirror: Its rows in memory.
        where: The condition on metadata, which only Chroma can check; None = none.
    """

    def __init__(self, index: Index, mirror: Mirror, where: Where | None) -> None:
        self._index = index
        self._mirror = mirror
        self.where = where
        self._known: dict[str, Candidate | None] = {}

    @property
    def filtered(self) -> bool:
        """Whether Chroma must check the rows. A call costs more than many rows, so make few."""
        return self.where is not None

    def take(self, memories: Iterable[Candidate]) -> None:
        """Take over memories that another search has read; they fulfil the condition."""
        self._known |= {memory.id: memory for memory in memories}

    def read(self, ids: Sequence[str]) -> Mapping[str, Candidate | None]:
        """The memories read so far, with these; None for a row that does not fit or has no text."""
        absent = [row_id for row_id in ids if row_id not in self._known]
        if absent and self.where is None and not self._index.foreign:
            memories, absent = self._mirror.read(absent)
            self._known |= memories
        if absent:
            fresh = self._index.read(absent, self.where)
            self._known |= {row_id: fresh.get(row_id) for row_id in absent}
        return self._known
