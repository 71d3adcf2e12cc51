"""Which collection a command works on, and whose memories in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recall_stages.errors import StoreError
from recall_stages.jsonl import Loaded, open_beside
from recall_stages.memory import Scope
from recall_stages.store import Fields, RecallStore
from recall_stages.store.minilm import MiniLM

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


_FILE = (
    "JSON objects, one a line: content; and created_at, memory_type, user_id, ... The collection "
    "is kept beside it, in FILE.recall, so that the next question starts at once"
)


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
    parser.add_argument(
        "--collection", default="memories", help="its name, with --chroma (memories)"
    )
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
    return Scope(**{name: value for name in Scope.model_fields if (value := getattr(given, name))})


@contextmanager
def opened(given: argparse.Namespace) -> Iterator[Opened]:
    """The collection that was named, loaded first where its file is new or has changed.

    Raises:
        StoreError: When there is no such collection.
    """
    if given.memories is not None:
        with opened_file(given) as (store, loaded):
            yield Opened(store, kept_in(given), "loaded" if loaded.fresh else "kept")
        return
    _warm()
    fields = Fields.model_validate(dict(each.partition("=")[::2] for each in given.field))
    with _existing(given.chroma, given.collection, fields) as store:
        yield Opened(store, given.collection, "kept")


@contextmanager
def opened_file(given: argparse.Namespace) -> Iterator[tuple[RecallStore, Loaded]]:
    """The collection of a file, and what became of its lines; bad ones are named."""
    _warm()
    store, loaded = open_beside(given.memories, given.timezone, event_times=given.event_times)
    with store:
        for number, why in loaded.bad_lines.items():
            print(f"{given.memories.name} line {number} is left out: {why}", file=sys.stderr)
        yield store, loaded


def kept_in(given: argparse.Namespace) -> str:
    """The folder beside the file."""
    return f"{given.memories.name}.recall"


def _warm() -> None:
    # A second of what the user waits for is chromadb's import; the model loads beside it.
    ThreadPoolExecutor(1).submit(MiniLM().warm)


def _existing(where: str, name: str, fields: Fields) -> RecallStore:
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
