"""recall(query, config) through both faces: candidates, filters, ranker, limit, reflection."""

import json
from typing import Any

from faces.adapters import Face, Found, once
from faces.conftest import NOW
from tables import table

from recall_retrievers.store import RecallStore

REPLY = json.dumps({"points": [{"text": "Ann is afraid of the dentist.", "memories": [1]}]})


def recall(face: Face, asked: str, config: Any, **options: Any) -> tuple[list[Found], Any]:
    outcome = face._wait((face.arecall if face.is_async else face.recall)(asked, config, **options))
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
def test_by_default_time_and_kind_are_weighed(store: RecallStore, face: Face) -> None:
    config = face.RecallConfig(source=store, max_results=1)
    options = {"timestamp": NOW, "scope": {"user_id": "bob"}}

    assert [e.id for e in recall(face, "dentist", config, timestamp=NOW)[0]] == ["fear"]
    assert [e.id for e in recall(face, "dentist", config, **options)[0]] == ["bob"]


@once
@table("method", ["semantic", "keyword", "hybrid"])
def test_the_method_is_handed_on(store: RecallStore, face: Face, method: str) -> None:
    config = face.RecallConfig(source=store, retrieval_method=method, max_results=3)

    found, _ = recall(face, "dentist", config, timestamp=NOW)

    assert ("recall_keyword" in found[0].metadata) == (method != "semantic")
    assert ("recall_similarity" in found[0].metadata) == (method != "keyword")


@once
def test_without_a_model_the_first_sentences_are_the_reflection(
    store: RecallStore, face: Face
) -> None:
    config = face.RecallConfig(source=store, generate_reflection=True, max_results=2)

    found, reflection = recall(face, "dentist", config, timestamp=NOW)

    assert len(found) == 2
    assert reflection.content == (
        "Ann is afraid of the dentist. [1] The dentist moved to Elm Street. [2]"
    )


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


@once
def test_nothing_found_is_an_empty_list_and_no_reflection(store: RecallStore, face: Face) -> None:
    config = face.RecallConfig(source=store, generate_reflection=True)

    found, reflection = recall(face, "dentist", config, scope={"user_id": "nobody"})

    assert (found, reflection) == ([], None)
