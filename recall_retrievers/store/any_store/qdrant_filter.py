"""Conditions in the language of Qdrant, which both frameworks hand on as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recall_retrievers.store.any_store.coarse_filter import Bound, Dialect, How, Plain, Side

if TYPE_CHECKING:
    from qdrant_client import models

Words = dict[str, object]


@dataclass(frozen=True, slots=True)
class QdrantDialect(Dialect[Words]):
    """Qdrant's filters as JSON. Its client is there if there is a store of it.

    Attributes:
        prefix: What stands before the metadata keys in a payload.
    """

    stores: ClassVar[tuple[str, ...]] = ("QdrantVectorStore",)
    knows_missing: ClassVar[bool] = True

    prefix: str = "metadata."

    def one_of(self, key: str, values: Sequence[Plain]) -> Words | None:
        """A key has one of these values; numbers match only whole ones, so they are compared."""
        value = values[0]
        if not isinstance(value, str | bool):
            return self.between(key, value, value)
        match = {"value": value} if isinstance(value, bool) else {"any": [*values]}
        return {"key": self.prefix + key, "match": match}

    def bounded(self, key: str, side: Side, bound: Bound) -> Words | None:
        """A key has at least, or at most, this value."""
        return {"key": self.prefix + key, "range": {side: bound}}

    def between(self, key: str, low: Bound | None, high: Bound | None) -> Words | None:
        """A key is neither lower nor higher: one range, which Qdrant plans better than two."""
        whole = Dialect.between(self, key, low, high)
        if whole is None or low is None or high is None:
            return whole
        return {"key": self.prefix + key, "range": {"gte": low, "lte": high}}

    def has(self, key: str, there: bool) -> Words:
        """A key is there, or is missing."""
        empty: Words = {"is_empty": {"key": self.prefix + key}}
        return {"must_not": [empty]} if there else empty

    def joined(self, how: How, filters: Sequence[Words]) -> Words:
        """Several conditions as one."""
        return {"must" if how == "and" else "should": [*filters]}

    def whole(self, written: Words) -> models.Filter:
        """A filter as Qdrant's client takes it."""
        from qdrant_client import models  # noqa: PLC0415 - no dependency of ours

        return models.Filter.model_validate(self.joined("and", [written]))

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"filter": self.whole(written)}
