"""For LlamaIndex: memories in a Chroma collection, found by questions in plain words.

    from llamaindex_recall import RecallRetriever, RecallStore

What the docs teach is exported here; all else is imported from its module. Nothing is loaded until
it is used.
"""

from typing import TYPE_CHECKING

from recall_retrievers import SHARED, STAGES
from recall_retrievers import __version__ as __version__
from recall_retrievers.core.lazy_exports import by_name, check_owner, lazy_exports

if TYPE_CHECKING:
    from llamaindex_recall._world import StageUsage as StageUsage
    from llamaindex_recall.any_store import AnyStore as AnyStore
    from llamaindex_recall.embedding import MiniLM as MiniLM
    from llamaindex_recall.flows import arecall as arecall
    from llamaindex_recall.flows import personal_memory_retriever as personal_memory_retriever
    from llamaindex_recall.flows import recall as recall
    from llamaindex_recall.flows import simple_task_memory_retriever as simple_task_memory_retriever
    from llamaindex_recall.flows import task_memory_retriever as task_memory_retriever
    from llamaindex_recall.memory import RecallMemoryBlock as RecallMemoryBlock
    from llamaindex_recall.node_postprocessor import RecallPostprocessor as RecallPostprocessor
    from llamaindex_recall.node_postprocessor import originals as originals
    from llamaindex_recall.postprocessors import *  # noqa: F403 - the stages
    from llamaindex_recall.retriever import RecallQueryBundle as RecallQueryBundle
    from llamaindex_recall.retriever import RecallRetriever as RecallRetriever
    from llamaindex_recall.retriever import explain as explain
    from llamaindex_recall.tools import create_recall_tool as create_recall_tool
    from llamaindex_recall.vector_store import RecallVectorStore as RecallVectorStore
    from recall_retrievers import *  # noqa: F403 - what both faces export

check_owner(__name__)
_EXPORTS = by_name(
    SHARED,
    {
        "llamaindex_recall._world": "StageUsage",
        "llamaindex_recall.any_store": "AnyStore",
        "llamaindex_recall.memory": "RecallMemoryBlock",
        "llamaindex_recall.postprocessors": STAGES,
        "llamaindex_recall.node_postprocessor": "RecallPostprocessor originals",
        "llamaindex_recall.embedding": "MiniLM",
        "llamaindex_recall.flows": (
            "arecall personal_memory_retriever recall simple_task_memory_retriever "
            "task_memory_retriever"
        ),
        "llamaindex_recall.retriever": "RecallQueryBundle RecallRetriever explain",
        "llamaindex_recall.tools": "create_recall_tool",
        "llamaindex_recall.vector_store": "RecallVectorStore",
    },
)

if not TYPE_CHECKING:  # mypy reads no list that is computed, and would find nothing public
    __all__ = list(_EXPORTS)
__getattr__, __dir__ = lazy_exports(
    _EXPORTS, {"llama_index": "llamaindex", "llama_index_instrumentation": "llamaindex"}
)
