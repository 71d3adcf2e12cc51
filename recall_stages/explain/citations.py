"""Citations: the sources of each sentence of a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from recall_stages.core.citation import Citation
from recall_stages.core.text_sources import citations_in


class Result(Protocol):
    """A document or a node."""

    @property
    def metadata(self) -> Mapping[str, object]:
        """Its metadata."""


def citations(result: Result) -> list[Citation]:
    """The sentences of a text that a model wrote, with the ids of the memories they rest on.

    Args:
        result: A document or node from `RewriteMemory` or `Reflect`.

    Returns:
        The citations. The list is empty if no stage of this library wrote the result, or if the
        result was written as JSON and read again.
    """
    return citations_in(result.metadata)
