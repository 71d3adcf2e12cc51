"""RecallGraphStore: a `RecallStore` where LangGraph wants a store.

Needs LangGraph: ``pip install "recall-retrievers[agents]"``.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby, islice, takewhile
from typing import Unpack, cast

from langchain_core.runnables import ensure_config
from langchain_core.runnables.config import get_callback_manager_for_config
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from langchain_recall._world import LangChainWorld
from langchain_recall.compressors import FuseRerank
from langchain_recall.graph_items import (
    ItemWriter,
    Namespace,
    admits,
    in_namespace,
    matches,
    namespace_of,
    to_item,
    to_search_item,
    ttl_of,
)
from langchain_recall.retriever import RecallRetriever
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import MissingMemoryError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import MOST_RESULTS
from recall_retrievers.core.world import completed
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.retriever.memory_retriever import RetrieverOptions
from recall_retrievers.store.memory_store import within
from recall_retrievers.store.recall_store import RecallStore
from recall_retrievers.store.store import ScopedStore

_MORE = 16  # if a filter that the collection cannot check leaves too few, so many times as many


class RecallGraphStore(BaseStore):
    """A `RecallStore` as the ``BaseStore`` of LangGraph: for ``create_agent`` and langmem.

    An item is a memory: a `RecallRetriever` on the same store finds it, too. ``search`` with a
    query reads the times that it names, as a retriever does. Without one, the items that were put
    last come first.

    Args:
        store: The store. It embeds with its own model.
        fields: The paths in a value whose texts are searched, such as ``["content"]``, as in
            LangGraph's ``index={"fields": ...}``. The texts of one item are one text. None = all of
            the value: the text alone if there is one, else a line for each part. ``put`` takes
            others as ``index``; with ``index=False`` no question finds the item.
        namespace: What namespaces stand for, such as ``("memories", "{user_id}")``: the second
            label is then the ``user_id`` of the scope of its memories. A store that requires a
            scope needs it.
        ttl: LangGraph's settings of the time to live: ``default_ttl``, in minutes, and
            ``refresh_on_read``. An item that has expired is never returned. It stays in the
            collection until `RecallStore.purge`.
        **settings: Settings of the search, as of a `RecallRetriever`: ``timezone``, ``time_mode``
            and so on. By default no item is left out because it is a near-copy or fits badly. A
            ``scope`` limits everything: reading, writing and deleting.

    Examples:
        >>> from langchain_recall import RecallGraphStore, RecallStore
        >>> with RecallStore() as store:
        ...     items = RecallGraphStore(store)
        ...     items.put(("memories", "ann"), "tea", {"content": "Ann likes green tea."})
        ...     found = items.search(("memories",), query="Who drinks tea?")
        >>> found[0].key, found[0].value
        ('tea', {'content': 'Ann likes green tea.'})
    """

    supports_ttl = True

    def __init__(
        self,
        store: RecallStore | ScopedStore,
        *,
        fields: Sequence[str] | None = None,
        namespace: Sequence[str] = (),
        ttl: TTLConfig | None = None,
        **settings: Unpack[RetrieverOptions],
    ) -> None:
        super().__init__()
        scope = Scope.model_validate(settings.get("scope"))
        self._store = within(store, scope)
        bound = self._store.scope if isinstance(self._store, ScopedStore) else scope
        self._writer = ItemWriter(fields, tuple(namespace), bound)
        # A search of LangGraph leaves out no item because it fits badly, or is like another one.
        chosen: RetrieverOptions = {
            "duplicate_threshold": None,
            "everyone": True,  # a namespace says whose items it means
            "replace": [FuseRerank(fuse_score_threshold=0)],
            **settings,
        }
        self._retriever = RecallRetriever(store=self._store, **chosen)
        if ttl and ttl.get("sweep_interval_minutes"):
            raise ValueError(
                "sweep_interval_minutes is not possible: nothing runs in the background. Leave it "
                "out, and call purge() of the RecallStore from time to time"
            )
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in their order; one sees what those before it have changed."""
        results: list[Result] = []
        for puts, run in groupby(ops, lambda op: isinstance(op, PutOp)):
            some = [*run]
            if puts:
                self._put(cast("list[PutOp]", some))
            results += [None if puts else self._read(op) for op in some]
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    # -- writing ------------------------------------------------------------------------------

    def _put(self, ops: Sequence[PutOp]) -> None:
        """Write and delete items; of several operations on one item, the last one counts."""
        last = {self._writer.row_id(op.namespace, op.key): op for op in ops}
        by_scope: dict[Scope, dict[str, PutOp]] = defaultdict(dict)
        for row_id, op in last.items():
            by_scope[self._writer.scope(op.namespace)][row_id] = op
        for scope, puts in by_scope.items():
            gone = [row_id for row_id, op in puts.items() if op.value is None]
            if gone:
                self._store.delete(gone, scope=scope)
            kept = [row_id for row_id in puts if row_id not in gone]
            before = {memory.id: memory for memory in self._store.get(kept, scope=scope)}
            now = self._store.clock()
            self._store.add(
                [self._writer.memory(puts[row_id], now, before.get(row_id)) for row_id in kept]
            )

    def _refresh(self, op: GetOp | SearchOp, found: Iterable[Memory | Candidate]) -> None:
        for memory in found if op.refresh_ttl else ():
            if ttl := ttl_of(memory):
                with suppress(MissingMemoryError):  # somebody has deleted it meanwhile
                    expires_at = self._store.clock() + ttl
                    self._store.update(memory.id, expires_at=expires_at, scope=memory.scope)

    # -- reading ------------------------------------------------------------------------------

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise TypeError(f"expected an operation of LangGraph's store; got {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        row_id = self._writer.row_id(op.namespace, op.key)
        found = self._store.get([row_id], scope=self._writer.scope(op.namespace))
        self._refresh(op, found)
        return to_item(found[0]) if found else None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        first = max(op.offset, 0)
        end = first + max(op.limit, 0)
        asked = bool(op.query and op.query.strip())
        found: list[Memory | Candidate] = [*self._ranked(op, end)[:end]] if asked else []
        # As in LangGraph's own store, what no question finds comes last.
        listed = self._listed(op, indexed=False if asked else None)
        found += islice(listed, end - len(found))
        page = found[first:]
        self._refresh(op, page)
        return [to_search_item(memory) for memory in page]

    def _ranked(self, op: SearchOp, wanted: int) -> list[Memory | Candidate]:
        k = max(wanted, 1)
        while True:
            k = min(k, MOST_RESULTS)
            found = self._asked(op, k)
            fit: list[Memory | Candidate] = [memory for memory in found if _fits(op, memory)]
            if len(fit) >= wanted or len(found) < k:
                return fit
            if k == MOST_RESULTS:  # no search returns more: the rest comes by its time
                known = {memory.id for memory in fit}
                rest = (x for x in self._listed(op, indexed=True) if x.id not in known)
                return [*fit, *islice(rest, wanted - len(fit))]
            k *= _MORE

    def _asked(self, op: SearchOp, k: int) -> Sequence[Candidate]:
        config = ensure_config()
        around = config.get("configurable") or {}
        options = cast(
            "CallOptions",
            {
                "k": k,
                "scope": self._writer.scope(op.namespace_prefix),
                "filter": in_namespace(op.namespace_prefix, op.filter, indexed=True),
                **{name: around[name] for name in ("timestamp", "timezone") if name in around},
            },
        )
        world = partial(LangChainWorld, get_callback_manager_for_config(config))
        asked = self._retriever.recalled(op.query, options, world, self._store.clock())
        return completed(asked).memories

    def _listed(self, op: SearchOp, *, indexed: bool | None = None) -> Iterator[Memory]:
        listed = self._store.memories(
            scope=self._writer.scope(op.namespace_prefix),
            filter=in_namespace(op.namespace_prefix, op.filter, indexed=indexed),
            order="newest",
        )
        return (memory for memory in listed if _fits(op, memory))

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        prefixes = [condition.path for condition in conditions if condition.match_type == "prefix"]
        prefix = max(prefixes, key=len, default=())
        known = tuple(takewhile(lambda label: label != "*", prefix))
        listed = self._store.memories(
            scope=self._writer.scope(known),
            filter=in_namespace([None if label == "*" else label for label in prefix]),
        )
        all_of_them = {namespace_of(memory) for memory in listed}
        fit = {x for x in all_of_them if all(matches(x, one) for one in conditions)}
        return sorted({x[: op.max_depth] for x in fit})[op.offset : op.offset + op.limit]


def _fits(op: SearchOp, memory: Memory | Candidate) -> bool:
    return not op.filter or admits(op.filter, to_item(memory).value)
