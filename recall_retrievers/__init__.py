"""The stages, without any framework; users import `langchain_recall` or `llamaindex_recall`.

What both faces export of it is listed here. Nothing is loaded until it is used.
"""

from typing import TYPE_CHECKING

from recall_retrievers.core.lazy_exports import by_name, lazy_exports

if TYPE_CHECKING:
    from recall_retrievers.agents.agent_memory import AgentMemory as AgentMemory
    from recall_retrievers.core.errors import EmbeddingMismatchError as EmbeddingMismatchError
    from recall_retrievers.core.errors import FilterError as FilterError
    from recall_retrievers.core.errors import MemoryFormatError as MemoryFormatError
    from recall_retrievers.core.errors import MissingCollectionError as MissingCollectionError
    from recall_retrievers.core.errors import MissingMemoryError as MissingMemoryError
    from recall_retrievers.core.errors import RecallError as RecallError
    from recall_retrievers.core.errors import ScopeError as ScopeError
    from recall_retrievers.core.errors import StoreClosedError as StoreClosedError
    from recall_retrievers.core.errors import StoreDamagedError as StoreDamagedError
    from recall_retrievers.core.errors import StoreError as StoreError
    from recall_retrievers.core.errors import StoreLockedError as StoreLockedError
    from recall_retrievers.core.errors import StoreUnavailableError as StoreUnavailableError
    from recall_retrievers.core.flat_metadata import citations as citations
    from recall_retrievers.core.memory import Memory as Memory
    from recall_retrievers.core.memory_lines import read_memories as read_memories
    from recall_retrievers.core.scope import Scope as Scope
    from recall_retrievers.evaluation.comparison import compare as compare
    from recall_retrievers.evaluation.comparison import evaluate_steps as evaluate_steps
    from recall_retrievers.evaluation.evaluate import evaluate as evaluate
    from recall_retrievers.evaluation.questions import read_questions as read_questions
    from recall_retrievers.look.widget import explore as explore
    from recall_retrievers.retriever.recall_function import RecallConfig as RecallConfig
    from recall_retrievers.serve.app import create_memory_app as create_memory_app
    from recall_retrievers.stages.search_gate import should_search_memory as should_search_memory
    from recall_retrievers.store import RecallStore as RecallStore
    from recall_retrievers.timeline import extract_time as extract_time

__version__ = "0.1.0"

SHARED = {
    "recall_retrievers.agents.agent_memory": "AgentMemory",
    "recall_retrievers.core.errors": (
        "EmbeddingMismatchError FilterError MemoryFormatError MissingCollectionError "
        "MissingMemoryError RecallError ScopeError StoreClosedError StoreDamagedError "
        "StoreError StoreLockedError StoreUnavailableError"
    ),
    "recall_retrievers.core.flat_metadata": "citations",
    "recall_retrievers.core.memory": "Memory",
    "recall_retrievers.core.memory_lines": "read_memories",
    "recall_retrievers.core.scope": "Scope",
    "recall_retrievers.evaluation.evaluate": "evaluate",
    "recall_retrievers.evaluation.comparison": "compare evaluate_steps",
    "recall_retrievers.evaluation.questions": "read_questions",
    "recall_retrievers.look.widget": "explore",
    "recall_retrievers.retriever.recall_function": "RecallConfig",
    "recall_retrievers.serve.app": "create_memory_app",
    "recall_retrievers.stages.search_gate": "should_search_memory",
    "recall_retrievers.store": "RecallStore",
    "recall_retrievers.timeline": "extract_time",
}
"""The names that both faces export, by their modules."""

STAGES = (
    "BuildQuery Deduplicate ExtractTime FuseRerank HybridRank MergeMemory PrintMemory "
    "ReadMessage RecencyRank Reflect RelevanceRank RelevanceThreshold RerankMemory "
    "RewriteMemory SearchGate SemanticRank StaleReflections TimeDecay TokenBudget"
)
"""The stages. Each face has a class of its own for each of them."""

_EXPORTS = by_name(SHARED)

if not TYPE_CHECKING:  # mypy reads no list that is computed, and would find nothing public
    __all__ = list(_EXPORTS)
__getattr__, __dir__ = lazy_exports(_EXPORTS, {})
