"""Conditions as the `MetadataFilters` of LlamaIndex, which most of its vector stores take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Self

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from recall_stages.store.any_store.coarse_filter import Bound, Dialect, How, Plain, Side
from recall_stages.store.any_store.qdrant_filter import QdrantDialect, Words

# Some stores write texts into their query as they are. What could end a text there, or name a
# parameter, is never handed to them, and is checked here alone.
_PLAIN = re.compile(r"(?:[\w .@+/=|#,-]|(?<=\w):)*")


class FiltersDialect(Dialect[MetadataFilters | MetadataFilter]):
    """`MetadataFilters`, with the operators that stores read alike."""

    stores: ClassVar[tuple[str, ...]] = ("BasePydanticVectorStore",)

    def one_of(self, key: str, values: Sequence[Plain]) -> MetadataFilters | MetadataFilter | None:
        """A key has one of these values; booleans are written in different ways."""
        if isinstance(values[0], bool) or not all(_PLAIN.fullmatch(str(each)) for each in values):
            return None
        return _filter(key, FilterOperator.IN, [*values])

    def bounded(
        self, key: str, side: Side, bound: Bound
    ) -> MetadataFilters | MetadataFilter | None:
        """A key has at least, or at most, this value; metadata is JSON, so it is no datetime."""
        if isinstance(bound, datetime):
            return None
        operator = FilterOperator.GTE if side == "gte" else FilterOperator.LTE
        return _filter(key, operator, float(bound) if isinstance(bound, int) else bound)

    def joined(
        self,
        how: How,
        filters: Sequence[MetadataFilters | MetadataFilter],
    ) -> MetadataFilters:
        """Several filters as one."""
        condition = FilterCondition(how)
        parts: list[MetadataFilters | MetadataFilter] = []
        for each in filters:  # as flat as can be: some stores take no filters within filters
            if isinstance(each, MetadataFilters) and each.condition == condition:
                parts.extend(each.filters)
            else:
                parts.append(each)
        return MetadataFilters(filters=parts, condition=condition)

    def arguments(self, written: MetadataFilters | MetadataFilter) -> Mapping[str, object]:
        """The argument of a search."""
        whole = isinstance(written, MetadataFilters)
        return {"filters": written if whole else MetadataFilters(filters=[written])}


class PayloadDialect(QdrantDialect):
    """Qdrant's own filters: its dates and missing keys have no `MetadataFilters`."""

    @classmethod
    def of(cls, source: object) -> Self:  # noqa: ARG003 - all stores are alike
        """What writes the filters of a store."""
        return cls(prefix="")

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"vector_store_kwargs": {"qdrant_filters": self.whole(written)}}


def _filter(key: str, operator: FilterOperator, value: Any) -> MetadataFilter:
    return MetadataFilter(key=key, operator=operator, value=value)


LANGUAGES = {"qdrant": PayloadDialect, "filters": FiltersDialect}
"""The filter languages by their names."""
