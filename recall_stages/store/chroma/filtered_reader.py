"""The memories of rows that fulfil a condition: what one search of a question has read, is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recall_stages.core.candidate import Candidate
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.where import Where
from recall_stages.store.rows.mirror import Mirror


class Reader:
    """Reads memories by id, each once.

    Args:
        index: How to ask Chroma.
        mirror: What is known of the rows here.
        where: The condition on metadata, which only Chroma can check; None = none.
    """

    def __init__(self, index: Index, mirror: Mirror, where: Where | None) -> None:
        self._index = index
        self._mirror = mirror
        self.where = where
        self._known: dict[str, Candidate | None] = {}

    @property
    def filtered(self) -> bool:
        """Whether Chroma must be asked: each time costs more than many rows, so ask rarely."""
        return self.where is not None

    def take(self, memories: Iterable[Candidate]) -> None:
        """Take over memories that a search has read, and that fulfil the condition."""
        self._known |= {memory.id: memory for memory in memories}

    def read(self, ids: Sequence[str]) -> Mapping[str, Candidate | None]:
        """What is known of rows, among them these; None where one does not fit or has no text."""
        absent = [row_id for row_id in ids if row_id not in self._known]
        if absent and self.where is None and not self._index.foreign:
            memories, absent = self._mirror.read(absent)
            self._known |= memories
        if absent:
            found = self._index.read(absent, self.where)
            self._known |= {row_id: found.get(row_id) for row_id in absent}
        return self._known
