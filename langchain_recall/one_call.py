"""recall(query, config): a whole flow in one call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypedDict, Unpack

from langchain_core.documents import Document

from langchain_recall._convert import to_documents
from langchain_recall._model import asking, asking_async
from recall_stages.one_call import RecallConfig
from recall_stages.retriever import CallOptions
from recall_stages.stage import Recall, arun, run


class Recalled(TypedDict):
    """What a call of `recall` came to."""

    memories: list[Document]
    reflection: Document | None


def recall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled:
    """The memories that answer a question, and what they come to, in one call (seed 003).

    Args:
        query: The question.
        config: What is searched, filtered, ranked and reflected on.
        **options: Settings of this call, as those of `RecallRetriever`: scope, timestamp, ...

    Returns:
        ``memories``, best first, and the ``reflection``: a document whose text cites the memories
        by number, or None.

    Raises:
        QueryError: When there is no question.

    Examples:
        >>> from langchain_recall import RecallConfig, RecallStore, TimeDecay, recall
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes tea.", "Bob likes tea too."])
        >>> config = RecallConfig(
        ...     source=store, filters=[TimeDecay()], max_results=1, generate_reflection=True
        ... )
        >>> found = recall("What does Anna like?", config)
        >>> found["memories"][0].page_content, found["reflection"].page_content
        ('Anna likes tea.', 'Anna likes tea. [1]')
        >>> store.close()
    """
    ask, store = asking(None), config.source
    steps = config.retriever().steps_for(query, datetime.now(UTC), options)
    found = run(steps, ask, store.find, store.get, store.add)
    told = run(config.reflection(found), ask, store.find, store.get, store.add)
    return _recalled(found, told)


async def arecall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled:
    """The same as `recall`, without blocking the event loop."""
    ask, store = asking_async(None), config.source
    steps = config.retriever().steps_for(query, datetime.now(UTC), options)
    found = await arun(steps, ask, store.afind, store.get, store.add)
    told = await arun(config.reflection(found), ask, store.afind, store.get, store.add)
    return _recalled(found, told)


def _recalled(found: Recall, told: Recall) -> Recalled:
    return {
        "memories": to_documents(found),
        "reflection": to_documents(told)[0] if told.text else None,
    }
