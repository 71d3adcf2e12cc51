"""The benchmark of the evidence asks in four ways, and counts what is held back."""

from benchmarks import evidence

MEMORIES = [
    ("c", "c1", "I parked the car in Elm Street.", "Ann", "2024-03-11T10:00:00"),
    ("c", "c2", "The cello sounds fine.", "Ben", "2024-03-11T10:01:00"),
    ("c", "c3", "My sister moved to Bath.", "Ben", "2024-03-12T10:00:00"),
    ("d", "d1", "The dentist filled a tooth.", "Eva", "2024-03-11T10:00:00"),
    ("d", "d2", "Zinc is sold by weight.", "Tom", "2024-03-11T10:01:00"),
]
QUESTIONS = [
    {"text": "Where did Ann park the car?", "relevant": ["c1"]},
    {"text": "Where did the sister move?", "relevant": ["c3"]},
    {"text": "Which instrument does Ben own?", "relevant": ["c2"], "category": "adversarial"},
]


def test_figures_of_a_small_set(retrieval_set, measured, capsys) -> None:
    folder = retrieval_set("talk", MEMORIES, *QUESTIONS)

    [found] = measured(evidence.main, "--data", folder)

    assert found["questions"] == {"own": 2, "other": 2, "person": 1, "answer": 2}
    assert found["auroc"] == {"other": 1.0, "person": 1.0, "answer": 1.0}
    assert found["silenced"]["own"] == 0
    assert found["silenced"]["other"] == 0.5
    assert found["strong"]["own"] > found["strong"]["person"]
    assert "1.000" in capsys.readouterr().out


def test_a_bound_loses_one_in_a_hundred_of_the_other_sets() -> None:
    own = [evidence.Evidence("some", number=n / 200) for n in range(200)]
    asked = {
        name: {"own": own, "other": [evidence.Evidence("some", number=x)]}
        for name, x in (("one", 0.004), ("two", 0.006), ("two-zh", 0.0))
    }

    shares = {each["set"]: each["bound_elsewhere"] for each in evidence.measure(asked)}

    assert {name: each["other"] for name, each in shares.items()} == {
        "one": 1.0,
        "two": 0.0,
        "two-zh": 1.0,
    }
    assert shares["one"]["own"] == 0.005
