"""Whether the collections of a Chroma path are whole, and the repair of those that are not.

Chroma saves its index of vectors in place, and reads it without a check: of a torn one its engine
fails, crashes, or loses rows without a word. Nothing of it is parsed here. Chroma tries a copy in a
process of its own; that it dies of it is an answer, too. The files of an index that was whole are
noted with their checksums. While they are as noted, Chroma is not asked.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired, run
from tempfile import mkdtemp
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.system import make_private
from recall_retrievers.store.chroma.errors import CURE, chroma_errors
from recall_retrievers.store.chroma.place import HeldPath, hold, is_chroma_path, path_client
from recall_retrievers.store.chroma.rows import to_candidate
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.chroma.watch import DATABASE
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.local_model import unit
from recall_retrievers.store.rows.closing import changed_files, note_files, own_folder
from recall_retrievers.store.rows.row_index import DAMAGED, is_torn, open_table

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_PAGE = 1_000  # rows read at once
_BATCH = 250  # rows stored, and texts embedded, at once
_TRIED = 100  # rows of each kind that are stored in a copy: some tears are harmless until then
_GHOSTS = 1_000  # rows beyond those that are there are asked for: it may hold deleted ones
_REACHED = 0.95  # of the rows; whole graphs led to each of 3,000
_NEAR = 1e-3  # of a number in a vector: Chroma scales vectors once more
_LEAST_S, _BYTES_A_SECOND = 120, 100_000  # of the database: a quarter of an hour for 100,000 rows
_MOST = 1_000  # times as large as the database: a vector takes some ten times as much as its row
_NOTE = "indexes.json"
_COPY = "copy-"
_DIES = "Chroma's engine ends the process that opens it"

_frozen = getattr(sys, "frozen", False)  # then there is no Python to start
_asking = Lock()


def examine(held: HeldPath | None, collection: Collection) -> None:
    """Check a collection that is opened, before this process's engine reads its index.

    All collections of the path are checked, once while it is open.
    """
    if held is None:
        return
    path = held.folder
    with _asking:
        if not held.at_close:
            torn, as_noted = _compared(path)
            if torn:
                held.damaged[""] = torn  # of a collection that is not known
            elif not as_noted:
                with held.watch.writing():
                    held.damaged.update((x.id, x.fault) for x in _ask(path, "open") if x.fault)
                if not held.damaged:
                    _note(path)
            held.at_close.append(partial(_note, path))
    if fault := held.damaged.get(str(collection.id)) or held.damaged.get(""):
        raise StoreDamagedError(
            f"the index of collection {collection.name!r} in {path} is damaged: {fault}. Usually a "
            "process was killed while Chroma saved the index. The texts of all memories are "
            f"intact. Close the path everywhere and run `recall repair {path}`, or "
            f"RecallStore.repair({str(path)!r})"
        )


# -- the files of the indexes ---------------------------------------------------------------------


def _indexes(folder: Path) -> list[Path]:
    """The folders of Chroma's indexes; others of the user's may be beside them."""
    return [*folder.glob("????????-????-????-????-????????????/")]


def _files(folder: Path) -> list[str]:
    files = (each for index in _indexes(folder) for each in index.iterdir() if each.is_file())
    return [each.relative_to(folder).as_posix() for each in files]


def _note(folder: Path) -> None:
    if files := _files(folder):
        note_files(own_folder(folder) / _NOTE, folder, files)


def _compared(folder: Path) -> tuple[str, bool]:
    """The fault of files that nobody needs to read, or ""; and whether all are as noted."""
    files, most = _files(folder), _MOST * (folder / DATABASE).stat().st_size
    for name in files:
        if (folder / name).stat().st_size > most:  # a torn one can look terabytes large
            return f"{name} is far too large", False
    changed = changed_files(own_folder(folder) / _NOTE, folder, files)
    names = ", ".join(name for name, written in changed.items() if not written)
    return names and f"{names} has other bytes than when the path was closed", not changed


# -- Chroma, asked in a process of its own --------------------------------------------------------


class _Answer(NamedTuple):
    id: str  # of a collection; empty for the database
    name: str
    rows: int
    fault: str  # empty if it is whole


def _ask(folder: Path, task: str) -> list[_Answer]:
    """What Chroma finds in each collection; a damaged database is an error.

    Not all rows are read to "open" it.
    """
    answers = list[_Answer]()
    for _ in range(2):  # a client of this program may be saving it
        try:
            answers = _asked(folder, task)
        finally:
            for copy in own_folder(folder).glob(f"{_COPY}*"):
                shutil.rmtree(copy, ignore_errors=True)
        if not any(each.fault for each in answers):
            break
    for each in answers:
        if not each.id or CURE in each.fault:
            raise StoreDamagedError(each.fault)
    return answers


def _asked(folder: Path, task: str) -> list[_Answer]:
    """The answers of a process, and of another one when it dies of a collection."""
    if _frozen:
        return [*{each.id: each for each in _answers(folder, task, ())}.values()]
    answers: dict[str, _Answer] = {}
    limit = _LEAST_S + (folder / DATABASE).stat().st_size // _BYTES_A_SECOND
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    while True:
        given = json.dumps([str(folder), task, *answers])
        command = [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()", given]
        try:
            done = run(  # noqa: S603 - our own module
                command, check=False, stdout=PIPE, stderr=DEVNULL, env=environment, timeout=limit
            )
            output, how = done.stdout, done.returncode and f"exit status {done.returncode}"
        except TimeoutExpired as error:
            output, how = error.stdout or b"", f"not done in {limit} s"
        except OSError as error:
            raise StoreError(f"{folder} is not checked: Python does not start: {error}") from error
        known = len(answers)
        lines = output.split(b"\n")[:-1]  # the last one may be broken off
        answers |= {x.id: x for x in (_Answer(*json.loads(line)) for line in lines)}
        if not how:
            return [*answers.values()]
        if len(answers) == known:
            return [*answers.values(), _Answer("", DATABASE, 0, f"{_DIES} ({how}). {CURE}")]
        last = [*answers.values()][-1]
        answers[last.id] = last._replace(fault=f"{_DIES} ({how})")


def answer() -> None:
    """What such a process says: what it begins to read, and what it has found."""
    folder, task, *known = json.loads(sys.argv[1])
    out = sys.stdout
    with redirect_stdout(sys.stderr):
        for each in _answers(Path(folder), task, known):
            print(json.dumps(each), file=out, flush=True)


def _answers(folder: Path, task: str, known: Iterable[str]) -> Iterator[_Answer]:
    size = sum((folder / name).stat().st_size for name in (DATABASE, *_files(folder)))
    room = 2 * size < shutil.disk_usage(folder).free  # else it is only read, where it is
    try:
        client = path_client(_copied(folder) if room else folder, Event())
        with chroma_errors("list the collections", Event()):
            there = client.list_collections()
    except StoreError as error:
        yield _Answer("", DATABASE, 0, str(error))
        return
    for each in there:
        if str(each.id) not in known:
            begun = _Answer(str(each.id), each.name, 0, _DIES)
            yield begun
            try:
                with chroma_errors("read its index", Event()):
                    # With None no stored embedding function is built: its code would run.
                    collection: Any = client.get_collection(each.name, None)
                    differing = "" if task == "open" else _read(folder, collection)
                    rows, fault = _tried(collection, stores=room)
                    fault = fault or differing
            except StoreError as error:
                rows, fault = 0, str(error if CURE in str(error) else error.__cause__)
            yield begun._replace(rows=rows, fault=fault)
    client.close()  # type: ignore[attr-defined]  # its interface lags behind


def _copied(folder: Path) -> Path:
    """A copy of Chroma's files, which may be written to."""
    make_private(own_folder(folder))
    copy = Path(mkdtemp(prefix=_COPY, dir=own_folder(folder)))
    for each in (*folder.glob(f"{DATABASE}*"), *_indexes(folder)):
        (shutil.copytree if each.is_dir() else shutil.copyfile)(each, copy / each.name)
    return copy


