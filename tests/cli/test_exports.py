"""`recall load FILE --into`: exports of conversations, and files, where `recall mcp` serves."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.kit import LINES, Run, written
from tables import table

from recall_retrievers.store import RecallStore


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
        "updated_at": "2024-03-05T10:05:00.000000Z",
        "account": {"uuid": "me"},
        "chat_messages": [
            {
                "uuid": "one",
                "sender": "human",
                "text": "We booked a house.",
                "content": [{"type": "text", "text": "We booked a house."}],
                "created_at": "2024-03-05T10:01:00.000000Z",
                "attachments": [],
            },
            {
                "uuid": "two",
                "sender": "assistant",
                "text": "",
                "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Where?"}],
                "created_at": "2024-03-05T10:02:00.000000Z",
            },
        ],
    }
]
FOUND = {
    "chatgpt": (
        CHATGPT,
        [
            ("user-b", "user", "Who fixed it?", "2024-03-05T10:00:10.250000+00:00"),
            ("assistant-thoughts", "assistant", "Mr Fenn did.", "2024-03-05T10:00:00.500000+00:00"),
        ],
        "boiler",
    ),
    "claude": (
        CLAUDE,
        [
            ("one", "user", "We booked a house.", "2024-03-05T10:01:00+00:00"),
            ("two", "assistant", "Where?", "2024-03-05T10:02:00+00:00"),
        ],
        "trip",
    ),
}


@pytest.mark.parametrize("of", FOUND)
def test_an_export_is_told_by_its_shape_and_loaded_once(tmp_path: Path, run: Run, of: str) -> None:
    exported, turns, session = FOUND[of]
    file, into = tmp_path / "conversations.json", tmp_path / "memories"
    file.write_text(json.dumps(exported), encoding="utf-8")
    command = ["load", file, "--into", into, "--user-id", "ann", "--timezone", "UTC"]

    said = f"2 memories loaded in {into}\n"
    assert [run(*command)[:2] for _ in range(2)] == [(0, said)] * 2
    with RecallStore(into) as store:
        found = {each.id: each for each in store.memories()}
    for turn_id, author, content, moment in turns:
        turn = found[turn_id]
        assert (turn.author, turn.content, turn.memory_type) == (author, content, "conversation")
        assert turn.created_at is not None
        assert turn.created_at.isoformat() == moment
        assert turn.scope.fields() == {"user_id": "ann", "session_id": session}
    assert found[turns[1][0]].turn_before == turns[0][0]  # its words find the answer


def test_lines_keep_their_owner_and_what_is_there_stays(tmp_path: Path, run: Run) -> None:
    file, into = written(tmp_path / "notes.jsonl", LINES[:2]), tmp_path / "memories"
    with RecallStore(into) as store:
        store.add([{"id": "mine", "content": "Tea at four."}])

    assert run("load", file, "--into", into, "--user-id", "ann", "--timezone", "UTC")[0] == 0
    with RecallStore(into) as store:
        owners = {each.id: each.scope.user_id for each in store.memories()}
    assert owners == {"mine": None, "filled": "ann", "moved": "ann"}

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


def test_a_scope_is_for_another_collection(tmp_path: Path, run: Run) -> None:
    file = written(tmp_path / "notes.jsonl", LINES)

    assert "a scope is for --into" in run("load", file, "--user-id", "ann")[2]
