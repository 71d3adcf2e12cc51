"""The other commands of `recall`, as a user types them: what they print, and what they return."""

import json
import logging
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import chromadb
import pytest
from cli.kit import FIXED, LINES, run

from recall_retrievers.cli import main, recall
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.minilm import MiniLM

ROOT = Path(__file__).parent.parent.parent
COMMANDS = (
    "ask",
    "explain",
    "load",
    "stats",
    "delete",
    "migrate",
    "check",
    "repair",
    "mcp",
    "serve",
    "time",
    "gate",
    "eval",
)


def test_the_command_is_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "scripts"
    ]

    assert EntryPoint("recall", scripts["recall"], "console_scripts").load() is recall


def test_help_names_every_command_and_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main("recall", ["--help"])

    shown = capsys.readouterr().out
    assert left.value.code == 0
    assert all(f"\n    {command} " in shown for command in COMMANDS)
    assert "exit codes: 0 done; 1 the answer is no" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main("recall", [command, "--help"])

    shown = capsys.readouterr().out
    assert f"example:\n  recall {command} " in shown
    assert "--json" in shown
    assert "--verbose" in shown


@pytest.mark.parametrize("words", [["remember"], ["ask"], ["gate"], ["ask", "x"]])
def test_what_is_not_understood_is_said_with_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main("recall", words)

    assert left.value.code == 2
    assert "usage: recall" in capsys.readouterr().err


def test_load_says_what_became_of_the_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"content": "Tea at four."}\nno json\n', encoding="utf-8")

    code, out, err = run(capsys, "load", "--memories", path)
    assert (code, out) == (0, "1 memories loaded in notes.jsonl.recall\n")
    assert err == (
        "notes.jsonl: without 1 line that cannot be read\n"
        "line 2: is no JSON: Expecting value at column 1\n"
    )

    code, out, _ = run(capsys, "load", "--memories", path, "--json")
    told = json.loads(out)
    assert (told["memories"], told["loaded_now"], list(told["left_out"])) == (1, False, ["2"])


def test_a_missing_file_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "load", "--memories", tmp_path / "missing.jsonl")

    assert code == 2
    assert "missing.jsonl is not there" in err
    assert not list(tmp_path.iterdir())


def test_ask_as_json(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["the dentist last Tuesday", "Who is Bob?"]
    code, out, _ = run(capsys, "ask", "--memories", memories, *FIXED, "-k", 1, "--json", *asked)

    [first, second] = json.loads(out)
    assert code == 0
    assert first["question"] == asked[0]
    assert first["time"][0]["words"] == "last Tuesday"
    assert first["time"][0]["means"] == "2024-03-05 (Tuesday)"
    assert first["memories"][0]["recall_time_match"] == "recorded"
    assert first["memories"][0]["score"] > 0
    assert second["memories"][0]["id"] == "bob"


def test_stats_counts_kinds_people_and_times(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "stats", "--memories", memories, "--timezone", "UTC", "--json")

    told = json.loads(out)
    assert code == 0
    assert told["memories"] == 3
    assert told["memory_type"] == {"observation": 2, "event": 1}
    assert told["user_id"] == {"ann": 1, "bob": 1}
    assert told["first_recorded"].startswith("2024-02-01T09:00:00")
    assert told["last_recorded"].startswith("2024-03-05T11:00:00")
    assert told["without_a_time"] == 0
    assert "all-minilm" in told["embedding_model"].lower()

    code, out, _ = run(capsys, "stats", "--memories", memories, "--timezone", "UTC")
    assert "observation 2, event 1" in out


def test_time_says_what_would_be_understood(capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["What did we plan for early March?", "Where is the dentist?"]
    code, out, _ = run(capsys, "time", *FIXED, *texts)
    assert code == 0
    assert '"for early March" is understood as 2024-03-01 to 2024-03-10; also possible' in out
    assert "searched for: What did we plan?" in out
    assert "no time is named" in out

    code, out, _ = run(capsys, "time", *FIXED, "--week-start", "sunday", "--json", "last week")
    told = json.loads(out)
    assert told["asked_at"] == "2024-03-08T12:00:00+00:00"
    assert told["texts"][0]["time"][0]["range"].startswith("2024-02-25")

    code, out, _ = run(capsys, "time", *FIXED, "--language", "de", "Was war gestern?")
    assert (code, '"gestern" is understood as 2024-03-07' in out) == (0, True)

    code, _, err = run(capsys, "time", "yesterday", "--timezone", "Mars/Olympus")
    assert (code, "Mars/Olympus" in err) == (2, True)


@pytest.mark.parametrize(("message", "code"), [("Book it again.", 0), ("What is 2 + 2?", 1)])
def test_gate_answers_the_shell(
    message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "gate", message)[0] == code
    returned, out, _ = run(capsys, "gate", "--json", message)
    assert returned == code
    assert json.loads(out)["search"] is (code == 0)


def test_a_collection_of_somebody_else_is_asked_and_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = chromadb.PersistentClient(str(tmp_path))
    vectors = MiniLM().embed_documents(["Ann sees the dentist."])
    client.create_collection("notes", embedding_function=None).add(
        ids=["1"],
        embeddings=vectors,
        documents=["Ann sees the dentist."],
        metadatas=[{"date": "2024-03-05T10:00:00+00:00"}],
    )
    client.close()
    where = ["--chroma", tmp_path, "--collection", "notes", "--field", "created_at=date"]

    code, out, _ = run(capsys, "ask", *where, *FIXED, "the dentist last Tuesday")
    assert code == 0
    assert "1 memories kept in notes" in out
    assert "x 2 recorded in time" in out

    code, out, _ = run(capsys, "stats", *where, "--json")
    assert json.loads(out)["first_recorded"].startswith("2024-03-05")

    code, _, err = run(capsys, "stats", "--chroma", tmp_path)
    assert code == 2
    assert "there is no collection 'memories'; there is 'notes'" in err
    for command, *rest in (("ask", "tea?"), ("explain", "tea?"), ("stats",)):
        code, _, err = run(capsys, command, "--chroma", tmp_path, "--collection", "note", *rest)
        assert (code, "Did you mean 'notes'?" in err, err.count("\n")) == (2, True, 1)
    assert [each.name for each in chromadb.PersistentClient(str(tmp_path)).list_collections()] == [
        "notes"
    ]


def test_a_folder_without_a_database_stays_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "ask", "--chroma", tmp_path, "x")

    assert (code, "no chroma.sqlite3" in err) == (2, True)
    assert not list(tmp_path.iterdir())


def test_a_server_is_asked(
    server_port: int, collection_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    with RecallStore(client, collection_name) as store:
        store.add([line["content"] for line in LINES])
    url = f"http://127.0.0.1:{server_port}"

    code, out, _ = run(capsys, "stats", "--chroma", url, "--collection", collection_name, "--json")

    assert (code, json.loads(out)["memories"]) == (0, 3)


def test_verbose_logs_our_own_doings_only(
    memories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "gate", "-v", "Book it again.")
    assert logging.getLogger("recall_retrievers").level == logging.DEBUG
    assert logging.getLogger("chromadb").getEffectiveLevel() >= logging.WARNING

    run(capsys, "gate", "Book it again.")
    assert logging.getLogger("recall_retrievers").level == logging.WARNING
