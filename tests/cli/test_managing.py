"""`recall stats`, `delete`, `check`, `repair` and `migrate`: what they do, and what they refuse."""

import io
import json
from pathlib import Path

import chromadb
import pytest
from cli.kit import Run, beside

from recall_retrievers.store import RecallStore


@pytest.fixture
def folder(loaded: Path) -> Path:
    return beside(loaded)


def left(folder: Path, run: Run) -> int:
    return int(json.loads(run("stats", "--chroma", folder, "--json")[1])["memories"])


def test_stats_counts_kinds_people_and_times(memories: Path, run: Run) -> None:
    code, out, _ = run("stats", "--memories", memories, "--timezone", "UTC", "--json")

    told = json.loads(out)
    assert (code, told["memories"], told["without_a_time"]) == (0, 3, 0)
    assert told["memory_type"] == {"observation": 2, "event": 1}
    assert told["user_id"] == {"ann": 1, "bob": 1}
    assert told["first_recorded"].startswith("2024-02-01T09:00:00")
    assert told["last_recorded"].startswith("2024-03-05T11:00:00")
    assert "all-minilm" in told["embedding_model"].lower()
    shown = run("stats", "--memories", memories, "--timezone", "UTC")[1]
    assert "observation 2, event 1" in shown


class Terminal(io.StringIO):
    """A standard input that somebody sits at."""

    def isatty(self) -> bool:
        return True


def test_delete_deletes_after_a_yes(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("delete", "--chroma", folder, "--user-id", "ann", "--since", "2024-03-01")
    for answer, code, there in (("\n", 1, 3), ("y\n", 0, 2)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        done, _, err = run(*words)
        assert (done, "delete 1 of 3 memories of memories? [y/N]" in err) == (code, True)
        assert left(folder, run) == there


def test_without_a_terminal_delete_needs_a_yes_and_always_a_condition(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused: list[tuple[tuple[str, ...], str]] = [
        (("--user-id", "ann", "--everything"), "--yes"),
        (("--yes",), "or --everything for all of the scope; got neither"),
        (("--yes", "--user-id", "ann"), "got neither"),
        (("--yes", "--everything", "--id", "moved"), "got both"),
        (("--yes", "--everything", "--since", ""), "time_range must be"),
        (("--yes", "--memory-type", ""), "memory_type must be a text"),
        *(
            (("--yes", "--everything", "--filter", empty), "expected JSON that is not empty, such")
            for empty in ("{}", "null", "[]")
        ),
    ]
    for words, said in refused:
        code, _, err = run("delete", "--chroma", folder, *words)
        assert (code, said in err, left(folder, run)) == (2, True, 3)

    code, out, _ = run("delete", "--chroma", folder, "--before", "2024-02-02", "--yes", "--json")
    assert (code, json.loads(out)["deleted"], left(folder, run)) == (0, 1, 2)
    code, out, _ = run("delete", "--chroma", folder, "--everything", "--yes")
    assert (code, out, left(folder, run)) == (0, "2 memories deleted\n", 0)


def test_check_says_what_is_damaged(folder: Path, run: Run) -> None:
    assert run("check", folder)[:2] == (0, "memories: 3 memories, whole\n")
    [rows] = folder.glob(".recall/*/rows.sqlite")
    rows.write_bytes(rows.read_bytes().replace(b"dentist", b"baker's"))
    code, out, _ = run("check", folder)
    assert (code, "the row index has other bytes than were written" in out) == (1, True)
    code, out, _ = run("check", folder, "--json")
    assert (code, json.loads(out)[0]["name"]) == (1, "memories")
    assert run("check", folder / "nowhere")[0] == 2


def test_repair_says_what_it_did(folder: Path, run: Run) -> None:
    assert run("repair", folder)[:2] == (0, "memories: 3 memories, nothing to repair\n")
    code, out, _ = run("repair", folder, "--json")
    assert (code, json.loads(out)[0]["fault"]) == (0, None)
    code, _, err = run("repair", folder / "nowhere")
    assert (code, "there is no folder" in err) == (2, True)


def test_migrate_copies_to_a_folder_and_to_a_server(
    folder: Path,
    server_port: int,
    collection_name: str,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder.parent)
    here, url = folder.parent / "here", f"http://127.0.0.1:{server_port}"
    to_folder = (0, f"3 memories copied to {here}, collection memories\n")
    assert run("migrate", folder, here)[:2] == to_folder
    code, out, _ = run("migrate", here, url, "--as", collection_name, "--json")
    assert (code, json.loads(out)["copied"]) == (0, 3)
    out = run("stats", "--chroma", url, "--collection", collection_name, "--json")[1]
    assert json.loads(out)["memories"] == 3
    assert run("migrate", "here", here, "--as", "second")[0] == 0
    with RecallStore("here", "second") as copied:
        assert copied.count() == 3

    for wrong, said in (
        ((folder, folder), "onto itself"),
        ((folder, here, "--collection", "note"), "there is 'memories'"),
        ((folder, "cloud"), "CHROMA_TENANT, CHROMA_DATABASE, CHROMA_API_KEY"),
    ):
        code, _, err = run("migrate", *wrong)
        assert (code, said in err) == (2, True)


def test_migrate_copies_to_the_cloud(
    folder: Path,
    collection_name: str,
    cloud: chromadb.ClientAPI,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TENANT", "DATABASE", "API_KEY"):
        monkeypatch.setenv(f"CHROMA_{name}", "none")
    monkeypatch.setattr(chromadb, "CloudClient", lambda **_: cloud)
    assert run("migrate", folder, "cloud", "--as", collection_name)[0] == 0
    words = ("--chroma", "cloud", "--collection", collection_name, "--method", "keyword", "street?")
    code, out, _ = run("ask", *words, "--json")
    assert (code, json.loads(out)[0]["memories"][0]["id"]) == (0, "moved")
