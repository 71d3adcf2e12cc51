"""One stage of a list is changed in one line; a list that forgets to read the time warns."""

import warnings
from datetime import UTC, datetime
from typing import Any

import pytest
from faces.adapters import Face, both, once

from recall_retrievers.store import RecallStore

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
QUESTION = "What about the dentist last Tuesday?"


@pytest.fixture
def store() -> Any:
    store = RecallStore()
    store.add(
        [
            {"id": "filled", "content": "The dentist filled a tooth.", "created_at": "2024-03-05"},
            {"id": "moved", "content": "The dentist moved.", "created_at": "2024-02-01"},
        ]
    )
    yield store
    store.close()


@once
def test_one_stage_is_changed_and_the_others_stay(face: Face, store: Any) -> None:
    fuse = face.FuseRerank(fuse_time_ratio=3)
    replaced = face.RecallRetriever(store=store, replace=[fuse], timestamp=NOW, timezone="UTC")
    written = face.RecallRetriever(
        store=store, stages=[face.ExtractTime(), fuse], timestamp=NOW, timezone="UTC"
    )

    found = face.ask(replaced, QUESTION)

    assert found[0].metadata["recall_time_ratio"] > 2
    assert found == face.ask(written, QUESTION)


@once
def test_a_ready_made_flow_keeps_its_stages_and_its_model(face: Face, store: Any) -> None:
    model = face.model('{"scores": [{"memory": 1, "score": 0.9}, {"memory": 2, "score": 0.1}]}')
    retriever = face.personal_memory_retriever(
        store, model, replace=[face.SemanticRank(window=5), face.FuseRerank(fuse_time_ratio=3)]
    )

    names = [type(stage).__name__ for stage in retriever.stages]
    assert names == ["ExtractTime", "SemanticRank", "StaleReflections", "FuseRerank"]
    found = face.ask(retriever, QUESTION, timestamp=NOW)
    assert {0.9, 0.1} <= {each.metadata["recall_semantic"] for each in found}
    assert len(model.prompts) == 1


@once
def test_a_stage_that_is_not_in_the_list_is_refused(face: Face, store: Any) -> None:
    with pytest.raises(ValueError, match=r"one SemanticRank among the stages .* there are 0: Extr"):
        face.RecallRetriever(store=store, replace=[face.SemanticRank()])
    two = [face.ExtractTime(), face.FuseRerank(), face.FuseRerank()]
    with pytest.raises(ValueError, match=r"one FuseRerank among the stages .* there are 2"):
        face.RecallRetriever(store=store, stages=two, replace=[face.FuseRerank()])


@both
def test_a_list_that_forgets_to_read_the_time_warns_in_the_line_of_the_user(
    face: Face, store: Any
) -> None:
    with pytest.warns(UserWarning, match=r"put ExtractTime\(\) in front") as seen:
        retriever = face.RecallRetriever(store=store, stages=[face.FuseRerank()])
    assert [each.filename for each in seen] == [__file__]

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        face.ask(retriever, QUESTION)  # it has been said once


@once
@pytest.mark.parametrize(
    "settings", [{"time_mode": "ignore"}, {"time_range": "last Tuesday"}, {"fuse_time_ratio": 1}]
)
def test_whoever_wants_no_time_read_is_not_warned(face: Face, store: Any, settings: Any) -> None:
    own = dict(settings)
    fuse = face.FuseRerank(fuse_time_ratio=own.pop("fuse_time_ratio", 2))

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        face.RecallRetriever(store=store, stages=[fuse], **own)
        face.RecallRetriever(store=store)
        face.RecallRetriever(store=store, stages=[face.SemanticRank()])
