"""Conditions in the filter languages of LangChain's vector stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal

from langchain_core.vectorstores import VectorStore

from recall_stages.store.coarse_filter import Condition, Dialect, values_written
from recall_stages.store.qdrant_filter import QdrantDialect

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
        if condition.operator == "has":
            return {key: {"$exists": value}}
        if condition.operator in ("in", "text"):
            texts = list(value) if isinstance(value, tuple) else [value]
            if condition.operator == "text" and value in ("True", "False"):
                return None  # its booleans are not written so
            return {key: {"$in": texts}}
        if condition.operator == "is":
            return None  # one of the two stores casts it
        bound = value if isinstance(value, str | datetime) else float(_number(value))
        return {key: {"$gte" if condition.operator == ">=" else "$lte": bound}}

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
        if condition.operator in ("in", "text"):
            texts = list(value) if isinstance(value, tuple) else [str(value)]
            if condition.operator == "in":
                return {key: {"$in": texts}}
            others = values_written(texts[0])  # it tells 7 from "7"
            arms: list[Words] = [{key: {"$eq": each}} for each in (*texts, *others)]
            return self.joined("or", arms) if others else arms[0]
        if condition.operator == "is":
            return {key: {"$eq": value}}
        if condition.operator == "has" or not isinstance(value, int | float):
            return None  # it compares numbers alone
        return {key: {"$gte" if condition.operator == ">=" else "$lte": value}}


def dialect(push_down: str, source: VectorStore) -> Dialect[Any] | None:
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


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0
