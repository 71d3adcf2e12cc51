"""`Store`: reads, adds, changes and deletes the memories of a collection, within a scope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Never, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.concurrent import awaited, awaited_each
from recall_retrievers.core.errors import (
    MissingMemoryError,
    RecallError,
    ScopeError,
    SettingsError,
    SupersededError,
)
from recall_retrievers.core.memory import Memory, Standing, digest
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.query import Filter, check_length
from recall_retrievers.core.requests import Listing, Sessions, Spans
from recall_retrievers.core.scope import Scope, ScopeFields, ScopeInput, ScopeName
from recall_retrievers.core.settings import TimeInput, check_count
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.stage import Search
from recall_retrievers.store.chroma.fields import SUPERSEDES, WRITTEN_AT, Row, event_bounds
from recall_retrievers.store.chroma.rows import (
    MemoryInput,
    Ready,
    as_memory,
    id_is_taken,
    make_ready,
    to_metadata,
)
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import filter_where, joined
from recall_retrievers.store.conditions import (
    Changes,
    Conditions,
    MemoryChanges,
    Order,
    Position,
    RangeInput,
    TypeInput,
    distinct_ids,
)
from recall_retrievers.store.conversation import conversation
from recall_retrievers.store.opened import Opened
from recall_retrievers.store.writing import BATCH, ChangedError
from recall_retrievers.timeline.parse_time import end_of_day, parse_time

_MOST_LISTED = 1_000_000_000
_FIRST_SEEN = 16  # memories of the first batch where a progress bar is wanted

# The methods of LangGraph's store that ours has not.
_OF_LANGGRAPH = {each + name for name in ("put", "search", "list_namespaces") for each in ("", "a")}


class Store:
    """A collection within a scope; the scope of a whole store is empty.

    Attributes:
        name: The name of the collection.
        clock: Gives the time: of memories that come without one, and of what has expired.
        require_scope: The fields that the scope of a call must name here; in a view none.
    """

    name: str
    clock: Callable[[], datetime]
    require_scope: tuple[ScopeName, ...]
    _opened: Opened
    _event_times: bool
    _timezone: tzinfo | None
    _scope: Scope

    @property
    def embedding_model(self) -> str:
        """The name of the model that makes its vectors; the first memories may choose it."""
        return self._opened.embedding.model_name

    @property
    def embeds_words(self) -> bool:
        """Whether that model has vectors of single words, as the default has."""
        return self._opened.embedding.embeds_words

    @property
    def broken(self) -> bool:
        """Whether Chroma has failed, and is called no more: close the store, and open it again."""
        return self._opened.broken

    def __reduce__(self) -> Never:
        raise TypeError(
            f"a {type(self).__name__} holds an open collection and can be neither pickled nor "
            "copied; pass on its path, or the address of its server, and open it where it is needed"
        )

    # -- adding ------------------------------------------------------------------------------------

    def add(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories. A memory with a known id replaces the old one completely.

        A memory that is stored already, without any change, is neither embedded nor written again;
        one whose text stays is not embedded. So a long load of memories with ids can be run again
        after it was killed: it goes on where it ended.

        A text is stored and returned whole. Its first 50,000 characters are embedded and searched
        by words; the default model reads the first 256 tokens.

        Args:
            memories: Memories, mappings of their fields, bare texts, documents of LangChain or
                nodes of LlamaIndex. In a mapping ``user_id``, ``agent_id``, ``session_id`` and
                ``workspace`` may stand at the top, as in a file. Metadata of documents and nodes
                with the name of a field of `Memory` becomes that field.
            progress: Show progress bars on standard error if it is a terminal: one while the
                memories are checked, one while they are embedded and stored.

        Returns:
            Their ids, in order. A memory without an id gets one that sorts by time.

        Raises:
            MemoryFormatError: When a memory cannot be stored; then none is.
            ScopeError: When a field of a memory's scope is empty, or a required one is missing, or
                the memory would replace one of another owner; then none is stored.
            StoreError: When the embedding or the writing fails. Some memories may be stored then.
                ``stored`` of the error has their ids. ``unsure`` has the ids of memories for which
                it is not known.
        """
        return self.add_embedded(memories, {}, progress=progress)

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        The memories of several tasks are embedded and written together. A task that is cancelled
        may have stored the first of its memories. The other tasks are not affected.
        """
        ready = await asyncio.to_thread(self._ready, memories, progress=progress)
        ids = [each.memory.id for each in ready]
        for written in self._written(ready, progress=progress):
            await asyncio.gather(asyncio.wrap_future(written), return_exceptions=True)
        return ids

    def add_embedded(
        self,
        memories: Iterable[MemoryInput],
        vectors: Mapping[str, NDArray[np.float32]],
        *,
        progress: bool = False,
    ) -> list[str]:
        """Store memories as `add` does; those whose vector is known are not embedded.

        Args:
            memories: What to store.
            vectors: Vectors of the model of this store, by the id of their memory.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The ids, in the order of the memories.

        """
        ready = self._ready(memories, progress=progress)
        ids = [each.memory.id for each in ready]
        ready = [replace(each, vector=vectors.get(each.memory.id)) for each in ready]
        for written in self._written(ready, progress=progress):
            wait([written])
        return ids

    def _written(self, ready: list[Ready], *, progress: bool) -> Iterator[Future[None]]:
        """Write memories batch by batch: who takes a batch waits for it.

        An error says which of them are stored. With a progress bar, batches are small at first and
        grow while one takes less than a second. So the bar moves with a slow model, too.
        """
        ids, stored, size = [x.memory.id for x in ready], 0, _FIRST_SEEN if progress else BATCH
        total = len(ready)
        with progress_bar(total=total, desc="storing", unit="memories", wanted=progress) as bar:
            while ready:
                started, batch = monotonic(), ready[:size]
                written = self._opened.writer.write(batch)
                yield written
                try:
                    written.result()
                except RecallError as error:
                    _say_what_is_stored(error, ids, stored)
                    raise
                del ready[:size]  # they take room
                stored += len(batch)
                bar.update(len(batch))
                if monotonic() - started < 1:
                    size = min(2 * size, BATCH)

    def add_conversation(
        self,
        messages: Iterable[object],
        *,
        scope: ScopeInput = None,
        created_at: float | str | datetime | None = None,
        turn_before: str = "",
        progress: bool = False,
    ) -> list[str]:
        """Store the turns of a conversation, and return their ids, in order.

        A turn answers the last one of another speaker, in the same scope and less than an hour
        older. By these links a turn is found by the words of the two turns before it and the one
        after it, too; its own words count most. Only the turn itself is returned. Notes are not
        linked: the turns of one speaker alone, or texts without a speaker that have one date and no
        clock time. Greetings, thanks and bare acknowledgements ("ok") are left out, unless they
        answer a question. Storing the same turns again stores nothing twice. `add` links nothing.

        Args:
            messages: The oldest first: LangChain messages, LlamaIndex ``ChatMessage``, mappings
                with ``role`` (or ``name``), ``content`` and, if you like, ``id`` and
                ``created_at``, or memories. Messages of system and tools are left out.
            scope: The owner of the conversation, and its ``session_id``.
            created_at: When it took place, for messages without a time; None = the clock.
            turn_before: The id of the turn before the first of these, if an earlier call stored
                it.
            progress: Show a progress bar on standard error if it is a terminal.

        Raises:
            StoreError: When there is no turn with the id ``turn_before`` in the scope; and as `add`
                does.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     question = {"role": "assistant", "content": "Which pets do you have?"}
            ...     reply = {"role": "user", "content": "Three of them, all cats."}
            ...     ids = store.add_conversation([question, reply], created_at="2024-03-12")
            ...     store.get(ids)[1].content
            'Three of them, all cats.'
        """
        turns = conversation(
            messages,
            scope=self._scope.narrow(Scope.model_validate(scope)),
            created_at=None if created_at is None else parse_time(created_at, name="created_at"),
            now=self.clock(),
            turn_before=turn_before,
            stored=partial(self.get, scope=scope),
        )
        return self.add(turns, progress=progress)

    aadd_conversation = awaited(add_conversation)
    """Store a conversation as `add_conversation` does, without blocking the event loop."""

    # -- finding -----------------------------------------------------------------------------------

    def find(self, searches: Sequence[Search]) -> list[Sequence[Hit]]:
        """The memories that answer each search, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0. A keyword search scores by BM25, 0 and up.

        Raises:
            QueryError: When a text is too long.
            MissingCollectionError: When the collection does not exist, and others do; see
                ``create``.
        """
        searches = self._narrowed(searches)
        if not self._opened.to_search():
            return _nothing(searches)
        embed = self._opened.embedding.embed_query
        questions = {text: embed(text) for text in _texts(searches)}
        return self._opened.answers(searches, questions)

    async def afind(self, searches: Sequence[Search]) -> list[Sequence[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        searches = self._narrowed(searches)
        if not (self._opened.there or await asyncio.to_thread(self._opened.to_search)):
            return _nothing(searches)
        embed, texts = self._opened.embedding.aembed_query, _texts(searches)
        embedded = await asyncio.gather(*map(embed, texts))
        questions = dict(zip(texts, embedded, strict=True))
        return await asyncio.to_thread(self._opened.answers, searches, questions)

    def find_among(self, search: Search, ids: Sequence[str]) -> Sequence[Hit]:
        """The memories with these ids that answer a search, the best first.

        Only they are compared, so it takes no longer in a large collection. A search by words
        counts the words of these memories alone.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     [tea, *_] = store.add(["Ann likes tea.", "Bob drinks tea with milk."])
            ...     found = store.find_among(Search("Who drinks tea with milk?", limit=2), [tea])
            ...     [hit.memory.content for hit in found]
            ['Ann likes tea.']
        """
        [search], wanted = self._narrowed([search]), distinct_ids(ids)
        if not self._opened.to_search():
            return _nothing([search])[0]
        vector, collection = (
            self._opened.embedding.embed_query(search.text).vectors[0],
            self._opened.collection,
        )
        collection.check_dimension(vector)
        found = collection.among(vector, search, wanted)
        if search.method == "keyword":
            found = by_words(search.text, found)
        return found[: search.limit]

    afind_among = awaited(find_among)
    """Search as `find_among` does, without blocking the event loop."""

    # -- listing -----------------------------------------------------------------------------------

    def get(
        self, ids: Sequence[str], *, scope: ScopeInput = None, filter: Filter | None = None
    ) -> list[Memory]:
        """The memories with these ids, in the order of the ids; unknown ids are ignored.

        Superseded memories are returned too, since they are asked for by their ids.

        Args:
            ids: The ids.
            scope: Return only memories in this scope.
            filter: Return only memories that fulfil these conditions on metadata.
        """
        standing = Standing(self.clock(), include_superseded=True)
        conditions = Conditions.of(self._owner(scope), filter=filter, standing=standing)
        wanted = distinct_ids(ids)
        found = self._opened.among(wanted, conditions) if self._opened.found() else []
        return [memory.memory() for memory in found]

    aget = awaited(get)
    """The memories with these ids, without blocking the event loop; see `get`."""

    def memories(  # noqa: PLR0913 - conditions, each by name
        self,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        order: Order = "newest",
        limit: int | None = None,
        after: Memory | Position | None = None,
        as_of: TimeInput | None = None,
        include_superseded: bool = False,
    ) -> Iterator[Memory]:
        """The memories that fulfil all conditions, by recorded time. Rows without text are skipped.

        To read page by page, pass a ``limit``, and the last memory of a page as ``after``. Memories
        that are added or deleted in between change nothing about the others.

        Args:
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it: a `TimeRange`, or (start, end) with
                None for an open end.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            order: "newest" or "oldest" first. Memories of one moment are ordered by id. One without
                a time counts as older than all others.
            limit: How many at most. None = all.
            after: The memory, or its `Position`, after which the list begins.
            as_of: The memories as they stood at this moment: recorded by then, and neither expired
                nor superseded by then. A date without a time is the end of that day.
            include_superseded: List superseded memories, too.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Tea with Anna.", "created_at": "2024-03-05"}
            ...     ids = store.add([tea, {"content": "Anna moved.", "created_at": "2024-04-02"}])
            ...     [each.content for each in store.memories(time_range=("2024-03-01", None))]
            ['Anna moved.', 'Tea with Anna.']
        """
        standing = self._standing(as_of, include_superseded)
        conditions = Conditions.of(self._owner(scope), time_range, filter, memory_type, standing)
        if order not in get_args(Order):
            raise ValueError(f"order must be 'newest' or 'oldest'; got {order!r}")
        if limit is not None:
            check_count("limit", limit, _MOST_LISTED)
        if after is not None:
            place = after if isinstance(after, Position) else Position.of(after)
            conditions = replace(conditions, after=place.key)
        ordered = replace(conditions, newest=order == "newest", limit=limit)
        if not self._opened.found():
            return iter(())
        return (memory.memory() for memory in self._opened.memories(ordered))

    amemories = awaited_each(memories)
    """The memories that fulfil all conditions, for ``async for``; see `memories`."""

    def count(  # noqa: PLR0913 - conditions, each by name
        self,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        as_of: TimeInput | None = None,
        include_superseded: bool = False,
    ) -> int:
        """How many memories fulfil all conditions; without any, how many there are.

        Args:
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it; see `memories`.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            as_of: Those that stood at this moment; see `memories`.
            include_superseded: Count superseded memories, too.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.count(), store.count(scope={"user_id": "ann"})
            (2, 1)
        """
        standing = self._standing(as_of, include_superseded)
        conditions = Conditions.of(self._owner(scope), time_range, filter, memory_type, standing)
        return self._opened.count(conditions) if self._opened.found() else 0

    acount = awaited(count)
    """How many memories fulfil all conditions, without blocking the event loop; see `count`."""

    def several_users(self, within: Scope) -> bool:
        """Whether memories in a scope are of more than one user; asked after a search of it."""
        return self._opened.there and self._opened.several_users(self._scope.narrow(within))

    def listed(self, listing: Listing | Sessions) -> Sequence[Candidate] | Spans:
        """What a stage lists, by recorded time; of a time are also memories of an event in it.

        Sessions are those that have begun by a moment; a pause of an hour ends one.
        """
        owner, opened = self._owner(listing.scope), self._opened
        if not opened.found():
            return ()
        if isinstance(listing, Sessions):
            return opened.sessions(owner, listing.moment)
        newest, most = listing.order == "newest", listing.limit
        wanted = Conditions(owner, filter=listing.filter, standing=listing.standing, newest=newest)
        found = [] if listing.within else [*islice(opened.memories(wanted), most)]
        for during in listing.within:
            found += islice(opened.memories(replace(wanted, recorded=during)), most)
            first, last = event_bounds(during)  # of the rows that name a time
            names = {"event_start": {"$lte": last}, "event_end": {"$gte": first}}
            about = opened.memories(replace(wanted, filter=joined(listing.filter, names)))
            found += islice((x for x in about if x.matches(during) == "event"), most)
        by_id = {memory.id: memory for memory in found}
        in_order = sorted(by_id.values(), key=lambda x: Position.of(x).key, reverse=newest)
        return in_order[:most]

    # -- changing and deleting ---------------------------------------------------------------------

    def update(
        self, id: str, *, scope: ScopeInput = None, **changes: Unpack[MemoryChanges]
    ) -> Memory:
        """Change fields of a stored memory, and return it as it is now. Other fields stay.

        The text is embedded again only if it has changed. Then the times that it names are read
        again, too. A turn of a conversation keeps the turn that it answers.

        Args:
            id: The id of the memory.
            scope: Whose memory it is: only one in this scope is changed.
            **changes: What to change: ``text``, ``metadata``, ``timestamp``, ``memory_type``,
                ``expires_at``, ``events``, ``author``, ``when_to_use``, ``quality``. In
                ``metadata``, names that are left out stay; the value None takes a name out.
                ``expires_at=None`` lets the memory stay for good.

        Raises:
            MissingMemoryError: When there is no memory with this id in the scope, or it has
                expired.
            SettingsError: When a change is none that a memory can have.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     [tea] = store.add([{"content": "Ann likes tea.", "metadata": {"cups": 1}}])
            ...     changed = store.update(tea, metadata={"cups": 2}, memory_type="profile")
            ...     changed.content, changed.memory_type, changed.metadata
            ('Ann likes tea.', 'profile', {'cups': 2})
        """
        owner, wanted = self._owner(scope), Changes.model_validate(changes)

        def change(rows: Mapping[str, Row]) -> list[Ready]:
            memory = self._mine(rows, id, owner)
            zone = self._timezone or self.clock().tzinfo
            return self._ready([wanted.made_to(memory, zone, read_events=self._event_times)])

        with self._changing():
            [ready] = self._rewrite([id], change)
        return ready.memory.memory()

    aupdate = awaited(update)
    """Change a stored memory as `update` does, without blocking the event loop."""

    def supersede(self, old_id: str, new: MemoryInput, *, scope: ScopeInput = None) -> str:
        """Store a memory that takes the place of an older one, and return its id.

        Nothing is deleted. From the time of the new memory on, the old one is found only with
        ``as_of`` an earlier moment, with ``include_superseded=True``, and by questions such as
        "What was it before?". If you delete the new memory, the old one counts again. The same call
        again changes nothing, so a call that was interrupted can be repeated.

        Args:
            old_id: The id of the old memory.
            new: The new memory, as `add` takes one. It gets the scope of the old one. Without an
                id it gets one that is made of the old id and the text.
            scope: Whose memories these are: the old one must be in this scope.

        Raises:
            MissingMemoryError: When the old memory is not in the scope, or has expired.
            SettingsError: When the old one is superseded already (the error names the newest), or
                when both have one id.
            ScopeError: When the new memory has another scope.
            MemoryFormatError: When the new memory cannot be stored.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     flat = {"content": "I live in Berlin.", "created_at": "2023-01-09"}
            ...     [old] = store.add([flat])
            ...     moved = {"content": "I live in Bonn.", "created_at": "2024-05-03"}
            ...     new = store.supersede(old, moved)
            ...     [then] = store.memories(as_of="2024-01-01")
            ...     then.content, then.superseded_by == new, store.count()
            ('I live in Berlin.', True, 1)
        """
        owner, given = self._owner(scope), as_memory(new)
        new_id = given.id or digest(f"{old_id}\n{given.content}")

        def change(rows: Mapping[str, Row]) -> list[Ready]:
            old = self._mine(rows, old_id, owner)
            memory = _superseding(given, new_id, old)
            newest = self._opened.collection.newest(old)
            if newest is not old and old.superseded_by != new_id:
                raise _is_superseded(old_id, newest.id)
            [ready] = self._ready([memory])
            there = self._stored(rows, new_id)
            if there and ready.is_stored_as(*rows[new_id][1:]):  # it stays as it is
                if old.superseded_by == new_id:
                    return []
                ready = _marked(there, "", None)
            claim = f"{old_id} {(rows[old_id][2] or {}).get(WRITTEN_AT)}"
            ready = replace(ready, metadata={**ready.metadata, SUPERSEDES: claim}, guard=old.scope)
            return [ready, _marked(old, new_id, ready.memory.created_at)]

        with self._changing():
            written = self._rewrite(distinct_ids([new_id, old_id]), change)
            if written:
                self._check_first(old_id, written[0])
        return new_id

    asupersede = awaited(supersede)
    """Store what takes the place of a memory as `supersede` does, without blocking the loop."""

    def _stored(self, rows: Mapping[str, Row], id: str) -> Candidate | None:
        return self._opened.collection.candidate(rows[id]) if id in rows else None

    def _mine(self, rows: Mapping[str, Row], id: str, owner: Scope) -> Candidate:
        """The memory of a row to change; an error if it is not there, or not in the scope."""
        memory = self._stored(rows, id)
        if memory is None or not owner.holds(memory.scope) or memory.expired(self.clock()):
            raise MissingMemoryError(
                f"there is no memory {got(id)} to update in collection {self.name!r}, or not in "
                "this scope, or it has expired; `get` and `memories` return those that are there"
            )
        return memory

    @contextmanager
    def _changing(self) -> Iterator[bool]:
        """Let nobody else change memories meanwhile; False if there are none yet."""
        if self._opened.to_change():
            with self._opened.writer.changing:
                yield True
        else:
            yield False

    def _rewrite(
        self, ids: Sequence[str], change: Callable[[Mapping[str, Row]], list[Ready]]
    ) -> list[Ready]:
        """Read rows and write what they change to, in one write; again if others were quicker."""
        while True:
            rows = self._opened.collection.rows(ids) if self._opened.there else {}
            ready = [replace(each, before=rows.get(each.memory.id)) for each in change(rows)]
            with suppress(ChangedError):
                self._opened.writer.write(ready).result()
                return ready

    def _mark(self, id: str, by: str, at: datetime | None) -> None:
        """Write which memory supersedes a stored one, and since when; "" = none does."""

        def change(rows: Mapping[str, Row]) -> list[Ready]:
            memory = self._stored(rows, id)
            return [] if memory is None else [_marked(memory, by, at)]

        self._rewrite([id], change)

    def _check_first(self, old_id: str, new: Ready) -> None:
        """Take a new memory back if another program has superseded the old one just before.

        Chroma has no write on a condition. It returns rows in the order in which they were stored,
        so both programs see the same one as the first.
        """
        collection, new_id = self._opened.collection, new.memory.id
        first = collection.ids({SUPERSEDES: {"$eq": new.metadata[SUPERSEDES]}})[:1]
        if first not in ([], [new_id]):
            if new.before is None:
                self._opened.writer.delete([new_id]).result()
            [winner] = collection.read(first, None).values()
            self._mark(old_id, winner.id, winner.created_at)
            raise _is_superseded(old_id, winner.id)

    def _bring_back(self, ids: Sequence[str]) -> None:
        """Let memories count again that are superseded by those that are to be deleted.

        If another memory supersedes the deleted one, it now supersedes these as well. This is
        written first. So if the process is killed, the same deletion can be repeated.
        """
        gone, collection = set(ids), self._opened.collection
        for old in collection.superseded_by(ids):
            heir, rest = old, set(gone) if old.id not in gone else set()
            while heir.superseded_by in rest:
                rest.remove(heir.superseded_by)
                heir = collection.read([heir.superseded_by], None)[heir.superseded_by]
            if heir is not old:
                self._mark(old.id, heir.superseded_by, heir.superseded_at)

    def delete(  # noqa: PLR0913 - conditions, each by name
        self,
        ids: Sequence[str] | None = None,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        everything: bool = False,
    ) -> int:
        """Delete the memories that fulfil all conditions, and return their number.

        Superseded and expired ones are deleted, too. What a deleted memory has superseded counts
        again. A scope alone is no condition: ``everything=True`` deletes all of its memories.

        Args:
            ids: Only memories with these ids; unknown ids are ignored. An empty list deletes
                nothing.
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it; see `memories`.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            everything: Delete all memories of the scope; without a scope, all of the store.

        Raises:
            SettingsError: When there is neither a condition nor ``everything``, when there are
                both, or when a filter fits every memory.
            StoreError: When the deleting fails: then some of the memories may be deleted.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.delete(scope={"user_id": "ann"}, everything=True), store.count()
            (1, 1)
        """
        wanted = None if ids is None else distinct_ids(ids)
        conditions = Conditions.of(self._owner(scope), time_range, filter, memory_type)
        conditions.check_deleting(wanted, everything)
        with self._changing() as there:  # or an update could store again what is deleted meanwhile
            fitting = self._opened.fitting(wanted, conditions) if there else []
            if fitting:
                self._bring_back(fitting)
                self._opened.writer.delete(fitting).result()
        return len(fitting)

    adelete = awaited(delete)
    """Delete the memories that fulfil all conditions, without blocking the event loop."""

    def purge(self, *, scope: ScopeInput = None, timestamp: TimeInput | None = None) -> int:
        """Delete the memories that have expired, and return their number.

        No search finds them any more. Until the purge they take room, and a question with an
        earlier ``timestamp`` still finds them. Memories that are only superseded stay. What an
        expired one has superseded stays superseded.

        Args:
            scope: Only memories in this scope.
            timestamp: Those that have expired by this moment. None = the clock.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     parcel = {"content": "A parcel comes.", "expires_at": "2024-03-06"}
            ...     ids = store.add([parcel, "Ann likes tea."])
            ...     store.count(), store.purge(), store.purge()
            (1, 1, 0)
        """
        owner = self._owner(scope)
        moment = self.clock() if timestamp is None else parse_time(timestamp)
        with self._changing() as there:
            return self._opened.purge(moment, owner) if there else 0

    apurge = awaited(purge)
    """Delete the memories that have expired as `purge` does, without blocking the event loop."""

    def for_scope(self, **fields: Unpack[ScopeFields]) -> ScopedStore:
        """A view that reads, writes and deletes the memories of one scope, and no others.

        Give it to an agent, a tool or a server: it takes the place of a store there.

        Args:
            **fields: ``user_id``, ``agent_id``, ``session_id``, ``workspace``: at least one of
                them, and those of ``require_scope``.

        Raises:
            ScopeError: When no field is named, one is empty, or a required one is missing.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     ann, bob = store.for_scope(user_id="ann"), store.for_scope(user_id="bob")
            ...     ids = ann.add(["I like tea."])
            ...     bob.get(ids), bob.delete(ids), ann.count()
            ([], 0, 1)
        """
        scope = Scope.model_validate(dict(fields))
        if not scope.fields():
            raise ScopeError('for_scope must name the scope, as in for_scope(user_id="ann")')
        return ScopedStore(self, self._owner(scope))

    # -- what every call goes through --------------------------------------------------------------

    def _owner(self, scope: ScopeInput) -> Scope:
        """The scope of a call, within the one of this store, checked for what it must name."""
        self._opened.check_open()
        owner = self._scope.narrow(Scope.model_validate(scope))
        owner.require(self.require_scope)
        return owner

    def _standing(self, as_of: TimeInput | None, include_superseded: bool) -> Standing:
        if as_of is None:
            return Standing(self.clock(), include_superseded=include_superseded)
        moment = end_of_day(as_of, self._timezone, name="as_of")
        return Standing(moment, as_it_stood=True, include_superseded=include_superseded)

    def _narrowed(self, searches: Sequence[Search]) -> Sequence[Search]:
        """The searches at a moment and in this store's scope, checked for what it must name."""
        for search in searches:
            check_length(search.text)
        owners, now = [self._owner(search.scope) for search in searches], self.clock()
        return [
            (search if owner == search.scope else replace(search, scope=owner)).at(now)
            for search, owner in zip(searches, owners, strict=True)
        ]

    def _ready(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[Ready]:
        """Check memories as `add` does, before any of them is stored; an empty store is made."""
        self._opened.check_open()
        ready = make_ready(
            memories,
            self.clock,
            read_events=self._event_times,
            timezone=self._timezone,
            within=self._scope,
            progress=progress,
        )
        for each in ready:
            each.memory.scope.require(self.require_scope)
        if ready:  # only now: what is refused makes nothing
            self._opened.make(ready)
            self._opened.tell_language(ready)
        if self._opened.to_change() and (self.require_scope or self._scope.fields()):
            # Checked once more when it is written: others may write in between.
            ready = [replace(each, guard=self._guard(each)) for each in ready]
            guards = {each.memory.id: each.guard for each in ready if not each.is_new}
            for row_id, stored in self._opened.collection.read(list(guards), None).items():
                if not guards[row_id].holds(stored.scope):
                    raise id_is_taken(row_id, guards[row_id])
        return ready

    def _guard(self, ready: Ready) -> Scope:
        fields = ready.memory.scope.fields()
        required = {name: fields[name] for name in self.require_scope}
        return Scope.model_validate({**required, **self._scope.fields()})

    if not TYPE_CHECKING:  # checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Never:
            # LangGraph takes any object as its ``store``, checks nothing, and calls these later.
            problem = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in _OF_LANGGRAPH:
                problem += ": it is no store of LangGraph; pass RecallGraphStore(store), which is "
                problem += "imported from langchain_recall"
            raise AttributeError(problem, name=name, obj=self)


class ScopedStore(Store):
    """The memories of one scope in a store; `RecallStore.for_scope` makes it.

    It has the methods of a store that read, write and delete. Each of them is limited to the scope:
    memories of others do not exist in it. What is added without a scope gets this one. A
    ``scope`` in a call can narrow it. It works as long as its store is open.

    Args:
        store: The store, or a wider view.
        scope: The scope.
    """

    def __init__(self, store: Store, scope: Scope) -> None:
        vars(self).update(vars(store))  # it has what its store has, within the scope
        self._scope = scope
        self.require_scope = ()  # the scope of the view names what the store requires

    @property
    def scope(self) -> Scope:
        """The scope of all its memories."""
        return self._scope

    def __repr__(self) -> str:
        return f"ScopedStore(name={self.name!r}, scope={self._scope.fields()})"


def _say_what_is_stored(error: RecallError, ids: Sequence[str], stored: int) -> None:
    """Complete the error of a batch for a call whose first memories are stored."""
    error.stored = (*ids[:stored], *error.stored)
    if error.stored or error.unsure:
        unsure = f"; of {len(error.unsure):,} more it is not known (`unsure`)"
        said = (
            f"{error}. Of {len(ids):,} memories {len(error.stored):,} are stored; the error has "
            f"their ids (`stored`){unsure if error.unsure else ''}. Delete those before you add "
            "all again, unless they have ids of your own"
        )
        error.args = (said,)


def _texts(searches: Sequence[Search]) -> list[str]:
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))


