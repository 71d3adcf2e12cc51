"""Which collection a command works on, and whose memories in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recall_stages.cli.jsonl import Loaded, open_beside, open_in_memory
from recall_stages.cli.output import complain
from recall_stages.core.errors import SettingsError, StoreError
from recall_stages.core.memory import Scope
from recall_stages.core.memory_lines import examples
from recall_stages.store import Fields, RecallStore
from recall_stages.store.chroma.client import check_chroma_is_installed
from recall_stages.store.embedding.minilm import MiniLM
from recall_stages.timeline.parse_time import resolve_timezone

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


_FILE = (
    "JSON objects, one a line: content; and created_at, memory_type, user_id, ... The collection "
    "is kept beside it, in FILE.recall, so that the next question starts at once; - reads standard "
    "input, and keeps nothing"
)
_STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open collection, its name for a person, and how it came to be there."""

    store: RecallStore
    name: str
    how: str


def add_file(parser: argparse.ArgumentParser) -> None:
    """The options of a file of memories."""
    parser.add_argument("--memories", metavar="FILE", type=Path, required=True, help=_FILE)
    _add_reading(parser)


def add_collection(parser: argparse.ArgumentParser) -> None:
    """The options that say which collection: that of a file, or one of Chroma's."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--memories", metavar="FILE", type=Path, help=_FILE)
    where.add_argument(
        "--chroma",
        metavar="PATH|URL",
        help="a folder of Chroma, or a server such as http://localhost:8000; only read",
    )
    parser.add_argument("--collection", help="its name, with --chroma (memories)")
    parser.add_argument(
        "--field",
        metavar="OURS=THEIRS",
        action="append",
        default=[],
        help="with --chroma, where others keep something, such as created_at=date; repeatable",
    )
    _add_reading(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--timezone", help="such as Europe/Berlin (the machine's)")
    parser.add_argument(
        "--event-times",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the times that a text tells of are read when the file is loaded (yes)",
    )


def add_scope(parser: argparse.ArgumentParser) -> None:
    """The options that say whose memories."""
    for name in Scope.model_fields:
        parser.add_argument(f"--{name.replace('_', '-')}", help=f"only the memories of this {name}")


def scope_of(given: argparse.Namespace) -> Scope:
    """Whose memories were asked for."""
    named = {name: getattr(given, name) for name in Scope.model_fields}
    return Scope.model_validate({k: value for k, value in named.items() if value is not None})


@contextmanager
def opened(given: argparse.Namespace) -> Iterator[Opened]:
    """The collection that was named, loaded first where its file is new or has changed.

    Raises:
        StoreError: When there is no such collection.
    """
    if given.memories is not None:
        _check_alone(given)
        with opened_file(given) as (store, loaded):
            yield Opened(store, kept_in(given), "loaded" if loaded.fresh else "kept")
        return
    name, fields = given.collection or "memories", _fields(given.field)
    resolve_timezone(given.timezone)
    _warm()
    with _existing(given.chroma, name, fields) as store:
        yield Opened(store, name, "kept")


@contextmanager
def opened_file(given: argparse.Namespace) -> Iterator[tuple[RecallStore, Loaded]]:
    """The collection of a file, and what became of its lines; bad ones are named."""
    _warm()
    if given.memories == _STDIN:
        lines = sys.stdin.buffer.read()
        times = given.event_times
        store, loaded = open_in_memory(lines, _name(given), given.timezone, event_times=times)
    else:
        store, loaded = open_beside(given.memories, given.timezone, event_times=given.event_times)
    with store:
        if loaded.bad_lines:
            count = len(loaded.bad_lines)
            lines = "1 line" if count == 1 else f"{count:,} lines"
            complain(f"{_name(given)}: without {lines} that cannot be read")
            for each in examples(loaded.bad_lines):
                complain(each)
        yield store, loaded


def kept_in(given: argparse.Namespace) -> str:
    """Where the memories of the file are: the folder beside it."""
    return _name(given) if given.memories == _STDIN else f"{given.memories.name}.recall"


def check_kept(given: argparse.Namespace) -> None:
    """Refuse standard input, beside which nothing can be kept.

    Raises:
        ValueError: When memories are to be read from there.
    """
    if given.memories == _STDIN:
        raise ValueError(
            "load keeps a collection beside a file, and there is none of standard input; name a "
            "file, or ask with --memories -"
        )


def _name(given: argparse.Namespace) -> str:
    return "standard input" if given.memories == _STDIN else str(given.memories.name)


def _check_alone(given: argparse.Namespace) -> None:
    if given.collection is not None or given.field:
        raise ValueError(
            "--collection and --field say what a collection of yours is like; use them with "
            "--chroma, not with --memories"
        )


def _fields(named: Sequence[str]) -> Fields:
    for each in named:
        if not all(each.partition("=")):
            raise ValueError(f"--field must be OURS=THEIRS, such as created_at=date; got {each!r}")
    try:
        return Fields.model_validate(dict(each.split("=", 1) for each in named))
    except SettingsError as error:
        raise ValueError(f"--field: {error}") from error


def _warm() -> None:
    # A second of what the user waits for is chromadb's import; the model loads beside it.
    ThreadPoolExecutor(1).submit(MiniLM().warm)


def _existing(where: str, name: str, fields: Fields) -> RecallStore:
    check_chroma_is_installed()
    import chromadb  # noqa: PLC0415 - a second to import, so only once it is needed

    url = urlsplit(where)
    if url.scheme in {"http", "https"}:
        secure = url.scheme == "https"
        port = url.port or (443 if secure else 8000)
        client = chromadb.HttpClient(host=url.hostname or "", port=port, ssl=secure)
        _check_there(client, where, name)
        return RecallStore(client, name, fields=fields)
    # Chroma would make what is not there; a question shall leave no empty database behind.
    if not (Path(where) / "chroma.sqlite3").is_file():
        raise StoreError(f"{where} is no folder of Chroma: there is no chroma.sqlite3 in it")
    client = chromadb.PersistentClient(where)
    try:
        _check_there(client, where, name)
    finally:
        client.close()  # type: ignore[attr-defined]  # its interface lags behind
    return RecallStore(where, name, fields=fields)


def _check_there(client: ClientAPI, where: str, name: str) -> None:
    names = sorted(each.name for each in client.list_collections())
    if name not in names:
        there = ", ".join(names) or "none"
        raise StoreError(
            f"there is no collection {name!r} in {where}; name one with --collection: {there}"
        )
