"""The `MetadataFilters` of LlamaIndex, read as our filter."""

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from recall_retrievers.core.errors import FilterError
from recall_retrievers.core.query import Filter

_COMPARED = {
    FilterOperator[name]: f"${name.lower()}"
    for name in ("EQ", "NE", "GT", "GTE", "LT", "LTE", "IN", "NIN", "CONTAINS")
}
_EACH = {FilterOperator.ANY: "$or", FilterOperator.ALL: "$and"}
_JOINED = {FilterCondition.AND: "$and", FilterCondition.OR: "$or"}


def to_filter(filters: MetadataFilters | None) -> Filter | None:
    if filters is None or not filters.filters:
        return None
    condition = filters.condition or FilterCondition.AND
    if condition not in _JOINED:
        raise FilterError(
            f"filters are joined by 'and' or 'or'; got {condition.value!r}. Negate the conditions: "
            "'!=' for '==', 'nin' for 'in'"
        )
    arms = [_arm(part) for part in filters.filters]
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
        return {_EACH[part.operator]: [{part.key: {"$contains": value}} for value in part.value]}
    raise FilterError(
        f"filter on {part.key!r}: {part.operator.value!r} cannot be asked of the store with "
        f"{part.value!r}; there are {', '.join(x.value for x in (*_COMPARED, *_EACH))}"
    )
