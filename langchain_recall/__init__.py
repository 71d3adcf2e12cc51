"""LangChain's face: memories in a Chroma collection, asked in plain words.

    from langchain_recall import RecallRetriever, RecallStore

Everything a user needs is exported here; nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_stages import __version__ as __version__
from recall_stages.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from langchain_recall.any_store import AnyStore as AnyStore
    from langchain_recall.compressors import BuildQuery as BuildQuery
    from langchain_recall.compressors import Deduplicate as Deduplicate
    from langchain_recall.compressors import ExtractTime as ExtractTime
    from langchain_recall.compressors import FuseRerank as FuseRerank
    from langchain_recall.compressors import HybridRank as HybridRank
    from langchain_recall.compressors import LateInteractionRank as LateInteractionRank
    from langchain_recall.compressors import MemoryCompressor as MemoryCompressor
    from langchain_recall.compressors import MergeMemory as MergeMemory
    from langchain_recall.compressors import PrintMemory as PrintMemory
    from langchain_recall.compressors import RankAndRewrite as RankAndRewrite
    from langchain_recall.compressors import ReadMessage as ReadMessage
    from langchain_recall.compressors import RecallCompressor as RecallCompressor
    from langchain_recall.compressors import RecencyRank as RecencyRank
    from langchain_recall.compressors import Reflect as Reflect
    from langchain_recall.compressors import RelevanceRank as RelevanceRank
    from langchain_recall.compressors import RelevanceThreshold as RelevanceThreshold
    from langchain_recall.compressors import RerankMemory as RerankMemory
    from langchain_recall.compressors import RewriteMemory as RewriteMemory
    from langchain_recall.compressors import SearchGate as SearchGate
    from langchain_recall.compressors import SemanticRank as SemanticRank
    from langchain_recall.compressors import StaleReflections as StaleReflections
    from langchain_recall.compressors import TimeDecay as TimeDecay
    from langchain_recall.compressors import TokenBudget as TokenBudget
    from langchain_recall.evaluation import evaluate as evaluate
    from langchain_recall.middleware import RecallMiddleware as RecallMiddleware
    from langchain_recall.one_call import arecall as arecall
    from langchain_recall.one_call import recall as recall
    from langchain_recall.presets import personal_memory_retriever as personal_memory_retriever
    from langchain_recall.presets import (
        simple_task_memory_retriever as simple_task_memory_retriever,
    )
    from langchain_recall.presets import task_memory_retriever as task_memory_retriever
    from langchain_recall.retriever import RecallRetriever as RecallRetriever
    from langchain_recall.retriever import explain as explain
    from langchain_recall.told import citations as citations
    from langchain_recall.told import originals as originals
    from langchain_recall.tools import create_recall_tool as create_recall_tool
    from recall_stages.agents.agent_memory import AgentMemory as AgentMemory
    from recall_stages.agents.search_terms import extract_search_terms as extract_search_terms
    from recall_stages.core.citation import Citation as Citation
    from recall_stages.core.errors import EmbeddingMismatchError as EmbeddingMismatchError
    from recall_stages.core.errors import FilterError as FilterError
    from recall_stages.core.errors import ForeignCollectionError as ForeignCollectionError
    from recall_stages.core.errors import IdLookupError as IdLookupError
    from recall_stages.core.errors import KeywordSearchError as KeywordSearchError
    from recall_stages.core.errors import MemoryFormatError as MemoryFormatError
    from recall_stages.core.errors import QueryError as QueryError
    from recall_stages.core.errors import QuestionFileError as QuestionFileError
    from recall_stages.core.errors import RecallError as RecallError
    from recall_stages.core.errors import ScopeError as ScopeError
    from recall_stages.core.errors import SettingsError as SettingsError
    from recall_stages.core.errors import StoreClosedError as StoreClosedError
    from recall_stages.core.errors import StoreDamagedError as StoreDamagedError
    from recall_stages.core.errors import StoreError as StoreError
    from recall_stages.core.errors import StoreLockedError as StoreLockedError
    from recall_stages.core.errors import StoreUnavailableError as StoreUnavailableError
    from recall_stages.core.memory import Memory as Memory
    from recall_stages.core.memory import Scope as Scope
    from recall_stages.core.message import Message as Message
    from recall_stages.evaluation.comparison import Comparison as Comparison
    from recall_stages.evaluation.comparison import compare as compare
    from recall_stages.evaluation.evaluate import Evaluation as Evaluation
    from recall_stages.evaluation.questions import Question as Question
    from recall_stages.evaluation.questions import read_questions as read_questions
    from recall_stages.evaluation.steps import evaluate_steps as evaluate_steps
    from recall_stages.retriever.recall_function import RecallConfig as RecallConfig
    from recall_stages.stages.search_gate import should_search_memory as should_search_memory
    from recall_stages.store import Fields as Fields
    from recall_stages.store import RecallStore as RecallStore
    from recall_stages.timeline import TimeRange as TimeRange
    from recall_stages.timeline import extract_time as extract_time

_EXPORTS = {
    "AgentMemory": "recall_stages.agents.agent_memory",
    "AnyStore": "langchain_recall.any_store",
    "BuildQuery": "langchain_recall.compressors",
    "Citation": "recall_stages.core.citation",
    "Comparison": "recall_stages.evaluation.comparison",
    "Deduplicate": "langchain_recall.compressors",
    "EmbeddingMismatchError": "recall_stages.core.errors",
    "Evaluation": "recall_stages.evaluation.evaluate",
    "ExtractTime": "langchain_recall.compressors",
    "Fields": "recall_stages.store",
    "FilterError": "recall_stages.core.errors",
    "ForeignCollectionError": "recall_stages.core.errors",
    "FuseRerank": "langchain_recall.compressors",
    "HybridRank": "langchain_recall.compressors",
    "IdLookupError": "recall_stages.core.errors",
    "KeywordSearchError": "recall_stages.core.errors",
    "LateInteractionRank": "langchain_recall.compressors",
    "Memory": "recall_stages.core.memory",
    "MemoryCompressor": "langchain_recall.compressors",
    "MemoryFormatError": "recall_stages.core.errors",
    "MergeMemory": "langchain_recall.compressors",
    "Message": "recall_stages.core.message",
    "PrintMemory": "langchain_recall.compressors",
    "QueryError": "recall_stages.core.errors",
    "Question": "recall_stages.evaluation.questions",
    "QuestionFileError": "recall_stages.core.errors",
    "RankAndRewrite": "langchain_recall.compressors",
    "ReadMessage": "langchain_recall.compressors",
    "RecallCompressor": "langchain_recall.compressors",
    "RecallConfig": "recall_stages.retriever.recall_function",
    "RecallError": "recall_stages.core.errors",
    "RecallMiddleware": "langchain_recall.middleware",
    "RecallRetriever": "langchain_recall.retriever",
    "RecallStore": "recall_stages.store",
    "RecencyRank": "langchain_recall.compressors",
    "Reflect": "langchain_recall.compressors",
    "RelevanceRank": "langchain_recall.compressors",
    "RelevanceThreshold": "langchain_recall.compressors",
    "RerankMemory": "langchain_recall.compressors",
    "RewriteMemory": "langchain_recall.compressors",
    "Scope": "recall_stages.core.memory",
    "ScopeError": "recall_stages.core.errors",
    "SearchGate": "langchain_recall.compressors",
    "SemanticRank": "langchain_recall.compressors",
    "SettingsError": "recall_stages.core.errors",
    "StaleReflections": "langchain_recall.compressors",
    "StoreClosedError": "recall_stages.core.errors",
    "StoreDamagedError": "recall_stages.core.errors",
    "StoreError": "recall_stages.core.errors",
    "StoreLockedError": "recall_stages.core.errors",
    "StoreUnavailableError": "recall_stages.core.errors",
    "TimeDecay": "langchain_recall.compressors",
    "TimeRange": "recall_stages.timeline",
    "TokenBudget": "langchain_recall.compressors",
    "arecall": "langchain_recall.one_call",
    "citations": "langchain_recall.told",
    "compare": "recall_stages.evaluation.comparison",
    "create_recall_tool": "langchain_recall.tools",
    "evaluate": "langchain_recall.evaluation",
    "evaluate_steps": "recall_stages.evaluation.steps",
    "explain": "langchain_recall.retriever",
    "extract_search_terms": "recall_stages.agents.search_terms",
    "extract_time": "recall_stages.timeline",
    "originals": "langchain_recall.told",
    "personal_memory_retriever": "langchain_recall.presets",
    "read_questions": "recall_stages.evaluation.questions",
    "recall": "langchain_recall.one_call",
    "should_search_memory": "recall_stages.stages.search_gate",
    "simple_task_memory_retriever": "langchain_recall.presets",
    "task_memory_retriever": "langchain_recall.presets",
}

__all__ = list(_EXPORTS)
__getattr__ = lazy_exports(
    _EXPORTS, {"langchain_core": "langchain", "langchain": "agents", "langgraph": "agents"}
)
