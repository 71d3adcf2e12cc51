"""`recall repair` and `recall migrate`: what they did, and what they refuse."""

import json
from pathlib import Path

import pytest
from cli.kit import run

from recall_retrievers.store import RecallStore


def test_check_says_what_is_damaged(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = memories.with_name(f"{memories.name}.recall")
    run(capsys, "load", "--memories", memories)

    assert run(capsys, "check", path)[:2] == (0, "memories: 3 memories, whole\n")
    [rows] = path.glob(".recall/*/rows.sqlite")
    rows.write_bytes(rows.read_bytes().replace(b"dentist", b"baker's"))
    code, out, _ = run(capsys, "check", path)
    assert code == 1
    assert "the row index has other bytes than were written" in out
    code, out, _ = run(capsys, "check", path, "--json")
    assert (code, json.loads(out)[0]["name"]) == (1, "memories")
    assert run(capsys, "check", path / "nowhere")[0] == 2


def test_repair_says_what_it_did(memories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "load", "--memories", memories)
    path = memories.with_name(memories.name + ".recall")

    assert run(capsys, "repair", path)[:2] == (0, "memories: 3 memories, nothing to repair\n")
    code, out, _ = run(capsys, "repair", path, "--json")
    assert (code, json.loads(out)[0]["fault"]) == (0, None)
    code, _, err = run(capsys, "repair", path / "nowhere")
    assert (code, "there is no folder" in err) == (2, True)


def test_migrate_copies_to_a_folder_and_to_a_server(
    memories: Path,
    tmp_path: Path,
    server_port: int,
    collection_name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, "load", "--memories", memories)
    path, url = memories.with_name(memories.name + ".recall"), f"http://127.0.0.1:{server_port}"
    to_folder = (0, f"3 memories copied to {tmp_path}, collection memories\n")
    assert run(capsys, "migrate", path, tmp_path)[:2] == to_folder
    code, out, _ = run(capsys, "migrate", tmp_path, url, "--as", collection_name, "--json")
    assert (code, json.loads(out)["copied"]) == (0, 3)
    code, out, _ = run(capsys, "stats", "--chroma", url, "--collection", collection_name, "--json")
    assert (code, json.loads(out)["memories"]) == (0, 3)

    for wrong, said in (
        (("migrate", path, path), "onto itself"),
        (
            ("migrate", path, tmp_path, "--collection", "note"),
            "there is 'memories'",
        ),
        (("migrate", path, "cloud"), "CHROMA_TENANT, CHROMA_DATABASE, CHROMA_API_KEY"),
    ):
        code, _, err = run(capsys, *wrong)
        assert (code, said in err) == (2, True)


def test_migrate_copies_within_a_folder(
    memories: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(capsys, "load", "--memories", memories)
    run(capsys, "migrate", memories.with_name(memories.name + ".recall"), tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "migrate", "here", tmp_path / "here", "--as", "second")[0] == 0
    with RecallStore("here", "second") as copied:
        assert copied.count() == 3


def test_migrate_copies_to_the_cloud(
    memories: Path, collection_name: str, with_a_key: None, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "load", "--memories", memories)
    path = memories.with_name(memories.name + ".recall")
    assert run(capsys, "migrate", path, "cloud", "--as", collection_name)[0] == 0
    words = ("--chroma", "cloud", "--collection", collection_name, "--method", "keyword", "street?")
    code, out, _ = run(capsys, "ask", *words, "--json")
    assert (code, json.loads(out)[0]["memories"][0]["id"]) == (0, "moved")
