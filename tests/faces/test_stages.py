"""The stages as each framework uses them by itself: a compressor, a node postprocessor."""

import json

import pytest
from faces.adapters import Face, Found, once
from tables import table

from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"


CANDIDATES = [
    Found("a", "The dentist moved to Elm Street.", 0.9, {"created_at": "2024-02-01T09:00:00Z"}),
    Found(
        "b", "A filling by the dentist.", 0.6, {"created_at": 1709632800, "memory_type": "insight"}
    ),
    Found(
        "c", "Green tea.", 0.05, {"created_at": "2024-03-05T07:00:00+00:00", "memory_type": "task"}
    ),
    Found("d", "Something undated.", 0.5, {}),
]


RANKING = json.dumps(
    {"scores": [{"memory": n, "score": s} for n, s in enumerate([0.2, 0.9, 0.1, 0.0], 1)]}
)


def test_extract_time_then_fuse_rerank_understand_a_bare_string(face: Face) -> None:
    """In a stock list only text is passed on; the time understood travels on the candidates."""
    question = "the dentist last Tuesday"

    stamped = face.refine(face.ExtractTime(timestamp=NOW, timezone="UTC"), CANDIDATES, question)
    fused = face.refine(face.FuseRerank(), stamped, question)

    assert [each.id for each in stamped] == ["a", "b", "c", "d"]
    # The best of that Tuesday answers 0.6 / 0.9 as well as the best of all, and is trusted so far.
    # One more of them lies in it, as if of fifty.
    trust = (0.6 / 0.9) ** 3 * (1 - 1 / 50) ** 4
    assert [each.id for each in fused] == ["b", "a", "d"]
    assert [each.score for each in fused] == pytest.approx([0.6 * 2 * (1 + trust), 0.9, 0.5])
    assert [each.metadata["recall_time_match"] for each in fused] == ["recorded", "none", "none"]
    assert fused[0].metadata["recall_time_trust"] == pytest.approx(trust)


def test_fuse_rerank_twice_gives_the_same(face: Face) -> None:
    stage = face.FuseRerank(timestamp=NOW, show_time=True)

    once = face.refine(stage, CANDIDATES, "the dentist")

    assert face.refine(stage, once, "the dentist") == once
    assert once[0].metadata["created_at"] == 1709632800  # as it came
    assert once[0].content == "[2024-03-05 10:00:00 Tuesday] A filling by the dentist."


def test_semantic_rank_sorts_by_what_the_model_says(face: Face) -> None:
    model = face.model(RANKING)

    stage = face.SemanticRank(llm=model, semantic_share=1)
    ranked = face.refine(stage, CANDIDATES, "Who filled my tooth?")

    assert [(each.id, each.score) for each in ranked] == [
        ("b", 0.9),
        ("a", 0.2),
        ("c", 0.1),
        ("d", 0.0),
    ]
    assert ranked[0].metadata["recall_semantic"] == 0.9
    assert len(model.prompts) == 1
    assert "Who filled my tooth?" in model.prompts[0]
    assert '<memory number="2" recorded="2024-03-05 Tuesday">\nA filling' in model.prompts[0]


def test_print_memory_writes_what_a_reader_sees(face: Face) -> None:
    text = face.text(face.PrintMemory(timezone="UTC"), CANDIDATES[:2])

    assert text == (
        "Memory 1:\n"
        "  Content: The dentist moved to Elm Street.\n"
        "  Recorded: 2024-02-01 09:00:00 Thursday\n\n"
        "Memory 2:\n"
        "  Content: A filling by the dentist.\n"
        "  Recorded: 2024-03-05 10:00:00 Tuesday"
    )
    assert face.text(face.PrintMemory(), []) == "No memories found."


@once
def test_print_memory_leaves_out_what_rows_keep_for_searching(face: Face) -> None:
    """A stock reader hands on every column of a row of ours."""
    row = {
        "created_at": 1709632800000,
        "created_day": 19787,
        "created_month": 24290,
        "topic": "tea",
    }

    text = face.text(face.PrintMemory(timezone="UTC"), [Found("a", "Green tea.", 0.5, row)])

    assert text.splitlines()[1:] == [
        "  Content: Green tea.",
        "  Recorded: 2024-03-05 10:00:00 Tuesday",
        "  Metadata: topic: tea",
    ]


def test_print_memory_in_a_list_of_the_framework_is_one_text(face: Face) -> None:
    printed = face.refine(face.PrintMemory(), CANDIDATES[:2], "the dentist")

    assert len(printed) == 1
    assert printed[0].content.startswith("Memory 1:")
    assert printed[0].metadata["recall_ids"] == "a, b"


QUESTION = "What did I cook during the lockdown?"


LOCKDOWN = '{"words": "during the lockdown", "start": "2020-03-22", "end": "2020-05-04"}'


TIME_CANDIDATES = [
    Found("new", "Lentils.", 0.6, {"created_at": "2024-03-04T19:00:00Z"}),  # a Monday
    Found("old", "Banana bread.", 0.5, {"created_at": "2020-04-01T19:00:00Z"}),  # a Wednesday
]


@pytest.fixture
def kitchen(words: object):
    with RecallStore(embedding=words) as opened:
        opened.add(
            [
                {"id": "new", "content": "I did cook.", "created_at": "2024-03-04T19:00:00Z"},
                {"id": "old", "content": "I did cook bread.", "created_at": "2020-04-01T19:00:00Z"},
            ]
        )
        yield opened


def test_in_a_list_of_the_framework_the_model_is_asked_once(face: Face) -> None:
    """Only text and candidates are passed on; the time that the model named travels on these."""
    model = face.model(LOCKDOWN)
    given = TIME_CANDIDATES

    for stage in (
        face.ExtractTime(llm=model, timestamp=NOW, timezone="UTC"),
        face.FuseRerank(),
        face.FuseRerank(),
    ):
        given = face.refine(stage, given, QUESTION)

    assert [each.id for each in given] == ["old", "new"]
    assert given[0].metadata["recall_time_words"] == "during the lockdown"
    assert given[0].metadata["recall_time_match"] == "recorded"
    assert "recall_degraded" not in given[0].metadata
    assert len(model.prompts) == 1


@once
@table("settings", [{"time_mode": "ignore"}, {"time_range": ("2020-04-01", "2020-05-01")}])
def test_time_that_is_given_or_unwanted_costs_no_call(
    kitchen: RecallStore, face: Face, settings: dict[str, object]
) -> None:
    model = face.model(LOCKDOWN)
    retriever = face.RecallRetriever(store=kitchen, stages=[face.ExtractTime(llm=model)])

    face.ask(retriever, QUESTION, **settings)

    assert model.prompts == []
