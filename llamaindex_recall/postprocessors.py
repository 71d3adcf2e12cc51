"""The stages as LlamaIndex node postprocessors.

Each is a stage of `recall_retrievers` with LlamaIndex's base beside it, nothing more. It works in
any ``node_postprocessors=[...]`` list and in the ``stages`` of a `RecallRetriever`.
`RecallPostprocessor` is several in one; see `llamaindex_recall.node_postprocessor`.
"""

from __future__ import annotations

from llama_index.core.llms import LLM as _LLM
from pydantic import Field as _Field

from llamaindex_recall.node_postprocessor import (
    MemoryPostprocessor,
    TextPostprocessor,
)
from recall_retrievers import stages as _stages


class BuildQuery(_stages.BuildQuery, MemoryPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)


class ExtractTime(_stages.ExtractTime, MemoryPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)


class SearchGate(_stages.SearchGate, MemoryPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)


class SemanticRank(_stages.SemanticRank, MemoryPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)


class RerankMemory(_stages.RerankMemory, MemoryPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)


class FuseRerank(_stages.FuseRerank, MemoryPostprocessor): ...


class RelevanceThreshold(_stages.RelevanceThreshold, MemoryPostprocessor): ...


class Deduplicate(_stages.Deduplicate, MemoryPostprocessor): ...


class TimeDecay(_stages.TimeDecay, MemoryPostprocessor): ...


class RelevanceRank(_stages.RelevanceRank, MemoryPostprocessor): ...


class RecencyRank(_stages.RecencyRank, MemoryPostprocessor): ...


class HybridRank(_stages.HybridRank, MemoryPostprocessor): ...


class StaleReflections(_stages.StaleReflections, MemoryPostprocessor): ...


class ReadMessage(_stages.ReadMessage, MemoryPostprocessor): ...


class TokenBudget(_stages.TokenBudget, MemoryPostprocessor): ...


class PrintMemory(_stages.PrintMemory, TextPostprocessor): ...


class MergeMemory(_stages.MergeMemory, TextPostprocessor): ...


class RewriteMemory(_stages.RewriteMemory, TextPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)


class Reflect(_stages.Reflect, TextPostprocessor):
    llm: _LLM | None = _Field(default=None, exclude=True, repr=False)
