"""The world of a stage in LangChain: its models and compressors, and a run for each stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import TypeVar, cast

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.documents import BaseDocumentCompressor

from langchain_recall._convert import to_candidate, to_document
from langchain_recall._model import client
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.driver import settled
from recall_retrievers.core.recall import Recall
from recall_retrievers.core.requests import Prompt, Refine, Reply
from recall_retrievers.core.stage import StageRun
from recall_retrievers.core.streamed import Show
from recall_retrievers.core.world import MemoryStore, World
from recall_retrievers.llm.client import ask_models
from recall_retrievers.retriever.stage_list import StageInput as OwnStageInput

StageInput = OwnStageInput | BaseDocumentCompressor
"""What may be passed as a stage."""

T = TypeVar("T")


class LangChainWorld(World):
    """Models and compressors are called, and stages are traced, under these callbacks.

    Args:
        callbacks: With async ones, the world does not block the event loop.
        store: The collection, if there is one.
        show: Takes the sentences of a text as they are complete; None = nobody reads along.
    """

    def __init__(
        self,
        callbacks: CallbackManager | AsyncCallbackManager,
        store: MemoryStore | None = None,
        show: Show | None = None,
    ) -> None:
        asynchronous = isinstance(callbacks, AsyncCallbackManager)
        super().__init__(store, asynchronous=asynchronous, show=show)
        self.callbacks = callbacks

    async def reply(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """What the models reply."""
        models = client(self.callbacks, asynchronous=self.asynchronous)
        return await ask_models(self, models, prompts)

    async def refine(self, requests: Sequence[Refine]) -> Sequence[list[Candidate] | Exception]:
        """What the compressors make of memories."""
        return await self.call_all(self._refined, requests, requests[0].timeout_s)

    async def work(self, stage_run: StageRun) -> Recall:
        """Do the work of a stage in a run of its own, with its model calls inside."""
        if not self.callbacks.handlers:
            return await super().work(stage_run)
        started = self.callbacks.on_chain_start(None, stage_run.shown_input, name=stage_run.name)
        run = await started if isawaitable(started) else started
        inside = LangChainWorld(run.get_child(), self.store, self.show)
        try:
            outcome = await super(LangChainWorld, inside).work(stage_run)
        except BaseException as error:
            await _notify(run.on_chain_error, error)
            raise
        await _notify(run.on_chain_end, stage_run.shown_outcome(outcome))
        return outcome

    async def _refined(self, request: Refine) -> list[Candidate]:
        zone = request.query.reference_time.tzinfo
        documents = [to_document(memory, zone) for memory in request.memories]
        piece = cast("BaseDocumentCompressor", request.piece)  # as `TakesStages` has seen to
        compress = piece.acompress_documents if self.asynchronous else piece.compress_documents
        compressed = await settled(compress(documents, request.query.text, self.callbacks))
        return [to_candidate(document, zone) for document in compressed]


async def _notify(callback: Callable[[T], object], value: T) -> None:
    waiting = callback(value)
    if isawaitable(waiting):
        await waiting
