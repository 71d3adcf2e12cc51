"""The places where people put a retriever, in each framework: stock classes, unchanged."""

import asyncio
import threading
from typing import Any

import pytest
from faces.adapters import ScriptedChat
from langchain_core.load import dumps
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from llama_index.core.schema import MetadataMode

import langchain_recall
import llamaindex_recall
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.searcher import Searcher

NOW = "2024-03-08T12:00:00Z"


@pytest.fixture
def langchain(store: RecallStore) -> Any:
    return langchain_recall.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2)


@pytest.fixture
def llamaindex(store: RecallStore) -> Any:
    return llamaindex_recall.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2)


def test_a_chain(langchain: Any) -> None:
    model = ScriptedChat(replies=["On Elm Street."])
    chain = (
        {
            "memories": langchain | langchain_recall.PrintMemory().format,
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{memories}\n\n{question}")
        | model
        | StrOutputParser()
    )

    assert chain.invoke("Where is the dentist?") == "On Elm Street."
    assert "Memory 1:\n  Content: Ann is afraid of the dentist." in model.prompts[0]


def test_an_agents_tool(langchain: Any) -> None:
    tool = create_retriever_tool(
        langchain, "memories", "What was said.", response_format="content_and_artifact"
    )

    message = tool.invoke(
        {"name": "memories", "args": {"query": "dentist"}, "id": "1", "type": "tool_call"}
    )

    assert "Ann is afraid of the dentist." in message.content
    assert [d.id for d in message.artifact] == ["fear", "moved"]


def test_a_dump_of_the_retriever_holds_no_memories(langchain: Any) -> None:
    assert "dentist" not in dumps(langchain)
    assert "dentist" not in repr(langchain)


def test_a_prompt_sees_the_memory_and_not_the_trace(llamaindex: Any) -> None:
    [node, *_] = llamaindex.retrieve("the dentist last Tuesday")

    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "recall_" not in node.node.get_content(mode)
    assert "created_at: 2023-11-20T18:30:00+00:00" in node.node.get_content(MetadataMode.LLM)


def test_postprocessors_take_nodes_without_a_question(llamaindex: Any) -> None:
    nodes = llamaindex.retrieve("the dentist")

    for stage in (llamaindex_recall.ExtractTime(), llamaindex_recall.FuseRerank()):
        assert [n.node_id for n in stage.postprocess_nodes(nodes)] == [n.node_id for n in nodes]


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_what_one_face_stores_the_other_finds(words: Any, face: Any) -> None:
    from langchain_core.documents import Document
    from llama_index.core.schema import TextNode

    metadata = {
        "created_at": "2024-03-05T10:00:00Z",
        "memory_type": "insight",
        "user_id": "ann",
        "tags": ["a", "b"],
    }
    with RecallStore(embedding=words) as store:
        langchain = langchain_recall.RecallRetriever(store=store)
        llamaindex = llamaindex_recall.RecallRetriever(store=store)
        if face is langchain_recall:
            [memory_id] = langchain.add_documents([Document("A filling.", metadata=metadata)])
        else:
            [memory_id] = llamaindex.add_nodes([TextNode(text="A filling.", metadata=metadata)])

        [document] = langchain.invoke("a filling", timestamp=NOW, timezone="UTC")
        [node] = llamaindex.retrieve("a filling", timestamp=NOW, timezone="UTC")

    assert document.id == node.node_id == memory_id
    assert document.page_content == node.text == "A filling."
    assert {k: v for k, v in document.metadata.items() if k != "relevance_score"} == node.metadata
    assert node.metadata["created_at"] == "2024-03-05T10:00:00+00:00"
    assert node.metadata["tags"] == ["a", "b"]


def test_async_does_not_block_the_event_loop(
    langchain: Any, llamaindex: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search waits for the loop: where it blocked it, it would wait in vain."""
    answers = Searcher.answers
    ticked = threading.Event()
    waited: list[bool] = []

    def waiting(self: Searcher, *asked: Any) -> Any:
        waited.append(ticked.wait(5))
        return answers(self, *asked)

    monkeypatch.setattr(Searcher, "answers", waiting)

    async def with_a_loop(answer: Any) -> None:
        ticked.clear()
        asyncio.get_running_loop().call_later(0.01, ticked.set)
        await answer

    asyncio.run(with_a_loop(langchain.ainvoke("the dentist")))
    asyncio.run(with_a_loop(llamaindex.aretrieve("the dentist")))

    assert waited == [True, True]
