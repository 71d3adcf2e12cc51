"""Memories in a JSONL file, and the collection kept beside it for the next question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recall_retrievers.cli.existing import embedding_of
from recall_retrievers.cli.streams import complain
from recall_retrievers.core.memory_lines import Lines, left_out
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chat_exports import read_file
from recall_retrievers.store.copying import add_with_vectors
from recall_retrievers.store.embedding.embedder import DEFAULT
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.store import Store
from recall_retrievers.timeline.parse_time import resolve_timezone

_STATE = "source.json"
_MODEL = MiniLM.model_name


@dataclass(frozen=True, slots=True)
class OpenCollection:
    """An open collection, and what was loaded of a file."""

    store: RecallStore
    name: str
    bad_lines: Mapping[int, str] = field(default_factory=dict)  # their numbers, and what is wrong
    fresh: bool = False  # whether the file was loaded now; else the collection was there
    loaded: int | None = None  # how many memories of it, if there may be others


def open_beside(
    path: Path, timezone: str | None = None, *, event_times: bool = True, searched: bool = True
) -> OpenCollection:
    """The collection of a file, loaded where the file is new or has changed.

    Lines that cannot be read are named on standard error. If none can be read, it is an error, and
    what was loaded earlier stays. Where no questions are asked (``searched``), any model may have
    made the vectors.
    """
    _check_file(path)  # before a folder is made for it
    resolve_timezone(timezone)  # or each line would be wrong
    folder = path.with_name(path.name + ".recall")
    state_file = folder / _STATE
    content = path.read_bytes()
    settings = f"{timezone} {event_times}".encode()
    digest = hashlib.sha256(content + settings).hexdigest()
    state = json.loads(state_file.read_text(encoding="utf-8")) if state_file.exists() else {}

    def opened(model: str) -> RecallStore:
        embedding = embedding_of(model, path.name, searched=searched)
        return RecallStore(folder, embedding=embedding, event_times=event_times)

    if state.get("sha256") == digest:
        bad_lines = {int(number): why for number, why in state["bad_lines"].items()}
        store = opened(state.get("model", _MODEL))
        _complain_of(bad_lines, path.name)
        return OpenCollection(store, folder.name, bad_lines)
    read = read_file(content, path.name, timezone)
    memories, model = read.memories, _model_of(read)
    store = opened(model)
    try:
        folder.mkdir(exist_ok=True)  # the store makes it for the first memory
        # A load that is interrupted is done again. It needs the ids of all rows that may be there.
        known = {*state.get("ids", []), *memories}
        _note(state_file, {"ids": sorted(known), "bad_lines": {}})
        store.delete(sorted(known - memories.keys()))
        _add(store, read, model)
    except BaseException:
        store.close()
        raise
    state = {"sha256": digest, "ids": list(memories), "bad_lines": read.bad}
    state["model"] = store.embedding_model
    _note(state_file, state)
    _complain_of(read.bad, path.name)
    return OpenCollection(store, folder.name, read.bad, fresh=True)


def open_in_memory(
    content: bytes, name: str, timezone: str | None = None, *, event_times: bool = True
) -> OpenCollection:
    """Load lines as those of `open_beside` into a collection in memory."""
    resolve_timezone(timezone)
    read = read_file(content, name, timezone)
    store = RecallStore(event_times=event_times, embedding=DEFAULT if read.vectors else None)
    _add(store, read, _MODEL)
    _complain_of(read.bad, name)
    return OpenCollection(store, name, read.bad, fresh=True)


def load_into(
    path: Path, target: RecallStore, where: str, scope: Scope, timezone: str | None
) -> OpenCollection:
    """Add the memories of a file to a collection. One that names no owner gets the ``scope``."""
    _check_file(path)
    resolve_timezone(timezone)
    read = read_file(path.read_bytes(), path.name, timezone)
    own = target.for_scope(**scope.fields()) if scope.fields() else target
    _add(own, read, target.embedding_model)
    _complain_of(read.bad, path.name)
    return OpenCollection(target, where, read.bad, fresh=True, loaded=len(read.memories))


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


def _model_of(read: Lines) -> str:
    """The model of the vectors in a file, if all its lines have one; "" = no line has any."""
    if not read.vectors:
        return ""
    models = {read.vectors[each][0] if each in read.vectors else _MODEL for each in read.memories}
    return models.pop() if len(models) == 1 else _MODEL


def _add(store: Store, read: Lines, model: str) -> None:
    memories = read.memories
    known = {memory_id: vector for memory_id, (by, vector) in read.vectors.items() if by == model}
    if unknown := len(read.vectors) - len(known):
        complain(f"{unknown:,} vectors are of another model than {model}; their texts are embedded")
    try:
        add_with_vectors(store, memories, known, progress=True)
    except KeyboardInterrupt:
        stored, wanted = len(store.get([*memories])), len(memories)
        raise KeyboardInterrupt(
            f"{stored:,} of {wanted:,} memories are stored; the same command goes on from there"
        ) from None


def _complain_of(bad_lines: Mapping[int, str], name: str) -> None:
    for each in left_out(name, bad_lines) if bad_lines else ():
        complain(each)


def _note(state_file: Path, state: Mapping[str, object]) -> None:
    # Written to another file and renamed, so that there is never half of it.
    written = state_file.with_suffix(".new")
    written.write_text(json.dumps(state), encoding="utf-8")
    written.replace(state_file)
