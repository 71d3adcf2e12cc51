"""Conditions as the `MetadataFilters` of LlamaIndex, which most of its vector stores take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from recall_stages.store.any_store.coarse_filter import Between, Condition, Dialect, values_written
from recall_stages.store.any_store.qdrant_filter import QdrantDialect

if TYPE_CHECKING:
    from qdrant_client import models

# Some stores write texts into their query as they are. What could end a text there, or name a
# parameter, is never handed to them, and is checked here alone.
_PLAIN = re.compile(r"(?:[\w .@+/=|#,-]|(?<=\w):)*")


class FiltersDialect(Dialect[MetadataFilters | MetadataFilter]):
    """`MetadataFilters`, with the operators that stores read alike."""

    def condition(self, condition: Condition) -> MetadataFilters | MetadataFilter | None:
        """One condition as a filter."""
        key, value = condition.key, condition.value
        if not key.isidentifier():
            return None  # with a dot, some stores take it for a path
        if isinstance(value, Between):
            return self._between(key, value)
        texts = [*value] if isinstance(value, tuple) else [str(value)]
        if isinstance(value, bool) or not all(_PLAIN.fullmatch(each) for each in texts):
            return None  # booleans are written in different ways
        others = values_written(texts[0]) if condition.operator == "text" else []
        if any(isinstance(each, bool) for each in others):
            return None
        arms = [_filter(key, FilterOperator.IN, [*each]) for each in (texts, others) if each]
        return self.joined("or", arms) if others else arms[0]

    def _between(self, key: str, bounds: Between) -> MetadataFilters | MetadataFilter | None:
        low, high = (float(each) if isinstance(each, int) else each for each in bounds)
        if isinstance(low, datetime) or isinstance(high, datetime):
            return None  # metadata is JSON
        arms = [] if low is None else [_filter(key, FilterOperator.GTE, low)]
        arms += [] if high is None else [_filter(key, FilterOperator.LTE, high)]
        return arms[0] if len(arms) == 1 else self.joined("and", arms)

    def joined(
        self,
        how: Literal["and", "or"],
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


class _PayloadDialect(QdrantDialect):
    """Qdrant's own filters: its dates and missing keys have no `MetadataFilters`."""

    def arguments(self, written: models.Condition) -> Mapping[str, object]:
        return {"vector_store_kwargs": super().arguments(written)}


def dialect(source: BasePydanticVectorStore, push_down: str) -> Dialect[Any]:
    """The filter language with a name; with "auto" that of a store.

    Raises:
        ValueError: When there is no language with this name.
    """
    if push_down == "auto":
        names = {each.__name__ for each in type(source).__mro__}
        push_down = "qdrant" if "QdrantVectorStore" in names else "filters"
    if push_down == "qdrant":
        return _PayloadDialect(prefix="", argument="qdrant_filters")
    if push_down == "filters":
        return FiltersDialect()
    raise ValueError(
        'push_down must be "auto", "qdrant", "filters", a function of a Search, or None; got '
        f"{push_down!r}"
    )


def _filter(key: str, operator: FilterOperator, value: Any) -> MetadataFilter:
    return MetadataFilter(key=key, operator=operator, value=value)
