"""The row indexes of one collection; on a server, those of the scopes that were asked for last.

There a question reads the rows of its scope, and no others. Each scope has an index of its own: the
one of a user has no part in the one of a user and a session.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar

from filelock import FileLock, Timeout
from pydantic import Field

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.settings import Settings
from recall_retrievers.store.chroma.fields import Row
from recall_retrievers.store.disk.closing import make_private
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.rows.row_index import RowIndex

_log = logging.getLogger(__name__)

_LOCK = ".lock"
_A_SCOPE = 500  # rows: what a scope takes, however few it has


class ServerRows(Settings):
    """What a store keeps of a collection on a server; `RecallStore` documents it."""

    public_name: ClassVar[str] = "RecallStore"

    index_rows: int = Field(ge=1, le=100_000_000)
    index_dir: Path | None
    cache_mb: float = Field(ge=0, le=1_000_000)


class ScopedRows:
    """The row indexes of one collection: one for all rows, or one for each scope.

    Indexes of scopes that were not asked for the longest are let go.

    Args:
        made: Makes the row index of a scope; of an empty one, that of all rows.
        most: How many rows those of scopes may have together; one that is asked is read wholly.
            None = there is one for all rows.
        held: The lock on their folder; None = there is none.

    Attributes:
        by_scope: Whether each scope has a row index of its own, and the whole collection none.
        holders: How many stores of this process have it open.
    """

    def __init__(
        self,
        made: Callable[[Scope], RowIndex],
        most: int | None = None,
        held: FileLock | None = None,
    ) -> None:
        self._made = made
        self._most = most or 0
        self._held = held
        self._lock = threading.Lock()
        self._by_scope: OrderedDict[Scope, RowIndex] = OrderedDict()
        self._questions: Counter[Scope] = Counter()  # that run now
        self.by_scope = most is not None
        self.holders = 0
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

    # -- writes of this process -------------------------------------------------------------------

    def start(self) -> None:
        """Let all of them take note of what is written from now on."""
        for _, rows in self._all():
            rows.start()

    def put(self, rows: Sequence[Row], memories: Sequence[Candidate], embedded: Embedded) -> None:
        """Take over rows that were just stored; a row that has left a scope is forgotten there."""
        for scope, index in self._all():
            wanted = scope.fields().items()
            inside = [
                all(getattr(each.scope, name) == value for name, value in wanted)
                for each in memories
            ]
            here = [place for place, fits in enumerate(inside) if fits]
            if self.by_scope and here:
                # Without token vectors: only the rows that this process has written had any.
                vectors = Embedded(embedded.vectors[here])
                index.put([rows[x] for x in here], [memories[x] for x in here], vectors)
            elif here:
                index.put(rows, memories, embedded)
            if len(here) < len(rows):
                index.drop([row[0] for row, fits in zip(rows, inside, strict=True) if not fits])

    def drop(self, ids: Sequence[str]) -> None:
        """Forget rows that were just deleted."""
        for _, index in self._all():
            index.drop(ids)

    def close(self) -> None:
        """Let everything go."""
        for _, rows in self._all():
            rows.close()
        if self._held is not None:
            self._held.release()

    def _all(self) -> list[tuple[Scope, RowIndex]]:
        with self._lock:
            return list(self._by_scope.items())

    def _surplus(self) -> list[RowIndex]:
        """The indexes to let go, taken out."""
        gone = []
        rows = sum(max(len(each), _A_SCOPE) for each in self._by_scope.values())
        for scope in list(self._by_scope)[:-1]:
            if rows <= self._most:
                break
            if not self._questions[scope]:
                index = self._by_scope.pop(scope)
                rows -= max(len(index), _A_SCOPE)
                gone.append(index)
                del self._questions[scope]
        return gone


def folder_of(root: Path | None, scope: Scope) -> Path | None:
    """The folder of the row index of a scope."""
    name = repr(sorted(scope.fields().items())).encode("utf-8", "surrogatepass")
    return root and root / blake2b(name, digest_size=8).hexdigest()


def held(folder: Path) -> tuple[Path, FileLock] | tuple[None, None]:
    """A folder that no other process uses from now on; None where that cannot be."""
    try:
        make_private(folder)
        lock = FileLock(folder / _LOCK, timeout=0, thread_local=False)
        lock.acquire()
    except (Timeout, OSError, NotImplementedError) as error:
        _log.warning("the rows of %s are kept in memory: %r", folder, error)
        return None, None
    return folder, lock