def _nothing(searches: Sequence[Search]) -> list[Sequence[Hit]]:
    """The answers of a collection that does not exist yet; a wrong filter is wrong there, too."""
    for search in searches:
        filter_where(search.filter, timezone=search.timezone)
    return [[] for _ in searches]


def _superseding(memory: Memory, new_id: str, old: Candidate) -> Memory:
    """A memory that supersedes an old one: current, and of the same owner."""
    if new_id == old.id:
        raise SettingsError("supersede", (f"memory {got(new_id)} cannot supersede itself",))
    if not memory.scope.holds(old.scope):
        mine, other = got(memory.scope.fields()), got(old.scope.fields())
        raise ScopeError(f"a memory of {mine} cannot supersede one of {other}; leave its scope out")
    current = {"id": new_id, "scope": old.scope, "superseded_by": "", "superseded_at": None}
    return memory.model_copy(update=current)


def _marked(memory: Candidate, by: str, at: datetime | None) -> Ready:
    """A stored memory that another one supersedes since a moment; "" = none does."""
    marked = replace(memory, superseded_by=by, superseded_at=at)
    return Ready(marked, to_metadata(marked), is_new=False)


def _is_superseded(row_id: str, by: str) -> SupersededError:
    problem = f"memory {got(row_id)} is superseded; supersede {got(by)} instead"
    return SupersededError("supersede", (problem,))
