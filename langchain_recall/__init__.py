"""For LangChain: memories in a Chroma collection, found by questions in plain words.

    from langchain_recall import RecallRetriever, RecallStore

What the docs teach is exported here; all else is imported from its module. Nothing is loaded until
it is used.
"""

from typing import TYPE_CHECKING

from recall_retrievers import SHARED, STAGES
from recall_retrievers import __version__ as __version__
from recall_retrievers.core.lazy_exports import by_name, check_owner, lazy_exports

if TYPE_CHECKING:
    from langchain_recall.any_store import AnyStore as AnyStore
    from langchain_recall.compressors import *  # noqa: F403 - the stages
    from langchain_recall.document_compressor import RecallCompressor as RecallCompressor
    from langchain_recall.document_compressor import originals as originals
    from langchain_recall.embedding import MiniLM as MiniLM
    from langchain_recall.flows import arecall as arecall
    from langchain_recall.flows import personal_memory_retriever as personal_memory_retriever
    from langchain_recall.flows import recall as recall
    from langchain_recall.flows import simple_task_memory_retriever as simple_task_memory_retriever
    from langchain_recall.flows import task_memory_retriever as task_memory_retriever
    from langchain_recall.graph_store import RecallGraphStore as RecallGraphStore
    from langchain_recall.middleware import RecallMiddleware as RecallMiddleware
    from langchain_recall.retriever import RecallRetriever as RecallRetriever
    from langchain_recall.retriever import explain as explain
    from langchain_recall.tools import create_recall_tool as create_recall_tool
    from langchain_recall.vector_store import RecallVectorStore as RecallVectorStore
    from recall_retrievers import *  # noqa: F403 - what both faces export

check_owner(__name__)
_EXPORTS = by_name(
    SHARED,
    {
        "langchain_recall.any_store": "AnyStore",
        "langchain_recall.compressors": STAGES,
        "langchain_recall.document_compressor": "RecallCompressor originals",
        "langchain_recall.embedding": "MiniLM",
        "langchain_recall.graph_store": "RecallGraphStore",
        "langchain_recall.middleware": "RecallMiddleware",
        "langchain_recall.flows": (
            "arecall personal_memory_retriever recall simple_task_memory_retriever "
            "task_memory_retriever"
        ),
        "langchain_recall.retriever": "RecallRetriever explain",
        "langchain_recall.tools": "create_recall_tool",
        "langchain_recall.vector_store": "RecallVectorStore",
    },
)

if not TYPE_CHECKING:  # mypy reads no list that is computed, and would find nothing public
    __all__ = list(_EXPORTS)
__getattr__, __dir__ = lazy_exports(
    _EXPORTS, {"langchain_core": "langchain", "langchain": "agents", "langgraph": "agents"}
)
