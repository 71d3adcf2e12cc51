"""Both faces, sync and async, behind one way of asking, for one table of cases."""

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from benchmarks.conformance.langchain_subject import ScriptedModel as ScriptedChat
from benchmarks.conformance.llamaindex_subject import ScriptedModel as ScriptedLLM


@dataclass(frozen=True)
class Found:
    """One result, whatever the framework calls it."""

    id: str
    content: str
    score: float | None
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Face:
    """One framework, asked in one way."""

    package: str
    is_async: bool

    def __str__(self) -> str:
        return f"{self.package}-{'async' if self.is_async else 'sync'}"

    @property
    def is_langchain(self) -> bool:
        return self.package == "langchain_recall"

    def __getattr__(self, name: str) -> Any:
        """Whatever the face exports, by name."""
        return getattr(importlib.import_module(self.package), name)

    def model(self, *replies: object) -> Any:
        return (ScriptedChat if self.is_langchain else ScriptedLLM)(replies=list(replies))

    def several(self, **settings: Any) -> Any:
        """Several stages in one, as the framework calls it."""
        name = "RecallCompressor" if self.is_langchain else "RecallPostprocessor"
        return getattr(importlib.import_module(self.package), name)(**settings)

    def ask(self, retriever: Any, question: Any, **options: Any) -> list[Found]:
        if self.is_langchain:
            return self.found(self.call(retriever, "invoke", question, None, **options))
        return self.found(self.call(retriever, "retrieve", question, **options))

    def refine(self, stage: Any, found: Sequence[Found], question: str) -> list[Found]:
        """Give candidates to a stage as the framework does in its own lists."""
        items = self.items(found)
        if self.is_langchain:
            return self.found(self.call(stage, "compress_documents", items, question))
        return self.found(self.call(stage, "postprocess_nodes", items, QueryBundle(question)))

    def use(self, tool: Any, **given: Any) -> tuple[str, list[Found]]:
        """Call a tool as an agent does: what the model is told, and what was found."""
        if self.is_langchain:
            asked = {"type": "tool_call", "id": "1", "name": tool.name, "args": given}
            message = self.call(tool, "invoke", asked)
            return message.content, self.found(message.artifact or [])
        output = self.call(tool, "call", **given)
        return output.content, self.found(output.raw_output.nodes)

    def text(self, stage: Any, found: Sequence[Found]) -> str:
        return stage.format(self.items(found))

    def explained(self, found: Sequence[Found]) -> Any:
        return self.explain(self.items(found))

    def explain_text(self, found: Sequence[Found]) -> str:
        return str(self.explained(found))

    def cited(self, told: Found) -> list[Any]:
        """The citations of a text."""
        return self.citations(*self.items([told]))

    def kept(self, told: Found) -> list[Found]:
        """The memories a text was made of."""
        return self.found(self.originals(*self.items([told])))

    def items(self, found: Sequence[Found]) -> list[Any]:
        """Documents or nodes, as the framework has them."""
        return [(document if self.is_langchain else node)(each) for each in found]

    def found(self, items: Sequence[Any]) -> list[Found]:
        """What the framework's documents or nodes hold."""
        return [(_of_document if self.is_langchain else _of_node)(each) for each in items]

    def call(self, thing: Any, method: str, /, *given: Any, **named: Any) -> Any:
        """What a method returns, or its twin for `await`."""
        outcome = getattr(thing, f"a{method}" if self.is_async else method)(*given, **named)
        return asyncio.run(outcome) if self.is_async else outcome


FACES = [Face(p, a) for p in ("langchain_recall", "llamaindex_recall") for a in (False, True)]
"""The four ways in. A test that takes the fixture `face` goes through all of them."""

langchain, llamaindex = (
    pytest.mark.parametrize("face", x, ids=str) for x in (FACES[:2], FACES[2:])
)
"""For what one framework has."""

once = pytest.mark.parametrize("face", FACES[:1], ids=str)
"""For what core decides: one way shows it."""

both = pytest.mark.parametrize("face", FACES[::2], ids=str)
"""For what each face does alike, whether it is waited for or not."""


def document(found: Found) -> Document:
    score = {} if found.score is None else {"relevance_score": found.score}
    return Document(id=found.id, page_content=found.content, metadata={**found.metadata, **score})


def node(found: Found) -> NodeWithScore:
    own = TextNode(id_=found.id, text=found.content, metadata=dict(found.metadata))
    return NodeWithScore(node=own, score=found.score)


def _of_document(given: Document) -> Found:
    metadata = dict(given.metadata)
    score = metadata.pop("relevance_score", None)
    return Found(given.id or "", given.page_content, score, metadata)


def _of_node(given: NodeWithScore) -> Found:
    own = given.node
    return Found(own.node_id, own.get_content(), given.score, dict(own.metadata))
