"""The world of a stage in LangChain: its models and compressors, and a run for each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.documents import BaseDocumentCompressor, Document

from langchain_recall._convert import to_document, to_memory
from langchain_recall._model import async_client, client
from recall_stages.core.concurrent import call_all, call_all_async
from recall_stages.core.memory import Memory
from recall_stages.core.recall import Recall
from recall_stages.core.requests import Prompt, Refine, Reply
from recall_stages.core.stage import StageRun
from recall_stages.core.trace_view import stage_input, stage_output
from recall_stages.core.world import AsyncWorld, MemoryStore, World
from recall_stages.llm.client import ask_models, ask_models_async
from recall_stages.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseDocumentCompressor
"""What may be passed as a stage."""


class LangChainWorld(World):
    """Models and compressors are called, and stages are traced, under these callbacks."""

    def __init__(self, callbacks: CallbackManager | None, store: MemoryStore | None = None) -> None:
        super().__init__(store)
        self.callbacks = callbacks

    def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply."""
        return ask_models(client(self.callbacks), prompts)

    def refine(self, requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
        """What the compressors make of memories."""

        def compressed(request: Refine) -> list[Memory]:
            documents, query = _input(request)
            compressor = _compressor(request)
            return _memories(
                request, compressor.compress_documents(documents, query, self.callbacks)
            )

        return call_all(compressed, requests, requests[0].timeout_s)

    def work(self, stage_run: StageRun) -> Recall:
        """Do the work of a stage in a run of its own, with its model calls inside."""
        if self.callbacks is None or not self.callbacks.handlers:
            return super().work(stage_run)
        run = self.callbacks.on_chain_start(None, stage_input(stage_run), name=stage_run.name)
        inside = LangChainWorld(run.get_child(), self.store)
        try:
            outcome = super(LangChainWorld, inside).work(stage_run)
        except BaseException as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end(stage_output(stage_run, outcome))
        return outcome


class AsyncLangChainWorld(AsyncWorld):
    """The same without blocking the event loop."""

    def __init__(
        self, callbacks: AsyncCallbackManager | None, store: MemoryStore | None = None
    ) -> None:
        super().__init__(store)
        self.callbacks = callbacks

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply."""
        return await ask_models_async(async_client(self.callbacks), prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Memory] | Exception]:
        """What the compressors make of memories."""

        async def compressed(request: Refine) -> list[Memory]:
            documents, query = _input(request)
            compressor = _compressor(request)
            return _memories(
                request, await compressor.acompress_documents(documents, query, self.callbacks)
            )

        return await call_all_async(compressed, requests, requests[0].timeout_s)

    async def work(self, stage_run: StageRun) -> Recall:
        """Do the work of a stage in a run of its own, with its model calls inside."""
        if self.callbacks is None or not self.callbacks.handlers:
            return await super().work(stage_run)
        run = await self.callbacks.on_chain_start(None, stage_input(stage_run), name=stage_run.name)
        inside = AsyncLangChainWorld(run.get_child(), self.store)
        try:
            outcome = await super(AsyncLangChainWorld, inside).work(stage_run)
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        await run.on_chain_end(stage_output(stage_run, outcome))
        return outcome


def _compressor(request: Refine) -> BaseDocumentCompressor:
    return cast("BaseDocumentCompressor", request.piece)  # as `TakesStages` has seen to


def _input(request: Refine) -> tuple[list[Document], str]:
    zone = request.query.reference_time.tzinfo
    return [to_document(memory, zone) for memory in request.memories], request.query.text


def _memories(request: Refine, documents: Sequence[Document]) -> list[Memory]:
    zone = request.query.reference_time.tzinfo
    return [to_memory(document, zone) for document in documents]
