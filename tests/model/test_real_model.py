"""Every stage that asks a model, with a small real one over loopback, by each framework's client.

A model of 135 million parameters answers no question: what is tested is the wire, and that no
memory is lost or invented, whatever it says.
"""

import os
import time
from typing import Any

import pytest
from faces.adapters import FACES, Face
from faces.model_flows import FLOWS, MEMORIES, Flow

from recall_retrievers.store import RecallStore

pytestmark = pytest.mark.skipif(
    "RECALL_TEST_MODEL" not in os.environ,
    reason="takes ten minutes, and a model: `make test-model`",
)


@pytest.fixture
def store(words: object) -> Any:
    with RecallStore(embedding=words) as opened:
        opened.add(MEMORIES)
        yield opened


@pytest.mark.parametrize("face", [each for each in FACES if not each.is_async], ids=str)
@pytest.mark.parametrize("flow", FLOWS, ids=str)
def test_a_flow(store: RecallStore, face: Face, client: Any, said: Any, flow: Flow) -> None:
    said.flow, before = flow.name, len(said.replies)

    begun = time.perf_counter()
    found = flow.run(face, store, client)
    seconds = time.perf_counter() - begun

    flow.check(face, found)
    assert len(said.replies) > before  # it was asked, and answered
    said.count(seconds, found[0].metadata if found else {})
    for each in found:
        assert "Connection" not in each.metadata.get("recall_degraded", "")
        assert " tokens in, " in each.metadata["recall_usage"]


@pytest.mark.parametrize("face", [each for each in FACES if each.is_async], ids=str)
def test_async(store: RecallStore, face: Face, client: Any, said: Any) -> None:
    [flow] = [each for each in FLOWS if each.name == "personal memory"]
    said.flow = flow.name

    found = flow.run(face, store, client)

    flow.check(face, found)
    assert "SemanticRank: 1 call" in found[0].metadata["recall_usage"]


@pytest.mark.parametrize("face", FACES, ids=str)
def test_a_model_that_is_too_slow_costs_the_timeout(
    store: RecallStore, face: Face, client: Any, said: Any
) -> None:
    """A real client, a real model, and far too little time."""
    said.flow = ""  # what it says too late is not written down
    stage = face.SemanticRank(llm=client, timeout_s=0.01)
    retriever = face.RecallRetriever(store=store, stages=[stage], k=3)

    found = face.ask(retriever, "What makes Emily nervous?")

    assert len(found) == 3
    # The client's pool may still hold a connection of an event loop that is closed.
    assert found[0].metadata["recall_degraded"] in {
        "SemanticRank: TimeoutError: no answer within 0.01 s",
        "SemanticRank: OpenAIConnectionError: Connection error.",
    }
