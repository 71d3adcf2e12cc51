"""`recall load`: what is kept of a file, what is said of it, and where a load goes on."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.kit import FIXED, LINES, run
from conftest import WordsEmbedding

from recall_retrievers.store import RecallStore

GOOD = "\n".join(json.dumps(line) for line in LINES)


@pytest.fixture
def loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    assert run(capsys, "load", "--memories", path, "--timezone", "UTC")[0] == 0
    return path


def held(path: Path) -> int:
    with RecallStore(path.with_name(path.name + ".recall")) as store:
        return store.count()


def test_a_mistyped_time_zone_is_seen_first_and_empties_nothing(
    loaded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "load", "--memories", loaded, "--timezone", "Europe/Berln")

    assert (code, out) == (2, "")
    assert "got 'Europe/Berln'. Did you mean 'Europe/Berlin'?" in err
    assert len(err.splitlines()) == 1
    assert held(loaded) == 3


BAD = {
    "lines that are no JSON": ("no json\n" * 9, "none of 9 lines can be read"),
    "nothing": ("", "notes.jsonl is empty"),
    "an array": (json.dumps(LINES, indent=1), "notes.jsonl is a JSON array"),
    "a table": ("content,created_at\nTea,2024\nMilk,2024", "It looks like CSV"),
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(
    loaded: Path, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    content, says = BAD[wrong]
    loaded.write_text(content, encoding="utf-8")

    code, out, err = run(capsys, "load", "--memories", loaded, "--timezone", "UTC")

    assert (code, out) == (2, "")
    assert says in err
    assert "nothing is changed" in err
    assert 'one JSON object a line, such as {"content": "..."}' in err
    assert len([line for line in err.splitlines() if line.startswith("line ")]) <= 3
    assert held(loaded) == 3


def test_a_refused_file_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("no json", encoding="utf-8")

    assert run(capsys, "ask", "--memories", path, "tea")[0] == 2
    assert [each.name for each in tmp_path.iterdir()] == ["notes.jsonl"]


def test_of_many_bad_lines_three_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("no json\n" * 1200 + GOOD, encoding="utf-8")

    code, out, err = run(capsys, "load", "--memories", path)

    assert (code, out) == (0, "3 memories loaded in notes.jsonl.recall\n")
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "notes.jsonl", "line 1", "line 2", "line 3", "and 1,197 more",
    ]  # fmt: skip
    assert "without 1,200 lines that cannot be read" in err


def test_a_line_that_is_not_utf_8_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.jsonl"
    # The mark that some editors put in front is no fault.
    path.write_bytes(b'\xef\xbb\xbf{"content": "Tea."}\n{"content": "Gr\xfc\xdfe"}\n')

    code, out, err = run(capsys, "load", "--memories", path)

    assert (code, out) == (0, "1 memories loaded in notes.jsonl.recall\n")
    assert "line 2: is not UTF-8 at byte 16; save the file as UTF-8" in err


def test_a_line_of_nonsense_costs_no_other_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nonsense = {
        "[" * 100_000: "lists or objects stand in one another",
        '{"content": "Tea.", "metadata": [1]}': "metadata must be a mapping; got [1]",
        **{
            f'{{"content": "Tea.", "embedding": {{"model": "m", "vector": {vector}}}}}': "finite"
            for vector in ("[[1], [2]]", "[NaN]", "[]")
        },
    }
    for line, said in nonsense.items():
        path = tmp_path / "notes.jsonl"
        path.write_text(f"{GOOD}\n{line}", encoding="utf-8")

        code, out, err = run(capsys, "load", "--memories", path)

        assert (code, out) == (0, "3 memories loaded in notes.jsonl.recall\n")
        assert f"line {len(LINES) + 1}: " in err
        assert said in err


def test_a_folder_is_no_file(loaded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "ask", "--memories", loaded.parent, "tea")
    assert (code, "is a folder; expected a file of JSON objects" in err) == (2, True)

    code, _, err = run(capsys, "ask", "--memories", f"{loaded}.recall", "tea")
    assert (code, f"with --chroma {loaded}.recall" in err) == (2, True)


def test_standard_input_is_asked_and_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))

    code, out, _ = run(capsys, "ask", "--memories", "-", *FIXED, "-k", 1, "Who is Bob?")

    assert code == 0
    assert "3 memories loaded in standard input" in out
    assert "Bob sees a dentist" in out
    assert not list(tmp_path.iterdir())
    code, _, err = run(capsys, "load", "--memories", "-")
    assert (code, "name a file, or ask with --memories -" in err) == (2, True)


STOPPED = """
import os, signal, sys
from recall_retrievers.cli import main
from recall_retrievers.store.embedding.minilm import MiniLM

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
embed, calls = MiniLM.embed_with_tokens, []

def stopped_at_the_second(self, texts):
    if len(texts) > 1 and len(calls) == 1:
        os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does
    calls.extend([1] if len(texts) > 1 else [])
    return embed(self, texts)

MiniLM.embed_with_tokens = stopped_at_the_second
sys.exit(main("recall", ["load", "--memories", sys.argv[1]]))
"""


def test_ctrl_c_says_how_much_is_stored_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(
        "\n".join(json.dumps({"content": f"Tea {n}."}) for n in range(40)), encoding="utf-8"
    )

    done = subprocess.run(
        [sys.executable, "-c", STOPPED, path], capture_output=True, text=True, check=False
    )

    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    said = done.stderr.splitlines()[-1]
    assert "recall: stopped; 16 of 40 memories are stored; the same command goes on" in said
    assert run(capsys, "load", "--memories", path)[:2] == (
        0,
        "40 memories loaded in notes.jsonl.recall\n",
    )


def test_a_reader_that_goes_away_is_no_error(loaded: Path) -> None:
    asked = [sys.executable, "-m", "langchain_recall", "ask", "--memories", str(loaded)]
    reading, writing = os.pipe()
    os.close(reading)  # as `head` does when it has seen enough

    done = subprocess.run(
        [*asked, "--timezone", "UTC", "the dentist"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (141, "")


def test_the_bar_moves_before_the_first_large_batch(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Noted(WordsEmbedding):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            sizes.append(len(texts))
            return super().embed_documents(texts)

    with RecallStore(tmp_path / "a", embedding=Noted()) as store:
        store.add([f"Tea {n}." for n in range(300)], progress=True)
        assert (sizes[0], sum(sizes)) == (16, 300)
        sizes.clear()
        store.add([f"Milk {n}." for n in range(300)])
        assert (sizes[0], sum(sizes)) == (250, 300)
