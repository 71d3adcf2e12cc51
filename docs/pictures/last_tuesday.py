"""Draws last_tuesday.svg, the first picture of the README: memories on a line of time.

    python docs/pictures/last_tuesday.py

It is the picture of `explain` for the README's question, with some more memories.
"""

from pathlib import Path

from recall_retrievers.explain.explanation import explain
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore

PICTURE = Path(__file__).with_name("last_tuesday.svg")

QUESTION = "What about the dentist last Tuesday?"
NOW = "2024-03-08T12:00:00Z"
MEMORIES = [
    {"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00:00Z"},
    {"content": "The dentist moved to Elm St.", "created_at": "2024-02-01T09:00:00Z"},
    {"content": "Yesterday the dentist was late.", "created_at": "2024-03-06T08:00:00Z"},
    {"content": "I see the dentist again on 19 March.", "created_at": "2024-03-07T17:00:00Z"},
    {"content": "Ann wants a dentist near her office.", "created_at": "2024-02-20T18:00:00Z"},
]


def draw() -> str:
    """The picture, as SVG."""
    with RecallStore() as store:
        store.add(MEMORIES)
        retriever = MemoryRetriever(store=store, timestamp=NOW, timezone="UTC")
        found = retriever.recall_without_model(QUESTION)
    return explain(found.memories).to_svg() + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
