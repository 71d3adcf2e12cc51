"""Draws two_times.svg: when memories were recorded, and of when they tell.

    python docs/pictures/two_times.py

It is the picture of `explain` for a question about a time that one memory tells of.
"""

from pathlib import Path

from recall_retrievers.explain.explanation import explain
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import parse_time

PICTURE = Path(__file__).with_name("two_times.svg")

QUESTION = "Do we have anything booked in the second week of June 2026?"
NOW = parse_time("2026-05-20T12:00:00Z", "UTC")
MEMORIES = [
    {"content": "We booked São Miguel for 5 to 14 June.", "created_at": "2026-03-09T18:00:00Z"},
    {"content": "The exam was two weeks ago.", "created_at": "2026-05-02T09:00:00Z"},
    {"content": "The swifts are back.", "created_at": "2026-05-08T07:30:00Z"},
]


def draw() -> str:
    """The picture, as SVG."""
    with RecallStore() as store:
        store.add(MEMORIES)
        found = MemoryRetriever(store=store).recall_without_model(QUESTION, timestamp=NOW)
    return explain(found.memories).to_svg() + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
