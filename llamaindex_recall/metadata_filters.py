"""The `MetadataFilters` of LlamaIndex: read as our filter, and written for its vector stores."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from recall_retrievers.core.errors import FilterError
from recall_retrievers.core.query import Filter
from recall_retrievers.store.any_store.coarse_filter import (
    Bound,
    Dialect,
    How,
    Plain,
    QdrantDialect,
    Side,
    Words,
)

_COMPARED = {
    FilterOperator[name]: f"${name.lower()}"
    for name in ("EQ", "NE", "GT", "GTE", "LT", "LTE", "IN", "NIN", "CONTAINS")
}
_EACH = {FilterOperator.ANY: "$or", FilterOperator.ALL: "$and"}
_JOINED = {FilterCondition.AND: "$and", FilterCondition.OR: "$or"}


def to_filter(filters: MetadataFilters | None) -> Filter | None:
    """The filter that a `RecallStore` takes; None where nothing is limited."""
    if filters is None or not filters.filters:
        return None
    condition = filters.condition or FilterCondition.AND
    if condition not in _JOINED:
        raise FilterError(
            f"filters are joined by 'and' or 'or'; got {condition.value!r}. Negate the conditions: "
            "'!=' for '==', 'nin' for 'in'"
        )
    arms = [_arm(each) for each in filters.filters]
    present = [arm for arm in arms if arm]
    if len(present) < len(arms) and condition == FilterCondition.OR:
        return None  # one arm without a condition admits every node
    if len(present) < 2:
        return present[0] if present else None
    return {_JOINED[condition]: present}


def _arm(part: MetadataFilter | MetadataFilters) -> Filter | None:
    if isinstance(part, MetadataFilters):
        return to_filter(part)
    if part.operator in _COMPARED:
        return {part.key: {_COMPARED[part.operator]: part.value}}
    if part.operator in _EACH and isinstance(part.value, list) and part.value:
        return {_EACH[part.operator]: [{part.key: {"$contains": each}} for each in part.value]}
    raise FilterError(
        f"filter on {part.key!r}: {part.operator.value!r} cannot be asked of the store with "
        f"{part.value!r}; there are {', '.join(each.value for each in (*_COMPARED, *_EACH))}"
    )


# -- written for other stores ---------------------------------------------------------------------

# Some stores write texts into their query as they are. What could end a text there, or name a
# parameter, is never handed to them, and is checked here alone.
_PLAIN = re.compile(r"(?:[\w .@+/=|#,-]|(?<=\w):)*")


Written = MetadataFilters | MetadataFilter


class FiltersDialect(Dialect[Written]):
    """`MetadataFilters`, with the operators that stores read alike."""

    stores: ClassVar[tuple[str, ...]] = ("PGVectorStore",)

    def one_of(self, key: str, values: Sequence[Plain]) -> Written | None:
        """A key has one of these values; booleans are written in different ways."""
        if isinstance(values[0], bool) or not all(_PLAIN.fullmatch(str(each)) for each in values):
            return None
        return MetadataFilter(key=key, operator=FilterOperator.IN, value=cast("Any", [*values]))

    def bounded(self, key: str, side: Side, bound: Bound) -> Written | None:
        """A key has at least, or at most, this value."""
        operator = FilterOperator.GTE if side == "gte" else FilterOperator.LTE
        value = float(bound) if isinstance(bound, int) else bound
        return MetadataFilter(key=key, operator=operator, value=value)

    def joined(self, how: How, filters: Sequence[Written]) -> MetadataFilters:
        """Several filters as one."""
        condition = FilterCondition(how)
        parts: list[Written] = []
        for each in filters:  # as flat as can be: some stores take no filters within filters
            if isinstance(each, MetadataFilters) and each.condition == condition:
                parts.extend(each.filters)
            else:
                parts.append(each)
        return MetadataFilters(filters=parts, condition=condition)

    def arguments(self, written: Written) -> Mapping[str, object]:
        """The argument of a search."""
        whole = isinstance(written, MetadataFilters)
        return {"filters": written if whole else MetadataFilters(filters=[written])}


class ChromaFiltersDialect(FiltersDialect):
    """The same for Chroma, which compares only numbers."""

    stores: ClassVar[tuple[str, ...]] = ("ChromaVectorStore",)

    def bounded(self, key: str, side: Side, bound: Bound) -> Written | None:
        """A key has at least, or at most, this number."""
        return None if isinstance(bound, str) else super().bounded(key, side, bound)


class FlatFiltersDialect(FiltersDialect):
    """The same without "or", which not every store takes."""

    stores: ClassVar[tuple[str, ...]] = ("BasePydanticVectorStore",)
    alternatives: ClassVar[bool] = False


class PayloadDialect(QdrantDialect):
    """Qdrant's own filters: its dates and missing keys have no `MetadataFilters`."""

    @classmethod
    def of(cls, source: object) -> Self:  # noqa: ARG003 - all stores are alike
        """What writes the filters of a store."""
        return cls(prefix="")

    def arguments(self, written: Words) -> Mapping[str, object]:
        """The argument of a search."""
        return {"vector_store_kwargs": {"qdrant_filters": self.whole(written)}}


LANGUAGES = {
    "qdrant": PayloadDialect,
    "filters": FiltersDialect,
    "chroma": ChromaFiltersDialect,
    "flat_filters": FlatFiltersDialect,
}
"""The filter languages by their names."""
