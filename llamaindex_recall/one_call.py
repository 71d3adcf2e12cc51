"""recall(query, config): a whole flow in one call."""

from __future__ import annotations

from typing import TypedDict, Unpack

from llama_index.core.schema import NodeWithScore

from llamaindex_recall._convert import to_nodes
from llamaindex_recall._world import AsyncLlamaIndexWorld, LlamaIndexWorld
from recall_stages.core.stage import Recall
from recall_stages.retriever.memory_retriever import CallOptions
from recall_stages.retriever.recall_function import RecallConfig, arecall_with, recall_with


class Recalled(TypedDict):
    """What a call of `recall` came to."""

    memories: list[NodeWithScore]
    reflection: NodeWithScore | None


def recall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled:
    """The memories that answer a question, and what they come to, in one call.

    Args:
        query: The question.
        config: What is searched, filtered, ranked and reflected on.
        **options: Settings of this call, as those of `RecallRetriever`: scope, timestamp, ...

    Returns:
        ``memories``, best first, and the ``reflection``: a node whose text cites the memories by
        number, or None.

    Raises:
        QueryError: When there is no question.

    Examples:
        >>> from llamaindex_recall import RecallConfig, RecallStore, TimeDecay, recall
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes tea.", "Bob likes tea too."])
        >>> config = RecallConfig(
        ...     source=store, filters=[TimeDecay()], max_results=1, generate_reflection=True
        ... )
        >>> found = recall("What does Anna like?", config)
        >>> found["memories"][0].text, found["reflection"].text
        ('Anna likes tea.', 'Anna likes tea. [1]')
        >>> store.close()
    """
    return _recalled(*recall_with(LlamaIndexWorld, query, config, options))


async def arecall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled:
    """The same as `recall`, without blocking the event loop."""
    return _recalled(*await arecall_with(AsyncLlamaIndexWorld, query, config, options))


def _recalled(found: Recall, told: Recall) -> Recalled:
    return {
        "memories": to_nodes(found),
        "reflection": to_nodes(told)[0] if told.text else None,
    }
