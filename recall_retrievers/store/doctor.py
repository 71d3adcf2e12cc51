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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stdout, suppress
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired, run
from tempfile import mkdtemp
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

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
from recall_retrievers.store.rows.database import (
    DAMAGED,
    changed_files,
    is_torn,
    note_files,
    own_folder,
)
from recall_retrievers.store.rows.table import Table

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_PAGE = 1_000  # rows read at once
_BATCH = 250  # rows stored, and texts embedded, at once
_TRIED = 100  # rows that are stored again in a copy: some tears are harmless until then
_NEW = 1_000  # others that are: so many make Chroma save, and some torn indexes have no end
_GHOSTS = 1_000  # rows beyond those that are there are asked for: it may hold deleted ones
_REACHED = 0.95  # of the rows; whole graphs led to each of 3,000
_NEAR = 1e-3  # of a number in a vector: Chroma scales vectors once more
_LEAST_S, _BYTES_A_SECOND = 120, 100_000  # of the database: a quarter of an hour for 100,000 rows
_MOST = 1_000  # times as large as the database: a vector takes some ten times as much as its row
_ROOM = 1 << 28  # bytes for what Chroma adds to an index of no rows
_NOTE = "indexes.json"
_COPY = "copy-"
_DIES = "Chroma's engine ends the process that opens it"

_frozen = getattr(sys, "frozen", False)  # then there is no Python to start
_asking = Lock()


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
                    found = _ask(path, whole=False).items()
                    held.damaged.update((key, "; ".join(x.faults)) for key, x in found if x.faults)
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


def _too_long(folder: Path) -> str:
    """A file that nobody needs to read, or "": a torn one can look terabytes long."""
    most = _MOST * (folder / DATABASE).stat().st_size
    return next((name for name in _files(folder) if (folder / name).stat().st_size > most), "")


def _note(folder: Path) -> None:
    # Chroma may have torn it while the path was open. Then it is told when it is opened again.
    if (files := _files(folder)) and not _too_long(folder):
        note_files(own_folder(folder) / _NOTE, folder, files)


def _compared(folder: Path) -> tuple[str, bool]:
    """The fault of files that nobody needs to read, or ""; and whether all are as noted."""
    if name := _too_long(folder):
        return f"{name} is far too large", False
    changed = changed_files(own_folder(folder) / _NOTE, folder, _files(folder))
    names = ", ".join(name for name, written in changed.items() if not written)
    return names and f"{names} has other bytes than when the path was closed", not changed


# -- Chroma, asked in a process of its own --------------------------------------------------------


def _ask(folder: Path, *, whole: bool) -> dict[str, Checked]:
    """What Chroma finds in each collection, by its id; a damaged database is an error.

    If ``whole``, all rows are read, and their vectors are compared with ours.
    """
    answers = dict[str, Checked]()
    for _ in range(2):  # a client of this program may be saving it
        try:
            answers = dict(_answers(folder, whole)) if _frozen else _asked(folder, whole)
        finally:
            for copy in own_folder(folder).glob(f"{_COPY}*"):
                shutil.rmtree(copy, ignore_errors=True)
        if all(each.whole for each in answers.values()):
            break
    for key, each in answers.items():
        if each.faults and (not key or CURE in each.faults[0]):
            raise StoreDamagedError(each.faults[0])
    return answers


def _asked(folder: Path, whole: bool, known: Sequence[str] = ()) -> dict[str, Checked]:
    """The answers of a process, and of another one when it dies of a collection."""
    limit = _LEAST_S + (folder / DATABASE).stat().st_size // _BYTES_A_SECOND
    given = json.dumps([limit, str(folder), whole, known])
    command = [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()", given]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = run(  # noqa: S603 - our own module
            command, check=False, stdout=PIPE, stderr=DEVNULL, env=environment, timeout=limit
        )
        output, how = done.stdout, done.returncode and f"exit status {done.returncode}"
    except TimeoutExpired as error:
        output, how = error.stdout or b"", f"not done in {limit} s"
    except OSError as error:
        raise StoreError(f"{folder} is not checked: Python does not start: {error}") from error
    lines = map(json.loads, output.split(b"\n")[:-1])  # the last one may be broken off
    answers = {key: Checked(name, rows, tuple(faults)) for key, name, rows, faults in lines}
    dies = f"{_DIES} ({how})"
    if how and answers.keys() <= {*known}:
        return {"": Checked(DATABASE, 0, (f"{dies}. {CURE}",))}
    if how:
        *_, last = answers
        answers[last] = replace(answers[last], faults=(dies,))
        answers |= _asked(folder, whole, [*known, *answers])
    return answers


def answer() -> None:
    """What such a process says: what it begins to read, and what it has found."""
    limit, folder, *task = json.loads(sys.argv[1])
    _bound(limit, _ROOM + 2 * _size(Path(folder)))
    out = sys.stdout
    with redirect_stdout(sys.stderr):
        for key, found in _answers(Path(folder), *task):
            print(json.dumps([key, *astuple(found)]), file=out, flush=True)


