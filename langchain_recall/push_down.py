"""Conditions in the filter languages of LangChain's vector stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from recall_retrievers.store.any_store.coarse_filter import Bound, Dialect, How, Plain, Side
from recall_retrievers.store.any_store.qdrant_filter import QdrantDialect, Words


class ChromaDialect(Dialect[Words]):
    """The dictionaries of Chroma; some other stores take them too."""

    stores: ClassVar[tuple[str, ...]] = ("Chroma",)
    any_key: ClassVar[bool] = True

    def one_of(self, key: str, values: Sequence[Plain]) -> Words | None:
        """A key has one of these values."""
        return {key: {"$in": list(values)} if len(values) > 1 else {"$eq": values[0]}}

    def bounded(self, key: str, side: Side, bound: Bound) -> Words | None:
        """A key has at least, or at most, this value; Chroma compares only numbers."""
        return {key: {f"${side}": bound}} if isinstance(bound, int | float) else None

    def joined(self, how: How, filters: Sequence[Words]) -> Words:
        """Several filters as one."""
        return {f"${how}": list(filters)}

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"filter": written}


class PgvectorDialect(ChromaDialect):
    """The dictionaries of ``PGVector`` and ``PGVectorStore``, which PostgreSQL reads as text."""

    stores: ClassVar[tuple[str, ...]] = ("PGVector", "PGVectorStore", "AsyncPGVectorStore")
    knows_missing: ClassVar[bool] = True
    any_key: ClassVar[bool] = False

    def one_of(self, key: str, values: Sequence[Plain]) -> Words | None:
        """A key has one of these values; one of the two stores casts what it compares with."""
        if isinstance(values[0], bool):
            return None
        return {key: {"$in": [str(each) for each in values]}}

    def bounded(self, key: str, side: Side, bound: Bound) -> Words | None:
        """A key has at least, or at most, this value."""
        # Of whole numbers, one of the two stores makes an INTEGER, which epoch milliseconds exceed.
        return {key: {f"${side}": float(bound) if isinstance(bound, int) else bound}}

    def has(self, key: str, there: bool) -> Words:
        """A key is there, or is missing."""
        return {key: {"$exists": there}}


class PayloadDialect(QdrantDialect):
    """Qdrant's filters; its store says where in a payload the metadata is."""

    @classmethod
    def of(cls, source: object) -> Self:
        """What writes the filters of a store."""
        return cls(f"{getattr(source, 'metadata_payload_key', 'metadata')}.")


LANGUAGES = {"qdrant": PayloadDialect, "pgvector": PgvectorDialect, "chroma": ChromaDialect}
"""The filter languages by their names."""
