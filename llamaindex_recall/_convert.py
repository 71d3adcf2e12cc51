"""Node <-> Candidate: the only file that knows both."""

from datetime import tzinfo

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.flat_metadata import (
    BESIDE_TEXT,
    flat_sources,
    from_flat,
    is_bookkeeping,
    marked_trace,
    stored_fields,
    untraced,
)
from recall_retrievers.core.memory import TRACE_PREFIX
from recall_retrievers.core.query import Nothing
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.streamed import Done
from recall_retrievers.store.chroma.fields import NODE_SOURCE

_HIDDEN = BESIDE_TEXT | {NODE_SOURCE}


class ByItsName:
    """LlamaIndex writes a class of ours down under its own name, not under that of its base."""

    @classmethod
    def class_name(cls) -> str:
        return cls.__name__


class MemoryNode(TextNode):
    """A memory as a node: the same one by its `hash`, whatever question found it.

    `QueryFusionRetriever` knows by it that two questions have found one memory; of a stock node it
    is made of all metadata, the trace of a single question too.
    """

    @property
    def hash(self) -> str:
        return TextNode(text=self.text, metadata=untraced(self.metadata)).hash


def to_candidate(scored: NodeWithScore | BaseNode, timezone: tzinfo | None = None) -> Candidate:
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


def to_node(memory: Candidate, timezone: tzinfo | None = None) -> NodeWithScore:
    """Write a candidate as a node; one that came from a node keeps all else it had."""
    node: BaseNode
    if isinstance(memory.source, BaseNode):
        node = memory.source.model_copy(deep=True)
        if type(node) is TextNode:
            node = MemoryNode.model_construct(node.model_fields_set, **vars(node))
        node.metadata = {**untraced(node.metadata), **marked_trace(memory)}
        if node.get_content(MetadataMode.NONE) != memory.content:
            node.set_content(memory.content)
    else:
        metadata = {**stored_fields(memory, timezone), **marked_trace(memory)}
        node = MemoryNode(id_=memory.id, text=memory.content, metadata=metadata)
    return _unseen(node, memory.score)


def to_nodes(recall: Recall) -> list[NodeWithScore]:
    """The memories as nodes; where a stage wrote a text, that text as a single one."""
    zone = recall.query.reference_time.tzinfo
    if not recall.text:
        found = [to_node(memory, zone) for memory in recall.memories]
        return found or Nothing(recall.why_nothing)
    best = next((memory.score for memory in recall.memories if memory.score is not None), None)
    return [_unseen(TextNode(text=recall.text, metadata=flat_sources(recall)), best)]


def to_pieces(part: str | Done[list[NodeWithScore]]) -> list[NodeWithScore]:
    if isinstance(part, str):
        return [NodeWithScore(node=TextNode(text=part))]
    nodes = part.result
    if not part.shown or len(nodes) != 1:
        return nodes
    node = nodes[0].node.model_copy()
    node.set_content(part.rest_of(node.get_content()))
    return [NodeWithScore(node=node, score=nodes[0].score)]


def _unseen(node: BaseNode, score: float | None) -> NodeWithScore:
    """The trace is for people, what was said before a turn for keyword search, some for stores.

    Neither a model's prompt nor an embedding shall see them.
    """
    unseen = {
        key
        for key in node.metadata
        if key.startswith(TRACE_PREFIX) or key in _HIDDEN or is_bookkeeping(key)
    }
    node.excluded_llm_metadata_keys = sorted({*node.excluded_llm_metadata_keys, *unseen})
    node.excluded_embed_metadata_keys = sorted({*node.excluded_embed_metadata_keys, *unseen})
    return NodeWithScore(node=node, score=score)
