"""Files of memories: JSON lines, and the ``conversations.json`` that ChatGPT and Claude export.

An export is an array. ChatGPT's conversations have a ``mapping`` of nodes, each with its parent;
Claude's have a list of ``chat_messages``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recall_retrievers.core.errors import MemoryFormatError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.memory_lines import Lines, read_lines
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.conversation import conversation
from recall_retrievers.timeline import parse_time

_KEYS = {"mapping", "chat_messages"}
_TEXTS = ("text", "multimodal_text")  # kinds of content of ChatGPT; others are its work


def read_file(content: bytes, name: str, timezone: str | None) -> Lines:
    """The memories of a file: JSON objects, one a line, or an export of conversations.

    A message of an export is a turn of a conversation, with its own id and time. Its ``session_id``
    is the id of the conversation. Of a conversation with branches, the one shown last is read.
    """
    exported = _exported(content)
    if exported is None:
        return read_lines(content, name, timezone)
    read = Lines()
    for number, each in enumerate(exported, 1):
        try:
            read.memories.update((turn.id, turn) for turn in _turns(each, timezone))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise MemoryFormatError(
                f"{name}: conversation {number} is not as ChatGPT or Claude export it, so nothing "
                f"is changed: {why}"
            ) from error
    if not read.memories:
        raise MemoryFormatError(f"{name} has {len(exported)} conversations, and no message in them")
    return read


def _exported(content: bytes) -> Sequence[Any] | None:
    if not content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        return None
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        return None
    known = [isinstance(each, Mapping) and _KEYS & each.keys() for each in read]
    return read if known and all(known) else None


def _turns(exported: Mapping[str, Any], timezone: str | None) -> list[Memory]:
    said = _of_chatgpt(exported) if "mapping" in exported else _of_claude(exported)
    session = exported.get("conversation_id") or exported.get("id") or exported.get("uuid")
    begun = exported.get("create_time") or exported.get("created_at")
    return conversation(
        said,
        scope=Scope(session_id=str(session)) if session else Scope(),
        created_at=None if begun is None else parse_time(begun, timezone, name="created_at"),
        now=datetime.now(UTC),
        stored=lambda _: [],
    )


def _of_chatgpt(exported: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    nodes = exported["mapping"]
    place, way = exported.get("current_node") or next(reversed(nodes), None), {}
    while place in nodes and place not in way:  # up to the root
        way[place] = nodes[place].get("message")
        place = nodes[place].get("parent")
    for message in filter(None, reversed(way.values())):
        content = message.get("content") or {}
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        if content.get("content_type") in _TEXTS and not hidden:
            yield {
                "id": message["id"],
                "role": message["author"]["role"],
                "content": "\n".join(each for each in content["parts"] if isinstance(each, str)),
                "created_at": message.get("create_time"),
            }


def _of_claude(exported: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for message in exported["chat_messages"]:
        blocks = [each for each in message.get("content") or () if each.get("type") == "text"]
        yield {
            "id": message["uuid"],
            "role": message["sender"],
            "content": message.get("text") or blocks,
            "created_at": message.get("created_at"),
        }
