"""A question does little work, counted in calls and candidates, and alters nothing that is kept."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from faces.adapters import Face, both, once

import langchain_recall
import llamaindex_recall
import recall_retrievers
from recall_retrievers.core import candidate
from recall_retrievers.store import RecallStore

# The folders of the packages: a virtual environment may lie beside them.
OURS = tuple(
    str(Path(str(package.__file__)).parent)
    for package in (recall_retrievers, langchain_recall, llamaindex_recall)
)
OWN = str(candidate.__file__)
WORDS = [
    "tea",
    "dentist",
    "harbour",
    "garden",
    "cake",
    "street",
    "music",
    "river",
    "book",
    "train",
    "coffee",
    "bread",
]
QUESTION = "Where is the cake in the garden?"
MOST_CALLS, MOST_CANDIDATES = 1400, 25


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecallStore]:
    """A store with 200 turns of a conversation, long enough to be compared for duplicates."""
    deal, folder = random.Random(0), tmp_path_factory.mktemp("full")
    with RecallStore(folder) as store:
        store.add(
            {
                "id": str(n),
                "content": " ".join([*deal.choices(WORDS, k=24), str(n)]),
                "memory_type": "conversation",
                "author": "Ann",
                "metadata": {"tags": ["old"]},
                "created_at": 1_700_000_000 + 3600 * n,
            }
            for n in range(200)
        )
    with RecallStore(folder) as store:  # with its words committed: those that wait are counted
        yield store


@both
def test_a_warm_question_makes_few_calls_and_few_candidates(full: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=full, k=5)
    for _ in range(2):
        face.ask(retriever, QUESTION)
    calls, candidates = 0, 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls, candidates
        if event == "call":
            code = frame.f_code
            calls += code.co_filename.startswith(OURS)
            # `after` makes one without a call of the other.
            made = (code.co_name, code.co_filename) in {("__init__", "<string>"), ("after", OWN)}
            candidates += made and type(frame.f_locals["self"]).__name__ == "Candidate"

    sys.setprofile(count)
    try:
        found = face.ask(retriever, QUESTION)
    finally:
        sys.setprofile(None)

    assert len(found) == 5
    assert 0 < calls <= MOST_CALLS
    assert 0 < candidates <= MOST_CANDIDATES


@once
def test_what_a_function_or_a_caller_changes_changes_no_later_answer(
    full: RecallStore, face: Face
) -> None:
    def scribble(memories: Any, query: Any) -> Any:
        for memory in memories:
            memory.metadata["tags"].append("new")
            memory.metadata["mine"] = True
        return memories

    plain = face.RecallRetriever(store=full, k=5)
    before = face.ask(plain, QUESTION)

    for found in face.ask(plain, QUESTION):
        found.metadata["tags"].append("later")
    scribbled = face.ask(face.RecallRetriever(store=full, k=5, stages=[scribble]), QUESTION)

    assert scribbled[0].metadata["tags"] == ["old", "new"]
    assert face.ask(plain, QUESTION) == before
