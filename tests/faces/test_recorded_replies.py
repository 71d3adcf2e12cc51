"""What a small real model said, replayed through every stage: no memory is lost or invented.

`make test-model RECORD=--record` writes the replies anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import FACES, Face, once
from faces.model_flows import FLOWS, MEMORIES, Flow

from recall_retrievers.store import RecallStore

RECORDED = json.loads(Path(__file__).with_name("recorded_replies.json").read_text("utf-8"))
REPLIES = list(dict.fromkeys(each["reply"] for each in RECORDED["replies"]))


@pytest.fixture(scope="module")
def emily() -> Any:
    from conftest import WordsEmbedding

    with RecallStore(embedding=WordsEmbedding()) as opened:
        opened.add(MEMORIES)
        yield opened


def test_every_stage_that_asks_a_model_has_replies_of_its_own() -> None:
    assert {each["flow"] for each in RECORDED["replies"]} == {flow.name for flow in FLOWS}
    assert "Apache-2.0" in RECORDED["model"]
    assert "MIT" in RECORDED["memories"]


@once
@pytest.mark.parametrize("flow", FLOWS, ids=str)
def test_replies_of_a_real_model(emily: RecallStore, face: Face, flow: Flow) -> None:
    own = [each["reply"] for each in RECORDED["replies"] if each["flow"] == flow.name]
    for reply in REPLIES if face == FACES[0] else own:  # once those to other prompts too
        model = face.model(reply)

        found = flow.run(face, emily, model)

        flow.check(face, found)
        assert model.prompts
