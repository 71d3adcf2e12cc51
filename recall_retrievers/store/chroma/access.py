"""The way to a collection: a client or a locked path, and the end of both."""

from __future__ import annotations

import inspect
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.chroma.client import (
    host_of,
    path_client,
    path_of,
    registering,
)
from recall_retrievers.store.chroma.database import DATABASE, check_database, close_client
from recall_retrievers.store.chroma.errors import chroma_errors
from recall_retrievers.store.chroma.path_lock import HeldPath, hold

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_log = logging.getLogger(__name__)

_left_open: list[Access] = []  # a lock is released when nothing refers to it


@dataclass(frozen=True, slots=True)
class Access:
    """A client of Chroma, and what has to be closed with it."""

    client: ClientAPI
    own: bool  # whether we made the client; the caller's own stays open
    folder: Path | None = None  # where its files are; None = on a server or in memory
    held: HeldPath | None = None  # the locked path, if there is one
    stuck: Event = field(default_factory=Event)  # see `chroma_errors`
    process: int = field(default_factory=os.getpid)  # Chroma's engine hangs in any other

    @property
    def shared(self) -> bool:
        """Whether other processes may write there."""
        return bool(host_of(self.client))

    def close(self, *, idle: bool = True, drop: str = "") -> None:
        """Close the client and the path; the caller's own client stays open.

        A fork of the process closes nothing: all belongs to the process that opened it.

        Args:
            idle: Whether no call of Chroma is running. If one is, the client and the path stay
                open until the process ends.
            drop: The name of a collection to delete first; empty = none.
        """
        if os.getpid() != self.process:
            return
        if not idle:
            _log.warning("a call of Chroma's hangs: the store is closed, its path stays locked")
            _left_open.append(self)
            return
        try:
            if self.own:
                with registering, chroma_errors("close a client", Event()):
                    if drop:
                        self.client.delete_collection(drop)
                    close_client(self.client)
        finally:
            if self.held is not None:
                if self.own and self.held.is_last:  # nobody writes any more
                    for note in self.held.at_close.values():
                        note()
                self.held.close()


def client_access(client: object) -> Access:
    """A client of the caller; the path of a persistent one is locked.

    Raises:
        TypeError: When it is no client, or one for ``async`` code.
        StoreLockedError: When another process has its path open.
    """
    opener = getattr(client, "get_or_create_collection", None)
    if opener is None:
        raise TypeError(
            "RecallStore opens a path, a chromadb client or a chromadb collection; got "
            f"{type(client).__name__}"
        )
    if inspect.iscoroutinefunction(opener):
        raise TypeError(
            "RecallStore takes chromadb.HttpClient, not AsyncHttpClient: its own async methods "
            "keep the event loop free"
        )
    path = path_of(client)
    if not path:
        return Access(client, own=False)  # type: ignore[arg-type]  # it has the client's method
    held = hold(Path(os.path.realpath(path)), path)
    return Access(client, False, held.folder, held, stuck=held.stuck)  # type: ignore[arg-type]


def path_access(folder: Path) -> Access:
    """A client of a path, made and locked.

    Raises:
        StoreLockedError: When another process has the path open.
        StoreError: When Chroma cannot open it in this process, or it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made: {error}") from error
    held = hold(folder, str(folder))
    try:
        return Access(path_client(folder, held.stuck), True, folder, held, held.stuck)
    except BaseException:
        held.close()
        raise


def is_chroma_path(folder: Path) -> bool:
    """Whether a folder has a database of Chroma.

    Raises:
        StoreDamagedError: When it held memories, and has no database any more.
        StoreError: When it is a file, or cannot be read, or neither exists nor can be made.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"a Chroma path is a folder; {folder} is a file")
        check_database(folder)
        there = (folder / DATABASE).exists()
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be opened: {error}") from error
    return there


def check_can_be_made(folder: Path) -> None:
    """Check that a folder can be written, or made, without doing so.

    Raises:
        StoreError: When it cannot.
    """
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        cause = OSError(f"{there} may not be written")
        raise StoreError(f"the folder {folder} cannot be written, or made: {cause}") from cause
