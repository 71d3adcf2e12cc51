"""The collection that a command works on: one of Chroma, or that of a file of memories.

The collection of a file is kept beside it for the next question.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from recall_retrievers.cli.existing import embedding_of, open_existing, open_store, source_of
from recall_retrievers.cli.options import STDIN, scope_of
from recall_retrievers.cli.streams import complain
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.memory_lines import Lines, left_out
from recall_retrievers.core.system import make_private
from recall_retrievers.store import Fields, RecallStore
from recall_retrievers.store.chat_exports import read_file
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


@contextmanager
def opened(options: argparse.Namespace, *, searched: bool = True) -> Iterator[OpenCollection]:
    """The collection that was named, loaded first where its file is new or has changed.

    Where no questions are asked (``searched``), any model may have made its vectors.
    """
    # A second of what the user waits for is chromadb's import; the model loads beside it.
    ThreadPoolExecutor(1).submit(MiniLM().embed_query, "tea")
    resolve_timezone(options.timezone)  # or each line of a file would be wrong
    if getattr(options, "into", None) is not None:  # of `recall load`
        file = options.memories
        read = read_file(_content(file), file.name, options.timezone)
        target, times = source_of(options.into, new=True), options.event_times
        name = options.collection or "memories"
        with open_store(target, name, create=True, event_times=times) as store:
            owner = scope_of(options).fields()  # of memories that name none
            own = store.for_scope(**owner) if owner else store
            _add(own, read, store.embedding_model, file.name)
            count = len(read.memories)
            yield OpenCollection(store, options.into, read.bad, fresh=True, loaded=count)
        return
    collection = (_of_chroma if options.memories is None else _of_file)(options, searched)
    with collection.store:
        yield collection


def _of_chroma(options: argparse.Namespace, searched: bool) -> OpenCollection:
    name, fields = options.collection or "memories", _fields(options.field)
    return OpenCollection(open_existing(options.chroma, name, fields, searched=searched), name)


def _of_file(options: argparse.Namespace, searched: bool) -> OpenCollection:
    file, zone, times = options.memories, options.timezone, options.event_times
    if options.collection is not None or options.field:
        raise ValueError(
            "--collection and --field describe a collection of yours; use them with "
            "--chroma, not with --memories"
        )
    if file != STDIN:
        return open_beside(file, zone, event_times=times, searched=searched)
    read = read_file(sys.stdin.buffer.read(), "standard input", zone)
    store = RecallStore(event_times=times, embedding=DEFAULT if read.vectors else None)
    _add(store, read, _MODEL, "standard input")
    return OpenCollection(store, "standard input", read.bad, fresh=True)


def _fields(named: Sequence[str]) -> Fields:
    for each in named:
        if not all(each.partition("=")):
            raise ValueError(f"--field must be OURS=THEIRS, such as created_at=date; got {each!r}")
    try:
        return Fields.model_validate(dict(each.split("=", 1) for each in named))
    except SettingsError as error:
        raise ValueError(f"--field: {error}") from error


def open_beside(
    path: Path, timezone: str | None = None, *, event_times: bool = True, searched: bool = True
) -> OpenCollection:
    """The collection of a file, loaded where the file is new or has changed.

    Lines that cannot be read are named on standard error. If none can be read, it is an error, and
    what was loaded earlier stays. Where no questions are asked (``searched``), any model may have
    made the vectors.
    """
    content = _content(path)  # before a folder is made for it
    folder = path.with_name(path.name + ".recall")
    state_file = folder / _STATE
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
        make_private(folder)  # the store makes it for the first memory
        # A load that is interrupted is done again. It needs the ids of all rows that may be there.
        known = {*state.get("ids", []), *memories}
        _note(state_file, {"ids": sorted(known), "bad_lines": {}})
        store.delete(sorted(known - memories.keys()))
        _add(store, read, model, path.name)
    except BaseException:
        store.close()
        raise
    state = {"sha256": digest, "ids": list(memories), "bad_lines": read.bad}
    state["model"] = store.embedding_model
    _note(state_file, state)
    return OpenCollection(store, folder.name, read.bad, fresh=True)


def _content(path: Path) -> bytes:
    if path.is_dir():
        hint = f"; ask a folder of Chroma with --chroma {path}"
        is_chroma = (path / "chroma.sqlite3").is_file()
        raise IsADirectoryError(
            f"{path} is a folder; expected a file of JSON objects, one a line"
            f"{hint if is_chroma else ''}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there; expected a file of JSON objects, one a line")
    return path.read_bytes()


def _model_of(read: Lines) -> str:
    """The model of the vectors in a file, if all its lines have one; "" = no line has any."""
    if not read.vectors:
        return ""
    models = {read.vectors[each][0] if each in read.vectors else _MODEL for each in read.memories}
    return models.pop() if len(models) == 1 else _MODEL


def _add(store: Store, read: Lines, model: str, name: str) -> None:
    memories = read.memories
    known = {memory_id: vector for memory_id, (by, vector) in read.vectors.items() if by == model}
    if unknown := len(read.vectors) - len(known):
        complain(f"{unknown:,} vectors are of another model than {model}; their texts are embedded")
    try:
        store.add_embedded(memories.values(), known, progress=True)
    except KeyboardInterrupt:
        stored, wanted = len(store.get([*memories])), len(memories)
        raise KeyboardInterrupt(
            f"{stored:,} of {wanted:,} memories are stored; the same command goes on from there"
        ) from None
    _complain_of(read.bad, name)


def _complain_of(bad_lines: Mapping[int, str], name: str) -> None:
    for each in left_out(name, bad_lines) if bad_lines else ():
        complain(each)


def _note(state_file: Path, state: Mapping[str, object]) -> None:
    # Written to another file and renamed, so that there is never half of it.
    written = state_file.with_suffix(".new")
    written.write_text(json.dumps(state), encoding="utf-8")
    written.replace(state_file)
