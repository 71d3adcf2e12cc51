"""The candidates of rows, kept: Chroma takes 0.1 ms to hand one over."""

from __future__ import annotations

from collections.abc import Iterable

from recall_stages.core.candidate import Candidate

_MOST = 256_000_000  # bytes: 250,000 memories of a sentence; further ones are read from Chroma
_A_CANDIDATE, _A_VALUE, _AN_EVENT = 600, 150, 500  # bytes apart from texts, as sys.getsizeof says
_WIDEST = 2  # bytes a character, where not all are ASCII


class CandidateCache:
    """Candidates by the place of their row in the `Roster`, as many as there is room for.

    Args:
        most: How many bytes they may take, by an estimate.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: dict[int, Candidate] = {}
        self._size = 0

    def keep(self, place: int, memory: Candidate) -> None:
        """Keep a candidate, in place of what was there, as long as there is room."""
        self.forget(place)
        size = _size(memory)
        if self._size + size <= self._most:
            self._kept[place] = memory
            self._size += size

    def forget(self, place: int) -> None:
        """The row at a place is gone, and gives its room back."""
        gone = self._kept.pop(place, None)
        if gone is not None:
            self._size -= _size(gone)

    def at(self, places: Iterable[int]) -> list[Candidate | None]:
        """The candidates at some places; None where one is not kept."""
        return [*map(self._kept.get, places)]


def _size(memory: Candidate) -> int:
    texts = (memory.content, memory.id, memory.author, memory.when_to_use, memory.said_before)
    size = _A_CANDIDATE + _AN_EVENT * len(memory.events)
    for text in texts:
        size += len(text) if text.isascii() else _WIDEST * len(text)
    for value in memory.metadata.values():
        size += _A_VALUE + (len(value) if isinstance(value, str) else 0)
        size += sum(map(len, map(str, value))) if isinstance(value, list) else 0
    return size