def _tried(collection: Any, *, stores: bool) -> tuple[int, str]:
    """How many rows a collection has, and the fault of its index: it is read, and written to."""
    ids, new = collection.get(include=[])["ids"], [f"recall {n}" for n in range(_TRIED)]
    dimension = collection._model.dimension  # noqa: SLF001 - Chroma tells it nowhere else
    if stores and dimension is not None:
        anywhere = np.random.default_rng(0).normal(size=(_TRIED, dimension))
        collection.upsert(ids=new, embeddings=anywhere.astype(np.float32))
    if some := ids[:: -(-len(ids) // _TRIED) or 1]:
        page = collection.get(ids=some, include=["embeddings"])
        if stores:
            collection.upsert(ids=page["ids"], embeddings=page["embeddings"])
    reached = _reached(collection)
    if (lost := len(set(ids) - reached)) > (1 - _REACHED) * len(ids):
        return len(ids), f"it does not lead to {lost} of {len(ids)} rows"
    deleted = len(reached.difference(ids, new))
    return len(ids), f"it holds {deleted} rows that were deleted" if deleted else ""


def _read(folder: Path, collection: Any) -> str:
    """The fault of vectors, of which all are read, and all texts."""
    left, others = set(collection.get(include=[])["ids"]), 0
    number = len(left)
    # After a clean end of ours, what differs from our vectors was written by others.
    for texts, vectors in _ours(folder, collection, unclean=True):
        if some := left.intersection(texts):
            page = collection.get(ids=[*some], include=["embeddings", "documents"])
            known = dict(zip(texts, vectors, strict=True))
            ours = np.array([known[row_id] for row_id in page["ids"]])
            near = np.abs(unit(np.asarray(page["embeddings"], np.float32)) - ours) <= _NEAR
            rows = zip(page["ids"], page["documents"], near.all(axis=1), strict=True)
            others += sum(texts[x] == text and not is_near for x, text, is_near in rows)
            left -= some
    for names in _parts(left, _PAGE):
        collection.get(ids=names, include=["embeddings", "documents", "metadatas"])
    return f"{others} of {number} vectors are not those that were stored" if others else ""


def _reached(collection: Any) -> set[str]:
    """The rows to which the graph of an index leads."""
    dimension = collection._model.dimension  # noqa: SLF001
    if dimension is None:  # nothing was ever stored
        return set()
    anywhere, most = np.eye(1, dimension, dtype=np.float32), 2 * collection.count() + _GHOSTS
    return {*collection.query(query_embeddings=anywhere, n_results=most, include=[])["ids"][0]}


def _ours(
    folder: Path, collection: Any, *, unclean: bool = False
) -> Iterator[tuple[dict[str, str | None], NDArray[np.float32]]]:
    """The texts, by id, and the vectors of the row index that have their checksums.

    If ``unclean``, only those of a row index that was not closed.
    """
    for root in own_folder(folder).glob(f"{collection.id}*"):
        with suppress(*DAMAGED), closing(open_table(root, lambda _: None)) as table:
            if not (table.as_closed and (unclean or is_torn(root, large=True))):
                yield from table.vectors()


def _parts(ids: Iterable[str], size: int) -> Iterator[list[str]]:
    names = list(ids)
    return (names[start : start + size] for start in range(0, len(names), size))


# -- all of a path, on request --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found in one collection, or in the database of all of them.

    Attributes:
        name: The collection; "chroma.sqlite3" for the database.
        rows: How many rows it holds; 0 where that cannot be read.
        faults: What is damaged, and what to do about it; empty = all is whole.
    """

    name: str
    rows: int
    faults: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged."""
        return not self.faults

    def __str__(self) -> str:
        found = f"damaged: {'; '.join(self.faults)}" if self.faults else "whole"
        count = f"{_memories(self.rows)}, " if self.rows or self.whole else ""
        return f"{self.name}: {count}{found}"


def _memories(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"


def check_path(path: str | Path) -> list[Checked]:
    """Check every collection in a path; see `RecallStore.check`."""
    with _alone(path, "check") as (folder, _):
        try:
            waiting, (torn, _) = _too_large(folder), _compared(folder)
            answers = _ask(folder, "check")
        except StoreDamagedError as error:
            return [Checked(DATABASE, 0, (str(error),))]
        return [_checked(folder, each, torn, waiting) for each in answers]


def _checked(folder: Path, found: _Answer, torn: str, waiting: list[tuple[str, str]]) -> Checked:
    fault = found.fault or torn
    if names := ", ".join(got(row_id) for topic, row_id in waiting if found.id in topic):
        fault = f"Chroma cannot store {names} of its log, nor what came after it"
    faults = [f"{fault}; run `recall repair {folder}`"] if fault else []
    if any(map(_torn_rows, own_folder(folder).glob(f"{found.id}*"))):
        faults.append(
            "the row index has other bytes than were written; it is mended when the path is opened"
        )
    return Checked(found.name, found.rows, tuple(faults))


def _torn_rows(root: Path) -> bool:
    try:
        with closing(open_table(root, lambda _: None)) as table:
            torn = len(table.torn_vectors()) > 0
            return torn or (table.as_closed and is_torn(root, large=True))
    except DAMAGED:
        return True


@contextmanager
def _alone(path: str | Path, task: str) -> Iterator[tuple[Path, HeldPath]]:
    """A path that nobody else has open."""
    folder = Path(os.path.realpath(path))
    if not folder.is_dir():
        raise StoreError(f"there is no folder {path} to {task}")
    if not is_chroma_path(folder):
        raise StoreError(f"{path} is no folder of Chroma: it has no {DATABASE}")
    held = hold(folder, str(folder))
    try:
        if not held.is_last:
            raise StoreLockedError(f"{path} is open in this program; close its stores first")
        yield folder, held
    finally:
        held.close()


# What waits in Chroma's log and cannot be applied: SQLite takes 32,766 variables in a statement,
# and Chroma six for each value of a new row's metadata (adds and upserts; updates go in parts). It
# stops there, for all that comes after, and no call of Chroma's takes it out. So this is the one
# place that opens Chroma's database, while nobody else has it open.
_TOO_LARGE = """
    FROM embeddings_queue WHERE operation IN (0, 2) AND 5461 < (
        SELECT sum(iif(type = 'array', json_array_length(value), 1)) FROM json_each(metadata)
    ) AND seq_id > ifnull((
        SELECT max_seq_id.seq_id FROM max_seq_id JOIN segments ON segments.id = segment_id
        WHERE segments.scope = 'METADATA' AND topic LIKE '%/' || segments.collection
    ), 0)
"""


def _too_large(folder: Path, *, take_out: bool = False) -> list[tuple[str, str]]:
    """The topics and ids of what Chroma's log cannot apply; an error if the database is damaged."""
    query = f"SELECT topic, id {_TOO_LARGE}"
    if take_out:
        query = f"DELETE {_TOO_LARGE} RETURNING topic, id"
    try:
        with closing(sqlite3.connect(folder / DATABASE)) as database, database:
            [[state]] = database.execute("PRAGMA quick_check(1)")
            if state == "ok":
                return database.execute(query).fetchall()
    except sqlite3.OperationalError as error:
        if str(error).startswith("no such"):  # a layout that was never tested is left alone
            return []
        raise StoreUnavailableError(f"{folder / DATABASE} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        state = str(error)
    raise StoreDamagedError(f"{folder / DATABASE} is damaged: {state}. {CURE}")


# -- repair ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did to one collection.

    Attributes:
        name: The collection.
        rows: How many rows it holds.
        fault: The fault of its index; None = there was none, and nothing was done.
        recovered: How many vectors were still there: in the row index or in Chroma's log.
        embedded: How many texts were embedded again.
        taken_out: The ids of memories in Chroma's log that it could not store, and nothing after
            them. They have too many values of metadata; whoever added them got an error.
    """

    name: str
    rows: int
    fault: str | None = None
    recovered: int = 0
    embedded: int = 0
    taken_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        done = f"{_memories(self.rows)}, nothing to repair"
        if self.fault is not None:
            done = (
                f"repaired; {_memories(self.rows)}, {self.recovered} vectors recovered, "
                f"{self.embedded} embedded again. The damage: {self.fault}"
            )
        if self.taken_out:
            ids = ", ".join(map(got, self.taken_out))
            done = f"taken out of Chroma's log, as it cannot store it: {ids}; then {done}"
        return f"{self.name}: {done}"


def repair_path(path: str | Path, embedding: Embedder, *, progress: bool) -> list[Repaired]:
    """Repair every collection in a path; see `RecallStore.repair`.

    All indexes are set aside, and Chroma begins anew those of the damaged collections. So the
    folders that it makes are theirs, and the others go back. A repair that is killed is done again.
    """
    with _alone(path, "repair") as (folder, held):
        taken_out = _too_large(folder, take_out=True)
        _put_back(folder)  # after a repair that was killed
        torn, _ = _compared(folder)
        try:
            # Without their indexes Chroma finds which collections they are of.
            _set_aside(each for each in _indexes(folder) if each.name in torn)
            answers = _ask(folder, "repair")
            done = {x.id: Repaired(x.name, x.rows) for x in answers}
            faults = {x.id: torn or x.fault for x in answers if x.fault}
            if faults:
                _set_aside(_indexes(folder))
                client = path_client(folder, held.stuck)
                try:
                    for key, fault in faults.items():
                        with chroma_errors(f"repair collection {done[key].name!r}", held.stuck):
                            collection = client.get_collection(done[key].name, None)
                            counts = _rebuilt(folder, collection, embedding, progress=progress)
                        done[key] = Repaired(collection.name, sum(counts), fault, *counts)
                finally:
                    client.close()  # type: ignore[attr-defined]
                _put_back(folder)
                for each in (x for x in _ask(folder, "repair") if x.fault):
                    raise StoreDamagedError(  # noqa: TRY301 - the damaged ones are put back
                        f"the new index of {each.name!r} is damaged: {each.fault}"
                    )
        except BaseException:
            _put_back(folder, instead=True)
            raise
        shutil.rmtree(_aside(folder), ignore_errors=True)
        _note(folder)
    return [
        replace(each, taken_out=tuple(row_id for topic, row_id in taken_out if key in topic))
        for key, each in done.items()
    ]


def _aside(folder: Path) -> Path:
    return own_folder(folder) / "damaged"


def _set_aside(indexes: Iterable[Path]) -> None:
    for index in indexes:
        aside = _aside(index.parent) / index.name
        make_private(aside.parent)
        if aside.exists():  # then this is one that Chroma began anew
            shutil.rmtree(index)
        else:
            index.rename(aside)


def _put_back(folder: Path, *, instead: bool = False) -> None:
    """Put back the indexes that Chroma did not begin anew; or all, instead of the new ones."""
    for aside in _indexes(_aside(folder)):
        index = folder / aside.name
        if instead:
            shutil.rmtree(index, ignore_errors=True)
        if not index.exists():
            aside.rename(index)


def _rebuilt(
    folder: Path, collection: Any, embedding: Embedder, *, progress: bool
) -> tuple[int, int]:
    """Store a vector for each row: how many were recovered, and how many texts embedded."""
    ids = collection.get(include=[])["ids"]
    left = set(ids) - _reached(collection)  # Chroma has taken in what its log has
    with progress_bar(
        desc=f"repairing {collection.name}", unit="memories", total=len(left), wanted=progress
    ) as bar:

        def store(names: list[str], vectors: NDArray[np.float32]) -> None:
            for start in range(0, len(names), _BATCH):
                part = slice(start, start + _BATCH)
                # `update` would not mend it. Texts and metadata stay as they are.
                collection.upsert(ids=names[part], embeddings=vectors[part])
                bar.update(len(names[part]))

        # Ours have the length 1, which counts in other spaces.
        is_cosine = collection.configuration_json["hnsw"]["space"] == "cosine"
        for texts, vectors in _ours(folder, collection) if is_cosine else ():
            page = collection.get(ids=[*texts], include=["documents"])
            now = dict(zip(page["ids"], page["documents"], strict=True))
            as_then = np.array([x in left and now[x] == texts[x] for x in texts], dtype=np.bool_)
            kept = as_then & vectors.any(axis=1)
            good = [x for x, is_kept in zip(texts, kept.tolist(), strict=True) if is_kept]
            store(good, vectors[kept])
            left.difference_update(good)
        made_by = (collection.metadata or {}).get("embedding_model")
        if left and made_by != embedding.model_name:
            raise EmbeddingMismatchError(
                f"{len(left)} vectors of collection {collection.name!r} are lost and must be made "
                f"again by the model that filled it{f', {made_by!r}' if made_by else ''}; got "
                f"{embedding.model_name!r}. Call RecallStore.repair(path, embedding=...) with that "
                "model",
                made_by,
            )
        for names in _parts(sorted(left), _BATCH):
            page = collection.get(ids=names, include=["documents", "metadatas"])
            rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
            memories = [to_candidate(*row) for row in rows]
            to_embed = ["" if each is None else index_text(each) for each in memories]
            store(page["ids"], embedding.embed_texts(to_embed).vectors)
    return len(ids) - len(left), len(left)
