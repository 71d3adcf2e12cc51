"""`recall load`: what is kept of a file, what is said of it, and where a load goes on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from cli.kit import LINES, Run, beside, written
from conftest import WordsEmbedding
from tables import table

from recall_retrievers import read_questions
from recall_retrievers.core.errors import QuestionFileError
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore

GOOD = "\n".join(map(json.dumps, LINES))


def held(path: Path) -> list[str]:
    with RecallStore(beside(path)) as store:
        return sorted(each.content for each in store.memories())


def test_a_changed_file_is_loaded_again_and_an_equal_one_is_not(loaded: Path, run: Run) -> None:
    command = ["load", "--memories", loaded, "--timezone", "UTC"]
    assert run(*command)[1] == "3 memories were there already in notes.jsonl.recall\n"
    written(loaded, [LINES[1], {"content": "A new dentist."}])

    assert run(*command)[1] == "2 memories loaded in notes.jsonl.recall\n"
    assert held(loaded) == ["A new dentist.", LINES[1]["content"]]


def test_the_times_that_texts_tell_of_are_read_unless_switched_off(
    tmp_path: Path, run: Run
) -> None:
    told = {"content": "We met Anna two weeks ago.", "created_at": "2024-03-20T10:00:00"}
    path = written(tmp_path / "told.jsonl", [told])
    question = ["--time-mode", "require", "Whom did we meet in early March?"]
    asked = ["ask", "--memories", path, "--timestamp", "2024-05-02"]

    assert "We met Anna" in run(*asked, *question)[1]
    assert "We met Anna" not in run(*asked, "--no-event-times", *question)[1]


def test_a_load_that_was_cut_short_is_taken_up_and_leaves_nothing_behind(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, add = written(tmp_path / "notes.jsonl", LINES), RecallStore.add_embedded

    def cut_short(self: RecallStore, given: Iterable[Memory], vectors: Any, **how: bool) -> None:
        add(self, list(given)[:2], vectors, **how)
        raise OSError("the power is gone")

    monkeypatch.setattr(RecallStore, "add_embedded", cut_short)
    code, _, err = run("load", "--memories", path)
    assert (code, "the power is gone" in err) == (2, True)
    monkeypatch.undo()
    written(path, LINES[1:])

    assert run("load", "--memories", path)[1] == "2 memories loaded in notes.jsonl.recall\n"
    assert held(path) == ["Bob sees a dentist, too.", "The dentist moved to Elm Street."]


BAD_LINES = {
    "not json": "is no JSON",
    '{"text": "no content"}': "expected a content",
    '{"content": " "}': "content must hold",
    '{"content": "x", "created_at": "soon"}': "created_at",
    '{"content": "x", "metadata": {"a": {"b": 1}}}': "metadata 'a'",
    '{"content": "x", "metadata": [1]}': "metadata must be a mapping; got [1]",
    '["a list"]': "object",
    "[" * 100_000: "lists or objects stand in one another",
    **{
        f'{{"content": "x", "embedding": {{"model": "m", "vector": {vector}}}}}': "finite"
        for vector in ("[[1], [2]]", "[NaN]", "[]")
    },
}


def test_bad_lines_are_named_and_do_not_stop_the_rest(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "notes.jsonl"
    # The mark that some editors put in front is no fault.
    text = "\n".join([*BAD_LINES, "", *["no json"] * 1200, GOOD])
    path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b'\n{"content": "Gr\xfc\xdfe"}')

    code, out, err = run("load", "--memories", path)
    assert (code, out) == (0, "3 memories loaded in notes.jsonl.recall\n")
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "notes.jsonl", "line 1", "line 2", "line 3", "and 1,209 more",
    ]  # fmt: skip
    assert "without 1,212 lines that cannot be read" in err

    code, out, again = run("load", "--memories", path, "--json")
    told = json.loads(out)
    assert (code, told["memories"], told["loaded_now"], again) == (0, 3, False, err)
    for number, why in enumerate(BAD_LINES.values(), 1):
        assert why in told["left_out"][str(number)]
    assert "is not UTF-8 at byte 16; save the file as UTF-8" in [*told["left_out"].values()][-1]


@table(
    ("content", "says"),
    [
        ("no json\n" * 9, "none of 9 lines can be read"),
        ("", "notes.jsonl is empty"),
        (json.dumps(LINES, indent=1), "notes.jsonl is a JSON array"),
        ("content,created_at\nTea,2024\nMilk,2024", "It looks like CSV"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(
    loaded: Path, run: Run, content: str, says: str
) -> None:
    new = loaded.parent / "new" / loaded.name
    new.parent.mkdir(exist_ok=True)
    for path in (loaded, new):
        path.write_text(content, encoding="utf-8")

        code, out, err = run("load", "--memories", path, "--timezone", "UTC")

        assert (code, out) == (2, "")
        assert says in err
        assert "nothing is changed" in err
        assert 'one JSON object a line, such as {"content": "..."}' in err
        assert len([line for line in err.splitlines() if line.startswith("line ")]) <= 3
    assert len(held(loaded)) == 3
    assert [*new.parent.iterdir()] == [new]


def test_a_mistyped_time_zone_empties_nothing(loaded: Path, run: Run) -> None:
    code, out, _ = run("load", "--memories", loaded, "--timezone", "Europe/Berln")

    assert (code, out, len(held(loaded))) == (2, "", 3)


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
    tmp_path: Path, run: Run
) -> None:
    path = written(tmp_path / "notes.jsonl", [{"content": f"Tea {n}."} for n in range(40)])
    command = [sys.executable, "-c", STOPPED, str(path)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    said = done.stderr.splitlines()[-1]
    assert "recall: stopped; 16 of 40 memories are stored; the same command goes on" in said
    code, out, _ = run("load", "--memories", path)
    assert (code, out) == (0, "40 memories loaded in notes.jsonl.recall\n")


def test_a_reader_that_goes_away_is_no_error(loaded: Path) -> None:
    asked = ["ask", "--memories", str(loaded), "--timezone", "UTC", "the dentist"]
    reading, writing = os.pipe()
    os.close(reading)  # as `head` does when it has seen enough

    done = subprocess.run(
        [sys.executable, "-m", "langchain_recall", *asked],
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
        for progress, first in ((True, 16), (False, 250)):
            store.add([f"Tea {n} {progress}." for n in range(300)], progress=progress)
            assert (sizes[0], sum(sizes)) == (first, 300)
            sizes.clear()


def test_lines_and_questions_of_nobody_are_left_out_and_named(tmp_path: Path, run: Run) -> None:
    nobody: list[object] = ["", "  ", None, 0, False, [], {}]
    lines: list[dict[str, object]] = [
        {"content": "The dentist of Ann.", "user_id": "ann"},
        {"content": "The dentist of Bob.", "scope": {"user_id": "bob"}},
        *({"content": "The dentist of nobody.", "user_id": value} for value in nobody),
    ]
    path = written(tmp_path / "notes.jsonl", lines)

    left_out = json.loads(run("load", "--memories", path, "--json")[1])["left_out"].values()

    assert sum("scope user_id must be a text" in why for why in left_out) == len(nobody)
    stored = json.loads(run("stats", "--memories", path, "--json")[1])
    assert (stored["user_id"], stored["memories"]) == ({"ann": 1, "bob": 1}, 2)
    for value in nobody:
        asked = {"question": "Who is the dentist?", "relevant": ["moved"], "user_id": value}
        with pytest.raises(QuestionFileError, match="line 1: scope user_id must be a text"):
            read_questions(written(tmp_path / "questions.jsonl", [asked]))
