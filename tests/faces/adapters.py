"""Both faces, sync and async, behind one way of asking, for one table of cases."""

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from langchain_recall.testing import ScriptedModel as ScriptedChat
from llamaindex_recall.testing import ScriptedModel as ScriptedLLM


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
            call = retriever.ainvoke if self.is_async else retriever.invoke
            return _from_documents(self._wait(call(question, None, **options)))
        call = retriever.aretrieve if self.is_async else retriever.retrieve
        return _from_nodes(self._wait(call(question, **options)))

    def refine(self, stage: Any, found: Sequence[Found], question: str) -> list[Found]:
        """Give candidates to a stage as the framework does in its own lists."""
        if self.is_langchain:
            documents = [_document(each) for each in found]
            call = stage.acompress_documents if self.is_async else stage.compress_documents
            return _from_documents(self._wait(call(documents, question)))
        nodes = [_node(each) for each in found]
        call = stage.apostprocess_nodes if self.is_async else stage.postprocess_nodes
        return _from_nodes(self._wait(call(nodes, QueryBundle(question))))

    def use(self, tool: Any, **given: Any) -> tuple[str, list[Found]]:
        """Call a tool as an agent does: what the model is told, and what was found."""
        if self.is_langchain:
            asked = {"type": "tool_call", "id": "1", "name": tool.name, "args": given}
            message = self._wait((tool.ainvoke if self.is_async else tool.invoke)(asked))
            return message.content, _from_documents(message.artifact or [])
        output = self._wait((tool.acall if self.is_async else tool.call)(**given))
        return output.content, _from_nodes(output.raw_output.nodes)

    def text(self, stage: Any, found: Sequence[Found]) -> str:
        items = [_document(each) if self.is_langchain else _node(each) for each in found]
        return stage.format(items)

    def explained(self, found: Sequence[Found]) -> Any:
        return self.explain(
            [_document(each) if self.is_langchain else _node(each) for each in found]
        )

    def explain_text(self, found: Sequence[Found]) -> str:
        return str(self.explained(found))

    def _wait(self, outcome: Any) -> Any:
        return asyncio.run(outcome) if self.is_async else outcome


FACES = [Face(p, a) for p in ("langchain_recall", "llamaindex_recall") for a in (False, True)]


def _document(found: Found) -> Document:
    score = {} if found.score is None else {"relevance_score": found.score}
    return Document(id=found.id, page_content=found.content, metadata={**found.metadata, **score})


def _node(found: Found) -> NodeWithScore:
    node = TextNode(id_=found.id, text=found.content, metadata=dict(found.metadata))
    return NodeWithScore(node=node, score=found.score)


def _from_documents(documents: Sequence[Document]) -> list[Found]:
    return [
        Found(
            each.id or "",
            each.page_content,
            each.metadata.get("relevance_score"),
            {k: v for k, v in each.metadata.items() if k != "relevance_score"},
        )
        for each in documents
    ]


def _from_nodes(nodes: Sequence[NodeWithScore]) -> list[Found]:
    return [
        Found(n.node.node_id, n.node.get_content(), n.score, dict(n.node.metadata)) for n in nodes
    ]
