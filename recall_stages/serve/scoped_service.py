"""A store and its retrievers, and the part of them that one client may use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from recall_stages.core.errors import QueryError
from recall_stages.core.scope import Scope
from recall_stages.core.stage import Recall
from recall_stages.core.world import World, arun
from recall_stages.retriever.call_options import CallOptions, combine_options
from recall_stages.retriever.memory_retriever import MemoryRetriever
from recall_stages.retriever.presets import TASKS
from recall_stages.retriever.stage_list import default_stages
from recall_stages.stages.build_query import BuildQuery
from recall_stages.stages.extract_time import ExtractTime
from recall_stages.stages.merge_memory import MergeMemory
from recall_stages.stages.print_memory import PrintMemory
from recall_stages.store.scoped_store import ManagedStore
from recall_stages.timeline import TimeRange


@dataclass(frozen=True, slots=True)
class ScopedService:
    """What operations are done with: a store and its retrievers in one scope.

    Attributes:
        store: The store.
        personal: The retriever for questions about somebody.
        tasks: The retriever for experiences with tasks.
        scope: Whose memories.
    """

    store: ManagedStore
    personal: MemoryRetriever
    tasks: MemoryRetriever
    scope: Scope

    @classmethod
    def of(cls, store: ManagedStore, *, k: int = 5, timezone: str | None = None) -> ScopedService:
        """A service for all memories of a store, with flows that ask no model."""
        personal = MemoryRetriever(
            store=store, k=k, timezone=timezone, stages=[*default_stages(), PrintMemory()]
        )
        tasks = MemoryRetriever(
            store=store, k=k, timezone=timezone, filter=TASKS, stages=[BuildQuery(), MergeMemory()]
        )
        return cls(store, personal, tasks, Scope())

    def within(self, scope: Scope) -> ScopedService:
        """The same service for a narrower scope.

        Raises:
            ScopeError: When the scope reaches outside.
        """
        fields = scope.fields()
        if not fields:
            return self
        narrow = self.scope.narrow(scope)
        return ScopedService(self.store.for_scope(**fields), self.personal, self.tasks, narrow)

    async def recall(self, query: str, options: CallOptions, *, tasks: bool) -> Recall:
        """Answer a question."""
        retriever = self.tasks if tasks else self.personal
        bound = combine_options({"scope": self.scope}, options)
        steps = retriever.steps_for(query, datetime.now(UTC), bound)
        return await arun(steps, World(retriever.scoped(bound), asynchronous=True))

    def time_range(self, options: CallOptions) -> TimeRange | None:
        """The time that the settings of a call name; None if they name none.

        Raises:
            QueryError: When they name no time that can be read, or several.
        """
        call = self.personal.for_call(options)
        ranges = call.bounds(call.moment(datetime.now(UTC)), ExtractTime)
        if len(ranges) > 1:
            named = ", ".join(each.text for each in ranges)
            raise QueryError(f"name one time; there are {len(ranges)}: {named}")
        return ranges[0] if ranges else None
