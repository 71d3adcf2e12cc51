"""The function `recall`: a whole flow in one call."""

from __future__ import annotations

from functools import partial
from typing import Unpack

from llama_index.core.schema import NodeWithScore

from llamaindex_recall._convert import to_nodes
from llamaindex_recall._world import LlamaIndexWorld
from recall_stages.core.driver import completed
from recall_stages.retriever.call_options import CallOptions
from recall_stages.retriever.recall_function import RecallConfig, Recalled, recall_with


def recall(
    query: str, config: RecallConfig, **options: Unpack[CallOptions]
) -> Recalled[NodeWithScore]:
    """The memories that answer a question, and a reflection on them, in one call.

    Args:
        query: The question.
        config: What to search, and how to filter, rank and reflect.
        **options: Settings of this call, as for `RecallRetriever`: scope, timestamp, ...

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
    return completed(recall_with(LlamaIndexWorld, to_nodes, query, config, options))


async def arecall(
    query: str, config: RecallConfig, **options: Unpack[CallOptions]
) -> Recalled[NodeWithScore]:
    """The same as `recall`, without blocking the event loop."""
    world = partial(LlamaIndexWorld, asynchronous=True)
    return await recall_with(world, to_nodes, query, config, options)
