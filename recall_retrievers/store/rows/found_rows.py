"""The rows that the searches of a question found: read where somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.pool import Facts, Found, Keys
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.rows.table import Table


class FoundRows(Found):
    """Rows by their place; those that the row index does not have are at hand.

    Args:
        table: The rows of the collection.
        index: The collection, in which rows are read once the table is closed.
        scopes: The scopes that are searched. Owners are compared as numbers; here they are compared
            as they are.
    """

    def __init__(self, table: Table, index: Collection, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._table = table
        self._index = index
        self._scopes = set(scopes)
        self._ids: dict[int, str] = {}
        self._facts: dict[bytes, Facts] = {}

    def keys(self, ids: Sequence[str]) -> list[int]:
        """The places of rows; a number below 0 where the row index does not have one."""
        places = self._table.places_of(ids).tolist()
        others = iter(super().keys([x for x, n in zip(ids, places, strict=True) if n < 0]))
        return [next(others) if place < 0 else place for place in places]

    def ids(self, keys: Keys) -> dict[int, str]:
        """The ids of rows by their key; without those that are gone."""
        unknown = {key: row_id for row_id, key in self._keys.items() if key in keys}
        return self._table.ids_at(keys[keys >= 0].tolist()) | unknown

    def candidates(self, keys: Keys) -> Sequence[Candidate | None]:
        """The memories of rows; None where a row is gone, or outside of the scopes."""
        others = [key for key in keys.tolist() if key not in self.memories]
        try:
            read = dict(zip(others, self._table.memories(others, None), strict=True))
        except StoreClosedError:  # nobody searches the scope any more, or its rows are read anew
            there = self._index.read([self._ids[key] for key in others], None)
            read = {key: there.get(self._ids[key]) for key in others}
        found = [self.memories.get(key) or read.get(key) for key in keys.tolist()]
        return [
            memory
            if memory is not None and any(scope.holds(memory.scope) for scope in self._scopes)
            else None
            for memory in found
        ]

    def at_hand(self, _: Keys) -> Sequence[Candidate]:
        """Nothing: a row has no steps."""
        return ()

    def facts(self, keys: Keys) -> Facts:
        """What ranking reads of rows; it is read once."""
        known = keys.tobytes()
        if known not in self._facts:
            facts = super().facts(keys) if self.memories else self._table.facts_of(keys, self)
            self._ids |= zip(facts.keys.tolist(), facts.ids, strict=True)
            self._facts[known] = facts
        return self._facts[known]
