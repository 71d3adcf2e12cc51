"""Node postprocessors as the checks use them, and a model with scripted replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import Field

from benchmarks.conformance import subject
from benchmarks.conformance.material import Item, next_reply


class ScriptedModel(CustomLLM):
    """A model with scripted replies, which keeps its prompts.

    Args:
        replies: The reply to each call; the last one for ever. Each is a text, a function of the
            prompt, or an exception, which is raised.
        prompts: The prompts.

    Examples:
        >>> model = ScriptedModel(replies=["Yes.", str.upper])
        >>> [model.complete(text).text for text in ("Tea?", "Milk?")], model.prompts
        (['Yes.', 'MILK?'], ['Tea?', 'Milk?'])
    """

    replies: list[Any]
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        """The defaults of LlamaIndex."""
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The next reply."""
        self.prompts.append(prompt)
        reply: Any = next_reply(self.replies, prompt, len(self.prompts))
        return CompletionResponse(text=reply)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """The next reply, in one piece."""
        yield self.complete(prompt)


class Subject(subject.Subject[NodeWithScore, BaseNodePostprocessor, ScriptedModel]):
    def model(self, reply: object) -> ScriptedModel:
        return ScriptedModel(replies=[reply])

    def write(self, item: Item) -> NodeWithScore:
        node = TextNode(id_=item.id, text=item.content, metadata=dict(item.metadata))
        return NodeWithScore(node=node, score=item.score)

    def read(self, thing: NodeWithScore) -> Item:
        node = thing.node
        return Item(node.node_id, node.get_content(MetadataMode.NONE), thing.score, node.metadata)

    def apply(
        self, piece: BaseNodePostprocessor, things: Sequence[NodeWithScore], query: str
    ) -> Sequence[NodeWithScore]:
        return piece.postprocess_nodes(list(things), QueryBundle(query))

    async def aapply(
        self, piece: BaseNodePostprocessor, things: Sequence[NodeWithScore], query: str
    ) -> Sequence[NodeWithScore]:
        return await piece.apostprocess_nodes(list(things), QueryBundle(query))
