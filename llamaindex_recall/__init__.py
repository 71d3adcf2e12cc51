"""LlamaIndex's face: memories in a Chroma collection, asked in plain words.

    from llamaindex_recall import RecallRetriever, RecallStore

Everything a user needs is exported here; nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_stages import __version__ as __version__
from recall_stages.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from llamaindex_recall._world import StageUsage as StageUsage
    from llamaindex_recall.any_store import AnyStore as AnyStore
    from llamaindex_recall.evaluation import evaluate as evaluate
    from llamaindex_recall.memory import RecallMemoryBlock as RecallMemoryBlock
    from llamaindex_recall.one_call import arecall as arecall
    from llamaindex_recall.one_call import recall as recall
    from llamaindex_recall.postprocessors import BuildQuery as BuildQuery
    from llamaindex_recall.postprocessors import Deduplicate as Deduplicate
    from llamaindex_recall.postprocessors import ExtractTime as ExtractTime
    from llamaindex_recall.postprocessors import FuseRerank as FuseRerank
    from llamaindex_recall.postprocessors import HybridRank as HybridRank
    from llamaindex_recall.postprocessors import LateInteractionRank as LateInteractionRank
    from llamaindex_recall.postprocessors import MemoryPostprocessor as MemoryPostprocessor
    from llamaindex_recall.postprocessors import MergeMemory as MergeMemory
    from llamaindex_recall.postprocessors import PrintMemory as PrintMemory
    from llamaindex_recall.postprocessors import RankAndRewrite as RankAndRewrite
    from llamaindex_recall.postprocessors import ReadMessage as ReadMessage
    from llamaindex_recall.postprocessors import RecallPostprocessor as RecallPostprocessor
    from llamaindex_recall.postprocessors import RecencyRank as RecencyRank
    from llamaindex_recall.postprocessors import Reflect as Reflect
    from llamaindex_recall.postprocessors import RelevanceRank as RelevanceRank
    from llamaindex_recall.postprocessors import RelevanceThreshold as RelevanceThreshold
    from llamaindex_recall.postprocessors import RerankMemory as RerankMemory
    from llamaindex_recall.postprocessors import RewriteMemory as RewriteMemory
    from llamaindex_recall.postprocessors import SearchGate as SearchGate
    from llamaindex_recall.postprocessors import SemanticRank as SemanticRank
    from llamaindex_recall.postprocessors import StaleReflections as StaleReflections
    from llamaindex_recall.postprocessors import TimeDecay as TimeDecay
    from llamaindex_recall.postprocessors import TokenBudget as TokenBudget
    from llamaindex_recall.presets import personal_memory_retriever as personal_memory_retriever
    from llamaindex_recall.presets import (
        simple_task_memory_retriever as simple_task_memory_retriever,
    )
    from llamaindex_recall.presets import task_memory_retriever as task_memory_retriever
    from llamaindex_recall.retriever import RecallQueryBundle as RecallQueryBundle
    from llamaindex_recall.retriever import RecallRetriever as RecallRetriever
    from llamaindex_recall.retriever import SearchSkipped as SearchSkipped
    from llamaindex_recall.retriever import explain as explain
    from llamaindex_recall.told import citations as citations
    from llamaindex_recall.told import originals as originals
    from llamaindex_recall.tools import create_recall_tool as create_recall_tool
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
    "AnyStore": "llamaindex_recall.any_store",
    "BuildQuery": "llamaindex_recall.postprocessors",
    "Citation": "recall_stages.core.citation",
    "Comparison": "recall_stages.evaluation.comparison",
    "Deduplicate": "llamaindex_recall.postprocessors",
    "EmbeddingMismatchError": "recall_stages.core.errors",
    "Evaluation": "recall_stages.evaluation.evaluate",
    "ExtractTime": "llamaindex_recall.postprocessors",
    "Fields": "recall_stages.store",
    "FilterError": "recall_stages.core.errors",
    "ForeignCollectionError": "recall_stages.core.errors",
    "FuseRerank": "llamaindex_recall.postprocessors",
    "HybridRank": "llamaindex_recall.postprocessors",
    "IdLookupError": "recall_stages.core.errors",
    "KeywordSearchError": "recall_stages.core.errors",
    "LateInteractionRank": "llamaindex_recall.postprocessors",
    "Memory": "recall_stages.core.memory",
    "MemoryFormatError": "recall_stages.core.errors",
    "MemoryPostprocessor": "llamaindex_recall.postprocessors",
    "MergeMemory": "llamaindex_recall.postprocessors",
    "Message": "recall_stages.core.message",
    "PrintMemory": "llamaindex_recall.postprocessors",
    "QueryError": "recall_stages.core.errors",
    "Question": "recall_stages.evaluation.questions",
    "QuestionFileError": "recall_stages.core.errors",
    "RankAndRewrite": "llamaindex_recall.postprocessors",
    "ReadMessage": "llamaindex_recall.postprocessors",
    "RecallConfig": "recall_stages.retriever.recall_function",
    "RecallError": "recall_stages.core.errors",
    "RecallMemoryBlock": "llamaindex_recall.memory",
    "RecallPostprocessor": "llamaindex_recall.postprocessors",
    "RecallQueryBundle": "llamaindex_recall.retriever",
    "RecallRetriever": "llamaindex_recall.retriever",
    "RecallStore": "recall_stages.store",
    "RecencyRank": "llamaindex_recall.postprocessors",
    "Reflect": "llamaindex_recall.postprocessors",
    "RelevanceRank": "llamaindex_recall.postprocessors",
    "RelevanceThreshold": "llamaindex_recall.postprocessors",
    "RerankMemory": "llamaindex_recall.postprocessors",
    "RewriteMemory": "llamaindex_recall.postprocessors",
    "Scope": "recall_stages.core.memory",
    "ScopeError": "recall_stages.core.errors",
    "SearchGate": "llamaindex_recall.postprocessors",
    "SearchSkipped": "llamaindex_recall.retriever",
    "SemanticRank": "llamaindex_recall.postprocessors",
    "SettingsError": "recall_stages.core.errors",
    "StageUsage": "llamaindex_recall._world",
    "StaleReflections": "llamaindex_recall.postprocessors",
    "StoreClosedError": "recall_stages.core.errors",
    "StoreDamagedError": "recall_stages.core.errors",
    "StoreError": "recall_stages.core.errors",
    "StoreLockedError": "recall_stages.core.errors",
    "StoreUnavailableError": "recall_stages.core.errors",
    "TimeDecay": "llamaindex_recall.postprocessors",
    "TimeRange": "recall_stages.timeline",
    "TokenBudget": "llamaindex_recall.postprocessors",
    "arecall": "llamaindex_recall.one_call",
    "citations": "llamaindex_recall.told",
    "compare": "recall_stages.evaluation.comparison",
    "create_recall_tool": "llamaindex_recall.tools",
    "evaluate": "llamaindex_recall.evaluation",
    "evaluate_steps": "recall_stages.evaluation.steps",
    "explain": "llamaindex_recall.retriever",
    "extract_search_terms": "recall_stages.agents.search_terms",
    "extract_time": "recall_stages.timeline",
    "originals": "llamaindex_recall.told",
    "personal_memory_retriever": "llamaindex_recall.presets",
    "read_questions": "recall_stages.evaluation.questions",
    "recall": "llamaindex_recall.one_call",
    "should_search_memory": "recall_stages.stages.search_gate",
    "simple_task_memory_retriever": "llamaindex_recall.presets",
    "task_memory_retriever": "llamaindex_recall.presets",
}

__all__ = list(_EXPORTS)
__getattr__ = lazy_exports(
    _EXPORTS, {"llama_index": "llamaindex", "llama_index_instrumentation": "llamaindex"}
)
