"""What is pushed down to a store, and how much of it the store takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recall_retrievers.core.stage import Search
from recall_retrievers.store.any_store.coarse_filter import Dialect
from recall_retrievers.store.any_store.time_forms import TimeForms
from recall_retrievers.store.chroma.row_fields import Fields

PushDown = Callable[[Search], Mapping[str, object]]
Push = PushDown | str | None
"""The setting ``push_down``: a function, the name of a filter language, or None."""

_TRIES = 3  # all that a search demands, without times and alternatives, nothing
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
        self._refused = 0  # of the tries, those that the store will refuse again
        self.refusal: Exception | None = None

    @property
    def active(self) -> bool:
        """Whether anything is pushed down."""
        return self._push is not None

    @property
    def needs_times(self) -> bool:
        """Whether the store has to show first how it writes times."""
        return isinstance(self._push, Dialect) and not self._forms.recorded

    def tries(self, search: Search) -> list[Mapping[str, object]]:
        """The arguments of the store's search to try, one after the other; the last are none.

        A function of the user knows what the store takes, so there is one try.
        """
        push, fields = self._push, self._fields
        if not isinstance(push, Dialect):
            return [{} if push is None else push(search)]
        written = [push.narrowing(search, fields, forms) for forms in (self._forms, None)]
        return [*written, {}][self._refused :]

    def learn(
        self, left: int, refused: Exception | None, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Remember which try the store took, counted from the last, and how it writes times."""
        self._forms.see(rows, self._fields.created_at)
        if isinstance(refused, _REFUSALS):
            self._refused = max(self._refused, _TRIES - left)
            self.refusal = refused
