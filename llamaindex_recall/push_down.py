"""Conditions as the `MetadataFilters` of LlamaIndex, which most of its vector stores take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from recall_stages.store.coarse_filter import Condition, Dialect, values_written
from recall_stages.store.qdrant_filter import QdrantDialect

if TYPE_CHECKING:
    from qdrant_client import models

# Some stores write keys and texts into their query as they are. What could end a text there, or
# name a parameter, is never handed to them, and is checked here alone.
_PLAIN = re.compile(r"(?:[\w .@+/=|#,-]|(?<=\w):)*")


class FiltersDialect(Dialect[MetadataFilters | MetadataFilter]):
    """`MetadataFilters`, with the operators that stores read alike."""

    def condition(self, condition: Condition) -> MetadataFilters | MetadataFilter | None:
        """One condition as a filter."""
        key, value = condition.key, condition.value
        texts = list(value) if isinstance(value, tuple) else [str(value)]
        if not all(_PLAIN.fullmatch(each) for each in (key, *texts)):
            return None
        if condition.operator in ("in", "text"):
            others = values_written(texts[0]) if condition.operator == "text" else []
            if any(isinstance(each, bool) for each in others):
                return None
            arms = [_filter(key, FilterOperator.IN, each) for each in (texts, others) if each]
            return self.joined("or", arms) if others else arms[0]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        bound = value if isinstance(value, str) else float(value)
        operator = FilterOperator.GTE if condition.operator == ">=" else FilterOperator.LTE
        return _filter(key, operator, bound)

    def joined(
        self,
        how: Literal["and", "or"],
        filters: Sequence[MetadataFilters | MetadataFilter],
    ) -> MetadataFilters:
        """Several filters as one."""
        return MetadataFilters(filters=[*filters], condition=FilterCondition(how))

    def arguments(self, written: MetadataFilters | MetadataFilter) -> Mapping[str, object]:
        """The argument of a search."""
        whole = isinstance(written, MetadataFilters)
        return {"filters": written if whole else MetadataFilters(filters=[written])}


class _PayloadDialect(QdrantDialect):
    """Qdrant's own filters: its dates and missing keys have no `MetadataFilters`."""

    def arguments(self, written: models.Filter) -> Mapping[str, object]:
        return {"vector_store_kwargs": super().arguments(written)}


def dialect(push_down: str, source: BasePydanticVectorStore) -> Dialect[Any]:
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
