"""What makes document compressors of the stages: of one, or of several.

>>> from langchain_recall import ExtractTime, FuseRerank, RecallCompressor
>>> found = [
...     Document(f"Tea on {day}.", metadata={"created_at": day, "relevance_score": 0.5})
...     for day in ("2024-03-01", "2024-03-05")
... ]
>>> refine = RecallCompressor(stages=[ExtractTime(), FuseRerank()], timestamp="2024-03-08")
>>> refine.compress_documents(found, "tea last Tuesday")[0].page_content
'Tea on 2024-03-05.'
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManager,
    CallbackManagerForChainRun,
    Callbacks,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict  # pydantic, which makes the schema, wants this one

from langchain_recall._convert import to_candidate, to_document, to_documents
from langchain_recall._world import LangChainWorld, Model, StageInput
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.flat_metadata import memories_in
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings import Timed
from recall_retrievers.core.stage import Recall, Stage
from recall_retrievers.core.world import arun, completed, run
from recall_retrievers.llm.model_stage import ModelStage
from recall_retrievers.retriever.stage_list import StageList


class CompressorInput(TypedDict):
    """The input of a compressor as a Runnable."""

    query: str
    documents: Sequence[Document]


class MemoryCompressor(
    Timed, Stage, RunnableSerializable[CompressorInput, list[Document]], BaseDocumentCompressor
):
    """A stage that takes and returns LangChain documents; it never alters its input."""

    # LangChain's Serializable ignores unknown names; here a typo is an error.
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """A stage is its settings, so `dumps` and `loads` can carry it."""
        return True

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The model, too; if it can't be written down, `loads` says so."""
        model = getattr(self, "llm", None)
        return {} if model is None else {"llm": model}

    def invoke(
        self, input: CompressorInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Work on ``{"query": ..., "documents": [...]}``, as a run of its own in the trace."""
        return self._call_with_config(self._compress, input, config, **kwargs)

    async def ainvoke(
        self, input: CompressorInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        return await self._acall_with_config(self._acompress, input, config, **kwargs)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Work on documents for a query; without documents no model is called."""
        return self.invoke({"query": query, "documents": documents}, {"callbacks": callbacks})

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        return await self.ainvoke(
            {"query": query, "documents": documents}, {"callbacks": callbacks}
        )

    def _compress(
        self, input: CompressorInput, run_manager: CallbackManagerForChainRun
    ) -> list[Document]:
        return completed(self._acompress(input, run_manager))

    async def _acompress(
        self,
        input: CompressorInput,
        run_manager: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun,
    ) -> list[Document]:
        if not input["documents"]:
            return []
        flow = self.flow(self._recall(input))
        return to_documents(await arun(flow, LangChainWorld(run_manager.get_child())))

    def _recall(self, input: CompressorInput) -> Recall:
        asked_at = self.moment(datetime.now(UTC))
        memories = tuple(self._candidate(x, asked_at.tzinfo) for x in input["documents"])
        return Recall(Query(text=input["query"], reference_time=asked_at), memories)

    def _candidate(self, document: Document, timezone: tzinfo | None) -> Candidate:
        return to_candidate(document, timezone)


class ModelCompressor(ModelStage, MemoryCompressor):
    """A stage that asks a language model of LangChain; it stands first among its bases."""

    piece: ClassVar[type | None] = BaseDocumentCompressor

    llm: Model | None = Field(default=None, exclude=True, repr=False)


class RecallCompressor(StageList, MemoryCompressor):
    """Several stages as one: each knows what the stages before it understood of the question."""

    piece: ClassVar[type] = BaseDocumentCompressor

    if TYPE_CHECKING:  # what may be handed in; checkers would take the type that is read back
        stages: Sequence[StageInput] = ()  # type: ignore[assignment]

    def _candidate(self, document: Document, timezone: tzinfo | None) -> Candidate:
        named = {"metadata": self.in_our_names(document.metadata)}
        return replace(to_candidate(document.model_copy(update=named), timezone), source=document)


class TextCompressor(MemoryCompressor):
    """A stage that makes one text: as a compressor, one document that names its sources.

    `originals` returns the memories behind it, and `citations` what each sentence rests on.
    """

    def format(self, documents: Sequence[Document], query: str = "") -> str:
        """The text alone, also for no documents: ``retriever | PrintMemory().format | prompt``."""
        flow = self.flow(self._recall({"query": query, "documents": documents}))
        return run(flow, LangChainWorld(CallbackManager([]))).text


def originals(document: Document) -> list[Document]:
    """The memories that a text was made of, best first, with their scores and their traces.

    Args:
        document: What `RewriteMemory`, `Reflect`, `MergeMemory` or `PrintMemory` returned.

    Returns:
        Nothing if no stage of this library wrote the text, or if it was JSON in between.
    """
    return [to_document(memory) for memory in memories_in(document.metadata)]
