"""The memories that a text was made of."""

from __future__ import annotations

from llama_index.core.schema import BaseNode, NodeWithScore

from llamaindex_recall._convert import to_node
from recall_stages.core.text_sources import memories_in


def originals(node: NodeWithScore | BaseNode) -> list[NodeWithScore]:
    """The memories that a text was made of, best first, with their scores and their traces.

    Args:
        node: What `RewriteMemory`, `Reflect`, `MergeMemory` or `PrintMemory` returned.

    Returns:
        Nothing if no stage of this library wrote the text, or if it was JSON in between.
    """
    return [to_node(memory) for memory in memories_in(node.metadata)]
