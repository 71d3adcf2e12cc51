"""LlamaIndex's own node postprocessors among our stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_recall._convert import to_memory, to_node
from recall_stages.core.concurrent import at_once, at_once_async
from recall_stages.core.memory import Memory
from recall_stages.core.requests import Refine
from recall_stages.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseNodePostprocessor
"""What may be handed in as a stage."""


def refined(requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
    """What postprocessors make of memories."""

    def processed(request: Refine) -> list[Memory]:
        return _memories(request, _piece(request).postprocess_nodes(*_input(request)))

    return at_once(processed, requests, requests[0].timeout_s)


async def refined_async(requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
    """The same without blocking the event loop."""

    async def processed(request: Refine) -> list[Memory]:
        return _memories(request, await _piece(request).apostprocess_nodes(*_input(request)))

    return await at_once_async(processed, requests, requests[0].timeout_s)


def _piece(request: Refine) -> BaseNodePostprocessor:
    return cast("BaseNodePostprocessor", request.piece)  # as `TakesStages` has seen to


def _input(request: Refine) -> tuple[list[NodeWithScore], QueryBundle]:
    zone, query = request.query.reference_time.tzinfo, QueryBundle(request.query.text)
    return [to_node(memory, zone) for memory in request.memories], query


def _memories(request: Refine, found: Sequence[NodeWithScore]) -> list[Memory]:
    zone = request.query.reference_time.tzinfo
    return [to_memory(node, zone) for node in found]
