"""LangChain's face: memories in a Chroma collection, asked in plain words.

    from langchain_recall import RecallRetriever, RecallStore

Everything a user needs is exported here; nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_stages.lazy import lazy_exports

if TYPE_CHECKING:
    from langchain_recall.compressors import ExtractTime as ExtractTime
    from langchain_recall.compressors import FuseRerank as FuseRerank
    from langchain_recall.compressors import MemoryCompressor as MemoryCompressor
    from langchain_recall.compressors import PrintMemory as PrintMemory
    from langchain_recall.compressors import SearchGate as SearchGate
    from langchain_recall.compressors import SemanticRank as SemanticRank
    from langchain_recall.retriever import RecallRetriever as RecallRetriever
    from langchain_recall.retriever import explain as explain
    from langchain_recall.retriever import personal_memory_retriever as personal_memory_retriever
    from recall_stages.agent_memory import AgentMemory as AgentMemory
    from recall_stages.errors import RecallError as RecallError
    from recall_stages.errors import ScopeError as ScopeError
    from recall_stages.memory import Memory as Memory
    from recall_stages.memory import Scope as Scope
    from recall_stages.search_gate import should_search_memory as should_search_memory
    from recall_stages.search_terms import extract_search_terms as extract_search_terms
    from recall_stages.store import Fields as Fields
    from recall_stages.store import RecallStore as RecallStore
    from recall_stages.timeline import TimeRange as TimeRange
    from recall_stages.timeline import extract_time as extract_time

_EXPORTS = {
    "AgentMemory": "recall_stages.agent_memory",
    "ExtractTime": "langchain_recall.compressors",
    "Fields": "recall_stages.store",
    "FuseRerank": "langchain_recall.compressors",
    "Memory": "recall_stages.memory",
    "MemoryCompressor": "langchain_recall.compressors",
    "PrintMemory": "langchain_recall.compressors",
    "RecallError": "recall_stages.errors",
    "RecallRetriever": "langchain_recall.retriever",
    "RecallStore": "recall_stages.store",
    "Scope": "recall_stages.memory",
    "ScopeError": "recall_stages.errors",
    "SearchGate": "langchain_recall.compressors",
    "SemanticRank": "langchain_recall.compressors",
    "TimeRange": "recall_stages.timeline",
    "explain": "langchain_recall.retriever",
    "extract_search_terms": "recall_stages.search_terms",
    "extract_time": "recall_stages.timeline",
    "personal_memory_retriever": "langchain_recall.retriever",
    "should_search_memory": "recall_stages.search_gate",
}

__all__ = list(_EXPORTS)
__getattr__ = lazy_exports(_EXPORTS, framework="langchain_core", extra="langchain")
