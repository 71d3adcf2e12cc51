"""The commands that manage collections: load, export, stats, delete, migrate, check, repair."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from recall_retrievers.cli.collection import opened
from recall_retrievers.cli.existing import UNKNOWN, NoModel, open_existing, source_of
from recall_retrievers.cli.options import (
    FILE,
    PLACE,
    STDIN,
    add_collection,
    add_reading,
    add_scope,
    json_value,
    scope_of,
)
from recall_retrievers.cli.output import as_json, print_json, report, show_facts
from recall_retrievers.cli.streams import complain, writes_all
from recall_retrievers.core.errors import EmbeddingMismatchError, SettingsError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.memory_lines import memory_line
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.system import new_private
from recall_retrievers.store import Fields, RecallStore
from recall_retrievers.store.conditions import Conditions
from recall_retrievers.store.doctor import Checked, Repaired
from recall_retrievers.store.embedding.embedder import MULTILINGUAL
from recall_retrievers.store.embedding.multilingual import Multilingual

add_stats = add_collection
_PAGE = 250  # memories whose vectors are read at once
_MOST = 10  # values that a row of the table names


def add_load(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall load`."""
    file = parser.add_mutually_exclusive_group(required=True)
    file.add_argument("file", metavar="FILE", nargs="?", type=Path, help=FILE)
    file.add_argument("--memories", metavar="FILE", type=Path, help="the same")
    parser.add_argument("--into", metavar="PATH|URL", help=f"{PLACE}; a new folder is made")
    parser.add_argument("--collection", help="its name, with --into (memories)")
    parser.set_defaults(field=[])
    add_reading(parser)
    add_scope(parser, "with --into, the {} of memories that name none")


