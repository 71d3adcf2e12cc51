"""LlamaIndex's face: memories in a Chroma collection, asked in plain words.

    from llamaindex_recall import RecallRetriever, RecallStore

Everything a user needs is exported here; nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_stages.lazy import lazy_exports

if TYPE_CHECKING:
    from llamaindex_recall.postprocessors import ExtractTime as ExtractTime
    from llamaindex_recall.postprocessors import FuseRerank as FuseRerank
    from llamaindex_recall.postprocessors import MemoryPostprocessor as MemoryPostprocessor
    from llamaindex_recall.postprocessors import PrintMemory as PrintMemory
    from llamaindex_recall.postprocessors import SearchGate as SearchGate
    from llamaindex_recall.postprocessors import SemanticRank as SemanticRank
    from llamaindex_recall.retriever import RecallQueryBundle as RecallQueryBundle
    from llamaindex_recall.retriever import RecallRetriever as RecallRetriever
    from llamaindex_recall.retriever import SearchSkipped as SearchSkipped
    from llamaindex_recall.retriever import explain as explain
    from llamaindex_recall.retriever import personal_memory_retriever as personal_memory_retriever
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
    "ExtractTime": "llamaindex_recall.postprocessors",
    "Fields": "recall_stages.store",
    "FuseRerank": "llamaindex_recall.postprocessors",
    "Memory": "recall_stages.memory",
    "MemoryPostprocessor": "llamaindex_recall.postprocessors",
    "PrintMemory": "llamaindex_recall.postprocessors",
    "RecallError": "recall_stages.errors",
    "RecallQueryBundle": "llamaindex_recall.retriever",
    "RecallRetriever": "llamaindex_recall.retriever",
    "RecallStore": "recall_stages.store",
    "Scope": "recall_stages.memory",
    "ScopeError": "recall_stages.errors",
    "SearchGate": "llamaindex_recall.postprocessors",
    "SearchSkipped": "llamaindex_recall.retriever",
    "SemanticRank": "llamaindex_recall.postprocessors",
    "TimeRange": "recall_stages.timeline",
    "explain": "llamaindex_recall.retriever",
    "extract_search_terms": "recall_stages.search_terms",
    "extract_time": "recall_stages.timeline",
    "personal_memory_retriever": "llamaindex_recall.retriever",
    "should_search_memory": "recall_stages.search_gate",
}

__all__ = list(_EXPORTS)
__getattr__ = lazy_exports(_EXPORTS, framework="llama_index", extra="llamaindex")
