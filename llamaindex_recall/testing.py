"""The contract of node postprocessors, as checks for yours: see `recall_stages.testing`.

A test of pytest's, for instance:

    import pytest
    from llamaindex_recall.testing import CHECKS, Subject

    @pytest.mark.parametrize("check", CHECKS, ids=str)
    def test_my_reranker(check):
        check(Subject(lambda model: MyReranker(llm=model), reply=lambda numbers: str(numbers)))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import Field

from recall_stages import testing
from recall_stages.testing import CHECKS, Check, ContractError, Item, Verdict, next_reply

__all__ = ["CHECKS", "Check", "ContractError", "Item", "ScriptedModel", "Subject", "Verdict"]


class ScriptedModel(CustomLLM):
    """A model with scripted replies, which keeps the prompts that it gets.

    Args:
        replies: What it says, call by call, the last one for ever: texts, functions of the prompt,
            or exceptions, which are raised.
        asked: The prompts that it was given.

    Examples:
        >>> model = ScriptedModel(replies=["Yes.", str.upper])
        >>> [model.complete(text).text for text in ("Tea?", "Milk?")], model.asked
        (['Yes.', 'MILK?'], ['Tea?', 'Milk?'])
    """

    replies: list[Any]
    asked: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know of a model."""
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Say what comes next."""
        self.asked.append(prompt)
        said: Any = next_reply(self.replies, prompt, len(self.asked))
        return CompletionResponse(text=said)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Say what comes next, in one piece."""
        yield self.complete(prompt)


class Subject(testing.Subject[NodeWithScore, BaseNodePostprocessor, ScriptedModel]):
    __doc__ = (
        (testing.Subject.__doc__ or "")
        + """
    Examples:
        >>> from llamaindex_recall import FuseRerank
        >>> subject = Subject(lambda model: FuseRerank())
        >>> [check.name for check in CHECKS if check.judge(subject).holds is False]
        []
    """
    )

    def model(self, reply: object) -> ScriptedModel:
        """A model that always says, or raises, this."""
        return ScriptedModel(replies=[reply])

    def asked(self, model: ScriptedModel) -> int:
        """How many times the model was asked."""
        return len(model.asked)

    def write(self, item: Item) -> NodeWithScore:
        """An item as a node with its score."""
        node = TextNode(id_=item.id, text=item.content, metadata=dict(item.metadata))
        return NodeWithScore(node=node, score=item.score)

    def read(self, thing: NodeWithScore) -> Item:
        """The item that a node is."""
        node = thing.node
        return Item(node.node_id, node.get_content(MetadataMode.NONE), thing.score, node.metadata)

    def apply(
        self, piece: BaseNodePostprocessor, things: Sequence[NodeWithScore], query: str
    ) -> Sequence[NodeWithScore]:
        """Postprocess nodes."""
        return piece.postprocess_nodes(list(things), QueryBundle(query))

    async def aapply(
        self, piece: BaseNodePostprocessor, things: Sequence[NodeWithScore], query: str
    ) -> Sequence[NodeWithScore]:
        """Postprocess nodes in an event loop."""
        return await piece.apostprocess_nodes(list(things), QueryBundle(query))
