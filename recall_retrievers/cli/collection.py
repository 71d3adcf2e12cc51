"""Which collection a command works on, and whose memories in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from recall_retrievers.cli.existing import PLACE, open_existing, open_store, source_of
from recall_retrievers.cli.jsonl import OpenCollection, load_into, open_beside, open_in_memory
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import Fields
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.timeline.parse_time import resolve_timezone

_FILE = (
    "JSON objects, one a line: content; and created_at, memory_type, user_id, ... The collection "
    "is kept beside it, in FILE.recall, so that the next question starts at once; - reads standard "
    "input, and keeps nothing"
)
STDIN = Path("-")


def add_load(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall load`."""
    file = parser.add_mutually_exclusive_group(required=True)
    file.add_argument("file", metavar="FILE", nargs="?", type=Path, help=_FILE)
    file.add_argument("--memories", metavar="FILE", type=Path, help="the same")
    parser.add_argument("--into", metavar="PATH|URL", help=f"{PLACE}; a new folder is made")
    parser.add_argument("--collection", help="its name, with --into (memories)")
    parser.set_defaults(field=[])
    _add_reading(parser)
    add_scope(parser, "with --into, the {} of memories that name none")


def add_collection(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a collection: that of a file, or one of Chroma."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--memories", metavar="FILE", type=Path, help=_FILE)
    where.add_argument("--chroma", metavar="PATH|URL", help=f"{PLACE}; only read")
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
        help="whether the times that a text names are read when the file is loaded (yes)",
    )


def add_scope(parser: argparse.ArgumentParser, about: str = "only the memories of this {}") -> None:
    """Add the options of a scope."""
    for name in Scope.model_fields:
        parser.add_argument(f"--{name.replace('_', '-')}", help=about.format(name))


def scope_of(options: argparse.Namespace) -> Scope:
    """The scope that the options name."""
    named = {name: getattr(options, name) for name in Scope.model_fields}
    return Scope.model_validate({k: value for k, value in named.items() if value is not None})


@contextmanager
def opened(options: argparse.Namespace, *, searched: bool = True) -> Iterator[OpenCollection]:
    """The collection that was named, loaded first where its file is new or has changed.

    Where no questions are asked (``searched``), any model may have made its vectors.
    """
    # A second of what the user waits for is chromadb's import; the model loads beside it.
    ThreadPoolExecutor(1).submit(MiniLM().embed_query, "tea")
    if getattr(options, "into", None) is not None:  # of `recall load`
        target, times = source_of(options.into, new=True), options.event_times
        name = options.collection or "memories"
        with open_store(target, name, create=True, event_times=times) as store:
            owner = scope_of(options)
            yield load_into(options.memories, store, options.into, owner, options.timezone)
        return
    collection = (_of_chroma if options.memories is None else _of_file)(options, searched)
    with collection.store:
        yield collection


def _of_chroma(options: argparse.Namespace, searched: bool) -> OpenCollection:
    name, fields = options.collection or "memories", _fields(options.field)
    resolve_timezone(options.timezone)
    return OpenCollection(open_existing(options.chroma, name, fields, searched=searched), name)


def _of_file(options: argparse.Namespace, searched: bool) -> OpenCollection:
    file, zone, times = options.memories, options.timezone, options.event_times
    if options.collection is not None or options.field:
        raise ValueError(
            "--collection and --field describe a collection of yours; use them with "
            "--chroma, not with --memories"
        )
    if file == STDIN:
        return open_in_memory(sys.stdin.buffer.read(), "standard input", zone, event_times=times)
    return open_beside(file, zone, event_times=times, searched=searched)


def _fields(named: Sequence[str]) -> Fields:
    for each in named:
        if not all(each.partition("=")):
            raise ValueError(f"--field must be OURS=THEIRS, such as created_at=date; got {each!r}")
    try:
        return Fields.model_validate(dict(each.split("=", 1) for each in named))
    except SettingsError as error:
        raise ValueError(f"--field: {error}") from error
