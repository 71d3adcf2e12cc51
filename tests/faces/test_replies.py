"""A reply of a framework's model reaches the stage that asked, and an error becomes its fallback.

What every reply is read as is tested once for both faces, in `tests/stages/test_reply_table.py`.
"""

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, Found
from stages.reply_kit import CONTENTS, KITS, Kit, Reply
from stages.reply_table import REPLIES
from tables import table

from recall_stages.stages.rewrite_memory import plain_text
from recall_stages.store import RecallStore

GIVEN = [
    Found(memory_id, content, score, {})
    for (memory_id, content), score in zip(CONTENTS.items(), [0.9, 0.6, 0.5, 0.05], strict=True)
]
NAMES = {"bare", "fenced", "after a thought", "a refusal", "nothing", "None", "a connection error"}
SAMPLE = [reply for reply in REPLIES if reply.name in NAMES]


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.stage)
@table("reply", SAMPLE, ids=str)
def test_a_reply(face: Face, kit: Kit, reply: Reply) -> None:
    stage = getattr(face, kit.stage)(llm=face.model(reply.make(kit)), **kit.settings)

    found = face.refine(stage, GIVEN, "Where is the dentist?")

    degraded = found[0].metadata.get("recall_degraded", "")
    assert degraded.startswith(f"{kit.stage}: ") is not reply.understood
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


MESSAGES = [{"role": "user", "content": "The dentist of Bob?"}]


@table("said", ['{"query": "green tea"}', None, ConnectionError("down")])
def test_a_query_that_a_model_builds(
    store: RecallStore, words: WordsEmbedding, face: Face, said: object
) -> None:
    model = face.model(said)
    retriever = face.RecallRetriever(store=store, stages=[face.BuildQuery(llm=model)], k=1)

    [found] = face.ask(retriever, "", messages=MESSAGES)

    if isinstance(said, str):
        assert (found.id, words.queries[-1]) == ("tea", "green tea")
        assert "recall_degraded" not in found.metadata
    else:
        assert (found.id, words.queries[-1]) == ("bob", "- user: The dentist of Bob?")
        assert found.metadata["recall_degraded"].startswith("BuildQuery: ")