def load(options: argparse.Namespace) -> int:
    """Load a file of memories into the collection next to it, or into another one.

    The file has JSON objects, one a line, or it is conversations.json of an export of ChatGPT or of
    Claude. With --into, the memories are added to a collection that `recall mcp` and `recall serve`
    can serve. Else the collection is in FILE.recall, next to the file. Lines that cannot be read
    are left out, and three of them are named on standard error (--json names all). If no line can
    be read, nothing is changed. Memories that are stored already are neither embedded nor written
    again. So if a load is interrupted, the same command goes on where it ended. In Python,
    RecallStore("FILE.recall") opens the collection.
    """
    options.memories = options.memories or options.file
    if options.memories == STDIN:
        raise ValueError(
            "load keeps a collection beside a file, and there is none of standard input; name a "
            "file, or ask with --memories -"
        )
    if scope_of(options).fields() and options.into is None:
        raise ValueError("a scope is for --into; without it the lines of the file name their own")
    with opened(options, searched=False) as collection:
        count = collection.store.count() if collection.loaded is None else collection.loaded
    result = {
        "collection": collection.name,
        "memories": count,
        "loaded_now": collection.fresh,
        "left_out": collection.bad_lines,
    }
    done = "loaded" if collection.fresh else "were there already"
    report(options, result, f"{count} memories {done} in {collection.name}")
    return 0


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall export`."""
    add_collection(parser)
    add_scope(parser)
    parser.add_argument("--vectors", action="store_true", help="with the vectors of the texts")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="a new file (standard output)"
    )


def export(options: argparse.Namespace) -> int:
    """Write the memories of a collection to a file, or to standard output.

    A line is the JSON object of a memory with all its fields, the oldest memory first. `recall
    load` reads such a file, and makes an equal collection of it. With --vectors nothing is embedded
    again; take the "embedding" out of a line before you change its text.
    """
    with opened(options, searched=False) as collection, _output(options.output) as (out, escaped):
        store, count = collection.store, 0
        owner = scope_of(options)
        memories = store.memories(scope=owner, order="oldest", include_superseded=True)
        lines = _with_vectors(store, memories) if options.vectors else map(memory_line, memories)
        total = store.count(scope=owner, include_superseded=True)
        for line in progress_bar(lines, total=total, desc="writing", unit="memories", wanted=True):
            out.write(as_json(line, escaped=escaped) + "\n")
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
        vectors = store.vectors([memory.id for memory in page])
        for memory in page:
            vector = vectors[memory.id].tolist() if memory.id in vectors else None
            yield memory_line(memory, model=store.embedding_model, vector=vector)


@contextmanager
def _output(path: Path | None) -> Iterator[tuple[TextIO, bool]]:
    """Where lines go, and whether it takes ASCII alone. A file is there once it is whole."""
    if path is None:
        yield sys.stdout, not writes_all(sys.stdout)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}; make it first")
    part = path.with_name(path.name + ".part")
    try:
        with new_private(part) as out:
            yield out, False
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def stats(options: argparse.Namespace) -> int:
    """What a collection holds: the number of memories, their types, owners and times."""
    with opened(options, searched=False) as collection:
        counted = _counted(collection.store)
    if options.json:
        print_json({"collection": collection.name, **counted})
        return 0
    facts = ((name.replace("_", " "), _as_text(value)) for name, value in counted.items())
    show_facts(collection.name, facts)
    return 0


def _counted(store: RecallStore) -> dict[str, object]:
    """What a store holds, by name; the most frequent values first."""
    values = {name: Counter[str]() for name in ("memory_type", "author", *Scope.model_fields)}
    times, telling = list[datetime | None](), 0
    for memory in store.memories():
        owned = {"memory_type": memory.memory_type, "author": memory.author}
        for name, value in {**owned, **memory.scope.fields()}.items():
            values[name].update([value] if value else [])
        telling += bool(memory.events)
        times.append(memory.created_at)
    recorded = [time for time in times if time is not None]
    return {
        "memories": len(times),
        "embedding_model": store.embedding_model,
        "first_recorded": min(recorded).isoformat() if recorded else None,
        "last_recorded": max(recorded).isoformat() if recorded else None,
        "without_a_time": len(times) - len(recorded),
        "telling_of_a_time": telling,
        **{name: dict(counts.most_common()) for name, counts in values.items()},
    }


def _as_text(value: object) -> str:
    if not isinstance(value, dict):
        return "-" if value is None else str(value)
    named = [f"{name} {count}" for name, count in list(value.items())[:_MOST]]
    more = [f"and {len(value) - _MOST} more"] if len(value) > _MOST else []
    return ", ".join([*named, *more]) or "-"


def add_delete(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall delete`."""
    parser.add_argument("--chroma", metavar="PATH|URL", required=True, help=PLACE)
    parser.add_argument("--collection", default="memories", help="its name (memories)")
    add_scope(parser)
    parser.add_argument("--id", action="append", help="the memory with this id; repeatable")
    parser.add_argument("--since", metavar="TIME", help="recorded at this time or later, ISO 8601")
    parser.add_argument("--before", metavar="TIME", help="recorded before this time")
    parser.add_argument("--memory-type", action="append", help="of this type; repeatable")
    parser.add_argument(
        "--filter",
        metavar="JSON",
        type=json_value,
        help="""conditions on metadata: '{"topic": "health"}'""",
    )
    parser.add_argument("--everything", action="store_true", help="all memories, or all of a scope")
    parser.add_argument("--yes", action="store_true", help="delete without asking")


def delete(options: argparse.Namespace) -> int:
    """Delete memories of a collection by their owner, time, type or metadata.

    All conditions must hold. An owner alone is no condition: --everything deletes all of theirs. It
    says how many memories that are, and deletes them after a yes; expired and superseded memories
    go as well. In Python it is store.delete(...).
    """
    try:
        Conditions.of(**_conditions(options)).check_deleting(options.id, options.everything)
    except SettingsError as error:
        raise ValueError(str(error).replace("everything=True", "--everything")) from error
    with open_existing(options.chroma, options.collection, Fields(), searched=False) as store:
        if not (options.yes or _agreed(options, store)):
            return 1
        deleted = store.delete(options.id, everything=options.everything, **_conditions(options))
    result = {"collection": options.collection, "deleted": deleted}
    report(options, result, f"{deleted} memories deleted")
    return 0


def _agreed(options: argparse.Namespace, store: RecallStore) -> bool:
    """Whether the user agrees, who sees how many memories it is about."""
    if not sys.stdin.isatty():
        raise ValueError("delete asks before it deletes, and nobody can answer; pass --yes")
    fitting = store.memories(**_conditions(options), include_superseded=True)
    number = sum(1 for each in fitting if options.id is None or each.id in options.id)
    complain(f"delete {number} of {store.count()} memories of {options.collection}? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _conditions(options: argparse.Namespace) -> dict[str, Any]:
    between = (options.since, options.before)
    return {
        "scope": scope_of(options),
        "time_range": None if between == (None, None) else between,
        "filter": options.filter,
        "memory_type": options.memory_type,
    }


def add_migrate(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall migrate`."""
    parser.add_argument("source", metavar="FROM", help=PLACE)
    parser.add_argument("target", metavar="TO", help=f"{PLACE}; a new folder is made")
    parser.add_argument("--collection", default="memories", help="the one to copy (memories)")
    parser.add_argument("--as", dest="name", help="its name there (the same)")


