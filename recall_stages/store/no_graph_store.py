"""What says to LangGraph that a `RecallStore` is no store of LangGraph's kind.

LangGraph takes any object as its ``store`` and checks nothing. An agent would run on, and fail with
a puzzle when a tool asks the store for an item.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Never

# The methods of LangGraph's store that ours has not.
_METHODS = {each + name for name in ("put", "search", "list_namespaces") for each in ("", "a")}


class NoGraphStore:
    """The base of a store that LangGraph cannot use as it is."""

    def __bool__(self) -> bool:
        """True. LangGraph asks for it when a graph begins to run, which is then an error."""
        if sys._getframe(1).f_globals.get("__name__") == "langgraph.runtime":  # noqa: SLF001 - documented
            raise TypeError(_not_one(self))
        return True

    if not TYPE_CHECKING:  # checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Never:
            hint = f": {_not_one(self)}" if name in _METHODS else ""
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{hint}",
                name=name,
                obj=self,
            )


def _not_one(store: object) -> str:
    return (
        f"{type(store).__name__} is no store of LangGraph; pass RecallGraphStore(store), which is "
        "imported from langchain_recall"
    )
