"""The function `recall`: candidates, filters, ranker, limit and reflection in one call."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar

from pydantic import Field

from recall_retrievers.core.settings import Count, Settings
from recall_retrievers.core.stage import Flow, Recall, pipeline
from recall_retrievers.core.world import ListingStore, MemoryStore, World, arun
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.retriever.stage_list import AnyStage, StageInput
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.stages.reflect import Reflect
from recall_retrievers.stages.retrieve import Method
from recall_retrievers.store import RecallStore
from recall_retrievers.store.memory_store import OpenStore

Result = TypeVar("Result")  # a document or a node


class RecallConfig(Settings):
    """The settings of one call of `recall`.

    Args:
        source: The collection.
        retrieval_method: By meaning ("semantic"), by words ("keyword") or both ("hybrid").
        max_candidates: How many candidates to look at.
        filters: The filters for the candidates, in order: `RelevanceThreshold`, `TimeDecay`,
            functions ``(memories, query) -> memories`` or stages of your own.
        ranker: The stage that ranks. The default also prefers the time that the question names, and
            weighs the memory types.
        max_results: How many memories to return.
        generate_reflection: Whether to write a reflection on the memories.
        reflector: The stage that writes it. None = `Reflect` without a model.
        store_reflections: Whether to store a reflection that a model wrote as a memory.

    Raises:
        SettingsError: When a setting is unknown or out of range.
    """

    if TYPE_CHECKING:  # what may be handed in; checkers would take the types that are read back
        source: MemoryStore
        filters: Sequence[StageInput] = ()
        ranker: StageInput = FuseRerank()
    else:
        source: OpenStore = Field(repr=False, exclude=True)
        filters: list[AnyStage] = Field(default_factory=list)
        ranker: AnyStage = Field(default_factory=FuseRerank)
    retrieval_method: Method = "hybrid"
    max_candidates: Count = 50
    max_results: Count = 5
    generate_reflection: bool = False
    reflector: Reflect | None = None
    store_reflections: bool = False

    def retriever(self) -> MemoryRetriever:
        return MemoryRetriever(
            store=self.source,
            method=self.retrieval_method,
            fetch_k=self.max_candidates,
            k=self.max_results,
            stages=[ExtractTime(), *self.filters, self.ranker],
        )

    def reflection(self, found: Recall) -> Flow:
        reflector = self.reflector or Reflect()
        if self.store_reflections:
            reflector = reflector.model_copy(update={"store_reflections": True})
        return pipeline([reflector] if self.generate_reflection else [], found)


class Recalled(TypedDict, Generic[Result]):
    """The result of a call of `recall`."""

    memories: list[Result]  # best first
    reflection: Result | None  # a text that cites the memories by number


async def recall_with(
    world: Callable[[ListingStore], World],
    convert: Callable[[Recall], list[Result]],
    query: str,
    config: RecallConfig | None,
    options: CallOptions,
) -> Recalled[Result]:
    if config is None:
        with RecallStore("./memories", create=False) as store:
            return await recall_with(world, convert, query, RecallConfig(source=store), options)
    config = RecallConfig.model_validate(config)
    retriever = config.retriever()
    found = await retriever.recalled(query, options, world)
    reflected = await arun(config.reflection(found), world(retriever.scoped(options)))
    return {
        "memories": convert(found),
        "reflection": convert(reflected)[0] if reflected.text else None,
    }