def _bound(seconds: int, size: int) -> None:
    """End this process after a time, and where it writes a file of more bytes.

    Who asked may be killed meanwhile, and Chroma saves some torn indexes without an end.
    """
    with suppress(ImportError):  # Windows has neither
        import resource  # noqa: PLC0415
        import signal  # noqa: PLC0415

        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        signal.alarm(seconds)


def _size(folder: Path) -> int:
    return sum((folder / name).stat().st_size for name in (DATABASE, *_files(folder)))


def _answers(folder: Path, whole: bool, known: Sequence[str] = ()) -> Iterator[tuple[str, Checked]]:
    room = 2 * _size(folder) < shutil.disk_usage(folder).free  # else it is only read, where it is
    try:
        client: Any = path_client(_copied(folder) if room else folder, Event())
        with chroma_errors("list the collections", Event()):
            there = client.list_collections()
    except StoreError as error:
        yield "", Checked(DATABASE, 0, (str(error),))
        return
    for name, key in ((x.name, str(x.id)) for x in there if str(x.id) not in known):
        yield key, Checked(name, 0, (_DIES,))
        try:
            with chroma_errors("read its index", Event()):
                # With None no stored embedding function is built: its code would run.
                found = _tried(folder, client.get_collection(name, None), whole, stores=room)
        except StoreError as error:
            fault = str(error if CURE in str(error) else error.__cause__)
            found = Checked(name, 0, (fault,))
        yield key, found
    client.close()


def _copied(folder: Path) -> Path:
    """A copy of Chroma's files, which may be written to."""
    make_private(own_folder(folder))
    copy = Path(mkdtemp(prefix=_COPY, dir=own_folder(folder)))
    for each in (*folder.glob(f"{DATABASE}*"), *_indexes(folder)):
        (shutil.copytree if each.is_dir() else shutil.copyfile)(each, copy / each.name)
    return copy


