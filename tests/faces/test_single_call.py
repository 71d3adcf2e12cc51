"""Ranking and rewriting in one reply, checked as the two stages check theirs; one call in all."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from faces.adapters import Face, Found
from stages.reply_kit import CONTENTS, Kit, Reply
from stages.reply_table import REPLIES
from tables import table

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.stages.rewrite_memory import plain_text
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"
QUESTION = "The dentist, a filling, green tea or Carla?"
SCORES = [{"memory": n, "score": score} for n, score in enumerate([0.2, 0.9, 0.1, 0.4], 1)]
SAID = [{"text": text, "memories": [n]} for n, text in enumerate(CONTENTS.values(), 1)]
GIVEN = [
    Found(memory_id, content, score, {})
    for (memory_id, content), score in zip(CONTENTS.items(), [0.9, 0.6, 0.5, 0.05], strict=True)
]


class Half(Kit):
    """The sentences of a reply as the table has them; the scores are good."""

    def payload(self, entries: object = None) -> dict[str, object]:
        return {"scores": SCORES, **super().payload(entries)}


SENTENCES = Half("RewriteMemory", "sentences", {})


class Four:
    """A collection of the four memories of the table, found in their order by every question."""

    def __init__(self) -> None:
        self.found = [
            Hit(Candidate(id=each.id, content=each.content), max(each.score or 0, 0.4))
            for each in GIVEN
        ]

    def find(self, searches: Sequence[Search]) -> list[list[Hit]]:
        return [self.found if each.method == "semantic" else [] for each in searches]

    async def afind(self, searches: Sequence[Search]) -> list[list[Hit]]:
        return self.find(searches)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return [each.memory.memory() for each in self.found if each.id in ids]

    def add(self, memories: Iterable[Memory]) -> list[str]:
        raise NotImplementedError


@pytest.fixture
def four() -> Four:
    return Four()


def ask(face: Face, store: Any, model: Any, **settings: Any) -> Found:
    settings = {"timestamp": NOW, "method": "semantic", **settings}
    retriever = face.personal_memory_retriever(
        store,
        model,
        recall_plan="single",
        replace=[face.RankAndRewrite(semantic_share=1)],
        **settings,
    )
    [told] = face.ask(retriever, QUESTION)
    return told


def contents(face: Face, told: Found) -> list[str]:
    return [each.content for each in face.kept(told)]


SAMPLE = {"bare", "one out of range", "no citations", "a refusal", "None"}


@table("reply", [each for each in REPLIES if each.name in SAMPLE], ids=str)
def test_a_reply_ranks_and_tells(four: Four, face: Face, reply: Reply) -> None:
    """What every reply is read as: `tests/stages/test_reply_table.py`."""
    model = face.model(reply.make(SENTENCES))

    told = ask(face, four, model)

    assert len(model.prompts) == 1
    assert sorted(told.metadata["recall_ids"].split(", ")) == sorted(CONTENTS)
    assert sorted(contents(face, told)) == sorted(CONTENTS.values())
    citations = face.cited(told)
    if reply.understood:
        assert told.content == " ".join(each.marked() for each in citations) != ""
    else:
        plain = [face.Memory(content=each) for each in contents(face, told)]
        assert told.content == plain_text(plain)
        assert "Rewrite" in told.metadata["recall_degraded"]


def test_the_whole_flow_is_one_call(store: RecallStore, face: Face) -> None:
    """Even where words of time are left that only a model could read."""
    said = {"text": "The dentist put a filling in my tooth.", "memories": [1, 2, 3, 4, 5]}
    scores = [{"memory": n, "score": 1 - n / 10} for n in range(1, 6)]
    model = face.model(json.dumps({"scores": scores, "sentences": [said]}))
    retriever = face.personal_memory_retriever(
        store, model, recall_plan="single", timestamp=NOW, scope={"user_id": "ann"}, k=3
    )

    [told] = face.ask(retriever, "the filling in my tooth during the lockdown")

    assert len(model.prompts) == 1
    assert "highest scores, 3 at the most" in model.prompts[0]
    assert told.metadata["recall_usage"].startswith("RankAndRewrite: 1 call, ")
    assert told.metadata["recall_degraded"].endswith("1 citation(s) left out that add nothing")
    kept = told.metadata["recall_ids"].split(", ")
    assert len(kept) == 3
    [citation] = face.cited(told)
    assert [kept[number - 1] for number in citation.numbers] == list(citation.ids)
    assert "filling" in citation.ids  # though a conversation counts half, and the others more
    assert told.content == citation.marked()


def test_numbers_are_those_of_the_last_order_and_no_more_is_told_than_was_asked_for(
    four: Four, face: Face
) -> None:
    """The prompt numbers the candidates as they were found; the text, as they are returned."""
    order: list[str] = []

    def reply(prompt: str) -> str:
        order[:] = [each.split("\n")[1] for each in prompt.split("<memory ")[1:]]
        number = {text: n for n, text in enumerate(order, 1)}
        wanted = {CONTENTS["c"]: 0.9, CONTENTS["d"]: 0.8, CONTENTS["a"]: 0.2, CONTENTS["b"]: 0.1}
        return json.dumps(
            {
                "scores": [{"memory": number[t], "score": s} for t, s in wanted.items()],
                "sentences": [{"text": t, "memories": [number[t]]} for t in wanted],
            }
        )

    told = ask(face, four, face.model(reply), k=2)

    assert told.content == f"{CONTENTS['c']} [1] {CONTENTS['d']} [2]"
    assert told.metadata["recall_ids"] == "c, d"
    assert told.metadata["recall_degraded"] == (
        "RewriteMemory: 2 sentence(s) left out that do not rest on what they cite"
    )


HALF_GOOD = {
    "scores alone": ({"scores": SCORES}, True, False),
    "sentences alone": ({"sentences": SAID}, False, True),
    "neither": ({"other": 1}, False, False),
}


@table(("reply", "ranks", "tells"), HALF_GOOD.values(), ids=HALF_GOOD)
def test_one_half_that_is_missing_costs_itself_alone(
    four: Four, face: Face, reply: object, ranks: bool, tells: bool
) -> None:
    [first, *_] = face.refine(
        face.RankAndRewrite(llm=face.model(json.dumps(reply)), semantic_share=1),
        GIVEN,
        "the dentist",
    )
    assert first.id == ("b" if ranks else "a")
    assert first.metadata["recall_degraded"].count("RankAndRewrite: ") == 2 - ranks - tells

    told = ask(face, four, face.model(json.dumps(reply)))
    assert told.content.startswith("Memory 1 :") is not tells


@table("unheard", [None, ConnectionError("down"), TimeoutError("late")])
def test_without_an_answer_the_memories_are_told_as_they_are(
    four: Four, face: Face, unheard: Exception | None
) -> None:
    model = None if unheard is None else face.model(unheard)
    plain = face.personal_memory_retriever(four, rewrite=True, timestamp=NOW, method="semantic")

    told = ask(face, four, model)

    assert told.content == face.ask(plain, QUESTION)[0].content
    degraded = told.metadata.get("recall_degraded", "")
    assert degraded == (
        "" if unheard is None else f"RankAndRewrite: {type(unheard).__name__}: {unheard}"
    )


def test_only_the_first_candidates_are_shown_and_none_is_lost(face: Face) -> None:
    model = face.model('{"scores": [{"memory": 2, "score": 0.5}], "sentences": []}')

    stage = face.RankAndRewrite(llm=model, window=2, semantic_share=1)
    found = face.refine(stage, GIVEN, "the dentist")

    assert model.prompts[0].count("<memory ") == 2
    assert found[0].metadata["recall_degraded"] == "RankAndRewrite: 1 of 2 not judged"
    assert sorted(each.id for each in found) == ["a", "b", "c", "d"]
    assert [e.metadata["recall_semantic"] for e in found if e.id in "cd"] == ["not judged"] * 2


def test_another_plan_is_an_error(four: Four, face: Face) -> None:
    with pytest.raises(ValueError, match='must be "steps" or "single"; got \'one\''):
        face.personal_memory_retriever(four, recall_plan="one")


def test_the_draft_is_verified_with_the_settings_of_the_stage_that_tells_it(
    four: Four, face: Face
) -> None:
    lie = {"text": "The dentist moved to the moon in 1999.", "memories": [1, 2, 3, 4]}
    model = face.model(json.dumps({"scores": SCORES, "sentences": [*SAID, lie]}))
    stages = [
        face.RankAndRewrite(llm=model),
        face.RewriteMemory(llm=face.model("never asked"), unverified="fall_back"),
    ]
    retriever = face.RecallRetriever(store=four, stages=stages, method="semantic")

    [told] = face.ask(retriever, QUESTION)

    assert told.content.startswith("Memory 1 :")
    assert "RewriteMemory: ReplyError: " in told.metadata["recall_degraded"]
    assert "1 call" in told.metadata["recall_usage"]
