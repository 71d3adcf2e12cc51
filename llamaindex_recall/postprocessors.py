"""The stages as LlamaIndex node postprocessors.

Each is a stage of `recall_stages` with LlamaIndex's base beside it, nothing more. It works in any
``node_postprocessors=[...]`` list and in the ``stages`` of a `RecallRetriever`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from pydantic import ConfigDict, Field

from llamaindex_recall._convert import to_memory, to_node
from llamaindex_recall._model import ask, ask_async
from recall_stages import extract_time, fuse_rerank, print_memory, search_gate, semantic_rank
from recall_stages.memory import Query
from recall_stages.stage import Recall, Stage, arun, pipeline, run
from recall_stages.timed import Timed

dispatcher = get_dispatcher(__name__)


class MemoryPostprocessor(Timed, Stage, BaseNodePostprocessor):
    """A stage that takes and returns LlamaIndex nodes, and never alters those it is given."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes the component down."""
        return cls.__name__

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        return self._nodes(run(pipeline([self], self._recall(nodes, query_bundle)), ask))

    @dispatcher.span  # LlamaIndex decorates only the sync method by itself
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        steps = pipeline([self], self._recall(nodes, query_bundle))
        return self._nodes(await arun(steps, ask_async))

    def _recall(self, nodes: Sequence[NodeWithScore], query_bundle: QueryBundle | None) -> Recall:
        moment = self.moment(datetime.now(UTC))
        text = "" if query_bundle is None else query_bundle.query_str
        memories = tuple(to_memory(node, moment.tzinfo) for node in nodes)
        return Recall(Query(text=text, reference_time=moment), memories)

    def _nodes(self, recall: Recall) -> list[NodeWithScore]:
        return [to_node(memory) for memory in recall.memories]


class TextPostprocessor(MemoryPostprocessor):
    """A stage whose outcome is one text: as a postprocessor, a single node that names the ids."""

    def format(self, nodes: Sequence[NodeWithScore], query: str = "") -> str:
        """The text alone, also for no nodes."""
        return run(pipeline([self], self._recall(nodes, QueryBundle(query))), ask).text

    def _nodes(self, recall: Recall) -> list[NodeWithScore]:
        ids = ", ".join(memory.id for memory in recall.memories)
        return [NodeWithScore(node=TextNode(text=recall.text, metadata={"recall_ids": ids}))]


class ExtractTime(extract_time.ExtractTime, MemoryPostprocessor):
    llm: LLM | None = Field(None, exclude=True, repr=False)


class SearchGate(search_gate.SearchGate, MemoryPostprocessor):
    llm: LLM | None = Field(None, exclude=True, repr=False)


class SemanticRank(semantic_rank.SemanticRank, MemoryPostprocessor):
    llm: LLM | None = Field(None, exclude=True, repr=False)


class FuseRerank(fuse_rerank.FuseRerank, MemoryPostprocessor):
    pass


class PrintMemory(print_memory.PrintMemory, TextPostprocessor):
    pass
