"""`recall load FILE --into` of exports of conversations, and `recall export` and `recall load`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import pytest
from cli.kit import LINES, Run, written
from conftest import WordsEmbedding
from tables import table

from recall_retrievers import Memory, StoreError, read_memories
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.timeline import TimeRange


def node(parent: str | None, role: str = "", *parts: object, **more: Any) -> dict[str, Any]:
    """A node of ChatGPT's export; without a role it holds no message."""
    name = f"{role}-{parent}"
    message = {
        "id": name,
        "author": {"role": role, "name": None},
        "content": {"content_type": "text", "parts": [*parts]},
        "create_time": 1709632810.25,
        "recipient": "all",
        **more,
    }
    return {"id": name, "message": message if role else None, "parent": parent, "children": []}


CHATGPT = [
    {
        "title": "Boiler",
        "create_time": 1709632800.5,
        "update_time": 1709640000.0,
        "conversation_id": "boiler",
        "current_node": "e",
        "mapping": {
            "root": node(None),
            "a": node("root", "system", "Be brief.", create_time=None),
            "b": node("a", "user", "My preferences.", metadata={
                "is_visually_hidden_from_conversation": True
            }),
            "c": node("b", "user", {"content_type": "image_asset_pointer"}, "Who fixed it?"),
            "d": node("c", "assistant", "An answer that was made anew."),
            "thoughts": node("c", "tool", content={"content_type": "thoughts", "thoughts": []}),
            "e": node("thoughts", "assistant", "Mr Fenn did.", create_time=None),
        },
    },
    {"title": "Nothing", "create_time": 1709632800.5, "id": "nothing", "mapping": {}},
]  # fmt: skip
CLAUDE = [
    {
        "uuid": "trip",
        "name": "A trip",
        "created_at": "2024-03-05T10:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "one",
                "sender": "human",
                "text": "We booked a house.",
                "content": [{"type": "text", "text": "We booked a house."}],
                "created_at": "2024-03-05T10:01:00.000000Z",
            },
            {
                "uuid": "two",
                "sender": "assistant",
                "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Where?"}],
                "created_at": "2024-03-05T10:02:00.000000Z",
            },
        ],
    }
]
FOUND = {
    "boiler": (CHATGPT, """\
user-b user 10:00:10.250000 Who fixed it?
assistant-thoughts assistant 10:00:00.500000 Mr Fenn did."""),
    "trip": (CLAUDE, """\
one user 10:01:00 We booked a house.
two assistant 10:02:00 Where?"""),
}  # fmt: skip


@pytest.mark.parametrize("session", FOUND)
def test_an_export_is_told_by_its_shape_and_loaded_once(
    tmp_path: Path, run: Run, session: str
) -> None:
    exported, turns = FOUND[session]
    file, into = tmp_path / "conversations.json", tmp_path / "memories"
    file.write_text(json.dumps(exported), encoding="utf-8")
    command = ["load", file, "--into", into, "--user-id", "ann", "--timezone", "UTC"]

    said = f"2 memories loaded in {into}\n"
    assert [run(*command)[:2] for _ in range(2)] == [(0, said)] * 2
    with RecallStore(into) as store:
        found = [*store.memories(scope={"user_id": "ann", "session_id": session})]
    shown = {f"{x.id} {x.author} {x.created_at:%T.%f} {x.content}": x for x in found}
    first, second = (line.split(" ", 1)[0] for line in turns.splitlines())
    assert {line.replace(".000000", "") for line in shown} == {*turns.splitlines()}
    assert {x.id: x.turn_before for x in found} == {first: "", second: first}


def test_lines_keep_their_owner_and_what_is_there_stays(tmp_path: Path, run: Run) -> None:
    file, into = written(tmp_path / "notes.jsonl", LINES[:2]), tmp_path / "memories"
    with RecallStore(into) as store:
        store.add([{"id": "mine", "content": "Tea at four."}])

    assert run("load", file, "--into", into, "--user-id", "ann", "--timezone", "UTC")[0] == 0
    with RecallStore(into) as store:
        owners = {each.id: each.scope.user_id for each in store.memories()}
    assert owners == {"mine": None, "filled": "ann", "moved": "ann"}

    assert "a scope is for --into" in run("load", file, "--user-id", "ann")[2]
    bobs = written(tmp_path / "bobs.jsonl", LINES[2:])
    code, _, err = run("load", bobs, "--into", into, "--user-id", "ann")
    assert (code, "'ann'" in err) == (2, True)


