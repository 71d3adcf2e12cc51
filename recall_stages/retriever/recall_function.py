"""recall(query, config): candidates, filters, ranker, limit and reflection in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from recall_stages.core.settings import Settings
from recall_stages.core.stage import Recall, Steps, pipeline
from recall_stages.core.world import AsyncWorld, MemoryStore, World, arun, run
from recall_stages.retriever.memory_retriever import CallOptions, MemoryRetriever
from recall_stages.retriever.stage_list import AnyStage, StageInput
from recall_stages.stages.extract_time import ExtractTime
from recall_stages.stages.fuse_rerank import FuseRerank
from recall_stages.stages.reflect import Reflect
from recall_stages.stages.retrieve import Method
from recall_stages.store.memory_store import OpenStore, ScopedStore


class RecallConfig(Settings):
    """What one call of `recall` does.

    Args:
        source: The collection.
        retrieval_method: By meaning ("semantic"), by words ("keyword") or both ("hybrid").
        max_candidates: How many are looked at.
        filters: What is done with the candidates, in order: `RelevanceThreshold`, `TimeDecay`,
            functions ``(memories, query) -> memories`` or stages of your own.
        ranker: What puts them in order. The default also prefers the time that the question names
            and the weightier kinds of memory.
        max_results: How many memories are returned.
        generate_reflection: Whether to say what they come to.
        reflector: What says it. None = `Reflect` without a model.
        store_reflections: Whether to store what a model said of them as a memory.

    Raises:
        SettingsError: When a setting is unknown or out of range.
    """

    source: OpenStore = Field(repr=False, exclude=True)
    retrieval_method: Method = "hybrid"
    max_candidates: int = Field(default=50, ge=1)
    filters: list[AnyStage] = Field(default_factory=list)
    ranker: AnyStage = Field(default_factory=FuseRerank)
    max_results: int = Field(default=5, ge=1)
    generate_reflection: bool = False
    reflector: Reflect | None = None
    store_reflections: bool = False

    if TYPE_CHECKING:  # what may be handed in; checkers would take the types that are read back

        def __init__(  # noqa: PLR0913 - the settings of a call, each by name
            self,
            *,
            source: MemoryStore,
            retrieval_method: Method = "hybrid",
            max_candidates: int = 50,
            filters: Sequence[StageInput] = (),
            ranker: StageInput = ...,
            max_results: int = 5,
            generate_reflection: bool = False,
            reflector: Reflect | None = None,
            store_reflections: bool = False,
        ) -> None: ...

    def found(self, asked: str, options: CallOptions) -> tuple[Steps, ScopedStore]:
        """The steps that find, filter and rank the memories, and the store that answers them."""
        retriever = MemoryRetriever(
            store=self.source,
            method=self.retrieval_method,
            fetch_k=self.max_candidates,
            k=self.max_results,
            stages=[ExtractTime(), *self.filters, self.ranker],
        )
        return retriever.steps_for(asked, datetime.now(UTC), options), retriever.scoped(options)

    def reflected(self, found: Recall) -> Steps:
        """The steps that say what was found comes to; the text stays empty where none is wanted."""
        reflector = self.reflector or Reflect()
        if self.store_reflections:
            reflector = reflector.model_copy(update={"store_reflections": True})
        return pipeline([reflector] if self.generate_reflection else [], found)


def recall_with(
    world: Callable[[MemoryStore], World], query: str, config: RecallConfig, options: CallOptions
) -> tuple[Recall, Recall]:
    """What a question finds, and the same with what is said of it.

    Args:
        world: Makes the face's world over a store.
        query: The question.
        config: What is searched, filtered, ranked and reflected on.
        options: The settings of this call.
    """
    config = RecallConfig.model_validate(config)
    steps, store = config.found(query, options)
    around = world(store)
    found = run(steps, around)
    return found, run(config.reflected(found), around)


async def arecall_with(
    world: Callable[[MemoryStore], AsyncWorld],
    query: str,
    config: RecallConfig,
    options: CallOptions,
) -> tuple[Recall, Recall]:
    """The same, without blocking the event loop."""
    config = RecallConfig.model_validate(config)
    steps, store = config.found(query, options)
    around = world(store)
    found = await arun(steps, around)
    return found, await arun(config.reflected(found), around)
