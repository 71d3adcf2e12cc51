"""The quotas of Chroma Cloud: what goes into one request, and what a memory may be.

They are the default quotas of https://docs.trychroma.com/cloud/quotas-limits. `SEARCHES` is not
there; it is the default of Chroma's source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from recall_stages.core.errors import MemoryFormatError
from recall_stages.core.memory import MetadataValue
from recall_stages.store.chroma.prepare import Ready
from recall_stages.store.chroma.where import Where

RESULTS = 300  # rows that one search, or one read, returns
SEARCHES = 5  # in one request
PREDICATES = 8  # in one condition; the values of an $in count as one

_DOCUMENT, _VALUE, _ID, _KEY = 16_384, 4_096, 128, 36  # bytes
_KEYS = 32
_ADDED = 2  # keys that a row gets when it is written: the time of writing, and its words


def predicates(where: Where | None) -> int:
    """The number of predicates of a condition.

    Examples:
        >>> predicates({"$and": [{"a": {"$eq": 1}}, {"b": {"$in": [1, 2, 3]}}]})
        2
    """
    if where is None:
        return 0
    total = 0
    for key, value in where.items():
        if isinstance(value, list):
            total += sum(predicates(arm) for arm in value)
        else:
            total += len(value) if key[:1] != "$" and isinstance(value, Mapping) else 1
    return total


def check_fits(rows: Iterable[Ready]) -> None:
    """Refuse memories that Chroma Cloud would refuse, before any of them is stored.

    Raises:
        MemoryFormatError: When one is too large.
    """
    for row in rows:
        memory = row.memory
        for what, size, most in _sizes(memory.id, memory.content, row.metadata):
            if size > most:
                raise MemoryFormatError(
                    f"memory {memory.id[:_ID]!r} does not fit into Chroma Cloud: {what} "
                    f"{size:,}, and {most:,} is the most. Make it shorter, or divide the memory; "
                    "nothing was stored"
                )


def _sizes(
    row_id: str, text: str, metadata: Mapping[str, MetadataValue]
) -> Iterator[tuple[str, int, int]]:
    yield "the bytes of its id are", _bytes(row_id), _ID
    yield "the bytes of its text are", _bytes(text), _DOCUMENT
    yield "the keys of its row are", len(metadata) + _ADDED, _KEYS
    for key, value in metadata.items():
        yield f"the bytes of the key {key!r} are", _bytes(key), _KEY
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield f"the bytes of {key!r} are", _bytes(part), _VALUE


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
