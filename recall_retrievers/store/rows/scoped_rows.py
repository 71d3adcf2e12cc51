"""The row indexes of this process: all stores on one collection share them.

Of a collection on a server, a question reads the rows of its scope, and no others. Each scope has
an index of its own: the one of a user has no part in the one of a user and a session.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.system import LOCKED, file_lock, make_private
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import OWN_FIELDS, Row
from recall_retrievers.store.chroma.place import HeldPath, Place
from recall_retrievers.store.embedding.local_model import Embedded
from recall_retrievers.store.rows.closing import own_folder
from recall_retrievers.store.rows.database import hashed
from recall_retrievers.store.rows.follower import Follower
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.table import Read

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

_LOCK = ".lock"
_A_SCOPE = 500  # rows: what a scope takes, however few it has
_MOST = 200_000  # rows of all scopes together, of some 2.5 KB

_open: dict[tuple[str, str, str, str], ScopedRows] = {}
_opening = threading.Lock()


class ScopedRows:
    """The row indexes of one collection: one for all rows, or one for each scope.

    Indexes of scopes that were not asked for the longest are let go.
    """

    def __init__(
        self,
        made: Callable[[Scope], RowIndex],
        *,
        by_scope: bool = False,
        held: FileLock | None = None,
    ) -> None:
        self._made = made
        self._held = held  # the lock on their folder
        self._lock = threading.Lock()
        self._by_scope = OrderedDict[Scope, RowIndex]()
        self._questions = Counter[Scope]()  # that run now
        self.by_scope = by_scope
        self.holders = 0  # the stores of this process that have it open
        if not self.by_scope:
            self._by_scope[ANYBODY] = made(ANYBODY)

    @contextmanager
    def using(self, scope: Scope) -> Iterator[RowIndex]:
        """The row index that has the rows of a scope, for one question."""
        scope = scope if self.by_scope else ANYBODY
        with self._lock:
            if scope not in self._by_scope:
                self._by_scope[scope] = self._made(scope)
            self._by_scope.move_to_end(scope)  # it is now the last to go
            rows = self._by_scope[scope]
            self._questions[scope] += 1
        try:
            yield rows
        finally:
            with self._lock:
                self._questions[scope] -= 1
                surplus = self._surplus()
            for each in surplus:
                each.close()

    def at_hand(self, scope: Scope) -> RowIndex | None:
        """The row index that has the rows of a scope, if it was asked lately and knows them."""
        rows = self._by_scope.get(scope if self.by_scope else ANYBODY)
        return rows if rows is not None and rows.ready else None

    # -- writes of this process -------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        with ExitStack() as stack:
            for _, rows in self._all():
                rows.start()
                stack.enter_context(rows.writing())
            yield

    def put(self, rows: Sequence[Row], memories: Read, embedded: Embedded | None) -> None:
        """Take over rows that were just stored; a row that has left a scope is forgotten there."""
        for scope, index in self._all():
            if not self.by_scope:
                index.put(rows, memories, embedded)
                continue
            here = [n for n, each in enumerate(memories) if each and scope.holds(each.scope)]
            if here:
                # Without token vectors: only the rows that this process has written had any.
                vectors = embedded and Embedded(embedded.vectors[here])
                index.put([rows[x] for x in here], [memories[x] for x in here], vectors)
            if len(here) < len(rows):
                index.drop([row[0] for place, row in enumerate(rows) if place not in here])

    def drop(self, ids: Sequence[str]) -> None:
        for _, index in self._all():
            index.drop(ids)

    def close(self) -> None:
        for _, rows in self._all():
            rows.close()
        if self._held is not None:
            self._held.release()

    def _all(self) -> list[tuple[Scope, RowIndex]]:
        with self._lock:
            return list(self._by_scope.items())

    def _surplus(self) -> list[RowIndex]:
        """The indexes to let go, taken out."""
        gone = list[RowIndex]()
        rows = sum(max(len(each), _A_SCOPE) for each in self._by_scope.values())
        for scope in list(self._by_scope)[:-1]:
            if rows > _MOST and not self._questions[scope]:
                gone.append(self._by_scope.pop(scope))
                rows -= max(len(gone[-1]), _A_SCOPE)
                del self._questions[scope]
        return gone


def open_rows(
    index: Collection, place: Place | None, index_dir: Path | None, *, alone: bool
) -> ScopedRows:
    """The row indexes of a collection, for one more store; see `let_go` and `Follower`."""
    held = None if place is None else place.held
    shared = place is None or place.shared
    folder = str(held.folder) if held else ""
    key = folder, str(index.chroma.id), repr(index.fields), str(index_dir if shared else None)
    with _opening:
        if key not in _open:
            _open[key] = _made(index, held, index_dir, alone=alone, shared=shared)
        _open[key].holders += 1
        return _open[key]


def let_go(rows: ScopedRows) -> None:
    """Let row indexes go; for the last store of this process they are closed."""
    with _opening:
        rows.holders -= 1
        last = not rows.holders
        for key in [key for key, each in _open.items() if last and each is rows]:
            del _open[key]
    if last:
        rows.close()


def indexes_of(collection: ChromaCollection, folder: Path | None) -> list[ScopedRows]:
    """The row indexes that have to know what is written to a collection; its path may be known."""
    with _opening:
        return [
            rows
            for (place, row_id, *_), rows in _open.items()
            if row_id == str(collection.id) and (folder is None or place in ("", str(folder)))
        ]


def _made(
    index: Collection, held: HeldPath | None, index_dir: Path | None, *, alone: bool, shared: bool
) -> ScopedRows:
    if held is not None:
        follower, root = Follower(index, watch=held.watch), own_folder(held.folder) / _name(index)
        return ScopedRows(lambda _: RowIndex(index, follower, root))
    if not shared:
        return ScopedRows(lambda _: RowIndex(index, Follower(index, alone=alone), None))
    server, lock = _held(index_dir / _name(index)) if index_dir else (None, None)

    def made(scope: Scope) -> RowIndex:
        name = f"{hashed(repr(sorted(scope.fields().items()))):016x}"
        follower = Follower(index, scope, shared=True)
        return RowIndex(index, follower, server and server / name)

    return ScopedRows(made, by_scope=True, held=lock)


def _held(folder: Path) -> tuple[Path, FileLock] | tuple[None, None]:
    """A folder that no other process uses from now on; None where that cannot be."""
    try:
        make_private(folder)
        held = file_lock(folder / _LOCK)
        held.acquire()
    except (LOCKED, OSError, NotImplementedError) as error:
        _log.warning("the rows of %s are kept in memory: %r", folder, error)
        return None, None
    return folder, held


def _name(index: Collection) -> str:
    name = str(index.chroma.id)
    return name if index.fields == OWN_FIELDS else f"{name}-{hashed(repr(index.fields)):016x}"
