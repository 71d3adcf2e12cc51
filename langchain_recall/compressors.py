"""The stages as LangChain document compressors.

Each is a stage of `recall_retrievers` with LangChain's base beside it, nothing more. It works in a
`DocumentCompressorPipeline`, under a `ContextualCompressionRetriever`, as a Runnable on
``{"query": ..., "documents": [...]}``, and in the ``stages`` of a `RecallRetriever`.
`RecallCompressor` is several in one; see `langchain_recall.document_compressor`.
"""

from __future__ import annotations

from pydantic import Field as _Field

from langchain_recall._world import Model as _Model
from langchain_recall.document_compressor import (
    MemoryCompressor,
    TextCompressor,
)
from recall_retrievers import stages as _stages


class BuildQuery(_stages.BuildQuery, MemoryCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)


class ExtractTime(_stages.ExtractTime, MemoryCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)


class SearchGate(_stages.SearchGate, MemoryCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)


class SemanticRank(_stages.SemanticRank, MemoryCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)


class RerankMemory(_stages.RerankMemory, MemoryCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)


class FuseRerank(_stages.FuseRerank, MemoryCompressor): ...


class RelevanceThreshold(_stages.RelevanceThreshold, MemoryCompressor): ...


class Deduplicate(_stages.Deduplicate, MemoryCompressor): ...


class TimeDecay(_stages.TimeDecay, MemoryCompressor): ...


class RelevanceRank(_stages.RelevanceRank, MemoryCompressor): ...


class RecencyRank(_stages.RecencyRank, MemoryCompressor): ...


class HybridRank(_stages.HybridRank, MemoryCompressor): ...


class StaleReflections(_stages.StaleReflections, MemoryCompressor): ...


class ReadMessage(_stages.ReadMessage, MemoryCompressor): ...


class TokenBudget(_stages.TokenBudget, MemoryCompressor): ...


class PrintMemory(_stages.PrintMemory, TextCompressor): ...


class MergeMemory(_stages.MergeMemory, TextCompressor): ...


class RewriteMemory(_stages.RewriteMemory, TextCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)


class Reflect(_stages.Reflect, TextCompressor):
    llm: _Model | None = _Field(default=None, exclude=True, repr=False)
