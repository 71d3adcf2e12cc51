"""A model decides for `SearchGate` what the words leave open."""

from collections.abc import Sequence

import pytest
from stages.worlds import Scripted
from tables import table

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.core.requests import Reply
from recall_retrievers.core.stage import Prompt, Recall, pipeline
from recall_retrievers.core.world import run
from recall_retrievers.stages.search_gate import SearchGate
from recall_retrievers.timeline import parse_time

MEMORIES = (Memory(content="Tea."),)
UNDECIDED = "Warum niest meine Katze?"


def _recall(question: str) -> Recall:
    return Recall(Query(text=question, reference_time=parse_time("2024-03-08T12:00:00Z")), MEMORIES)


def _run(gate: SearchGate, question: str, reply: object) -> tuple[Recall, list[Prompt]]:
    asked: list[Prompt] = []

    def ask(prompts: Sequence[Prompt]) -> list[Reply]:
        asked.extend(prompts)
        return [Reply(reply if isinstance(reply, Exception) else str(reply))]

    return run(pipeline([gate], _recall(question)), Scripted(ask)), asked


@pytest.mark.parametrize(("reply", "kept"), [("true", 1), ("false", 0)])
def test_a_model_decides_what_is_undecided(reply: str, kept: int) -> None:
    gate = SearchGate(llm="the model")

    recall, [prompt] = _run(gate, UNDECIDED, f'{{"search": {reply}}}')

    assert len(recall.memories) == kept
    assert prompt.llm == "the model"
    assert f"<message>\n{UNDECIDED}\n</message>" in prompt.user
    assert bool(recall.skipped) is (not kept)


def test_a_model_is_not_asked_about_what_is_clear() -> None:
    for question in ("What is the capital of Peru?", "Where were we?"):
        assert _run(SearchGate(llm="the model"), question, "")[1] == []


@table(
    "failure",
    [TimeoutError("too slow"), "perhaps", '{"search": "maybe"}', '{"search": true or false}'],
)
def test_a_model_that_fails_leaves_the_words_answer(failure: object) -> None:
    no, _ = _run(SearchGate(llm="m"), UNDECIDED, failure)
    yes, _ = _run(SearchGate(llm="m", threshold=2, undecided=(2, 4)), UNDECIDED, failure)

    assert no.memories == ()
    assert "SearchGate: no search" in no.skipped
    assert no.fallbacks[0] in no.skipped
    assert yes.memories[0].trace["degraded"] == yes.fallbacks[0]
