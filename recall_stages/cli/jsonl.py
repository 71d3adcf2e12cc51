"""Memories in a JSONL file, and the collection kept beside it for the next question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recall_stages.core.memory import Memory
from recall_stages.core.memory_lines import read_memories
from recall_stages.store import RecallStore
from recall_stages.timeline.parse_time import resolve_timezone

_STATE = "source.json"


@dataclass(slots=True)
class Loaded:
    """What was loaded of a file.

    Attributes:
        count: How many memories the collection holds.
        bad_lines: The lines that could not be read: their numbers and what is wrong with them.
        fresh: Whether the file was loaded now; else it was loaded earlier.
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
            ``expires_at``, ``memory_type``, ``author``, ``id``, ``when_to_use``, ``quality``,
            ``user_id``, ``agent_id``, ``session_id``, ``workspace`` (or a ``scope`` of these four),
            ``metadata``; other names go to metadata.
        timezone: The zone in which times without one are read; None = the machine's.
        event_times: Whether to read the times that a text names; see `RecallStore`.

    Returns:
        The open store, and what was loaded.

    Raises:
        FileNotFoundError: When there is no such file.
        MemoryFormatError: When no line of it can be read. What was loaded earlier stays.
        KeyboardInterrupt: When the user stops the load; it says how much is stored.
    """
    _check_file(path)  # before a folder is made for it
    resolve_timezone(timezone)  # or each line would be wrong
    folder = path.with_name(path.name + ".recall")
    state_file = folder / _STATE
    content = path.read_bytes()
    settings = f"{timezone} {event_times}".encode()
    digest = hashlib.sha256(content + settings).hexdigest()
    state = json.loads(state_file.read_text(encoding="utf-8")) if state_file.exists() else {}
    if state.get("sha256") == digest:
        bad = {int(number): why for number, why in state["bad_lines"].items()}
        store = RecallStore(folder, event_times=event_times)
        return store, Loaded(store.count(), bad, fresh=False)
    memories, bad_lines = read_memories(content, path.name, timezone)
    store = RecallStore(folder, event_times=event_times)
    try:
        folder.mkdir(exist_ok=True)  # the store makes it for the first memory
        # A load that is interrupted is done again. It needs the ids of all rows that may be there.
        known = {*state.get("ids", []), *memories}
        _note(state_file, {"ids": sorted(known), "bad_lines": {}})
        store.delete(sorted(known - memories.keys()))
        _add(store, memories)
        count = store.count()
    except BaseException:
        store.close()
        raise
    _note(state_file, {"sha256": digest, "ids": list(memories), "bad_lines": bad_lines})
    return store, Loaded(count, bad_lines)


def open_in_memory(
    content: bytes, name: str, timezone: str | None = None, *, event_times: bool = True
) -> tuple[RecallStore, Loaded]:
    """Load lines as those of `open_beside` into a collection in memory.

    Args:
        content: The lines.
        name: The name of their source, for errors.
        timezone: See `open_beside`.
        event_times: See `open_beside`.

    Raises:
        MemoryFormatError: When there is no line that can be read.
    """
    resolve_timezone(timezone)
    memories, bad_lines = read_memories(content, name, timezone)
    store = RecallStore(event_times=event_times)
    _add(store, memories)
    return store, Loaded(len(memories), bad_lines)


def _check_file(path: Path) -> None:
    if path.is_dir():
        hint = f"; ask a folder of Chroma with --chroma {path}"
        is_chroma = (path / "chroma.sqlite3").is_file()
        raise IsADirectoryError(
            f"{path} is a folder; expected a file of JSON objects, one a line"
            f"{hint if is_chroma else ''}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there; expected a file of JSON objects, one a line")


def _add(store: RecallStore, memories: Mapping[str, Memory]) -> None:
    try:
        store.add(memories.values(), progress=True)
    except KeyboardInterrupt:
        stored, wanted = min(store.count(), len(memories)), len(memories)
        raise KeyboardInterrupt(
            f"{stored:,} of {wanted:,} memories are stored; the same command goes on from there"
        ) from None


def _note(state_file: Path, state: Mapping[str, object]) -> None:
    # Written to another file and renamed, so that there is never half of it.
    written = state_file.with_suffix(".new")
    written.write_text(json.dumps(state), encoding="utf-8")
    written.replace(state_file)
