"""LlamaIndex's own node postprocessors among our stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import field_validator

from llamaindex_recall._convert import to_memory, to_node
from recall_stages.core.concurrent import at_once, at_once_async
from recall_stages.core.memory import Memory
from recall_stages.core.requests import Refine
from recall_stages.core.settings import Settings
from recall_stages.retriever.stage_list import StageInput as OwnStageInput
from recall_stages.stages.framework_stage import with_stock

StageInput = OwnStageInput | BaseNodePostprocessor
"""What may be handed in as a stage."""


class TakesPostprocessors(Settings):
    """Whatever has ``stages``, among which any node postprocessor may stand."""

    @field_validator("stages", mode="before", check_fields=False)
    @classmethod
    def _postprocessors_as_stages(cls, stages: object) -> object:
        return with_stock(stages, BaseNodePostprocessor)


def refined(requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
    """What postprocessors make of memories."""

    def processed(request: Refine) -> list[Memory]:
        nodes, query = _nodes(request), QueryBundle(request.query.text)
        return _memories(request, _piece(request).postprocess_nodes(nodes, query))

    return at_once(processed, requests, requests[0].timeout_s)


async def refined_async(requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
    """The same without blocking the event loop."""

    async def processed(request: Refine) -> list[Memory]:
        nodes, query = _nodes(request), QueryBundle(request.query.text)
        return _memories(request, await _piece(request).apostprocess_nodes(nodes, query))

    return await at_once_async(processed, requests, requests[0].timeout_s)


def _piece(request: Refine) -> BaseNodePostprocessor:
    return cast("BaseNodePostprocessor", request.piece)  # as `TakesPostprocessors` has seen to


def _nodes(request: Refine) -> list[NodeWithScore]:
    zone = request.query.reference_time.tzinfo
    return [to_node(memory, zone) for memory in request.memories]


def _memories(request: Refine, found: Sequence[NodeWithScore]) -> list[Memory]:
    zone = request.query.reference_time.tzinfo
    return [to_memory(node, zone) for node in found]
