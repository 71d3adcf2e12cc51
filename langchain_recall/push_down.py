"""Conditions in the filter languages of LangChain's vector stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from langchain_core.vectorstores import VectorStore

from recall_stages.store.any_store.coarse_filter import Between, Condition, Dialect, values_written
from recall_stages.store.any_store.qdrant_filter import QdrantDialect

Words = dict[str, object]

_LANGUAGES = {
    "QdrantVectorStore": "qdrant",
    "PGVector": "pgvector",
    "PGVectorStore": "pgvector",
    "AsyncPGVectorStore": "pgvector",
    "Chroma": "chroma",
}
"""The filter languages by the names of classes, so that none has to be installed."""


class PgvectorDialect(Dialect[Words]):
    """The dictionaries of ``PGVector`` and ``PGVectorStore``, which PostgreSQL reads as text."""

    knows_missing: ClassVar[bool] = True

    def condition(self, condition: Condition) -> Words | None:
        """One condition as a dictionary."""
        key, value = condition.key, condition.value
        if not key.isidentifier():
            return None
        if isinstance(value, Between):
            return self._between(key, value)
        if condition.operator == "has":
            return {key: {"$exists": value}}
        if isinstance(value, bool) or value in ("True", "False"):
            return None  # one of the two stores casts what it compares with a boolean
        return {key: {"$in": list(value) if isinstance(value, tuple) else [value]}}

    def _between(self, key: str, bounds: Between) -> Words:
        # Of whole numbers, one of the two stores makes an INTEGER, which epoch milliseconds exceed.
        low, high = (float(each) if isinstance(each, int) else each for each in bounds)
        return _bounded(key, low, high)

    def joined(self, how: Literal["and", "or"], filters: Sequence[Words]) -> Words:
        """Several filters as one."""
        return {f"${how}": list(filters)}

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"filter": written}


class ChromaDialect(PgvectorDialect):
    """The dictionaries of Chroma; some other stores take them too."""

    knows_missing: ClassVar[bool] = False

    def condition(self, condition: Condition) -> Words | None:
        """One condition as a dictionary."""
        key, value = condition.key, condition.value
        if isinstance(value, Between):
            kinds = {type(bound) for bound in value if bound is not None}
            if not kinds <= {int, float}:
                return None  # Chroma compares only numbers
            return _bounded(key, *value)
        if condition.operator == "has":
            return None
        if isinstance(value, tuple):
            return {key: {"$in": list(value)}}
        others = values_written(value) if isinstance(value, str) else []  # it tells 7 from "7"
        arms: list[Words] = [{key: {"$eq": each}} for each in (value, *others)]
        return self.joined("or", arms) if others else arms[0]


def _bounded(key: str, low: object, high: object) -> Words:
    bounds: list[Words] = [] if low is None else [{key: {"$gte": low}}]
    bounds += [] if high is None else [{key: {"$lte": high}}]
    return bounds[0] if len(bounds) == 1 else {"$and": bounds}


def dialect(source: VectorStore, push_down: str) -> Dialect[Any] | None:
    """The filter language with a name; with "auto" that of a store, if there is one.

    Raises:
        ValueError: When there is no language with this name.
    """
    if push_down == "auto":
        names = [each.__name__ for each in type(source).__mro__]
        push_down = next((_LANGUAGES[name] for name in names if name in _LANGUAGES), "")
        if not push_down:
            return None
    if push_down == "qdrant":
        payload = getattr(source, "metadata_payload_key", "metadata")
        return QdrantDialect(f"{payload}.")
    if push_down == "pgvector":
        return PgvectorDialect()
    if push_down == "chroma":
        return ChromaDialect()
    raise ValueError(
        'push_down must be "auto", "qdrant", "pgvector", "chroma", a function of a Search, or '
        f"None; got {push_down!r}"
    )