def _tried(folder: Path, collection: Any, whole: bool, *, stores: bool) -> Checked:
    """What is found when a collection is read, and when rows are stored in its copy."""
    ids, others = collection.get(include=[])["ids"], set[str]()
    for names in _parts(ids, _PAGE) if whole else ():
        collection.get(ids=names, include=["embeddings", "documents", "metadatas"])
    # After a clean end of ours, what differs from our vectors was written by others.
    for vectors in _ours(folder, collection, unclean=True) if whole else ():
        page = collection.get(ids=[*vectors], include=["embeddings"])
        ours = np.array([vectors[row_id] for row_id in page["ids"]])
        near = np.abs(unit(np.asarray(page["embeddings"], np.float32)) - ours) <= _NEAR
        rows = zip(page["ids"], near.all(axis=1).tolist(), strict=True)
        others.update(row_id for row_id, is_near in rows if not is_near)
    new = [f"recall {n}" for n in range(_NEW)]
    dimension = collection._model.dimension  # noqa: SLF001 - Chroma tells it nowhere else
    if stores and dimension is not None:
        anywhere = np.random.default_rng(0).normal(size=(len(new), dimension))
        collection.upsert(ids=new, embeddings=anywhere.astype(np.float32))
    if some := ids[:: -(-len(ids) // _TRIED) or 1]:
        page = collection.get(ids=some, include=["embeddings"])
        if stores:
            collection.upsert(ids=page["ids"], embeddings=page["embeddings"])
    reached = _reached(collection)
    lost, deleted = set(ids) - reached, len(reached.difference(ids, new))
    unreached, few = set[bytes](), (1 - _REACHED) * len(ids)
    for names in _parts(sorted(lost), _PAGE) if len(lost) > few else ():
        # A whole graph has no way to some of many equal vectors.
        page = collection.get(ids=names, include=["embeddings"])
        unreached.update(vector.tobytes() for vector in page["embeddings"])
    faults = {
        f"it does not lead to {len(lost)} of {len(ids)} rows": len(unreached) > few,
        f"it holds {deleted} rows that were deleted": deleted,
        f"{len(others)} of {len(ids)} vectors are not those that were stored": others,
    }
    there = tuple(fault for fault, is_there in faults.items() if is_there)
    return Checked(collection.name, len(ids), there)


def _reached(collection: Any) -> set[str]:
    """The rows to which the graph of an index leads."""
    length = collection._model.dimension or 1  # noqa: SLF001 - None = nothing was ever stored
    anywhere, most = np.eye(1, length, dtype=np.float32), 2 * collection.count() + _GHOSTS
    return {*collection.query(query_embeddings=anywhere, n_results=most, include=[])["ids"][0]}


def _ours(
    folder: Path, collection: Any, *, unclean: bool = False
) -> Iterator[dict[str, NDArray[np.float32]]]:
    """The vectors that a row index has of texts which are still those of their rows, by id.

    If ``unclean``, only of a row index that was not closed.
    """
    for root in own_folder(folder).glob(f"{collection.id}*"):
        with suppress(*DAMAGED), closing(Table(lambda _: None, root)) as table:
            if table.as_closed and (unclean or is_torn(root, large=True)):
                continue
            for texts, vectors in table.vectors():
                page = collection.get(ids=[*texts], include=["documents"])
                rows = zip(page["ids"], page["documents"], strict=True)
                same = {row_id for row_id, text in rows if text == texts[row_id]}
                known = zip(texts, vectors, strict=True)
                if found := {row_id: x for row_id, x in known if row_id in same and x.any()}:
                    yield found


def _parts(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


# -- all of a path, on request --------------------------------------------------------------------


def check_path(path: str | Path) -> list[Checked]:
    """Check every collection in a path; see `RecallStore.check`."""
    with _alone(path, "check") as held:
        folder, checked = held.folder, list[Checked]()
        try:
            waiting, (torn, _) = _too_large(folder), _compared(folder)
            answers = _ask(folder, whole=True)
        except StoreDamagedError as error:
            return [Checked(DATABASE, 0, (str(error),))]
        for key, found in answers.items():
            damage = "; ".join(found.faults) or torn
            if names := ", ".join(got(row_id) for topic, row_id in waiting if key in topic):
                damage = f"Chroma cannot store {names} of its log, nor what came after it"
            faults = [f"{damage}; run `recall repair {folder}`"] if damage else []
            if any(map(_torn_rows, own_folder(folder).glob(f"{key}*"))):
                faults.append(
                    "the row index has other bytes than were written; it is mended when the path "
                    "is opened"
                )
            checked.append(replace(found, faults=tuple(faults)))
    return checked


def _torn_rows(root: Path) -> bool:
    try:
        with closing(Table(lambda _: None, root)) as table:
            torn = len(table.torn_vectors()) > 0
            return torn or (table.as_closed and is_torn(root, large=True))
    except DAMAGED:
        return True


@contextmanager
def _alone(path: str | Path, task: str) -> Iterator[HeldPath]:
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
        yield held
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
    with _alone(path, "repair") as held:
        folder, repaired = held.folder, list[Repaired]()
        taken_out = _too_large(folder, take_out=True)
        _put_back(folder)  # after a repair that was killed
        torn, _ = _compared(folder)
        try:
            # Without their indexes Chroma finds which collections they are of.
            _set_aside(each for each in _indexes(folder) if each.name in torn)
            answers = _ask(folder, whole=True)
            damaged = not all(each.whole for each in answers.values())
            if damaged:
                _set_aside(_indexes(folder))
            for key, each in answers.items():
                done = Repaired(each.name, each.rows)
                if each.faults:
                    counts = _rebuilt(held, each.name, embedding, progress=progress)
                    fault = torn or "; ".join(each.faults)
                    done = Repaired(each.name, sum(counts), fault, *counts)
                out = tuple(row_id for topic, row_id in taken_out if key in topic)
                repaired.append(replace(done, taken_out=out))
            if damaged:
                _put_back(folder)
                for each in _ask(folder, whole=True).values():
                    if each.faults:
                        problem = f"the new index of {each.name!r} is damaged: {each.faults[0]}"
                        raise StoreDamagedError(problem)  # noqa: TRY301 - the old one is put back
        except BaseException:
            _put_back(folder, instead=True)
            raise
        shutil.rmtree(_aside(folder), ignore_errors=True)
        _note(folder)
    return repaired


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


def _rebuilt(held: HeldPath, name: str, embedding: Embedder, *, progress: bool) -> tuple[int, int]:
    """Store a vector for each row: how many were recovered, and how many texts embedded."""
    client: Any = path_client(held.folder, held.stuck)
    with closing(client), chroma_errors(f"repair collection {name!r}", held.stuck):
        collection = client.get_collection(name, None)
        ids = collection.get(include=[])["ids"]
        left = set(ids) - _reached(collection)  # Chroma has taken in what its log has
        bar = progress_bar(
            desc=f"repairing {name}", unit="memories", total=len(left), wanted=progress
        )

        def store(vectors: Mapping[str, NDArray[np.float32]]) -> None:
            if vectors:
                # `update` would not mend it. Texts and metadata stay as they are.
                collection.upsert(ids=[*vectors], embeddings=np.array([*vectors.values()]))
                left.difference_update(vectors)
                bar.update(len(vectors))

        with bar:
            # Ours have the length 1, which counts in other spaces.
            is_cosine = collection.configuration_json["hnsw"]["space"] == "cosine"
            for known in _ours(held.folder, collection) if is_cosine else ():
                store({row_id: vector for row_id, vector in known.items() if row_id in left})
            made_by, lost = (collection.metadata or {}).get("embedding_model"), sorted(left)
            if lost and made_by != embedding.model_name:
                raise EmbeddingMismatchError(
                    f"{len(lost)} vectors of collection {name!r} are lost and must be made again "
                    f"by the model that filled it{f', {made_by!r}' if made_by else ''}; got "
                    f"{embedding.model_name!r}. Call RecallStore.repair(path, embedding=...) with "
                    "that model",
                    made_by,
                )
            for names in _parts(lost, _BATCH):
                page = collection.get(ids=names, include=["documents", "metadatas"])
                rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
                memories = [to_candidate(*row) for row in rows]
                texts = ["" if each is None else index_text(each) for each in memories]
                vectors = embedding.embed_texts(texts).vectors
                store(dict(zip(page["ids"], vectors, strict=True)))
    return len(ids) - len(lost), len(lost)
