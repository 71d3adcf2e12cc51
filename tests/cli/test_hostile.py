"""What a memory holds steers no terminal, whichever command shows it."""

import json
import logging
import re
from pathlib import Path

import pytest
from cli.kit import FIXED, Run
from stages.hostile import HOSTILE

from recall_retrievers.cli.output import print_json

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
STEERING = "\x1b[2J\x1b]0;owned\x07\x9b2J\u202e"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "memories.jsonl"
    lines = [
        {
            **{
                name: getattr(memory, name)
                for name in ("content", "author", "when_to_use", "metadata")
            },
            "id": f"{number}{STEERING}",
            "memory_type": f"insight{STEERING}",
            "user_id": f"ann{STEERING}",
        }
        for number, memory in enumerate(HOSTILE.values())
        if "\ud800" not in memory.content  # which no file holds
    ]
    bad = {"content": "Tea.", "metadata": {f"a{STEERING}": {"b": 1}}}
    written = [json.dumps(line) for line in [*lines, bad]]
    path.write_text("\n".join(written), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "the tea and the dentist", "-k", "90", *FIXED],
        ["ask", f"the dentist last {STEERING}Tuesday", *FIXED],
        ["explain", "the tea", "-k", "90", *FIXED],
        ["explain", "the tea", "--id", f"1{STEERING}", *FIXED],
        ["explain", "the tea", "--id", f"nobody{STEERING}", *FIXED],
        ["stats", "--timezone", "UTC"],
    ],
    ids=lambda words: " ".join(words[:1]),
)
def test_a_command_shows_control_characters_and_sends_none(
    hostile: Path, run: Run, words: list[str]
) -> None:
    command, *others = words

    _, out, err = run(command, "--memories", hostile, *others)
    _, written, _ = run(command, "--memories", hostile, *others, "--json")

    assert not CONTROL.search(out)
    assert not CONTROL.search(err)
    assert not CONTROL.search(written)
    assert "\\x1b[2J" in out + err
    if "--id" not in others:
        assert any("\x1b[2J" in text for text in _texts(json.loads(written)))


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


def test_json_has_escapes_of_its_own_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    said = {f"tea{STEERING}": "\u2028\u2029\x85\ufeff\ud800 für 年"}

    print_json(said)

    written = capsys.readouterr().out
    assert not CONTROL.search(written)
    assert "für 年" in written
    assert json.loads(written) == said


def test_a_log_line_is_shown_in_the_same_way(
    hostile: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        run("stats", "--memories", hostile, "--timezone", "UTC")
        logging.getLogger("recall_retrievers").warning("row %s", STEERING)
    finally:
        root.handlers = before

    assert not CONTROL.search(capsys.readouterr().err)
