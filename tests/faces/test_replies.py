"""Whatever a model says, no stage raises, loses a memory or invents one; each fallback is named."""

import math
from typing import Any

import pytest
from faces.adapters import Face, Found
from faces.replies import CONTENTS, KITS, REPLIES, USELESS, WRAPPED, Kit, Reply

from recall_stages.stages.rewrite_memory import plain_text
from recall_stages.store import RecallStore

BEFORE = [0.9, 0.6, 0.5, 0.05]
GIVEN = [
    Found(memory_id, content, score, {})
    for (memory_id, content), score in zip(CONTENTS.items(), BEFORE, strict=True)
]
CASES = [(kit, reply) for kit in KITS for reply in REPLIES if kit.stage in reply.kits]


def test_the_table_is_long_enough() -> None:
    assert len(REPLIES) >= 60
    assert len({reply.name for reply in REPLIES}) == len(REPLIES)


@pytest.mark.parametrize(("kit", "reply"), CASES, ids=[f"{k.stage}-{r}" for k, r in CASES])
def test_a_reply(face: Face, kit: Kit, reply: Reply) -> None:
    stage = getattr(face, kit.stage)(llm=face.model(reply.make(kit)), **kit.settings)

    found = face.refine(stage, GIVEN, "Where is the dentist?")

    if kit.ranks:
        _check_ranked(found, kit, reply)
    else:
        _check_told(face, found, kit, reply)


def _check_ranked(found: list[Found], kit: Kit, reply: Reply) -> None:
    assert sorted((each.id, each.content) for each in found) == sorted(CONTENTS.items())
    scores = [each.score for each in found]
    assert all(score is not None and math.isfinite(score) and 0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    if reply.understood:
        assert not [each for each in found if "recall_degraded" in each.metadata]
        assert {"a", "b"} & {e.id for e in found if e.metadata["recall_semantic"] != "not judged"}
    else:
        assert [(each.id, each.score) for each in found] == [(e.id, e.score) for e in GIVEN]
        assert all(e.metadata["recall_degraded"].startswith(f"{kit.stage}: ") for e in found)


def _check_told(face: Face, found: list[Found], kit: Kit, reply: Reply) -> None:
    [told] = found
    assert told.metadata["recall_ids"] == "a, b, c, d"
    assert [each.content for each in face.kept(told)] == list(CONTENTS.values())
    citations = face.cited(told)
    assert all(set(each.ids) <= set(CONTENTS) and each.ids for each in citations)
    if kit.stage == "Reflect" or reply.understood:
        ending = "\n- " if kit.stage == "Reflect" else " "
        assert told.content.removeprefix("- ") == ending.join(e.marked() for e in citations)
    if reply.understood:
        assert "failed" not in told.metadata.get("recall_degraded", "")
        assert "Error" not in told.metadata.get("recall_degraded", "")
    else:
        assert told.metadata["recall_degraded"].startswith(f"{kit.stage}: ")
        assert len(told.metadata["recall_degraded"]) < 400
    if kit.stage == "RewriteMemory" and not reply.understood:
        assert told.content == plain_text([face.Memory(content=each) for each in CONTENTS.values()])


class SaysQuery(Kit):
    """The same replies, made for a query."""

    def entries(self, numbers: Any = ()) -> Any:
        return "green tea"


QUERY = SaysQuery("BuildQuery", "query", {})
QUERIES = [reply for reply in (*WRAPPED, *USELESS) if reply.name != "the list alone"]


@pytest.mark.parametrize("reply", QUERIES, ids=str)
def test_a_query_that_a_model_builds(
    store: RecallStore, words: Any, face: Face, reply: Reply
) -> None:
    model = face.model(reply.make(QUERY))
    retriever = face.RecallRetriever(store=store, stages=[face.BuildQuery(llm=model)], k=1)

    [found] = face.ask(retriever, "", messages=[{"role": "user", "content": "The dentist of Bob?"}])

    if reply.understood:
        assert (found.id, words.queries[-1]) == ("tea", "green tea")
        assert "recall_degraded" not in found.metadata
    else:
        assert (found.id, words.queries[-1]) == ("bob", "- user: The dentist of Bob?")
        assert found.metadata["recall_degraded"].startswith("BuildQuery: ")