def migrate(options: argparse.Namespace) -> int:
    """Copy a collection from a folder to a server, or back.

    The vectors are copied as well, so nothing is embedded again. A copy that was interrupted goes
    on where it ended: run it again. "cloud" is Chroma Cloud, with the environment variables
    CHROMA_TENANT, CHROMA_DATABASE and CHROMA_API_KEY. In Python it is store.copy_to(other).
    """
    name = options.name or options.collection
    if (options.source, options.collection) == (options.target, name):
        raise ValueError("this would copy a collection onto itself; name another one with --as")
    with open_existing(options.source, options.collection, Fields(), searched=False) as source:
        if source.embedding_model == UNKNOWN:
            raise StoreError(
                f"collection {options.collection!r} was not made by RecallStore. Copy it in "
                "Python, with the model that made its vectors: RecallStore(..., fields=..., "
                "embedding=...).copy_to(other)"
            )
        target, embedding = source_of(options.target, new=True), NoModel(source.embedding_model)
        with RecallStore(target, name, embedding=embedding, create=True) as copy:
            count = source.copy_to(copy, progress=True)
            there = copy.count()
    result = {"collection": name, "copied": count, "memories": there}
    report(options, result, f"{count} memories copied to {options.target}, collection {name}")
    return 0


def add_path(parser: argparse.ArgumentParser) -> None:
    """Add the path."""
    parser.add_argument("path", metavar="PATH", help="a folder of Chroma, such as FILE.recall")


add_check = add_repair = add_path


def check(options: argparse.Namespace) -> int:
    """Check all files of a Chroma path.

    Chroma reads a copy in a process of its own; SQLite reads the database, and this library
    its row index. Nothing is changed. Close the path everywhere first. The exit code is 0 if all is
    whole, and 1 if something is damaged.
    """
    found = RecallStore.check(options.path)
    _show_collections(options, found)
    return 0 if all(each.whole for each in found) else 1


def repair(options: argparse.Namespace) -> int:
    """Repair a Chroma path whose index is damaged.

    A process that was killed while Chroma saved an index can leave it torn. The texts are intact:
    the index is built again from the vectors of the row index, and from the texts where there are
    none. Close the path everywhere first. A repair that is interrupted has lost nothing: run it
    again.
    """
    try:
        repaired = RecallStore.repair(options.path, progress=True)
    except EmbeddingMismatchError as error:  # its texts must be embedded by another model
        if error.made_by != Multilingual.model_name:
            raise
        repaired = RecallStore.repair(options.path, embedding=MULTILINGUAL, progress=True)
    _show_collections(options, repaired)
    return 0


def _show_collections(options: argparse.Namespace, found: Sequence[Checked | Repaired]) -> None:
    said = "\n".join(map(str, found)) or f"{options.path} holds no collection"
    report(options, [asdict(each) for each in found], said)
