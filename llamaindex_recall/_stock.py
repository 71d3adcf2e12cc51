"""LlamaIndex's own node postprocessors among our stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import field_validator

from llamaindex_recall._convert import to_memory, to_node
from recall_stages.memory import Memory
from recall_stages.settings import Settings
from recall_stages.stage import Refine, Stage
from recall_stages.stock_stage import StockStage


class TakesPostprocessors(Settings):
    """Whatever has ``stages``, among which any node postprocessor may stand."""

    @field_validator("stages", mode="before", check_fields=False)
    @classmethod
    def _postprocessors_as_stages(cls, stages: object) -> object:
        if not isinstance(stages, list | tuple):
            return stages
        return [
            StockStage(piece=each)
            if isinstance(each, BaseNodePostprocessor) and not isinstance(each, Stage)
            else each
            for each in stages
        ]


def refined(request: Refine) -> list[Memory]:
    """What a postprocessor makes of memories."""
    piece = cast("BaseNodePostprocessor", request.piece)
    found = piece.postprocess_nodes(_nodes(request), QueryBundle(request.query.text))
    return _memories(request, found)


async def arefined(request: Refine) -> list[Memory]:
    """The same without blocking the event loop."""
    piece = cast("BaseNodePostprocessor", request.piece)
    found = await piece.apostprocess_nodes(_nodes(request), QueryBundle(request.query.text))
    return _memories(request, found)


def _nodes(request: Refine) -> list[NodeWithScore]:
    zone = request.query.reference_time.tzinfo
    return [to_node(memory, zone) for memory in request.memories]


def _memories(request: Refine, found: Sequence[NodeWithScore]) -> list[Memory]:
    zone = request.query.reference_time.tzinfo
    return [to_memory(node, zone) for node in found]
