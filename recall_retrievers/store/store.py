"""`Store`: reads, adds, changes and deletes the memories of a collection, within a scope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Final, Never, Unpack, get_args

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.concurrent import awaited, awaited_each
from recall_retrievers.core.errors import (
    MissingMemoryError,
    RecallError,
    ScopeError,
    SettingsError,
    StoreError,
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
from recall_retrievers.store.chroma.errors import LOST
from recall_retrievers.store.chroma.fields import SUPERSEDES, WRITTEN_AT, event_bounds
from recall_retrievers.store.chroma.rows import (
    MemoryInput,
    Ready,
    as_memory,
    id_is_taken,
    make_ready,
    to_metadata,
)
from recall_retrievers.store.chroma.search_text import by_words, index_text
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
from recall_retrievers.store.embedding.local_model import Embedded
from recall_retrievers.store.named_collection import NamedCollection
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

    def __init__(
        self,
        opened: NamedCollection,
        clock: Callable[[], datetime],
        *,
        event_times: bool,
        timezone: tzinfo | None,
        require_scope: tuple[ScopeName, ...],
    ) -> None:
        self.name: Final = opened.name
        self.clock: Final = clock
        self.require_scope = require_scope
        self._opened = opened
        self._event_times = event_times
        self._timezone = timezone
        self._scope = Scope()

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

    # -- adding ------------------------------------------------------------------------------------

    def add(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories. A memory with a known id replaces the old one completely.

        A memory that is stored already, without any change, is neither embedded nor written again.
        So a long load of memories with ids can be run again after it was killed: it goes on where
        it ended.

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
            ForeignCollectionError: When somebody else made the collection.
            MemoryFormatError: When a memory cannot be stored; then none is.
            ScopeError: When a field of a memory's scope is empty, or a required one is missing, or
                the memory would replace one of another owner; then none is stored.
            StoreError: When the embedding or the writing fails. Some memories may be stored then.
                ``stored`` of the error has their ids. ``unsure`` has the ids of memories for which
                it is not known.
        """
        ready = self._ready(memories, progress=progress)
        ids = [each.memory.id for each in ready]
        with _in_batches(ready, ids, progress) as batches:
            for batch in batches:
                self._opened.made().writer.write(batch).result()
        return ids

    async def aadd(self, memories: Iterable[MemoryInput], *, progress: bool = False) -> list[str]:
        """Store memories as `add` does, without blocking the event loop.

        The memories of several tasks are embedded and written together. A task that is cancelled
        may have stored the first of its memories. The other tasks are not affected.
        """
        ready = await asyncio.to_thread(self._ready, memories, progress=progress)
        ids = [each.memory.id for each in ready]
        with _in_batches(ready, ids, progress) as batches:
            for batch in batches:
                await asyncio.wrap_future(self._opened.made().writer.write(batch))
        return ids

    def add_conversation(
        self,
        messages: Iterable[object],
        *,
        scope: ScopeInput = None,
        created_at: float | str | datetime | None = None,
        turn_before: str = "",
        progress: bool = False,
    ) -> list[str]:
        """Store the turns of a conversation; the words around a turn find it, too.

        A turn answers the last one of another speaker, in the same scope and less than an hour
        older. By these links keyword search reads a turn together with the two turns before it and
        the one after it; its own words count most. Only the turn itself is returned. Notes are not
        linked: the turns of one speaker alone, or texts without a speaker that have one date and no
        clock time. Storing the same turns again stores nothing twice. `add` links nothing.

        Args:
            messages: The oldest first: LangChain messages, LlamaIndex ``ChatMessage``, mappings
                with ``role`` (or ``name``), ``content`` and, if you like, ``id`` and
                ``created_at``, or memories. Messages of system and tools are left out.
            scope: The owner of the conversation, and its ``session_id``.
            created_at: When it took place, for messages without a time; None = the clock.
            turn_before: The id of the turn before the first of these, if an earlier call stored
                it.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The ids of the turns, in order.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            MemoryFormatError: When a message cannot be stored; then none is.
            StoreError: When there is no turn with the id ``turn_before`` in the scope.
            ScopeError: As `add` does.

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
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
            QueryError: When a text is too long.
            ScopeError: When the scope of a search lacks a field of ``require_scope``.
            MissingCollectionError: When the collection does not exist, and others do; see
                ``create``.
        """
        searches = self._narrowed(searches)
        live = self._opened.to_search()
        if live is None:
            return _nothing(searches)
        embed = self._opened.embedding.embed_query
        questions = {text: embed(text) for text in _texts(searches)}
        return live.answers(searches, questions)

    async def afind(self, searches: Sequence[Search]) -> list[Sequence[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        searches = self._narrowed(searches)
        live = self._opened.live or await asyncio.to_thread(self._opened.to_search)
        if live is None:
            return _nothing(searches)
        embed, texts = self._opened.embedding.aembed_query, _texts(searches)
        embedded = await asyncio.gather(*map(embed, texts))
        questions = dict(zip(texts, embedded, strict=True))
        return await asyncio.to_thread(live.answers, searches, questions)

    def find_among(self, search: Search, ids: Sequence[str]) -> Sequence[Hit]:
        """The memories with these ids that answer a search, the best first.

        Only they are compared, so it takes no longer in a large collection. A search by words
        counts the words of these memories alone.

        Raises:
            TypeError: When the ids are not a list of texts.
            StoreError: As `find` does.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     [tea, *_] = store.add(["Ann likes tea.", "Bob drinks tea with milk."])
            ...     found = store.find_among(Search("Who drinks tea with milk?", limit=2), [tea])
            ...     [hit.memory.content for hit in found]
            ['Ann likes tea.']
        """
        [search], wanted = self._narrowed([search]), distinct_ids(ids)
        live = self._opened.to_search()
        if live is None:
            return _nothing([search])[0]
        vector = self._opened.embedding.embed_query(search.text).vectors[0]
        live.collection.check_dimension(vector)
        found = live.collection.among(vector, search, wanted)
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

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.
        """
        owner = self._owner(scope)
        wanted = distinct_ids(ids)
        search = Conditions.of(owner, filter=filter).search()
        live = self._opened.found()
        if live is None:
            return []
        memories = live.collection.read(wanted, live.collection.filter_where(search))
        now = self.clock()
        present = (memories[row_id] for row_id in wanted if row_id in memories)
        mine = [each for each in present if owner.holds(each.scope) and not each.expired(now)]
        return [memory.memory() for memory in mine]

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

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     ids = store.add([
            ...         {"content": "Tea with Anna.", "created_at": "2024-03-05"},
            ...         {"content": "The dentist called.", "created_at": "2024-03-12"},
            ...         {"content": "Anna moved.", "created_at": "2024-04-02"},
            ...     ])
            ...     for memory in store.memories(time_range=("2024-03-01", None), limit=2):
            ...         print(memory.content)
            Anna moved.
            The dentist called.
        """
        owner = self._owner(scope)
        standing = self._standing(as_of, include_superseded)
        conditions = Conditions.of(owner, time_range, filter, memory_type, standing)
        if order not in get_args(Order):
            raise ValueError(f"order must be 'newest' or 'oldest'; got {order!r}")
        if limit is not None:
            check_count("limit", limit, _MOST_LISTED)
        if after is not None:
            place = after if isinstance(after, Position) else Position.of(after)
            conditions = replace(conditions, after=place.key)
        ordered = replace(conditions, newest=order == "newest", limit=limit)
        live = self._opened.found()
        if live is None:
            return iter(())
        return (memory.memory() for memory in live.memories(ordered))

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

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.count(), store.count(scope={"user_id": "ann"})
            (2, 1)
        """
        owner = self._owner(scope)
        standing = self._standing(as_of, include_superseded)
        conditions = Conditions.of(owner, time_range, filter, memory_type, standing)
        live = self._opened.found()
        return 0 if live is None else live.count(conditions)

    acount = awaited(count)
    """How many memories fulfil all conditions, without blocking the event loop; see `count`."""

    def several_users(self, within: Scope) -> bool:
        """Whether memories in a scope are of more than one user; asked after a search of it."""
        live = self._opened.live
        return live is not None and live.several_users(self._scope.narrow(within))

    def listed(self, listing: Listing | Sessions) -> Sequence[Candidate] | Spans:
        """What a stage lists, by recorded time; of a time are also memories of an event in it.

        Sessions are those that have begun by a moment; a pause of an hour ends one.
        """
        owner, live = self._owner(listing.scope), self._opened.found()
        if live is None:
            return ()
        if isinstance(listing, Sessions):
            return live.sessions(owner, listing.moment)
        newest, most = listing.order == "newest", listing.limit
        wanted = Conditions(owner, filter=listing.filter, standing=listing.standing, newest=newest)
        found = [] if listing.within else [*islice(live.memories(wanted), most)]
        for during in listing.within:
            found += islice(live.memories(replace(wanted, recorded=during)), most)
            first, last = event_bounds(during)  # of the rows that name a time
            names = {"event_start": {"$lte": last}, "event_end": {"$gte": first}}
            about = live.memories(replace(wanted, filter=joined(listing.filter, names)))
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
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the writing fails.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     [tea] = store.add([{"content": "Ann likes tea.", "metadata": {"cups": 1}}])
            ...     changed = store.update(tea, metadata={"cups": 2}, memory_type="profile")
            ...     changed.content, changed.memory_type, changed.metadata
            ('Ann likes tea.', 'profile', {'cups': 2})
        """
        owner, wanted = self._owner(scope), Changes.model_validate(changes)
        live = self._opened.to_change()
        if live is None:
            raise _missing(id, self.name)
        with live.writer.changing:
            now, vectors = self.clock(), dict[str, Embedded]()
            while True:  # until nobody changes it meanwhile
                before, stored = live.collection.row(id)
                if stored is None or not owner.holds(stored.scope) or stored.expired(now):
                    raise _missing(id, self.name)
                zone = self._timezone or now.tzinfo
                memory = wanted.made_to(stored, zone, read_events=self._event_times)
                [ready] = self._ready([memory])
                text = index_text(memory)
                if text not in vectors:
                    vectors[text] = self._vector(live, stored, ready.memory)
                with suppress(ChangedError):
                    live.writer.rewrite([ready], [before], [vectors[text]]).result()
                    break
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
            ScopeError: When the new memory has another scope; and as `update` does.
            MemoryFormatError: When the new memory cannot be stored.
            StoreError: As `update` does.

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
        owner = self._owner(scope)
        live = self._opened.to_change()
        if live is None:
            raise _missing(old_id, self.name)
        with live.writer.changing:
            while True:
                with suppress(ChangedError):
                    return self._supersede(live, owner, old_id, as_memory(new))

    asupersede = awaited(supersede)
    """Store what takes the place of a memory as `supersede` does, without blocking the loop."""

    def _supersede(self, live: Opened, owner: Scope, old_id: str, new: Memory) -> str:
        """Store what supersedes a memory, and mark that one, in one write: one of them counts."""
        row, old = live.collection.row(old_id)
        if not row or not old or not owner.holds(old.scope) or old.expired(self.clock()):
            raise _missing(old_id, self.name)
        memory = _superseding(new, old)
        newest = live.collection.newest(old)
        if newest is not old and old.superseded_by != memory.id:
            raise _is_superseded(old_id, newest.id)
        [ready] = self._ready([memory])
        before, stored = live.collection.row(memory.id)
        if before and stored and ready.is_stored_as(*before[1:]):  # it stays as it is
            if old.superseded_by == memory.id:
                return memory.id
            ready = _marked(stored, "", None)
        claim = f"{old_id} {(row[2] or {}).get(WRITTEN_AT)}"
        ready = replace(ready, metadata={**ready.metadata, SUPERSEDES: claim}, guard=old.scope)
        marked = _marked(old, memory.id, ready.memory.created_at)
        vectors = self._vector(live, stored, ready.memory), self._vector(live, old, old)
        live.writer.rewrite([ready, marked], [before, row], vectors).result()
        self._check_first(live, old_id, memory.id, claim, is_new=before is None)
        return memory.id

    def _check_first(
        self, live: Opened, old_id: str, new_id: str, claim: str, *, is_new: bool
    ) -> None:
        """Take a new memory back if another program has superseded the old one just before.

        Chroma has no write on a condition. It returns rows in the order in which they were stored,
        so both programs see the same one as the first.
        """
        first = live.collection.ids({SUPERSEDES: {"$eq": claim}})[:1]
        if first not in ([], [new_id]):
            if is_new:
                live.writer.delete([new_id]).result()
            [winner] = live.collection.read(first, None).values()
            self._mark(live, old_id, winner.id, winner.created_at)
            raise _is_superseded(old_id, winner.id)

    def _mark(self, live: Opened, id: str, by: str, at: datetime | None) -> None:
        """Write which memory supersedes a stored one, and since when; "" = none does."""
        while True:
            before, stored = live.collection.row(id)
            if not stored:
                raise _missing(id, self.name)
            vector = self._vector(live, stored, stored)
            with suppress(ChangedError):
                return live.writer.rewrite([_marked(stored, by, at)], [before], [vector]).result()

    def _vector(self, live: Opened, stored: Candidate | None, memory: Candidate) -> Embedded:
        """The vector of a memory: the one that is stored, where the text is the same."""
        text = index_text(memory)
        if stored is not None and index_text(stored) == text:
            try:
                for vector in live.collection.vectors([memory.id]).values():
                    return Embedded(vector[None])
            except StoreError as error:
                if LOST not in str(error):
                    raise
        return self._opened.embedding.embed(text)

    def _bring_back(self, live: Opened, ids: Sequence[str]) -> None:
        """Let memories count again that are superseded by those that are to be deleted.

        If another memory supersedes the deleted one, it now supersedes these as well. This is
        written first. So if the process is killed, the same deletion can be repeated.
        """
        gone = set(ids)
        for old in live.collection.superseded_by(ids):
            heir, rest = old, set(gone) if old.id not in gone else set()
            while heir.superseded_by in rest:
                rest.remove(heir.superseded_by)
                heir = live.collection.read([heir.superseded_by], None)[heir.superseded_by]
            if heir is not old:
                self._mark(live, old.id, heir.superseded_by, heir.superseded_at)

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
        """Delete the memories that fulfil all conditions, superseded ones too; see `memories`.

        Superseded memories that fulfil them are deleted, too, and expired ones. What a deleted
        memory has superseded counts again.

        A scope alone is no condition: pass ``everything=True`` to delete all of its memories.

        Args:
            ids: Only memories with these ids; unknown ids are ignored. An empty list deletes
                nothing.
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it; see `memories`.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            everything: Delete all memories of the scope; without a scope, all of the store.

        Returns:
            How many were deleted.

        Raises:
            SettingsError: When there is neither a condition nor ``everything``, when there are
                both, or when a filter fits every memory.
            FilterError: When the filter cannot match anything.
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
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
        live = self._opened.to_change()
        if live is None:
            return 0
        with live.writer.changing:  # or an update could store again what is deleted meanwhile
            fitting = live.fitting(wanted, conditions)
            self._bring_back(live, fitting)
            live.writer.delete(fitting).result()
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

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the deleting fails.

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
        live = self._opened.to_change()
        if live is None:
            return 0
        with live.writer.changing:
            return live.purge(moment, owner)

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
        """Which memories count in a call."""
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
        # Only now: what is refused makes nothing.
        live = self._opened.made(ready) if ready else self._opened.found()
        if live is not None:
            live.collection.check_writable()
            if self.require_scope or self._scope.fields():
                # Checked once more when it is written: others may write in between.
                ready = [replace(each, guard=self._guard(each)) for each in ready]
                guards = {each.memory.id: each.guard for each in ready if not each.is_new}
                for row_id, stored in live.collection.read(list(guards), None).items():
                    if not guards[row_id].holds(stored.scope):
                        raise id_is_taken(row_id, guards[row_id])
        return ready

    def _guard(self, ready: Ready) -> Scope:
        """The scope in which a row must be that a memory replaces."""
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

    def __reduce__(self) -> Never:
        raise TypeError("a ScopedStore can be neither pickled nor copied; make it where it is used")


@contextmanager
def _in_batches(
    ready: list[Ready], ids: Sequence[str], progress: bool
) -> Iterator[Iterator[list[Ready]]]:
    """Take the memories batch by batch; an error then says which of them are stored.

    A batch counts as stored, and is released, when the next one is taken. With a progress bar,
    batches are small at first and grow while one takes less than a second. So the bar moves with a
    slow model, too.
    """
    stored = 0

    def batches() -> Iterator[list[Ready]]:
        nonlocal stored
        size = _FIRST_SEEN if progress else BATCH
        while ready:
            started, number = monotonic(), len(ready[:size])
            yield ready[:size]
            del ready[:size]
            stored += number
            bar.update(number)
            if monotonic() - started < 1:
                size = min(2 * size, BATCH)

    total = len(ready)
    with progress_bar(total=total, desc="storing", unit="memories", wanted=progress) as bar:
        try:
            yield batches()
        except RecallError as error:
            error.stored = (*ids[:stored], *error.stored)
            if error.stored or error.unsure:
                unsure = f"; of {len(error.unsure):,} more it is not known (`unsure`)"
                said = (
                    f"{error}. Of {len(ids):,} memories {len(error.stored):,} are stored; the "
                    f"error has their ids (`stored`){unsure if error.unsure else ''}. Delete those "
                    "before you add all again, unless they have ids of your own"
                )
                error.args = (said,)
            raise


def _texts(searches: Sequence[Search]) -> list[str]:
    """The texts to embed, each of them once."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))


def _nothing(searches: Sequence[Search]) -> list[Sequence[Hit]]:
    """The answers of a collection that does not exist yet; a wrong filter is wrong there, too."""
    for search in searches:
        filter_where(search.filter, timezone=search.timezone)
    return [[] for _ in searches]


def _superseding(memory: Memory, old: Candidate) -> Memory:
    """A memory that supersedes an old one: with an id, current, and of the same owner."""
    new_id = memory.id or digest(f"{old.id}\n{memory.content}")
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


def _missing(id: str, name: str) -> MissingMemoryError:
    return MissingMemoryError(
        f"there is no memory {got(id)} to update in collection {name!r}, or not in this scope, or "
        "it has expired; `get` and `memories` return those that are there"
    )
