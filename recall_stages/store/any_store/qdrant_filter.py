"""Conditions in the language of Qdrant, which both frameworks hand on as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from recall_stages.store.any_store.coarse_filter import Between, Condition, Dialect, values_written

if TYPE_CHECKING:
    from qdrant_client import models


@dataclass(frozen=True, slots=True)
class QdrantDialect(Dialect["models.Condition"]):
    """Qdrant's filters. Its client is there if there is a store of it.

    Attributes:
        prefix: What stands before the metadata keys in a payload.
        argument: The argument of the search that takes the filter.
    """

    knows_missing: ClassVar[bool] = True

    prefix: str = "metadata."
    argument: str = "filter"

    def condition(self, condition: Condition) -> models.Condition | None:
        """One condition as Qdrant writes it."""
        from qdrant_client import models  # noqa: PLC0415 - no dependency of ours

        if not condition.key.isidentifier():
            return None  # with a dot or a bracket, it is a path
        key, value = f"{self.prefix}{condition.key}", condition.value
        if isinstance(value, Between):
            bounds = {"gte": value.low, "lte": value.high}
            kinds = {type(bound) for bound in value if bound is not None}
            if kinds <= {int, float}:
                return models.FieldCondition(key=key, range=models.Range.model_validate(bounds))
            if kinds == {str}:
                dates = models.DatetimeRange.model_validate(bounds)
                return models.FieldCondition(key=key, range=dates)
            return None
        if condition.operator == "has":
            empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
            return models.Filter(must_not=[empty]) if value else empty
        if isinstance(value, tuple):
            return models.FieldCondition(key=key, match=models.MatchAny(any=[*value]))
        match = models.FieldCondition(key=key, match=models.MatchValue(value=value))
        others = values_written(value) if isinstance(value, str) else []
        alike = [self.condition(_is(condition.key, each)) for each in others]  # not "7" alone: 7
        arms = [match, *(each for each in alike if each is not None)]
        return self.joined("or", arms) if others else match

    def joined(
        self, how: Literal["and", "or"], filters: Sequence[models.Condition]
    ) -> models.Filter:
        """Several conditions as one."""
        from qdrant_client import models  # noqa: PLC0415

        return models.Filter(must=[*filters]) if how == "and" else models.Filter(should=[*filters])

    def arguments(self, written: models.Condition) -> Mapping[str, object]:
        """The argument of a search."""
        return {self.argument: self.joined("and", [written])}


def _is(key: str, value: bool | float) -> Condition:
    if isinstance(value, bool):
        return Condition(key, "is", value)
    return Condition(key, "between", Between(value, value))
