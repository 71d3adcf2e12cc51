"""A retriever of either face as one function: a question and its settings in, ids out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.store import RecallStore

Face = Literal["langchain", "llamaindex"]
FACES: tuple[Face, ...] = ("langchain", "llamaindex")
Ask = Callable[[str, CallOptions], list[str]]


def open_face(face: Face, store: RecallStore, **settings: Any) -> Ask:
    """A public ``RecallRetriever`` over a store; the ids come back best first."""
    # Imported here, so that one face can be measured where the other framework is not installed.
    if face == "langchain":
        from langchain_recall import RecallRetriever  # noqa: PLC0415

        chain = RecallRetriever(store=store, **settings)
        return lambda text, options: [
            str(document.id) for document in chain.invoke(text, **options)
        ]
    from llamaindex_recall import RecallRetriever as IndexRetriever  # noqa: PLC0415

    index = IndexRetriever(store=store, **settings)
    return lambda text, options: [found.node.node_id for found in index.retrieve(text, **options)]
