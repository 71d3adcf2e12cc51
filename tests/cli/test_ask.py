"""The main job from a shell, on a user's own file."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from recall_retrievers.cli import main
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore

LINES = [
    {
        "content": "The dentist filled a tooth.",
        "created_at": "2024-03-05T10:00:00",
        "user_id": "ann",
    },
    {"content": "The dentist moved to Elm Street.", "created_at": 1706778000, "topic": "health"},
    {"content": "Bob sees a dentist, too.", "created_at": "2024-03-05T11:00:00", "user_id": "bob"},
]


@pytest.fixture
def memories(tmp_path: Path) -> Path:
    path = tmp_path / "memories.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES), encoding="utf-8")
    return path


def ask(memories: Path, *words: str) -> int:
    fixed = ["--timestamp", "2024-03-08T12:00", "--timezone", "UTC"]
    return main("recall", ["ask", "--memories", str(memories), *fixed, *words])


def test_it_prints_the_range_the_memories_and_why(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(memories, "-k", "2", "the dentist last Tuesday") == 0

    shown = capsys.readouterr().out
    assert '"last Tuesday" is understood as 2024-03-05 (Tuesday)' in shown
    assert "The dentist filled a tooth." in shown
    assert "recorded in time" in shown
    assert "Elm Street" not in shown


def test_several_questions_in_one_call(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(memories, "-k", "1", "Who moved?", "Who is Bob?") == 0

    shown = capsys.readouterr().out
    assert shown.index("Who moved?") < shown.index("Elm") < shown.index("Who is Bob?")


def test_only_the_memories_of_one_person(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(memories, "--user-id", "bob", "the dentist") == 0

    shown = capsys.readouterr().out
    assert "Bob sees a dentist, too." in shown
    assert "tooth" not in shown


def test_the_times_that_texts_tell_of_are_read_unless_switched_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "told.jsonl"
    told = {"content": "We met Anna two weeks ago.", "created_at": "2024-03-20T10:00:00"}
    path.write_text(json.dumps(told), encoding="utf-8")
    question = ("--time-mode", "require", "Whom did we meet in early March?")

    assert ask(path, "--timestamp", "2024-05-02", *question) == 0
    assert "We met Anna" in capsys.readouterr().out

    assert ask(path, "--timestamp", "2024-05-02", "--no-event-times", *question) == 0
    assert "We met Anna" not in capsys.readouterr().out


def test_the_second_question_finds_the_collection_kept(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(memories, "the dentist")
    first = capsys.readouterr().out
    ask(memories, "the dentist")
    second = capsys.readouterr().out

    assert "3 memories loaded in memories.jsonl.recall" in first
    assert second == first.replace("loaded", "kept")


def test_a_changed_file_is_loaded_again(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(memories, "the dentist")
    memories.write_text(
        json.dumps(LINES[1]) + '\n{"content": "A new dentist."}\n', encoding="utf-8"
    )
    capsys.readouterr()

    ask(memories, "the dentist")

    shown = capsys.readouterr().out
    assert "2 memories loaded" in shown
    assert "A new dentist." in shown
    assert "tooth" not in shown


def test_a_load_that_was_cut_short_is_taken_up_and_leaves_nothing_behind(
    memories: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add = RecallStore.add

    def cut_short(self: RecallStore, given: Iterable[Memory], **settings: bool) -> list[str]:
        add(self, list(given)[:2], **settings)
        raise OSError("the power is gone")

    monkeypatch.setattr(RecallStore, "add", cut_short)
    assert ask(memories, "the dentist") == 2
    assert "the power is gone" in capsys.readouterr().err
    monkeypatch.undo()
    memories.write_text("\n".join(json.dumps(line) for line in LINES[1:]), encoding="utf-8")

    assert ask(memories, "the dentist") == 0

    shown = capsys.readouterr().out
    assert "2 memories loaded" in shown
    assert "Bob sees a dentist" in shown
    assert "tooth" not in shown


def test_bad_lines_are_named_and_do_not_stop_the_rest(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [
        "not json",
        '{"text": "no content"}',
        '{"content": " "}',
        '{"content": "x", "created_at": "soon"}',
        '{"content": "x", "metadata": {"a": {"b": 1}}}',
        '["a list"]',
        "",
    ]
    memories.write_text("\n".join([*bad, json.dumps(LINES[0])]), encoding="utf-8")

    assert ask(memories, "the dentist") == 0
    first = capsys.readouterr()
    ask(memories, "the dentist")
    second = capsys.readouterr()

    assert "The dentist filled a tooth." in first.out
    assert "memories.jsonl: without 6 lines that cannot be read" in first.err
    for number, why in {1: "is no JSON", 2: "expected a content", 3: "content must hold"}.items():
        [said] = [s for s in first.err.splitlines() if s.startswith(f"line {number}: ")]
        assert why in said
    assert "and 3 more" in first.err
    main("recall", ["load", "--memories", str(memories), "--timezone", "UTC", "--json"])
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert [*left_out] == ["1", "2", "3", "4", "5", "6"]
    for number, why in {"4": "created_at", "5": "metadata 'a'", "6": "object"}.items():
        assert why in left_out[number]
    assert second.err == first.err


def test_what_cannot_be_used_is_said_in_one_line(
    tmp_path: Path, memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(tmp_path / "missing.jsonl", "the dentist") == 2
    assert "missing.jsonl" in capsys.readouterr().err
    assert ask(memories, "") == 2
    assert "query must say what to look for" in capsys.readouterr().err
    assert ask(memories, "-k", "0", "the dentist") == 2
    assert "k must be at least 1; got 0" in capsys.readouterr().err


def test_a_collection_held_by_another_process(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with RecallStore(memories.with_name("memories.jsonl.recall")) as store:
        store.add(["The dentist is on Elm Street."])
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "langchain_recall",
                "ask",
                "--memories",
                memories,
                "the dentist",
            ],
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert "chroma run" in done.stderr


def test_help_teaches() -> None:
    command = [sys.executable, "-m", "llamaindex_recall", "ask", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    shown = " ".join(done.stdout.split())
    assert "python -m llamaindex_recall ask --memories notes.jsonl" in shown
