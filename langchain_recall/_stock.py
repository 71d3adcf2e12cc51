"""LangChain's own document compressors among our stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.documents import BaseDocumentCompressor, Document

from langchain_recall._convert import to_document, to_memory
from recall_stages.core.concurrent import at_once, at_once_async
from recall_stages.core.memory import Memory
from recall_stages.core.requests import Refine
from recall_stages.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseDocumentCompressor
"""What may be handed in as a stage."""


def refined(
    requests: Sequence[Refine], callbacks: BaseCallbackManager | None
) -> Sequence[list[Memory] | Exception]:
    """What compressors make of memories, under these callbacks."""

    def compressed(request: Refine) -> list[Memory]:
        return _memories(request, _piece(request).compress_documents(*_input(request), callbacks))

    return at_once(compressed, requests, requests[0].timeout_s)


async def refined_async(
    requests: Sequence[Refine], callbacks: BaseCallbackManager | None
) -> Sequence[list[Memory] | Exception]:
    """The same without blocking the event loop."""

    async def compressed(request: Refine) -> list[Memory]:
        piece = _piece(request)
        return _memories(request, await piece.acompress_documents(*_input(request), callbacks))

    return await at_once_async(compressed, requests, requests[0].timeout_s)


def _piece(request: Refine) -> BaseDocumentCompressor:
    return cast("BaseDocumentCompressor", request.piece)  # as `TakesStages` has seen to


def _input(request: Refine) -> tuple[list[Document], str]:
    zone = request.query.reference_time.tzinfo
    return [to_document(memory, zone) for memory in request.memories], request.query.text


def _memories(request: Refine, found: Sequence[Document]) -> list[Memory]:
    zone = request.query.reference_time.tzinfo
    return [to_memory(document, zone) for document in found]
