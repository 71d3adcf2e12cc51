"""Write the memories of a collection to a file, or to standard output.

A line is the JSON object of a memory with all its fields, the oldest memory first. `recall load`
reads such a file, and makes an equal collection of it. With --vectors nothing is embedded again;
take the "embedding" out of a line before you change its text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TextIO

from recall_retrievers.cli.collection import add_collection, add_scope, opened, scope_of
from recall_retrievers.cli.output import json_line, report, writes_all
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.memory_lines import memory_line
from recall_retrievers.core.tracing import progress_bar
from recall_retrievers.store import RecallStore
from recall_retrievers.store.copying import vectors_in

EXAMPLE = "{program} --chroma ./memories --output all.jsonl"

_PAGE = 250  # memories whose vectors are read at once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_collection(parser)
    add_scope(parser)
    parser.add_argument("--vectors", action="store_true", help="with the vectors of the texts")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="a new file (standard output)"
    )


def run(options: argparse.Namespace) -> int:
    """Write each memory as a line."""
    with opened(options, searched=False) as collection, _output(options.output) as (out, escaped):
        store, count = collection.store, 0
        owner = scope_of(options)
        memories = store.memories(scope=owner, order="oldest")
        lines = _with_vectors(store, memories) if options.vectors else map(memory_line, memories)
        total = store.count(scope=owner)
        for line in progress_bar(lines, total=total, desc="writing", unit="memories", wanted=True):
            out.write(json_line(line, escaped=escaped) + "\n")
            count += 1
    if options.output is not None:
        result = {"collection": collection.name, "memories": count}
        written = f"{count} memories of {collection.name} written to {options.output}"
        report(options, result, written)
    return 0


def _with_vectors(store: RecallStore, memories: Iterable[Memory]) -> Iterator[dict[str, object]]:
    """The lines of memories with their vectors, read page by page."""
    remaining = iter(memories)
    while page := list(islice(remaining, _PAGE)):
        vectors = vectors_in(store, [memory.id for memory in page])
        for memory in page:
            yield memory_line(memory, model=store.embedding_model, vector=vectors.get(memory.id))


@contextmanager
def _output(path: Path | None) -> Iterator[tuple[TextIO, bool]]:
    """Where lines go, and whether it takes ASCII alone. A file is there once it is whole."""
    if path is None:
        yield sys.stdout, not writes_all(sys.stdout)
        return
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as out:
            yield out, False
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
