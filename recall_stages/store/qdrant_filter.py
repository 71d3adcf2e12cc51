"""Conditions in the language of Qdrant, which both frameworks hand on as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from recall_stages.store.coarse_filter import Condition, Dialect, values_written

if TYPE_CHECKING:
    from qdrant_client import models


@dataclass(frozen=True, slots=True)
class QdrantDialect(Dialect["models.Filter"]):
    """Qdrant's filters. Its client is there if there is a store of it.

    Attributes:
        prefix: What stands before the metadata keys in a payload.
        argument: The argument of the search that takes the filter.
    """

    knows_missing: ClassVar[bool] = True

    prefix: str = "metadata."
    argument: str = "filter"

    def condition(self, condition: Condition) -> models.Filter | None:
        """One condition as a filter."""
        from qdrant_client import models  # noqa: PLC0415 - no dependency of ours

        key, value = f"{self.prefix}{condition.key}", condition.value
        if condition.operator == "has":
            empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
            return models.Filter(must_not=[empty]) if value else models.Filter(must=[empty])
        if condition.operator == "in" and isinstance(value, tuple):
            return self._any(key, models.MatchAny(any=[*value]))
        if condition.operator == "is" and isinstance(value, bool):
            return self._any(key, models.MatchValue(value=value))
        if condition.operator == "text":  # it tells 7 from "7"
            matches: list[models.Match | models.Range] = [models.MatchValue(value=str(value))]
            for each in values_written(str(value)):
                number = models.Range(gte=each, lte=each)
                matches.append(models.MatchValue(value=each) if isinstance(each, bool) else number)
            return self._any(key, *matches)
        bound = {"gte" if condition.operator == ">=" else "lte": value}
        if isinstance(value, str):
            return self._any(key, models.DatetimeRange.model_validate(bound))
        if isinstance(value, int | float):
            return self._any(key, models.Range.model_validate(bound))
        return None

    @staticmethod
    def _any(
        key: str, *accepted: models.Match | models.Range | models.DatetimeRange
    ) -> models.Filter:
        from qdrant_client import models  # noqa: PLC0415

        arms = []
        for each in accepted:
            ranged = isinstance(each, models.Range | models.DatetimeRange)
            kind = "range" if ranged else "match"
            arms.append(models.FieldCondition.model_validate({"key": key, kind: each}))
        return models.Filter(should=arms)

    def joined(self, how: Literal["and", "or"], filters: Sequence[models.Filter]) -> models.Filter:
        """Several filters as one."""
        from qdrant_client import models  # noqa: PLC0415

        return models.Filter(must=[*filters]) if how == "and" else models.Filter(should=[*filters])

    def arguments(self, written: models.Filter) -> Mapping[str, object]:
        """The argument of a search."""
        return {self.argument: written}
