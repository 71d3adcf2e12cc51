"""What makes node postprocessors of the stages: of one, or of several.

>>> from llama_index.core.schema import TextNode
>>> from llamaindex_recall import ExtractTime, FuseRerank, RecallPostprocessor
>>> days = ("2024-03-01", "2024-03-05")
>>> nodes = [TextNode(text=f"Tea on {day}.", metadata={"created_at": day}) for day in days]
>>> found = [NodeWithScore(node=node, score=0.5) for node in nodes]
>>> refine = RecallPostprocessor(stages=[ExtractTime(), FuseRerank()], timestamp="2024-03-08")
>>> refine.postprocess_nodes(found, query_str="tea last Tuesday")[0].text
'Tea on 2024-03-05.'
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, ClassVar

from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher
from pydantic import ConfigDict, Field

from llamaindex_recall._convert import ByItsName, to_candidate, to_node, to_nodes
from llamaindex_recall._world import LlamaIndexWorld, StageInput
from llamaindex_recall.retriever import options_of
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.flat_metadata import memories_in
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings import Timed
from recall_retrievers.core.stage import Recall, Stage
from recall_retrievers.core.world import arun, run
from recall_retrievers.llm.model_stage import ModelStage
from recall_retrievers.retriever.call_options import RecallOptions
from recall_retrievers.retriever.stage_list import StageList

dispatcher = get_dispatcher(__name__)


class MemoryPostprocessor(ByItsName, Timed, Stage, BaseNodePostprocessor):
    """A stage that takes and returns LlamaIndex nodes; it never alters its input.

    It uses the reference time, ``k`` and the messages of a `RecallQueryBundle`.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        flow = self.flow(self._recall(nodes, query_bundle))
        return to_nodes(run(flow, LlamaIndexWorld()))

    @dispatcher.span  # LlamaIndex decorates only the sync method by itself
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        flow = self.flow(self._recall(nodes, query_bundle))
        return to_nodes(await arun(flow, LlamaIndexWorld(asynchronous=True)))

    def _recall(self, nodes: Sequence[NodeWithScore], query_bundle: QueryBundle | None) -> Recall:
        options = options_of(query_bundle)
        call = RecallOptions.model_validate(
            {"timestamp": self.timestamp, "timezone": self.timezone, **options}
        )
        moment = call.moment(datetime.now(UTC))
        query = Query(
            text="" if query_bundle is None else query_bundle.query_str,
            reference_time=moment,
            k=options.get("k"),
            messages=call.messages,
        )
        return Recall(query, tuple(self._candidate(node, moment.tzinfo) for node in nodes))

    def _candidate(self, node: NodeWithScore, timezone: tzinfo | None) -> Candidate:
        return to_candidate(node, timezone)


class ModelPostprocessor(ModelStage, MemoryPostprocessor):
    """A stage that asks a language model of LlamaIndex; it stands first among its bases."""

    piece: ClassVar[type | None] = BaseNodePostprocessor

    llm: LLM | None = Field(default=None, exclude=True, repr=False)


class RecallPostprocessor(StageList, MemoryPostprocessor):
    """Several stages as one: each knows what the stages before it understood of the question."""

    piece: ClassVar[type] = BaseNodePostprocessor

    if TYPE_CHECKING:  # what may be handed in; checkers would take the type that is read back
        stages: Sequence[StageInput] = ()  # type: ignore[assignment]

    def _candidate(self, node: NodeWithScore, timezone: tzinfo | None) -> Candidate:
        named = {"metadata": self.in_our_names(node.metadata)}
        renamed = NodeWithScore(node=node.node.model_copy(update=named), score=node.score)
        return replace(to_candidate(renamed, timezone), source=node.node)


class TextPostprocessor(MemoryPostprocessor):
    """A stage that makes one text: as a postprocessor, one node that names its sources.

    `originals` returns the memories behind it, and `citations` what each sentence rests on.
    """

    def format(self, nodes: Sequence[NodeWithScore], query: str = "") -> str:
        """The text alone, also for no nodes."""
        flow = self.flow(self._recall(nodes, QueryBundle(query)))
        return run(flow, LlamaIndexWorld()).text


def originals(node: NodeWithScore | BaseNode) -> list[NodeWithScore]:
    """The memories that a text was made of, best first, with their scores and their traces.

    Args:
        node: What `RewriteMemory`, `Reflect`, `MergeMemory` or `PrintMemory` returned.

    Returns:
        Nothing if no stage of this library wrote the text, or if it was JSON in between.
    """
    return [to_node(memory) for memory in memories_in(node.metadata)]
