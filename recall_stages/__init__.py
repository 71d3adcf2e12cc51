"""The stages, without any framework; users import `langchain_recall` or `llamaindex_recall`.

What both faces export of it is listed here. Nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_stages.core.lazy_exports import by_name, lazy_exports

if TYPE_CHECKING:
    from recall_stages.agents.agent_memory import AgentMemory as AgentMemory
    from recall_stages.agents.search_terms import extract_search_terms as extract_search_terms
    from recall_stages.core.candidate import Candidate as Candidate
    from recall_stages.core.citation import Citation as Citation
    from recall_stages.core.errors import EmbeddingMismatchError as EmbeddingMismatchError
    from recall_stages.core.errors import FilterError as FilterError
    from recall_stages.core.errors import ForeignCollectionError as ForeignCollectionError
    from recall_stages.core.errors import IdLookupError as IdLookupError
    from recall_stages.core.errors import KeywordSearchError as KeywordSearchError
    from recall_stages.core.errors import MemoryFormatError as MemoryFormatError
    from recall_stages.core.errors import MissingCollectionError as MissingCollectionError
    from recall_stages.core.errors import MissingMemoryError as MissingMemoryError
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
    from recall_stages.core.memory_lines import read_memories as read_memories
    from recall_stages.core.message import Message as Message
    from recall_stages.core.scope import Scope as Scope
    from recall_stages.core.text_sources import citations as citations
    from recall_stages.evaluation.comparison import Comparison as Comparison
    from recall_stages.evaluation.comparison import compare as compare
    from recall_stages.evaluation.evaluate import Evaluation as Evaluation
    from recall_stages.evaluation.questions import Question as Question
    from recall_stages.evaluation.questions import read_questions as read_questions
    from recall_stages.evaluation.steps import evaluate_steps as evaluate_steps
    from recall_stages.retriever.recall_function import RecallConfig as RecallConfig
    from recall_stages.serve.app import create_memory_app as create_memory_app
    from recall_stages.stages.search_gate import should_search_memory as should_search_memory
    from recall_stages.store import Fields as Fields
    from recall_stages.store import Position as Position
    from recall_stages.store import RecallStore as RecallStore
    from recall_stages.store import ScopeCount as ScopeCount
    from recall_stages.store import ScopedStore as ScopedStore
    from recall_stages.store import StoreStats as StoreStats
    from recall_stages.timeline import TimeRange as TimeRange
    from recall_stages.timeline import extract_time as extract_time

__version__ = "0.1.0"

SHARED = {
    "recall_stages.agents.agent_memory": "AgentMemory",
    "recall_stages.agents.search_terms": "extract_search_terms",
    "recall_stages.core.candidate": "Candidate",
    "recall_stages.core.citation": "Citation",
    "recall_stages.core.errors": (
        "EmbeddingMismatchError FilterError ForeignCollectionError IdLookupError "
        "KeywordSearchError MemoryFormatError MissingCollectionError MissingMemoryError "
        "QueryError QuestionFileError RecallError ScopeError SettingsError StoreClosedError "
        "StoreDamagedError StoreError StoreLockedError StoreUnavailableError"
    ),
    "recall_stages.core.memory": "Memory",
    "recall_stages.core.memory_lines": "read_memories",
    "recall_stages.core.message": "Message",
    "recall_stages.core.scope": "Scope",
    "recall_stages.core.text_sources": "citations",
    "recall_stages.evaluation.comparison": "Comparison compare",
    "recall_stages.evaluation.evaluate": "Evaluation",
    "recall_stages.evaluation.questions": "Question read_questions",
    "recall_stages.evaluation.steps": "evaluate_steps",
    "recall_stages.retriever.recall_function": "RecallConfig",
    "recall_stages.serve.app": "create_memory_app",
    "recall_stages.stages.search_gate": "should_search_memory",
    "recall_stages.store": "Fields Position RecallStore ScopeCount ScopedStore StoreStats",
    "recall_stages.timeline": "TimeRange extract_time",
}
"""The names that both faces export, by their modules."""

STAGES = (
    "BuildQuery Deduplicate ExtractTime FuseRerank HybridRank MergeMemory PrintMemory "
    "RankAndRewrite ReadMessage RecencyRank Reflect RelevanceRank RelevanceThreshold RerankMemory "
    "RewriteMemory SearchGate SemanticRank StaleReflections TimeDecay TokenBudget"
)
"""The stages. Each face has a class of its own for each of them."""

_EXPORTS = by_name(SHARED)

if not TYPE_CHECKING:  # mypy reads no list that is computed, and would find nothing public
    __all__ = list(_EXPORTS)
__getattr__ = lazy_exports(_EXPORTS, {"starlette": "serve", "mcp": "serve"})
