"""Node <-> Memory: the only file that knows both."""

from __future__ import annotations

from datetime import tzinfo

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from recall_stages.flat import TRACE_PREFIX, flat_trace, from_flat, to_flat, untraced
from recall_stages.memory import Memory
from recall_stages.stage import Recall
from recall_stages.told import flat_told


def to_memory(scored: NodeWithScore | BaseNode, timezone: tzinfo | None = None) -> Memory:
    """Read a node as a memory; times without a zone are read in ``timezone``."""
    node, score = (
        (scored.node, scored.score) if isinstance(scored, NodeWithScore) else (scored, None)
    )
    return from_flat(
        node.get_content(MetadataMode.NONE),
        node.metadata,
        memory_id=node.node_id,
        score=score,
        timezone=timezone,
        source=node,
    )


def to_node(memory: Memory, timezone: tzinfo | None = None) -> NodeWithScore:
    """Write a memory as a node; one that came from a node keeps all else it had."""
    node: BaseNode
    if isinstance(memory.source, BaseNode):
        node = memory.source.model_copy(deep=True)
        node.metadata = {**untraced(node.metadata), **flat_trace(memory)}
        if node.get_content(MetadataMode.NONE) != memory.content:
            node.set_content(memory.content)
    else:
        node = TextNode(id_=memory.id, text=memory.content, metadata=to_flat(memory, timezone))
    return _without_trace(node, memory.score)


def to_nodes(recall: Recall) -> list[NodeWithScore]:
    """The memories as nodes; where a stage wrote a text, that text as a single one."""
    zone = recall.query.reference_time.tzinfo
    if not recall.text:
        return [to_node(memory, zone) for memory in recall.memories]
    best = next((each.score for each in recall.memories if each.score is not None), None)
    return [_without_trace(TextNode(text=recall.text, metadata=flat_told(recall)), best)]


def _without_trace(node: BaseNode, score: float | None) -> NodeWithScore:
    """The trace is for people: neither a model's prompt nor an embedding shall see it."""
    trace = [key for key in node.metadata if key.startswith(TRACE_PREFIX)]
    node.excluded_llm_metadata_keys = sorted({*node.excluded_llm_metadata_keys, *trace})
    node.excluded_embed_metadata_keys = sorted({*node.excluded_embed_metadata_keys, *trace})
    return NodeWithScore(node=node, score=score)
