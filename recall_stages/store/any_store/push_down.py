"""What is pushed down to a store, and how much of it the store takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recall_stages.core.stage import Search
from recall_stages.store.any_store.coarse_filter import Dialect
from recall_stages.store.any_store.time_forms import TimeForms
from recall_stages.store.chroma.row_fields import Fields

PushDown = Callable[[Search], Mapping[str, object]]
Push = PushDown | str | None
"""The setting ``push_down``: a function, the name of a filter language, or None."""

WHOLE, FLAT, NOTHING = range(3)
# Errors by which a store refuses a filter, and will again. Others may come from the network.
_REFUSALS = (NotImplementedError, ValueError, TypeError, AttributeError, KeyError)


class Narrowing:
    """What one store is to check, in its own language.

    Args:
        push: What writes it: a filter language, or a function of the user. None = nothing.
        fields: The metadata keys of the store.
    """

    def __init__(self, push: Dialect[Any] | PushDown | None, fields: Fields) -> None:
        self._push = push
        self._fields = fields
        self._forms = TimeForms()
        self._first = WHOLE
        self.refusal: Exception | None = None

    @property
    def active(self) -> bool:
        """Whether anything is pushed down."""
        return self._push is not None

    @property
    def may_fail(self) -> bool:
        """Whether the store may refuse it; a function of the user knows what the store takes."""
        return isinstance(self._push, Dialect)

    @property
    def needs_times(self) -> bool:
        """Whether the store has to show first how it writes times."""
        return isinstance(self._push, Dialect) and not self._forms.recorded

    @property
    def levels(self) -> Sequence[int]:
        """How much to push down: what to try first, and what if the store refuses it."""
        return range(self._first, NOTHING + 1) if self.may_fail else (WHOLE,)

    def arguments(self, search: Search, level: int) -> Mapping[str, object]:
        """The arguments of the store's search; empty = it is to check nothing."""
        if not isinstance(self._push, Dialect):
            return {} if self._push is None else self._push(search)
        if level == NOTHING:
            return {}
        return self._push.narrowing(search, self._fields, None if level == FLAT else self._forms)

    def learn(
        self, level: int | None, refused: Exception | None, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Remember what the store took, and how it writes times."""
        self._forms.see(rows, self._fields.created_at)
        if level is not None and isinstance(refused, _REFUSALS):
            self._first = max(self._first, level)
            self.refusal = refused
