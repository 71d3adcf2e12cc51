"""The `MetadataFilters` of LlamaIndex as our filter."""

from __future__ import annotations

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from recall_stages.core.errors import FilterError
from recall_stages.core.query import Filter

_COMPARED = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.CONTAINS: "$contains",
}
_EACH = {FilterOperator.ANY: "$or", FilterOperator.ALL: "$and"}
_JOINED = {FilterCondition.AND: "$and", FilterCondition.OR: "$or"}


def to_filter(filters: MetadataFilters | None) -> Filter | None:
    """The filter that a `RecallStore` takes; None where nothing is limited.

    Raises:
        FilterError: When an operator has no counterpart.

    Examples:
        >>> starred = MetadataFilter(key="stars", value=3, operator=">=")
        >>> to_filter(MetadataFilters(filters=[starred]))
        {'stars': {'$gte': 3}}
    """
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
