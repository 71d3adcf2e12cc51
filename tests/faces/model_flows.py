"""Everything that asks a model, on a few memories of MemoryBank, and what holds whatever it says.

Run with a real model by `tests/model`, and with what that said by `test_recorded_replies.py`.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faces.adapters import Face, Found

from recall_retrievers.store import RecallStore

ROOT = Path(__file__).parent.parent.parent
CHOSEN = ("Emily-2023-04-28#1", "Emily-2023-04-29#0", "Emily-2023-05-04#1")
NOW = "2023-05-07T12:00:00Z"
QUESTION = "What makes Emily nervous?"
MESSAGES = [
    {"role": "user", "content": "I saw something beautiful in a park."},
    {"role": "assistant", "content": "Which park was it?"},
    {"role": "user", "content": "I forgot its name. Do you know?"},
]
UNREAD_TIME = "What did Emily cook during the lockdown?"
ASKED_OF_THE_GATE = "Why is my cat sneezing?"


def _memories() -> list[dict[str, Any]]:
    lines = (ROOT / "examples/memorybank/memories.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    fields = ("id", "created_at", "memory_type", "author")
    return [
        # What she said alone: a small model reads slowly.
        {name: row[name] for name in fields} | {"content": row["content"].partition("\nAI: ")[0]}
        for row in (rows[each] for each in CHOSEN)
    ]


MEMORIES = _memories()
CONTENTS = {each["id"]: each["content"] for each in MEMORIES}
GIVEN = [
    Found(memory_id, content, 0.9 - place / 10, {})
    for place, (memory_id, content) in enumerate(CONTENTS.items())
]


@dataclass(frozen=True)
class Flow:
    """One way to ask a model: what is done, and what must hold of the outcome."""

    name: str
    run: Callable[[Face, RecallStore, Any], list[Found]]
    check: Callable[[Face, list[Found]], None]

    def __str__(self) -> str:
        return self.name


def _stage(name: str, **settings: Any) -> Callable[[Face, RecallStore, Any], list[Found]]:
    """A stage in a list of the framework's own."""
    return lambda face, store, model: face.refine(
        getattr(face, name)(llm=model, **settings), GIVEN, QUESTION
    )


def _retriever(
    make: Callable[[Face, RecallStore, Any], Any], question: str = QUESTION, **options: Any
) -> Callable[[Face, RecallStore, Any], list[Found]]:
    return lambda face, store, model: face.ask(make(face, store, model), question, **options)


def _of(face: Face, store: RecallStore, **settings: Any) -> Any:
    return face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=3, **settings)


def ranked(face: Face, found: list[Found]) -> None:
    """All memories, as they were, in the order of scores from 0 to 1."""
    assert sorted((each.id, each.content) for each in found) == sorted(CONTENTS.items())
    scores = [each.score for each in found]
    assert all(score is not None and math.isfinite(score) and 0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


def found_three(face: Face, found: list[Found]) -> None:
    """Three memories, as they were."""
    assert len({each.id for each in found}) == len(found) == 3
    assert all(CONTENTS[each.id] == each.content for each in found)


def found_three_or_none(face: Face, found: list[Found]) -> None:
    """The same, or nothing, where none are needed."""
    if found:
        found_three(face, found)


def told(face: Face, found: list[Found]) -> None:
    """One text; its originals are memories as they were, and all that it cites is among them."""
    [text] = found
    ids = text.metadata["recall_ids"].split(", ")
    originals = [each.content for each in face.kept(text)]
    assert text.content.strip()
    assert originals == [CONTENTS[each] for each in ids]
    assert len(set(ids)) == len(ids) >= 3
    for citation in face.cited(text):
        assert citation.ids
        assert set(citation.ids) <= set(ids)
        assert citation.sentence in text.content


FLOWS = [
    Flow("SemanticRank", _stage("SemanticRank"), ranked),
    Flow("RerankMemory", _stage("RerankMemory"), ranked),
    Flow("RewriteMemory", _stage("RewriteMemory"), told),
    Flow("Reflect, summary", _stage("Reflect"), told),
    Flow("Reflect, key points", _stage("Reflect", kind="key_points"), told),
    Flow(
        "BuildQuery",
        _retriever(
            lambda face, store, llm: _of(face, store, stages=[face.BuildQuery(llm=llm)]),
            "",
            messages=MESSAGES,
        ),
        found_three,
    ),
    Flow(
        "ExtractTime",
        _retriever(
            lambda face, store, llm: _of(
                face, store, stages=[face.ExtractTime(llm=llm), face.FuseRerank()]
            ),
            UNREAD_TIME,
        ),
        found_three,
    ),
    Flow(
        "SearchGate",
        _retriever(
            lambda face, store, llm: _of(
                face, store, gate=face.SearchGate(llm=llm, undecided=(-9, 99), threshold=99)
            ),
            ASKED_OF_THE_GATE,
        ),
        found_three_or_none,
    ),
    Flow(
        "BuildQuery, RerankMemory, MergeMemory",
        _retriever(
            lambda face, store, llm: _of(
                face,
                store,
                stages=[face.BuildQuery(llm=llm), face.RerankMemory(llm=llm), face.MergeMemory()],
            ),
            "",
            messages=MESSAGES,
        ),
        told,
    ),
    Flow(
        "personal memory",
        _retriever(
            lambda face, store, llm: face.personal_memory_retriever(
                store, llm, rewrite=True, timestamp=NOW, timezone="UTC", k=3
            )
        ),
        told,
    ),
    Flow(
        "task memory",
        _retriever(
            lambda face, store, llm: face.task_memory_retriever(
                store, llm, filter=None, timestamp=NOW, timezone="UTC", k=3
            ),
            "",
            messages=MESSAGES,
        ),
        told,
    ),
]
