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
