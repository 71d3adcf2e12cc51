"""`recall explain`: why each memory came back, and why another one did not."""

import json
import re
from pathlib import Path

import pytest
from cli.kit import FIXED, LINES, run
from tables import table

MORE = [
    {**LINES[0], "id": "copy", "content": "the dentist filled a tooth", "created_at": "2024-03-01"},
    {"id": "dull", "content": "Revenue grew by four percent in the north.", "user_id": "ann"},
]


@pytest.fixture(scope="module")
def more_memories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("more") / "memories.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [*LINES, *MORE]), encoding="utf-8")
    return path


def test_explain_shows_every_number(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    question = ["-k", 1, "--user-id", "ann", "the dentist last Tuesday"]
    code, out, _ = run(capsys, "explain", "--memories", memories, *FIXED, *question)

    assert code == 0
    assert "1. filled" in out
    for step in ("by meaning (similarity ", "by words (BM25 ", "x 2 recorded in time"):
        assert step in out
    assert re.search(r"│ score +│ 2\.0000", out)


def test_explain_finds_the_place_of_a_memory_that_did_not_come_back(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["explain", "--memories", memories, *FIXED, "-k", 1, "the dentist last Tuesday"]
    code, out, _ = run(capsys, *asked, "--id", "moved")
    assert (code, "3. moved" in out, "filled" in out) == (0, True, False)

    code, out, _ = run(capsys, *asked, "--id", "moved", "--user-id", "bob")
    assert (code, "moved was not found: it is outside the scope" in out) == (0, True)

    code, _, err = run(capsys, *asked, "--id", "nobody")
    assert (code, "no memory with the id nobody" in err) == (2, True)

    code, out, _ = run(capsys, *asked, "--id", "moved", "--json")
    assert json.loads(out)[0]["places"] == [3]


@table(
    ("memory_id", "options", "reason"),
    [
        ("dull", [], "left out by FuseRerank: below fuse_score_threshold 0.1"),
        ("moved", ["--threshold-score", 0.6], "left out by Retrieve: below threshold_score 0.6"),
        ("copy", [], "left out by Retrieve: duplicate of filled"),
        ("moved", ["-k", 1], "left out: cut at k 1"),
        ("moved", ["--user-id", "ann"], "not found: it is outside the scope, user_id ann"),
        ("moved", ["--filter", '{"x": 1}'], "not found: it does not fit the filter"),
        ("moved", ["--time-mode", "require"], "not found: it is outside the time required"),
        ("dull", ["--method", "keyword"], "not found: it has no word of the question"),
    ],
)
def test_explain_says_what_left_a_memory_out(
    memory_id: str,
    options: list[object],
    reason: str,
    more_memories: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["explain", "--memories", more_memories, *FIXED, "--id", memory_id, *options]
    code, out, _ = run(capsys, *asked, "the dentist last Tuesday")
    assert (code, f"\n{memory_id} was {reason}\n" in out) == (0, True)

    code, out, _ = run(capsys, *asked, "--json", "the dentist last Tuesday")
    assert (code, json.loads(out)[0]["left_out"]) == (0, {memory_id: reason})


def test_explain_finds_a_memory_in_the_scope_of_its_user(
    more_memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["explain", "--memories", more_memories, *FIXED, "--id", "filled", "--user-id", "ann"]
    code, out, _ = run(capsys, *asked, "the dentist last Tuesday")

    assert (code, "1. filled" in out, "filled was" in out) == (0, True, False)
