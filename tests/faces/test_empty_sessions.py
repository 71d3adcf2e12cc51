"""A session and a line of nobody: no memory is read or stored for it."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import Face, once
from faces.conftest import MEMORIES
from faces.empty_scopes import QUESTION, odd, retriever
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage
from tables import table

import llamaindex_recall
from recall_retrievers.cli import main
from recall_retrievers.core.errors import QuestionFileError
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore

# -- the memory block logs what goes wrong, and an agent's run goes on -----------------------------


@pytest.fixture
def shelf(words: object) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as opened:
        opened.add(MEMORIES)
        yield opened


@pytest.mark.parametrize("whole", [True, False], ids=["no scope", "an empty field"])
def test_a_session_of_nobody_recalls_and_stores_nothing(
    shelf: RecallStore, caplog: pytest.LogCaptureFixture, whole: bool
) -> None:
    answers = st.sampled_from([None, {}, Scope(), "", 0, False, []])
    if not whole:
        answers = st.fixed_dictionaries({"user_id": odd})
    asked = retriever(Face("llamaindex_recall", True), shelf)
    ids = {each.id for each in shelf.memories()}

    @given(answer=answers)
    @settings(max_examples=25)
    def nobody(answer: Any) -> None:
        caplog.clear()
        block = llamaindex_recall.RecallMemoryBlock(retriever=asked, scope_of=lambda _: answer)
        question = ChatMessage(QUESTION)

        assert asyncio.run(block.aget([question], session_id="s1")) == ""
        asyncio.run(block.aput([question], session_id="s1"))

        assert {each.id for each in shelf.memories()} == ids
        assert caplog.text.count("ScopeError") >= 2

    nobody()


async def test_the_scope_of_a_block_can_come_empty_with_the_call(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    block = llamaindex_recall.RecallMemoryBlock(
        retriever=llamaindex_recall.RecallRetriever(store=store)
    )

    for scope in ({"user_id": ""}, {"user_id": None}, "", [], 0):
        assert await block.aget([ChatMessage(QUESTION)], session_id="s1", scope=scope) == ""
    assert caplog.text.count("ScopeError: scope") == 5


async def test_a_block_that_keeps_to_its_session_needs_one(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    asked = llamaindex_recall.RecallRetriever(store=store)
    block = llamaindex_recall.RecallMemoryBlock(retriever=asked, by_session=True)

    assert await block.aget([ChatMessage(QUESTION)]) == ""
    assert "scope session_id must be a text" in caplog.text


# -- the command line and files --------------------------------------------------------------------


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two users' lines, and lines of nobody."""
    path = tmp_path_factory.mktemp("empty") / "notes.jsonl"
    lines: list[dict[str, Any]] = [
        {"content": "The dentist of Ann.", "user_id": "ann"},
        {"content": "The dentist of Bob.", "scope": {"user_id": "bob"}},
        *({"content": "The dentist of nobody.", "user_id": value} for value in NOBODY),
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


NOBODY: list[Any] = ["", "  ", None, 0, False, [], {}]


def test_lines_of_nobody_are_left_out_and_named(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes.touch()
    main("recall", ["load", "--memories", str(notes), "--json"])
    left_out = json.loads(capsys.readouterr().out)["left_out"].values()
    main("recall", ["stats", "--memories", str(notes), "--json"])

    stored = json.loads(capsys.readouterr().out)
    assert stored["user_id"] == {"ann": 1, "bob": 1}
    assert stored["memories"] == 2
    assert sum("scope user_id must be a text" in why for why in left_out) == len(NOBODY)


@once
@table("value", NOBODY, ids=repr)
def test_a_question_of_nobody_in_a_file(tmp_path: Path, face: Face, value: object) -> None:
    asked = {"question": QUESTION, "relevant": ["moved"], "user_id": value}
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(asked), encoding="utf-8")

    with pytest.raises(QuestionFileError, match="line 1: scope user_id must be a text"):
        face.read_questions(path)
