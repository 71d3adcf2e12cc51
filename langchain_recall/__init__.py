"""LangChain's face: memories in a Chroma collection, asked in plain words.

    from langchain_recall import RecallRetriever, RecallStore

Everything a user needs is exported here; nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_stages.lazy import lazy_exports

if TYPE_CHECKING:
    from langchain_recall.compressors import ExtractTime as ExtractTime
    from langchain_recall.compressors import FuseRerank as FuseRerank
    from langchain_recall.compressors import HybridRank as HybridRank
    from langchain_recall.compressors import MemoryCompressor as MemoryCompressor
    from langchain_recall.compressors import PrintMemory as PrintMemory
    from langchain_recall.compressors import RecencyRank as RecencyRank
    from langchain_recall.compressors import RelevanceRank as RelevanceRank
    from langchain_recall.compressors import RelevanceThreshold as RelevanceThreshold
    from langchain_recall.compressors import SemanticRank as SemanticRank
    from langchain_recall.compressors import TimeDecay as TimeDecay
    from langchain_recall.retriever import RecallRetriever as RecallRetriever
    from langchain_recall.retriever import explain as explain
    from langchain_recall.retriever import personal_memory_retriever as personal_memory_retriever
    from langchain_recall.tools import create_recall_tool as create_recall_tool
    from recall_stages.errors import RecallError as RecallError
    from recall_stages.errors import ScopeError as ScopeError
    from recall_stages.memory import Memory as Memory
    from recall_stages.memory import Scope as Scope
    from recall_stages.store import Fields as Fields
    from recall_stages.store import RecallStore as RecallStore
    from recall_stages.timeline import TimeRange as TimeRange
    from recall_stages.timeline import extract_time as extract_time

_EXPORTS = {
    "ExtractTime": "langchain_recall.compressors",
    "Fields": "recall_stages.store",
    "FuseRerank": "langchain_recall.compressors",
    "HybridRank": "langchain_recall.compressors",
    "Memory": "recall_stages.memory",
    "MemoryCompressor": "langchain_recall.compressors",
    "PrintMemory": "langchain_recall.compressors",
    "RecallError": "recall_stages.errors",
    "RecallRetriever": "langchain_recall.retriever",
    "RecallStore": "recall_stages.store",
    "RecencyRank": "langchain_recall.compressors",
    "RelevanceRank": "langchain_recall.compressors",
    "RelevanceThreshold": "langchain_recall.compressors",
    "Scope": "recall_stages.memory",
    "ScopeError": "recall_stages.errors",
    "SemanticRank": "langchain_recall.compressors",
    "TimeDecay": "langchain_recall.compressors",
    "TimeRange": "recall_stages.timeline",
    "create_recall_tool": "langchain_recall.tools",
    "explain": "langchain_recall.retriever",
    "extract_time": "recall_stages.timeline",
    "personal_memory_retriever": "langchain_recall.retriever",
}

__all__ = list(_EXPORTS)
__getattr__ = lazy_exports(_EXPORTS, framework="langchain_core", extra="langchain")
