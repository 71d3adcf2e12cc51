"""The contract checks for compressors and postprocessors: run them on your own.

Needs no test framework. The faces bring it to LangChain's document compressors
(`langchain_recall.testing`) and to LlamaIndex's node postprocessors (`llamaindex_recall.testing`).
"""

from recall_retrievers.testing.check import Check, ContractError, Verdict
from recall_retrievers.testing.checks import CHECKS
from recall_retrievers.testing.material import (
    ITEMS,
    NUMBERINGS,
    UNUSABLE,
    WRAPPINGS,
    Item,
    next_reply,
)
from recall_retrievers.testing.subject import Reply, Subject

__all__ = [
    "CHECKS",
    "ITEMS",
    "NUMBERINGS",
    "UNUSABLE",
    "WRAPPINGS",
    "Check",
    "ContractError",
    "Item",
    "Reply",
    "Subject",
    "Verdict",
    "next_reply",
]