@table(
    ("exported", "said"),
    [
        ([{"mapping": ["a"]}], "conversation 1 is not as ChatGPT or Claude export it"),
        ([{"chat_messages": [{"text": "?"}]}], "nothing is changed: there is no 'uuid'"),
        ([{"mapping": {}}], "has 1 conversations, and no message in them"),
        ([{"content": "Tea."}], "is a JSON array; nothing is changed"),
    ],
)
def test_another_form_is_an_error(
    tmp_path: Path, run: Run, exported: list[object], said: str
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(exported), encoding="utf-8")

    code, _, err = run("load", file, "--into", tmp_path / "memories")
    assert (code, said in err) == (2, True)
    assert not (tmp_path / "memories").exists()


DAY = TimeRange(None, None, "day")
MEMORIES = [
    Memory(
        id="later",
        content="  Tea,\r\n\u2028\x1b[31m with milk.\n",
        created_at="2024-03-06T10:00:00.123456+05:30",
        metadata={"content": "x", "tags": ["a", "b"], "stars": 3.0, "n": 2**62, "a b.c": False},
        quality=0.1,
    ),
    Memory(
        id="早",
        content="上周我去看了牙医。👨‍👩‍👧",
        created_at="2024-03-05T10:00:00Z",
        memory_type="task",
        when_to_use="牙疼的时候",
        author="小明",
        said_before="Which dentist?",
        turn_before="later",
        scope={"user_id": "安", "workspace": "w"},
        metadata={"document_id": "d", "user id": "x", "id": "y", "embedding": "z"},
    ),
    Memory(content="Two weeks ago, we moved.", id="none", created_at=0, events=[]),
    Memory(content="On.", id="open", created_at=1, events=[DAY], expires_at="2524-03-05T10:00Z"),
]


def rows_of(folder: Path, model: Any = None) -> dict[str, Any]:
    with RecallStore(folder, embedding=model):  # the model is the one that it remembers
        pass
    with chromadb.PersistentClient(str(folder)) as client:
        rows: Any = client.get_collection("memories", embedding_function=None).get(
            include=["documents", "metadatas", "embeddings"]
        )
    for metadata in rows["metadatas"]:
        del metadata["written_at"]
    columns = (rows["documents"], rows["metadatas"], rows["embeddings"].tolist())
    return dict(zip(rows["ids"], zip(*columns, strict=True), strict=True))


@pytest.mark.parametrize("vectors", [False, True], ids=["embedded again", "with vectors"])
def test_what_is_exported_and_loaded_is_equal_row_by_row(
    tmp_path: Path, run: Run, vectors: bool
) -> None:
    # With vectors, any model may have made them: the command line has only one of its own.
    model = WordsEmbedding() if vectors else MiniLM()
    with RecallStore(tmp_path / "first", embedding=model) as store:
        store.add(MEMORIES)
    file = tmp_path / "all.jsonl"
    options = ["--chroma", tmp_path / "first", *(["--vectors"] if vectors else [])]

    code, out, err = run("export", *options, "-o", file)
    assert (code, out, err) == (0, f"4 memories of memories written to {file}\n", "")
    assert run("export", *options)[1].encode() == file.read_bytes()
    code, out, err = run("load", "--memories", file)
    assert (code, out, err) == (0, "4 memories loaded in all.jsonl.recall\n", "")

    assert [json.loads(line)["id"] for line in file.open(encoding="utf-8")] == [
        "none",
        "open",
        "早",
        "later",
    ]
    expected = rows_of(tmp_path / "first", model)
    assert rows_of(tmp_path / "all.jsonl.recall", model) == expected
    with RecallStore(embedding=model) as copy:
        copy.add(read_memories(file))
        assert {each.id for each in copy.memories()} == expected.keys()
    if vectors:
        stats = run("stats", "--memories", file)[1]
        assert model.model_name in stats
        code, _, err = run("ask", "--memories", file, "tea")
        assert code == 2
        assert f"vectors of '{model.model_name}', and questions need that model" in err


def test_an_export_is_of_one_owner_and_leaves_no_half_of_a_file(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecallStore(tmp_path / "first", embedding=WordsEmbedding()) as store:
        store.add(MEMORIES)
    options = ["--chroma", tmp_path / "first", "--user-id", "安"]
    line = json.loads(run("export", *options)[1])
    assert (line["user_id"], line["content"]) == ("安", MEMORIES[1].content)

    file = tmp_path / "all.jsonl"
    file.write_text("before", encoding="utf-8")
    assert run("export", *options, "--collection", "mistyped", "-o", file)[0] == 2
    assert file.read_text(encoding="utf-8") == "before"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["all.jsonl"]

    def breaks_off(self: RecallStore, **_: object) -> Iterator[Memory]:
        yield MEMORIES[1]
        raise StoreError("the disk is full")

    monkeypatch.setattr(RecallStore, "memories", breaks_off)
    assert run("export", *options, "-o", file)[0] == 2
    assert file.read_text(encoding="utf-8") == "before"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["all.jsonl"]
