"""A reply of a framework's model reaches the stage that asked, and an error becomes its fallback.

What every reply is read as is tested once for both faces, in `tests/stages/test_reply_table.py`.
What a small real model said is replayed; `make test-model RECORD=--record` writes it anew.
"""

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from faces.adapters import FACES, Face, Found, both, once
from faces.form_models import ObjectChat, ObjectLLM
from faces.model_flows import FLOWS, MEMORIES, Flow
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import RunnableLambda
from stages.reply_kit import CONTENTS, KITS, Kit, Reply, bad, good
from stages.reply_table import REPLIES
from tables import table

from recall_retrievers.llm.prompts import REPLY_FORMS
from recall_retrievers.stages.rewrite_memory import plain_text
from recall_retrievers.store import RecallStore

GIVEN = [
    Found(memory_id, content, score, {})
    for (memory_id, content), score in zip(CONTENTS.items(), [0.9, 0.6, 0.5, 0.05], strict=True)
]


NAMES = {
    *("bare", "fenced", "after a thought", "cut off after an entry", "pairs", "up to 10", "lines"),
    *("a refusal", "nothing", "None", "a connection error"),
}
SAMPLE = [reply for reply in REPLIES if reply.name in NAMES]


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.stage)
@table("reply", SAMPLE, ids=str)
def test_a_reply(face: Face, kit: Kit, reply: Reply) -> None:
    if kit.stage in reply.kits:
        check_reply(face, kit, face.model(reply.make(kit)), reply)


def check_reply(face: Face, kit: Kit, model: Any, reply: Reply) -> None:
    stage = getattr(face, kit.stage)(llm=model, **kit.settings)

    found = face.refine(stage, GIVEN, "Where is the dentist?")

    degraded = found[0].metadata.get("recall_degraded", "")
    assert degraded.startswith(f"{kit.stage}: ") is (not reply.understood or bool(reply.note))
    assert reply.note in degraded
    if kit.ranks:
        assert sorted((each.id, each.content) for each in found) == sorted(CONTENTS.items())
        assert "".join(each.id for each in found) == (reply.order if reply.understood else "abcd")
        return
    [told] = found
    assert told.metadata["recall_ids"] == "a, b, c, d"
    assert [each.content for each in face.kept(told)] == list(CONTENTS.values())
    if reply.understood:
        ending = "\n- " if kit.stage == "Reflect" else " "
        assert told.content.removeprefix("- ") == ending.join(e.marked() for e in face.cited(told))
    elif kit.stage == "RewriteMemory":
        assert told.content == plain_text([face.Memory(content=each) for each in CONTENTS.values()])


def filled_form(kit: Kit) -> object:
    return REPLY_FORMS[kit.key].model_validate(kit.payload(kit.pairs() if kit.ranks else None))


OBJECTS = [
    good("a mapping", lambda kit: MappingProxyType(kit.payload())),
    good("a list", lambda kit: kit.entries()),
    good("a form", filled_form),
    *[bad(repr(x)[:9], lambda kit, x=x: x) for x in (None, 7, [], b"so", {1}, {("a",): 1}, object)],
]


def given_by(face: Face, given: object) -> list[Any]:
    """Models that give an object where others give a text."""
    if not face.is_langchain:
        return [ObjectLLM(["so"], given)]
    return [ObjectChat(replies=["so"], filled=given), RunnableLambda(lambda _: given)]


@both
@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.stage)
@table("reply", OBJECTS, ids=str)
def test_an_object_in_place_of_a_text(face: Face, kit: Kit, reply: Reply) -> None:
    for model in given_by(face, reply.make(kit)):
        check_reply(face, kit, model, reply)


@once
@table("given", [reply.make(KITS[0]) for reply in OBJECTS], ids=map(str, OBJECTS))
def test_an_object_in_place_of_a_text_in_every_flow(
    store: RecallStore, face: Face, given: object
) -> None:
    for model in given_by(face, given):
        gate = face.SearchGate(llm=model, undecided=(-99, 99), threshold=-99)
        stages = [face.BuildQuery(llm=model), face.RewriteMemory(llm=model)]
        all_stages = face.RecallRetriever(store=store, stages=stages, gate=gate)
        personal = face.personal_memory_retriever(store, model, rewrite=True)
        for retriever, question in ((all_stages, ""), (personal, "The dentist in the lockdown?")):
            [told] = face.ask(retriever, question, messages=MESSAGES)
            assert face.kept(told)
            assert told.metadata["recall_degraded"]


def test_a_stream_of_objects_is_told_once(store: RecallStore) -> None:
    face = Face("langchain_recall", is_async=False)
    reply = '{"sentences": [{"text": "Tea.", "memories": [1]}, {"text": "Green", "memories": [1]}]}'
    model = FakeListChatModel(responses=[reply]) | JsonOutputParser()  # it streams what is there
    stages = [face.RewriteMemory(llm=model, min_support=0)]

    told = [*face.RecallRetriever(store=store, stages=stages, k=1).stream("tea")]

    assert "".join(each.page_content for [each] in told) == "Tea. [1] Green [1]"
    assert "recall_degraded" not in told[-1][0].metadata


MESSAGES = [{"role": "user", "content": "The dentist of Bob?"}]


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
