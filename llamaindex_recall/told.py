"""What a text was made of: who cites what, and the memories themselves."""

from __future__ import annotations

from llama_index.core.schema import BaseNode, NodeWithScore

from llamaindex_recall._convert import to_node
from recall_stages.core.citation import Citation
from recall_stages.core.text_sources import citations_in, memories_in


def citations(node: NodeWithScore | BaseNode) -> list[Citation]:
    """The sentences of a text that a model wrote, each with the ids of the memories it rests on.

    Args:
        node: What `RewriteMemory` or `Reflect` returned.

    Returns:
        Nothing for a node that no stage of this program wrote, or that was JSON in between.
    """
    return citations_in(node.metadata)


def originals(node: NodeWithScore | BaseNode) -> list[NodeWithScore]:
    """The memories that a text was made of, best first, with their scores and how these came.

    Args:
        node: What `RewriteMemory`, `Reflect`, `MergeMemory` or `PrintMemory` returned.

    Returns:
        Nothing for a node that no stage of this program wrote, or that was JSON in between.
    """
    return [to_node(memory) for memory in memories_in(node.metadata)]
