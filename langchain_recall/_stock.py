"""LangChain's own document compressors among our stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import field_validator

from langchain_recall._convert import to_document, to_memory
from recall_stages.memory import Memory
from recall_stages.settings import Settings
from recall_stages.stage import Refine, Stage
from recall_stages.stock_stage import StockStage


class TakesCompressors(Settings):
    """Whatever has ``stages``, among which any document compressor may stand."""

    @field_validator("stages", mode="before", check_fields=False)
    @classmethod
    def _compressors_as_stages(cls, stages: object) -> object:
        if not isinstance(stages, list | tuple):
            return stages
        return [
            StockStage(piece=each)
            if isinstance(each, BaseDocumentCompressor) and not isinstance(each, Stage)
            else each
            for each in stages
        ]


def refined(request: Refine, callbacks: BaseCallbackManager | None) -> list[Memory]:
    """What a compressor makes of memories."""
    piece = cast("BaseDocumentCompressor", request.piece)
    return _memories(
        request, piece.compress_documents(_documents(request), request.query.text, callbacks)
    )


async def arefined(request: Refine, callbacks: BaseCallbackManager | None) -> list[Memory]:
    """The same without blocking the event loop."""
    piece = cast("BaseDocumentCompressor", request.piece)
    found = await piece.acompress_documents(_documents(request), request.query.text, callbacks)
    return _memories(request, found)


def _documents(request: Refine) -> list[Document]:
    zone = request.query.reference_time.tzinfo
    return [to_document(memory, zone) for memory in request.memories]


def _memories(request: Refine, found: Sequence[Document]) -> list[Memory]:
    zone = request.query.reference_time.tzinfo
    return [to_memory(document, zone) for document in found]
