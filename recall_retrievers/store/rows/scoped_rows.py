"""The row indexes of this process: all stores on one collection share them.

Of a collection on a server, a question reads the rows of its scope, and no others. Each scope has
an index of its own: the one of a user has no part in the one of a user and a session.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.system import LOCKED, file_lock, make_private
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import OWN_FIELDS
from recall_retrievers.store.chroma.place import Place
from recall_retrievers.store.rows.database import hashed, own_folder
from recall_retrievers.store.rows.follower import Follower
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.table import Change

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

_LOCK = ".lock"
_A_SCOPE = 500  # rows: what a scope takes, however few it has
_MOST = 200_000  # rows of all scopes together, of some 2.5 KB

_open: dict[tuple[str, str, str, str], ScopedRows] = {}
_opening = threading.Lock()


class ScopedRows:
    """The row indexes of one collection: one for all rows, or on a server one for each scope.

    Indexes of scopes that were not asked for the longest are let go.
    """

    def __init__(
        self, index: Collection, place: Place | None, index_dir: Path | None, *, alone: bool
    ) -> None:
        self._index, self._place, self._alone = index, place, alone
        self._path = None if place is None else place.held
        self.by_scope = place is None or place.shared
        self.holders = 0  # the stores of this process that have it open
        self._folder: Path | None = None
        self._held: FileLock | None = None  # on a folder of the user's
        name = str(index.chroma.id)
        if index.fields != OWN_FIELDS:
            name += f"-{hashed(repr(index.fields)):016x}"
        if self._path is not None:
            self._folder = own_folder(self._path.folder) / name
        elif self.by_scope and index_dir is not None:
            self._held = _held(index_dir / name)
            self._folder = None if self._held is None else index_dir / name
        self._lock = threading.Lock()
        self._by_scope = OrderedDict[Scope, RowIndex]()
        self._questions = Counter[Scope]()  # that run now
        if not self.by_scope:
            self._by_scope[ANYBODY] = self._made(ANYBODY)

    @contextmanager
    def using(self, scope: Scope) -> Iterator[RowIndex]:
        """The row index that has the rows of a scope, for one question."""
        key = self.key(scope)
        with self._lock:
            if key not in self._by_scope:
                self._by_scope[key] = self._made(key)
            self._by_scope.move_to_end(key)  # it is now the last to go
            rows = self._by_scope[key]
            self._questions[key] += 1
        try:
            yield rows
        finally:
            with self._lock:
                self._questions[key] -= 1
                surplus = self._surplus()
            for each in surplus:
                each.close()

    def at_hand(self, scope: Scope) -> RowIndex | None:
        """The row index that has the rows of a scope, if it was asked lately and knows them."""
        rows = self._by_scope.get(self.key(scope))
        return rows if rows is not None and rows.ready else None

    def key(self, scope: Scope) -> Scope:
        """The scope whose row index has the rows of a scope."""
        return scope if self.by_scope else ANYBODY

    def _made(self, scope: Scope) -> RowIndex:
        follower = Follower(self._index, self._place, scope, alone=self._alone)
        folder = self._folder
        if folder is not None and self.by_scope:
            folder /= f"{hashed(repr(sorted(scope.fields().items()))):016x}"
        return RowIndex(self._index, follower, folder)

    # -- writes of this process -------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let this process write rows, in Chroma and then here."""
        indexes = self._all()
        for _, rows in indexes:
            rows.start()
        with nullcontext() if self._path is None else self._path.watch.writing():
            yield
        for _, rows in indexes:
            rows.note()

    def take(self, change: Change) -> None:
        """Take over what was just written; a row that has left a scope is forgotten there."""
        read = [self._index.candidate(row) for row in change.rows] if self.by_scope else []
        for scope, index in self._all():
            if self.by_scope:
                # Without token vectors: only the rows that this process has written had any.
                here = [n for n, each in enumerate(read) if each and scope.holds(each.scope)]
                others = [row[0] for n, row in enumerate(change.rows) if n not in here]
                index.take(change.part(here, [*change.gone, *others]))
            else:
                index.take(change)

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
        rows = sum(max(len(each.table), _A_SCOPE) for each in self._by_scope.values())
        for scope in list(self._by_scope)[:-1]:
            if rows > _MOST and not self._questions[scope]:
                gone.append(self._by_scope.pop(scope))
                rows -= max(len(gone[-1].table), _A_SCOPE)
                del self._questions[scope]
        return gone


def open_rows(
    index: Collection, place: Place | None, index_dir: Path | None, *, alone: bool
) -> ScopedRows:
    """The row indexes of a collection, for one more store; see `let_go` and `Follower`."""
    path = None if place is None else place.held
    shared = place is None or place.shared
    folder = str(path.folder) if path else ""
    key = folder, str(index.chroma.id), repr(index.fields), str(index_dir if shared else None)
    with _opening:
        if key not in _open:
            _open[key] = ScopedRows(index, place, index_dir, alone=alone)
        _open[key].holders += 1
        return _open[key]


def let_go(rows: ScopedRows) -> None:
    """Let row indexes go; for the last store of this process they are closed."""
    with _opening:
        rows.holders -= 1
        if rows.holders:
            return
        for key in [key for key, each in _open.items() if each is rows]:
            del _open[key]
    rows.close()


def indexes_of(collection: ChromaCollection, folder: Path | None) -> list[ScopedRows]:
    """The row indexes that have to know what is written to a collection; its path may be known."""
    with _opening:
        return [
            rows
            for (place, row_id, *_), rows in _open.items()
            if row_id == str(collection.id) and (folder is None or place in ("", str(folder)))
        ]


def _held(folder: Path) -> FileLock | None:
    """The lock on a folder that no other process uses from now on; None where that cannot be."""
    try:
        make_private(folder)
        held = file_lock(folder / _LOCK)
        held.acquire()
    except (LOCKED, OSError, NotImplementedError) as error:
        _log.warning("the rows of %s are kept in memory: %r", folder, error)
        return None
    return held
