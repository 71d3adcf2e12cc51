"""What supersedes what, and the sign of evidence: both faces, HTTP, MCP and the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, both, once
from faces.other_stores import open_store, rows
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from llama_index.core.memory import Memory
from mcp import Client
from starlette.testclient import TestClient
from tables import table

import langchain_recall
import llamaindex_recall
from langchain_recall import create_memory_app
from recall_retrievers.cli.program import main
from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.mcp_server import McpTools
from recall_retrievers.serve.operation import ScopedService
from recall_retrievers.store import RecallStore

QUESTION, BEFORE = "Where do I live?", "Where did I use to live?"
BERLIN = {"id": "berlin", "content": "I live in Berlin.", "created_at": "2023-01-09T09:00Z"}
BONN = {"id": "bonn", "content": "I live in Bonn.", "created_at": "2024-05-03T09:00Z"}
ROME = {"id": "rome", "content": "I live in Rome.", "created_at": "2025-02-01T09:00Z"}
ANN = {"user_id": "ann"}

CASES: list[tuple[str, dict[str, Any], str]] = [
    (QUESTION, {}, "rome"),
    (QUESTION, {"as_of": "2024-05-03"}, "bonn"),  # until the end of that day
    (QUESTION, {"as_of": "2024-05-03T08:59:59Z"}, "berlin"),
    (QUESTION, {"as_of": "2020-01-01"}, ""),
    (QUESTION, {"include_superseded": True}, "berlin bonn rome"),
    (QUESTION, {"as_of": "2024-06-01", "include_superseded": True}, "berlin bonn"),
    (BEFORE, {}, "berlin bonn rome"),
    ("", {"time_range": ("2023-01-01", None)}, "rome"),
    ("", {"time_range": ("2023-01-01", None), "as_of": "2024-05-03"}, "bonn"),
    ("", {"time_range": ("2023-01-01", None), "include_superseded": True}, "berlin bonn rome"),
]


@pytest.fixture
def lived() -> Any:
    with RecallStore(embedding=WordsEmbedding()) as store:
        store.add([{**BERLIN, **ANN}, {"content": "Bob lives in Oslo.", "user_id": "bob"}])
        assert store.supersede("berlin", BONN) == "bonn"
        assert store.for_scope(**ANN).supersede("bonn", ROME) == "rome"
        yield store


@both
@table(("question", "options", "found"), CASES)
def test_through_a_face(
    lived: RecallStore, face: Face, question: str, options: dict[str, Any], found: str
) -> None:
    retriever = face.RecallRetriever(store=lived, scope=ANN, timezone="UTC")
    assert sorted(each.id for each in face.ask(retriever, question, **options)) == found.split()
    settings = face.RecallRetriever(store=lived, scope=ANN, timezone="UTC", **options)
    assert sorted(each.id for each in face.ask(settings, question)) == found.split()


@both
def test_its_text_says_until_when_it_was_so(lived: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=lived, scope=ANN, timezone="UTC", k=9)
    said, _ = face.use(face.create_recall_tool(retriever), query=QUESTION, as_of="2024-01-01")
    assert 'recorded="2023-01-09 09:00:00 Monday until 2024-05-03"' in said
    assert "Bonn" not in said
    [old] = face.ask(retriever, QUESTION, as_of="2024-01-01")
    assert old.metadata["superseded_by"] == "bonn"
    assert old.metadata["superseded_at"].startswith("2024-05-03T09:00:00")
    assert "2023-01-09 Monday until 2024-05-03" in face.explain_text([old])
    called = face.call(face, "recall", QUESTION, {"source": lived}, scope=ANN, as_of="2024-06-01")
    assert [each.id for each in face.found(called["memories"])] == ["bonn"]


@table(("question", "options", "found"), CASES[:7])
def test_over_http(lived: RecallStore, question: str, options: dict[str, Any], found: str) -> None:
    client = TestClient(create_memory_app(lived), "http://localhost")
    asked = {"query": question, "timezone": "UTC", **ANN, **options}
    answer = client.post("/retrieve_personal_memory", json=asked).json()
    assert sorted(each["id"] for each in answer["metadata"]["memory_list"]) == found.split()
    if question == QUESTION:
        listed = client.get("/memories", params={**ANN, **options}).json()["memories"]
        assert sorted(each["id"] for each in listed) == found.split()
        assert client.get("/count", params={**ANN, **options}).json() == {"count": len(listed)}


def test_superseding_over_http(lived: RecallStore) -> None:
    app = create_memory_app(lived, tokens="token-of-ann-12345 user_id=ann")
    client = TestClient(app, "http://127.0.0.1")
    client.headers["Authorization"] = "Bearer token-of-ann-12345"
    for _ in range(2):  # the same request again changes nothing
        answer = client.post("/memories/rome/supersede", json={"content": "I live in Lima."})
        assert (answer.status_code, len(answer.json()["ids"])) == (201, 1)
    assert [each.content for each in lived.memories(scope=ANN)] == ["I live in Lima."]
    old = client.get("/memories/rome").json()
    assert old["superseded_by"] == answer.json()["ids"][0]
    refused = client.post("/memories/berlin/supersede", json={"content": "I live in Lima."})
    assert (refused.status_code, old["superseded_by"] in refused.json()["error"]) == (409, True)
    [bobs] = lived.memories(scope={"user_id": "bob"})
    refused = client.post(f"/memories/{bobs.id}/supersede", json={"content": "Mine."})
    assert (refused.status_code, lived.count(scope={"user_id": "bob"})) == (404, 1)


async def test_an_agent_over_mcp(lived: RecallStore) -> None:
    tools = McpTools(ScopedService.of(lived, timezone="UTC"), Scope(user_id="ann"))
    async with Client(tools.server()) as client:

        async def say(name: str, **arguments: str) -> str:
            return str((await client.call_tool(name, arguments)).content[0].text)

        assert "Rome" in await say("recall", query=QUESTION)
        assert re.search('id="bonn".* until 2025-02-01"', await say("recall", query=BEFORE))
        then = await say("recall", query=QUESTION, as_of="2024-06-01")
        assert ("Bonn" in then, "Rome" in then) == (True, False)
        said = await say("supersede", id="rome", content="I live in Lima.")
        [lima] = re.findall("with the id '(.*)', in the place of 'rome'", said)
        assert await say("update", id=lima, content="I live in Lima, Peru.")
        assert "instead" in await say("supersede", id="rome", content="I live in Paris.")
    assert [each.content for each in lived.memories(scope=ANN)] == ["I live in Lima, Peru."]
    assert lived.get(["rome"])[0].superseded_by == lima


def test_the_command_line_asks_and_exports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with RecallStore(tmp_path / "memories") as store:
        store.add([BERLIN])
        store.supersede("berlin", BONN)
    place = ("--chroma", str(tmp_path / "memories"))
    for options, found in [([], "bonn"), (["--as-of", "2024-01-01"], "berlin")]:
        assert main("recall", ["ask", QUESTION, *place, "--json", *options]) == 0
        [answer] = json.loads(capsys.readouterr().out)
        assert [each["id"] for each in answer["memories"]] == [found]
    assert main("recall", ["explain", QUESTION, *place, "--id", "berlin"]) == 0
    assert "berlin was not found: bonn supersedes it" in capsys.readouterr().out
    assert main("recall", ["export", *place, "-o", str(tmp_path / "all.jsonl")]) == 0
    assert main("recall", ["load", "--memories", str(tmp_path / "all.jsonl")]) == 0
    with RecallStore(tmp_path / "all.jsonl.recall") as again:
        assert again.count() == 1
        assert again.get(["berlin"])[0].superseded_by == "bonn"


@both
def test_in_a_store_of_others_the_recorded_time_counts(face: Face) -> None:
    stored = rows([BERLIN, BONN])
    store = open_store("in memory", face, stored, lambda: 0)
    retriever = face.RecallRetriever(store=store, timezone="UTC")
    assert len(face.ask(retriever, QUESTION)) == 2
    assert [each.id for each in face.ask(retriever, QUESTION, as_of="2024-01-01")] == ["berlin"]


ABSENT, PRESENT = "What is the capital of Mongolia?", "Who called the dentist?"
WHY = (
    'no memory is about the question; no memory has "Mongolia", "capital"; '
    "the nearest was 'tea', 2024-03-05 Tuesday"
)
NOTHING = f"No memories found. N{WHY[1:]}."
UNSURE = "Nothing is known to be about this; the nearest are:"


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
    assert UNSURE in plain
    assert len(found) == 2
    asked = face.call(
        retriever, "invoke" if face.is_langchain else "retrieve", ABSENT, only_with_evidence=True
    )
    said = " ".join(str(face.explain(asked)).split())
    assert said == f"No memories to explain. N{WHY[1:]}."
    assert WHY[1:-30] in face.explain(asked).to_html().replace("&quot;", '"')
    assert 'Evidence: none; no memory has "Mongolia", "capital"' in face.explain_text(found)


@once
def test_a_config_of_langchain_can_hold_back(told: Any, face: Face) -> None:
    retriever = langchain_recall.RecallRetriever(store=told)
    held = {"configurable": {"only_with_evidence": True}}

    assert retriever.invoke(ABSENT, held) == []
    assert retriever.invoke(PRESENT, held) != []


def test_a_prompt_says_where_nothing_is_about_the_message_or_leaves_it_out(told: Any) -> None:
    for settings, absent in (({}, True), ({"only_with_evidence": True}, False)):
        searches = langchain_recall.RecallRetriever(store=told)
        recalls = langchain_recall.RecallMiddleware(searches, gate=None, **settings)
        agent = create_agent(FakeListChatModel(responses=["Yes."] * 2), middleware=[recalls])
        for question, shown in ((ABSENT, absent), (PRESENT, True)):
            done = agent.invoke({"messages": [("user", question)]})
            assert bool(done["recalled"]) is shown
            assert (UNSURE in done["recalled"]) is (shown and question == ABSENT)

        retriever = llamaindex_recall.RecallRetriever(store=told)
        block = llamaindex_recall.RecallMemoryBlock(retriever=retriever, gate=None, **settings)
        memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        for question, shown in ((ABSENT, absent), (PRESENT, True)):
            text = str(memory.get(input=question))
            assert ("<memory" in text, UNSURE in text) == (shown, shown and question == ABSENT)


async def test_over_http_and_mcp(told: Any) -> None:
    client = TestClient(langchain_recall.create_memory_app(told), "http://localhost")
    for held in (False, True):
        asked = {"query": ABSENT, "only_with_evidence": held}
        found = client.post("/retrieve_personal_memory", json=asked).json()["metadata"]
        assert (found["evidence"], len(found["memory_list"])) == ("none", 0 if held else 2)
        assert found["evidence_about"].startswith(WHY if held else 'no memory has "Mongolia"')
    async with Client(McpTools(ScopedService.of(told), Scope()).server()) as agent:
        asked = {"query": ABSENT, "only_with_evidence": True}
        assert (await agent.call_tool("recall", asked)).content[0].text == NOTHING
        plain = (await agent.call_tool("recall", {"query": ABSENT})).content[0].text
        assert UNSURE in plain


def test_on_the_command_line(told: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RecallStore(tmp_path / "memories") as store:
        store.add([*told.memories()])
    asked = ["ask", ABSENT, "--chroma", str(tmp_path / "memories"), "--only-with-evidence", "true"]

    assert main("recall", asked) == 0
    assert NOTHING in " ".join(capsys.readouterr().out.split())
    assert main("recall", [*asked, "--json"]) == 0
    [answer] = json.loads(capsys.readouterr().out)
    assert (answer["recall_evidence"], answer["memories"]) == ("none", [])
