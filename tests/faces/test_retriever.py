"""A retriever and `recall` as a user sets them: one table of cases, filters, stages, moments."""

import json
import warnings
from typing import Any

import pytest
from faces.adapters import FACES, Face, Found, both, once
from faces.cases import CASES, Case
from faces.conftest import NOW
from tables import table

from recall_retrievers.store import RecallStore

REPLY = json.dumps({"points": [{"text": "Ann is afraid of the dentist.", "memories": [1]}]})


def recall(face: Face, asked: str, config: Any, **options: Any) -> tuple[list[Found], Any]:
    outcome = face.call(face, "recall", asked, config, **options)
    assert outcome.keys() == {"memories", "reflection"}
    told = outcome["reflection"]
    return face.found(outcome["memories"]), face.found([told])[0] if told is not None else None


def test_candidates_are_filtered_ranked_and_cut(store: RecallStore, face: Face) -> None:
    def nothing_of_bob(memories: Any, query: Any) -> Any:
        return [memory for memory in memories if memory.scope.user_id != "bob"]

    config = face.RecallConfig(
        source=store, filters=[nothing_of_bob], ranker=face.RecencyRank(), max_results=2
    )

    found, reflection = recall(face, "dentist", config, timestamp=NOW)

    assert [each.id for each in found] == ["filling", "tea"]
    assert reflection is None


@once
@table("method", ["semantic", "keyword", "hybrid"])
def test_the_method_is_handed_on(store: RecallStore, face: Face, method: str) -> None:
    config = face.RecallConfig(source=store, retrieval_method=method, max_results=3)

    found, _ = recall(face, "dentist", config, timestamp=NOW)

    assert ("recall_keyword" in found[0].metadata) == (method != "semantic")
    assert ("recall_similarity" in found[0].metadata) == (method != "keyword")


@once
def test_a_reflection_is_verified_and_stored(own_store: RecallStore, face: Face) -> None:
    reflector = face.Reflect(llm=face.model(REPLY.replace("Ann is afraid", "She is afraid")))
    config = face.RecallConfig(
        source=own_store, generate_reflection=True, reflector=reflector, store_reflections=True
    )
    before = own_store.count()

    found, reflection = recall(face, "dentist", config, timestamp=NOW)

    assert reflection.content == "She is afraid of the dentist. [1]"
    assert found[0].id == "fear"
    assert own_store.count() == before + 1
    assert reflector.store_reflections is False


QUESTION = "What about the dentist last Tuesday?"


@once
def test_one_stage_is_changed_and_the_others_stay(face: Face, store: RecallStore) -> None:
    fuse = face.FuseRerank(fuse_time_ratio=3)
    replaced = face.RecallRetriever(store=store, replace=[fuse], timestamp=NOW, timezone="UTC")
    written = face.RecallRetriever(
        store=store, stages=[face.ExtractTime(), fuse], timestamp=NOW, timezone="UTC"
    )

    found = face.ask(replaced, QUESTION)

    assert max(each.metadata["recall_time_ratio"] for each in found) > 2
    assert found == face.ask(written, QUESTION)


@once
def test_a_ready_made_flow_keeps_its_stages_and_its_model(face: Face, store: RecallStore) -> None:
    model = face.model('{"scores": [{"memory": 1, "score": 0.9}, {"memory": 2, "score": 0.1}]}')
    retriever = face.personal_memory_retriever(
        store, model, replace=[face.SemanticRank(window=5), face.FuseRerank(fuse_time_ratio=3)]
    )

    names = [type(stage).__name__ for stage in retriever.stages]
    assert names == ["ExtractTime", "SemanticRank", "StaleReflections", "FuseRerank"]
    found = face.ask(retriever, QUESTION, timestamp=NOW)
    assert {0.9, 0.1} <= {each.metadata["recall_semantic"] for each in found}
    [prompt] = model.prompts
    assert prompt.count("<memory ") == 5  # of six memories, in the window that was set


@once
def test_a_stage_that_is_not_in_the_list_is_refused(face: Face, store: RecallStore) -> None:
    with pytest.raises(ValueError, match=r"one SemanticRank among the stages .* there are 0: Extr"):
        face.RecallRetriever(store=store, replace=[face.SemanticRank()])
    two = [face.ExtractTime(), face.FuseRerank(), face.FuseRerank()]
    with pytest.raises(ValueError, match=r"one FuseRerank among the stages .* there are 2"):
        face.RecallRetriever(store=store, stages=two, replace=[face.FuseRerank()])


@both
def test_a_list_that_forgets_to_read_the_time_warns_in_the_line_of_the_user(
    face: Face, store: RecallStore
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
def test_whoever_wants_no_time_read_is_not_warned(
    face: Face, store: RecallStore, settings: Any
) -> None:
    own = dict(settings)
    fuse = face.FuseRerank(fuse_time_ratio=own.pop("fuse_time_ratio", 2))

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        face.RecallRetriever(store=store, stages=[fuse], **own)
        face.RecallRetriever(store=store)
        face.RecallRetriever(store=store, stages=[face.SemanticRank()])


def many(count: int, **metadata: Any) -> list[Found]:
    return [Found(f"m{n}", f"Memory number {n}.", 0.9 - n / 100, metadata) for n in range(count)]


@once
def test_a_question_under_a_key(store: RecallStore, face: Face) -> None:
    plain = face.RecallRetriever(store=store, timestamp=NOW)
    keyed = face.RecallRetriever(store=store, timestamp=NOW, recall_key="question")

    expected = face.ask(plain, "the dentist")

    assert face.ask(plain, {"query": "the dentist"}) == expected
    assert face.ask(keyed, {"question": "the dentist", "language": "en"}) == expected
    with pytest.raises(ValueError, match="expected the question under 'question'"):
        face.ask(keyed, {"query": "the dentist"})


@once
@table("kind", ["summary", "key_points"])
def test_a_reflection_is_a_summary_or_points(face: Face, kind: str) -> None:
    [told] = face.refine(face.Reflect(kind=kind), many(7), "What is there?")

    lines = told.content.splitlines()
    assert (len(lines) == 1) is (kind == "summary")
    if kind == "key_points":
        assert 3 <= len(lines) <= 5
        assert all(line.startswith("- ") and line.endswith("]") for line in lines)


@table("case", CASES, ids=lambda case: case.name)
def test_the_right_memories_come_back_in_order_and_alike(store: RecallStore, case: Case) -> None:
    settings = {"timestamp": NOW, "timezone": "UTC", **case.settings}
    answers = [
        each.ask(each.RecallRetriever(store=store, **settings), case.question, **case.options)
        for each in FACES
    ]

    assert [each.id for each in answers[0]] == case.expected
    assert all(answer == answers[0] for answer in answers)


def test_results_carry_what_the_memory_is(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="Europe/Berlin", k=6)

    filling = next(each for each in face.ask(retriever, "a filling") if each.id == "filling")

    stored = {k: v for k, v in filling.metadata.items() if not k.startswith("recall_")}
    assert stored == {
        "created_at": "2024-03-05T11:00:00+01:00",
        "memory_type": "conversation",
        "author": "Ann",
        "user_id": "ann",
        "topic": "health",
        "stars": 3,
    }


@once
def test_k_memories_come_back_where_there_are_k(face: Face, words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add(["I paid the rent."] * 300 + [f"the rent of month {n}" for n in range(8)])

        found = face.ask(face.RecallRetriever(store=store, k=8, fetch_k=1), "I paid the rent.")

    assert len(found) == 8
    assert len({each.content for each in found}) == 8
