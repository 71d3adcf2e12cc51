"""Memories in a JSONL file, and the collection kept beside it for the next question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from recall_stages.errors import MemoryFormatError
from recall_stages.memory import Memory, Scope
from recall_stages.store import RecallStore
from recall_stages.timeline import parse_time

_SCOPE = tuple(Scope.model_fields)
_STATE = "source.json"


@dataclass(slots=True)
class Loaded:
    """What became of a file.

    Attributes:
        count: How many memories the collection holds.
        bad_lines: For each line that could not be read, its number and what is wrong with it.
        fresh: Whether the file was loaded now, rather than earlier.
    """

    count: int = 0
    bad_lines: dict[int, str] = field(default_factory=dict)
    fresh: bool = True


def open_beside(
    path: Path, timezone: str | None = None, *, event_times: bool = True
) -> tuple[RecallStore, Loaded]:
    """The collection of a JSONL file, loaded where the file is new or has changed.

    Args:
        path: The file: one JSON object a line, with ``content`` and any of ``created_at``,
            ``memory_type``, ``author``, ``id``, ``when_to_use``, ``quality``, ``user_id``,
            ``agent_id``, ``session_id``, ``workspace``, ``metadata``; other names go to metadata.
        timezone: The zone in which times without one are read; None = the machine's.
        event_times: Read from the texts the times that they tell of; see `RecallStore`.

    Returns:
        The open store, and what became of the lines.

    Raises:
        FileNotFoundError: When there is no such file.
    """
    if not path.is_file():  # said before a folder is made for it
        raise FileNotFoundError(f"{path} is not there; expected a file of JSON objects, one a line")
    store = RecallStore(path.with_name(path.name + ".recall"), event_times=event_times)
    try:
        return store, _bring_up_to_date(store, path, timezone, event_times)
    except BaseException:
        store.close()
        raise


def _bring_up_to_date(
    store: RecallStore, path: Path, timezone: str | None, event_times: bool
) -> Loaded:
    state_file = path.with_name(path.name + ".recall") / _STATE
    settings = f"{timezone} {event_times}".encode()
    digest = hashlib.sha256(path.read_bytes() + settings).hexdigest()
    state = json.loads(state_file.read_text()) if state_file.exists() else {}
    if state.get("sha256") == digest:
        bad = {int(number): why for number, why in state["bad_lines"].items()}
        return Loaded(store.count(), bad, fresh=False)
    loaded = Loaded()
    memories = {memory.id: memory for memory in _read(path, timezone, loaded)}
    # A load that is cut short shall be done again, and may leave rows behind that it has to know.
    known = {*state.get("ids", []), *memories}
    _note(state_file, {"ids": sorted(known), "bad_lines": {}})
    store.delete(sorted(known - memories.keys()))
    store.add(memories.values(), progress=True)
    loaded.count = store.count()
    _note(state_file, {"sha256": digest, "ids": list(memories), "bad_lines": loaded.bad_lines})
    return loaded


def _note(state_file: Path, state: Mapping[str, object]) -> None:
    # Written beside and put in its place, so that there is never half of it.
    written = state_file.with_suffix(".new")
    written.write_text(json.dumps(state))
    written.replace(state_file)


def _read(path: Path, timezone: str | None, loaded: Loaded) -> Iterator[Memory]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield _memory(line, timezone)
                except (MemoryFormatError, TypeError, ValueError) as error:
                    loaded.bad_lines[number] = _in_short(error)


def _memory(line: str, timezone: str | None) -> Memory:
    row = json.loads(line)
    if not isinstance(row, Mapping):
        raise MemoryFormatError('expected an object such as {"content": "..."}')
    if "content" not in row:
        raise MemoryFormatError(f"expected a content; got only {', '.join(row) or 'nothing'}")
    fields = {name: value for name, value in row.items() if name in Memory.model_fields}
    fields["scope"] = {name: row[name] for name in _SCOPE if row.get(name)}
    fields["metadata"] = {
        **(row.get("metadata") or {}),
        **{
            k: v
            for k, v in row.items()
            if k not in {*Memory.model_fields, *_SCOPE} and v is not None
        },
    }
    if row.get("created_at") is not None:
        fields["created_at"] = parse_time(row["created_at"], timezone, name="created_at")
    # Without an id of its own a line is known by what it says, so that loading twice stores once.
    fields["id"] = str(row.get("id") or hashlib.sha256(line.strip().encode()).hexdigest()[:24])
    return Memory.model_validate(fields)


def _in_short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return (
        f"{type(error).__name__}: {error}"
        if isinstance(error, json.JSONDecodeError)
        else str(error)
    )
