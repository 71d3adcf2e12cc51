"""ExtractTime with a model, in each framework's own lists and retrievers, sync and async."""

import pytest
from faces.adapters import Face, Found, once
from tables import table

from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"
QUESTION = "What did I cook during the lockdown?"
LOCKDOWN = '{"words": "during the lockdown", "start": "2020-03-22", "end": "2020-05-04"}'

CANDIDATES = [
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
    given = CANDIDATES

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


@once
def test_the_personal_flow_hands_its_model_to_both(kitchen: RecallStore, face: Face) -> None:
    ranking = '{"scores": [{"memory": 1, "score": 0.9}, {"memory": 2, "score": 0.8}]}'

    model = face.model(lambda prompt: LOCKDOWN if "stretch of time" in prompt else ranking)
    retriever = face.personal_memory_retriever(kitchen, llm=model, timestamp=NOW)

    [best, *_] = face.ask(retriever, QUESTION)
    face.ask(retriever, "What do I cook?")

    assert best.metadata["recall_time_words"] == "during the lockdown"
    assert ["stretch of time" in prompt for prompt in model.prompts] == [True, False, False]
