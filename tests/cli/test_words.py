"""What a user types: words without quotes, settings, and what is said where they are wrong."""

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from cli.kit import FIXED, run

from recall_retrievers.cli import main

FOREIGN_WORDS = re.compile(r"pydantic|\[type=|validation error|Input should|MemoryRetriever")


def questions(out: str) -> list[str]:
    return [each["question"] for each in json.loads(out)]


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        (["what", "did", "I", "do"], ["what did I do"]),
        (["what did I do"], ["what did I do"]),
        (["Who moved?", "Who is Bob?"], ["Who moved?", "Who is Bob?"]),
        (["Who is Bob?", "dentist"], ["Who is Bob?", "dentist"]),
        (["我上周二做了什么？", "鲍勃是谁？"], ["我上周二做了什么？", "鲍勃是谁？"]),
    ],
    ids=str,
)
def test_words_without_quotes_are_one_question(
    memories: Path, capsys: pytest.CaptureFixture[str], typed: list[str], asked: list[str]
) -> None:
    code, out, _ = run(capsys, "ask", "--memories", memories, *FIXED, "--json", *typed)

    assert (code, questions(out)) == (0, asked)


def test_a_text_and_a_message_need_no_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "time", *FIXED, "--json", "what", "did", "I", "do", "last", "Tuesday")
    assert [each["text"] for each in json.loads(out)["texts"]] == ["what did I do last Tuesday"]

    code, out, _ = run(capsys, "gate", "--json", "Book", "it", "again.")
    assert (code, json.loads(out)["message"]) == (0, "Book it again.")


def test_ask_shows_ids(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "ask", "--memories", memories, *FIXED, "-k", 1, "Who moved?")

    assert "2024-02-01 Thursday  moved" in out


SETTINGS: list[tuple[list[str], list[str]]] = [
    (["--method", "keyword", "Elm Street"], ["moved"]),
    (["--filter", '{"memory_type": "event"}', "the dentist"], ["moved"]),
    (["--time-range", "last Tuesday", "--time-mode", "require", "Elm Street"], ["bob", "filled"]),
    (["--fusion", "ranks", "--semantic-weight", "0", "-k", "1", "Elm Street"], ["moved"]),
    (["--threshold-score", "0.99", "the dentist"], []),
    (["--duplicate-threshold", "none", "--mmr-lambda", "1", "-k", "1", "Elm Street"], ["moved"]),
]


@pytest.mark.parametrize(("typed", "ids"), SETTINGS, ids=str)
def test_settings_of_the_retriever_are_options(
    memories: Path, capsys: pytest.CaptureFixture[str], typed: list[str], ids: list[str]
) -> None:
    code, out, _ = run(capsys, "ask", "--memories", memories, *FIXED, "--json", *typed)

    found = {each["id"] for each in json.loads(out)[0]["memories"]}
    assert (code, found) == (0, set(ids))


WRONG: dict[str, tuple[list[str], str]] = {
    "k": (["-k", "0"], "k must be at least 1; got 0"),
    "a moment": (["--timestamp", "foo"], "timestamp must be an int, float, ISO 8601 string"),
    "a weight": (["--semantic-weight", "3"], "semantic_weight must be at most 1; got '3'"),
    "a limit": (["--fetch-k", "many"], "fetch_k must be a whole number; got 'many'"),
    "a field of a file": (["--field", "created_at=date"], "use them with --chroma"),
    "a collection of a file": (["--collection", "notes"], "use them with --chroma"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_in_one_line(
    memories: Path, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    typed, says = WRONG[wrong]
    code, out, err = run(capsys, "ask", "--memories", memories, "--timezone", "UTC", *typed, "tea")

    assert (code, out.splitlines()[1:]) == (2, [])
    assert says in err
    assert len(err.splitlines()) == 1
    assert not FOREIGN_WORDS.search(err)


@pytest.mark.parametrize(
    ("field", "says"),
    [("bogus=date", "--field: Fields has no argument 'bogus'"), ("date", "must be OURS=THEIRS")],
)
def test_a_field_that_is_none(
    memories: Path, capsys: pytest.CaptureFixture[str], field: str, says: str
) -> None:
    typed = ["--chroma", f"{memories}.recall", "--field", field]
    code, _, err = run(capsys, "ask", *typed, "tea")

    assert (code, says in err, FOREIGN_WORDS.search(err)) == (2, True, None)


def test_a_filter_that_is_no_json(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main("recall", ["ask", "--memories", str(memories), "--filter", "topic=tea", "tea"])

    assert left.value.code == 2
    assert (
        'expected JSON that is not empty, such as \'{"topic": "health"}\''
        in capsys.readouterr().err
    )


def test_without_a_command_it_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)

    assert (code, out) == (2, "")
    assert "begin with:\n  recall ask --memories" in err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main("recall", ["--version"])

    assert left.value.code == 0
    assert capsys.readouterr().out == f"recall {version('recall-retrievers')}\n"


@pytest.mark.parametrize("width", [60, 80, 140])
def test_help_keeps_to_the_width_of_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in ("load", "eval", "ask"):
        with pytest.raises(SystemExit):
            main("recall", [command, "--help"])
        shown = capsys.readouterr().out.partition("\nexample:\n")[0]
        # What can be copied stays in one line.
        prose = [line for line in shown.splitlines() if '{"' not in line]
        assert max(map(len, prose)) <= min(width, 140)
        assert max(map(len, prose)) > min(width, 100) - 25
