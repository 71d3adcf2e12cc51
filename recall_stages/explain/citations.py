"""Which memories each sentence of a text rests on."""

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
        result: A document or node that `RewriteMemory` or `Reflect` returned.

    Returns:
        Nothing if no stage of this library wrote the result, or if it was JSON in between.
    """
    return citations_in(result.metadata)
