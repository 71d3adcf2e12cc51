"""The collection that a command works on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from recall_retrievers.cli.existing import open_existing, open_store, source_of
from recall_retrievers.cli.jsonl import OpenCollection, load_into, open_beside, open_in_memory
from recall_retrievers.cli.options import STDIN, scope_of
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.store import Fields
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.timeline.parse_time import resolve_timezone


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
