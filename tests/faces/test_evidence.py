"""The sign of evidence, and what is held back: both faces, HTTP, MCP and the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import Face, both, once
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from llama_index.core.memory import Memory
from mcp import Client
from starlette.testclient import TestClient

import langchain_recall
import llamaindex_recall
from recall_retrievers.cli.program import main
from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.mcp_server import McpTools
from recall_retrievers.serve.operation import ScopedService
from recall_retrievers.store import RecallStore

ABSENT, PRESENT = "What is the capital of Mongolia?", "Who called the dentist?"
WHY = (
    'no memory is about the question; no memory has "capital", "Mongolia"; '
    "the nearest was 'tea', 2024-03-05 Tuesday"
)
NOTHING = f"No memories found. N{WHY[1:]}."


@pytest.fixture
def told() -> Any:
    with RecallStore() as store:
        store.add([{"id": "tooth", "content": "Ann called the dentist."}])
        store.add([{"id": "tea", "content": "Tea at four.", "created_at": "2024-03-05"}])
        yield store


@both
def test_every_result_has_the_sign_and_none_is_held_back_unasked(told: Any, face: Face) -> None:
    retriever = face.RecallRetriever(store=told)

    signs = {q: face.ask(retriever, q)[0].metadata["recall_evidence"] for q in (ABSENT, PRESENT)}
    held = face.ask(retriever, ABSENT, only_with_evidence=True)
    always = face.ask(face.RecallRetriever(store=told, only_with_evidence=True), ABSENT)

    assert signs == {ABSENT: "none", PRESENT: "strong"}
    assert held == always == []
    assert face.ask(retriever, PRESENT, only_with_evidence=True)[0].id == "tooth"


@both
def test_the_tool_says_what_was_nearest_and_so_does_explain(told: Any, face: Face) -> None:
    retriever = face.RecallRetriever(store=told)

    held = face.use(face.create_recall_tool(retriever, only_with_evidence=True), query=ABSENT)
    plain, found = face.use(face.create_recall_tool(retriever), query=ABSENT)

    assert held == (NOTHING, [])
    assert "Tea at four." in plain
    assert len(found) == 2
    asked = face.call(
        retriever, "invoke" if face.is_langchain else "retrieve", ABSENT, only_with_evidence=True
    )
    said = " ".join(str(face.explain(asked)).split())
    assert said == f"No memories to explain. N{WHY[1:]}."
    assert WHY[1:-30] in face.explain(asked).to_html().replace("&quot;", '"')
    assert 'Evidence: none; no memory has "capital", "Mongolia"' in face.explain_text(found)


@once
def test_a_config_of_langchain_can_hold_back(told: Any, face: Face) -> None:
    retriever = langchain_recall.RecallRetriever(store=told)
    held = {"configurable": {"only_with_evidence": True}}

    assert retriever.invoke(ABSENT, held) == []
    assert retriever.invoke(PRESENT, held) != []


def test_what_nobody_asked_for_is_put_into_no_prompt(told: Any) -> None:
    for settings, absent in (({}, False), ({"only_with_evidence": False}, True)):
        searches = langchain_recall.RecallRetriever(store=told)
        recalls = langchain_recall.RecallMiddleware(searches, **settings)
        agent = create_agent(FakeListChatModel(responses=["Yes."] * 2), middleware=[recalls])
        for question, shown in ((ABSENT, absent), (PRESENT, True)):
            done = agent.invoke({"messages": [("user", question)]})
            assert bool(done["recalled"]) is shown

        retriever = llamaindex_recall.RecallRetriever(store=told)
        block = llamaindex_recall.RecallMemoryBlock(retriever=retriever, **settings)
        memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        for question, shown in ((ABSENT, absent), (PRESENT, True)):
            assert ("<memory" in str(memory.get(input=question))) is shown


async def test_over_http_and_mcp(told: Any) -> None:
    client = TestClient(langchain_recall.create_memory_app(told), "http://localhost")
    for held in (False, True):
        asked = {"query": ABSENT, "only_with_evidence": held}
        found = client.post("/retrieve_personal_memory", json=asked).json()["metadata"]
        assert (found["evidence"], len(found["memory_list"])) == ("none", 0 if held else 2)
        assert found["evidence_about"].startswith(WHY if held else 'no memory has "capital"')
    async with Client(McpTools(ScopedService.of(told), Scope()).server()) as agent:
        asked = {"query": ABSENT, "only_with_evidence": True}
        assert (await agent.call_tool("recall", asked)).content[0].text == NOTHING


def test_on_the_command_line(told: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RecallStore(tmp_path / "memories") as store:
        store.add([*told.memories()])
    asked = ["ask", ABSENT, "--chroma", str(tmp_path / "memories"), "--only-with-evidence", "true"]

    assert main("recall", asked) == 0
    assert NOTHING in " ".join(capsys.readouterr().out.split())
    assert main("recall", [*asked, "--json"]) == 0
    [answer] = json.loads(capsys.readouterr().out)
    assert (answer["recall_evidence"], answer["memories"]) == ("none", [])
