"""`recall delete` asks, and deletes what fulfils all conditions."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from cli.kit import run


class Terminal(io.StringIO):
    """A standard input that somebody sits at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(memories: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / memories.name
    file.write_bytes(memories.read_bytes())
    run(capsys, "load", "--memories", file, "--timezone", "UTC")
    return file.with_name(file.name + ".recall")


def left(folder: Path, capsys: pytest.CaptureFixture[str]) -> int:
    return int(json.loads(run(capsys, "stats", "--chroma", folder, "--json")[1])["memories"])


def test_deletes_after_a_yes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words: Any = ("delete", "--chroma", folder, "--user-id", "ann", "--since", "2024-03-01")
    for answer, code, there in (("\n", 1, 3), ("y\n", 0, 2)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        done, _, err = run(capsys, *words)
        assert (done, "delete 1 of 3 memories of memories? [y/N]" in err) == (code, True)
        assert left(folder, capsys) == there


def test_without_a_terminal_it_needs_a_yes_and_always_a_condition(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused: list[tuple[tuple[str, ...], str]] = [
        (("--user-id", "ann", "--everything"), "--yes"),
        (("--yes",), "or --everything for all of the scope; got neither"),
        (("--yes", "--user-id", "ann"), "got neither"),
        (("--yes", "--everything", "--id", "moved"), "got both"),
        (("--yes", "--everything", "--since", ""), "time_range must be"),
        (("--yes", "--memory-type", ""), "memory_type must be a text"),
    ]
    for words, said in refused:
        code, _, err = run(capsys, "delete", "--chroma", folder, *words)
        assert (code, said in err, left(folder, capsys)) == (2, True, 3)
    for empty in ("{}", "null", "[]"):
        with pytest.raises(SystemExit):
            run(capsys, "delete", "--chroma", folder, "--yes", "--everything", "--filter", empty)
        assert "expected JSON that is not empty, such as" in capsys.readouterr().err
        assert left(folder, capsys) == 3

    code, out, _ = run(
        capsys, "delete", "--chroma", folder, "--before", "2024-02-02", "--yes", "--json"
    )
    assert (code, json.loads(out)["deleted"], left(folder, capsys)) == (0, 1, 2)
    code, out, _ = run(capsys, "delete", "--chroma", folder, "--everything", "--yes")
    assert (code, out, left(folder, capsys)) == (0, "2 memories deleted\n", 0)
