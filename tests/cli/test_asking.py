"""`recall ask`, `explain`, `time` and `gate`: what they understand, and what they print."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import chromadb
import pytest
from cli.kit import FIXED, LINES, Run, beside, written
from tables import table

from recall_retrievers.store.embedding.minilm import MiniLM

FOREIGN_WORDS = re.compile(r"pydantic|\[type=|validation error|Input should|MemoryRetriever")
MORE = [
    {**LINES[0], "id": "copy", "content": "the dentist filled a tooth", "created_at": "2024-03-01"},
    {"id": "dull", "content": "Revenue grew by four percent in the north.", "user_id": "ann"},
]


@pytest.fixture(scope="module")
def more_memories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("more") / "memories.jsonl", [*LINES, *MORE])


def test_it_prints_the_range_the_memories_and_why(memories: Path, run: Run) -> None:
    question = "the dentist last Tuesday"
    code, out, _ = run("ask", "--memories", memories, *FIXED, "-k", 2, question)

    assert code == 0
    assert "3 memories kept in memories.jsonl.recall" in out
    assert '"last Tuesday" is understood as 2024-03-05 (Tuesday)' in out
    assert "The dentist filled a tooth." in out
    assert "recorded in time" in out
    assert "2024-03-05 Tuesday  filled" in out
    assert "Elm Street" not in out

    code, out, _ = run("ask", "--memories", memories, *FIXED, "-k", 1, "--json", question, "Bob?")
    [first, second] = json.loads(out)
    assert (code, first["question"]) == (0, question)
    assert first["time"][0]["means"] == "2024-03-05 (Tuesday)"
    assert first["memories"][0]["recall_time_match"] == "recorded"
    assert first["memories"][0]["score"] > 0
    assert second["memories"][0]["id"] == "bob"


@table(
    ("typed", "asked"),
    [
        (["what", "did", "I", "do"], ["what did I do"]),
        (["what did I do"], ["what did I do"]),
        (["Who moved?", "Who is Bob?"], ["Who moved?", "Who is Bob?"]),
        (["Who is Bob?", "dentist"], ["Who is Bob?", "dentist"]),
        (["我上周二做了什么？", "鲍勃是谁？"], ["我上周二做了什么？", "鲍勃是谁？"]),
    ],
)
def test_words_without_quotes_are_one_question(
    memories: Path, run: Run, typed: list[str], asked: list[str]
) -> None:
    out = run("ask", "--memories", memories, *FIXED, "--json", *typed)[1]
    assert [each["question"] for each in json.loads(out)] == asked
    assert [each["text"] for each in json.loads(run("time", "--json", *typed)[1])["texts"]] == asked


@table(
    ("typed", "ids"),
    [
        (["--user-id", "bob", "the dentist"], ["bob"]),
        (["--method", "keyword", "Elm Street"], ["moved"]),
        (["--filter", '{"memory_type": "event"}', "the dentist"], ["moved"]),
        (
            ["--time-range", "last Tuesday", "--time-mode", "require", "Elm Street"],
            ["bob", "filled"],
        ),
        (["--fusion", "ranks", "--semantic-weight", "0", "-k", "1", "Elm Street"], ["moved"]),
        (["--threshold-score", "0.99", "the dentist"], []),
        (
            ["--duplicate-threshold", "none", "--mmr-lambda", "1", "-k", "1", "Elm Street"],
            ["moved"],
        ),
    ],
    ids=str,
)
def test_settings_of_the_retriever_are_options(
    memories: Path, run: Run, typed: list[str], ids: list[str]
) -> None:
    code, out, _ = run("ask", "--memories", memories, *FIXED, "--json", *typed)

    assert (code, {each["id"] for each in json.loads(out)[0]["memories"]}) == (0, set(ids))


@table(
    ("typed", "says"),
    [
        (["-k", "0", "tea"], "k must be at least 1; got 0"),
        (["-k", "99999999999", "tea"], "k must be at most 10000; got 99999999999"),
        (["--timestamp", "foo", "tea"], "timestamp must be an int, float, ISO 8601 string"),
        (["--semantic-weight", "3", "tea"], "semantic_weight must be at most 1; got '3'"),
        (["--fetch-k", "many", "tea"], "fetch_k must be a whole number; got 'many'"),
        (["--field", "created_at=date", "tea"], "use them with --chroma"),
        (["--collection", "notes", "tea"], "use them with --chroma"),
        (["--timezone", "Europe/Berln", "tea"], "Did you mean 'Europe/Berlin'?"),
        ([""], "query must say what to look for"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_in_one_line(
    memories: Path, run: Run, typed: list[str], says: str
) -> None:
    code, out, err = run("ask", "--memories", memories, "--timezone", "UTC", *typed)

    assert (code, out.splitlines()[1:]) == (2, [])
    assert says in err
    assert len(err.splitlines()) == 1
    assert not FOREIGN_WORDS.search(err)


def test_a_place_that_cannot_be_asked_is_named_and_left_as_it_is(
    memories: Path, tmp_path: Path, run: Run
) -> None:
    folder = beside(memories)
    wrong: list[tuple[list[object], str]] = [
        (["--chroma", folder, "--field", "bogus=date"], "Fields has no argument 'bogus'"),
        (["--chroma", folder, "--field", "date"], "must be OURS=THEIRS"),
        (["--chroma", folder, "--collection", "memory"], "Did you mean 'memories'?"),
        (["--chroma", tmp_path], "no chroma.sqlite3"),
        (["--memories", tmp_path], "is a folder; expected a file of JSON objects"),
        (["--memories", folder], f"with --chroma {folder}"),
        (["--memories", tmp_path / "missing.jsonl"], "missing.jsonl is not there"),
        (["--memories", memories, "--filter", "topic=tea"], "expected JSON that is not empty"),
    ]
    for words, said in wrong:
        code, _, err = run("ask", *words, "tea")
        assert (code, said in err, FOREIGN_WORDS.search(err)) == (2, True, None), said
    assert not list(tmp_path.iterdir())


def test_a_collection_of_somebody_else_is_asked_and_left_as_it_is(tmp_path: Path, run: Run) -> None:
    client = chromadb.PersistentClient(str(tmp_path))
    for name, text, vector in (
        ("notes", "Ann sees the dentist.", MiniLM().embed_documents(["Ann sees the dentist."])[0]),
        ("others", "Tea.", [1.0, 0.0]),
    ):
        client.create_collection(name, embedding_function=None).add(
            ids=["1"],
            embeddings=[vector],
            documents=[text],
            metadatas=[{"date": "2024-03-05T10:00:00+00:00"}],
        )
    client.close()
    where = ["--chroma", tmp_path, "--collection", "notes", "--field", "created_at=date"]

    code, out, _ = run("ask", *where, *FIXED, "the dentist last Tuesday")
    assert (code, "1 memories kept in notes" in out, "x 2 recorded in time" in out) == (0, 1, 1)

    stats = json.loads(run("stats", *where, "--json")[1])
    assert stats["first_recorded"].startswith("2024-03-05")
    where = ["--chroma", tmp_path, "--collection", "others"]
    assert json.loads(run("stats", *where, "--json")[1])["embedding_model"] == "not known"
    for command, *rest in (("explain", "tea?"), ("stats",)):
        code, _, err = run(command, "--chroma", tmp_path, "--collection", "note", *rest)
        assert (code, "Did you mean 'notes'?" in err, err.count("\n")) == (2, True, 1)
    there = chromadb.PersistentClient(str(tmp_path)).list_collections()
    assert {each.name for each in there} == {"notes", "others"}


def test_standard_input_is_asked_and_not_kept(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = "\n".join(map(json.dumps, LINES)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))

    code, out, _ = run("ask", "--memories", "-", *FIXED, "-k", 1, "Who is Bob?")

    assert code == 0
    assert "3 memories loaded in standard input" in out
    assert "Bob sees a dentist" in out
    assert not list(tmp_path.iterdir())
    code, _, err = run("load", "--memories", "-")
    assert (code, "name a file, or ask with --memories -" in err) == (2, True)


# -- explain --------------------------------------------------------------------------------------


def test_explain_shows_every_number(memories: Path, run: Run) -> None:
    question = ["-k", 1, "--user-id", "ann", "the dentist last Tuesday"]
    code, out, _ = run("explain", "--memories", memories, *FIXED, *question)

    assert code == 0
    assert "1. filled" in out
    for step in ("by meaning (similarity ", "by exact words (BM25 ", "x 2 recorded in time"):
        assert step in out
    assert re.search(r"│ score +│ 1\.0000", out)


def test_explain_finds_the_place_of_a_memory_that_did_not_come_back(
    memories: Path, run: Run
) -> None:
    asked = ["explain", "--memories", memories, *FIXED, "-k", 1, "the dentist last Tuesday"]
    code, out, _ = run(*asked, "--id", "moved")
    assert (code, "3. moved" in out, "filled" in out) == (0, True, False)
    assert json.loads(run(*asked, "--id", "moved", "--json")[1])[0]["places"] == [3]

    code, out, _ = run(*asked, "--id", "filled", "--user-id", "ann")
    assert (code, "1. filled" in out, "filled was" in out) == (0, True, False)

    code, _, err = run(*asked, "--id", "nobody")
    assert (code, "no memory with the id nobody" in err) == (2, True)


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
    memory_id: str, options: list[object], reason: str, more_memories: Path, run: Run
) -> None:
    asked = ["explain", "--memories", more_memories, *FIXED, "--id", memory_id, *options]
    code, out, _ = run(*asked, "the dentist last Tuesday")
    assert (code, f"\n{memory_id} was {reason}\n" in out) == (0, True)

    code, out, _ = run(*asked, "--json", "the dentist last Tuesday")
    assert (code, json.loads(out)[0]["left_out"]) == (0, {memory_id: reason})


# -- time and gate --------------------------------------------------------------------------------


def test_time_says_what_would_be_understood(run: Run) -> None:
    texts = ["What did we plan for early March?", "Where is the dentist?"]
    code, out, _ = run("time", *FIXED, *texts)
    assert code == 0
    assert '"for early March" is understood as 2024-03-01 to 2024-03-10; also possible' in out
    assert "searched for: What did we plan?" in out
    assert "no time is named" in out

    told: Any = json.loads(
        run("time", *FIXED, "--week-start", "sunday", "--json", "last", "week")[1]
    )
    assert told["asked_at"] == "2024-03-08T12:00:00+00:00"
    assert told["texts"][0]["time"][0]["range"].startswith("2024-02-25")

    out = run("time", *FIXED, "--language", "de", "Was war gestern?")[1]
    assert '"gestern" is understood as 2024-03-07' in out

    code, _, err = run("time", "yesterday", "--timezone", "Mars/Olympus")
    assert (code, "Mars/Olympus" in err) == (2, True)


@table(("message", "code"), [("Book it again.", 0), ("What is 2 + 2?", 1)])
def test_gate_answers_the_shell(message: str, code: int, run: Run) -> None:
    assert run("gate", message)[0] == code
    returned, out, _ = run("gate", "--json", *message.split())
    told = json.loads(out)
    assert (returned, told["message"], told["search"]) == (code, message, code == 0)
