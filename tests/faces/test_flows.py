"""Flows that end in one text, in a retriever: reflections, what becomes of these, and tasks."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import Face, Found, once

from recall_retrievers.core.errors import MissingCollectionError
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"


POINTS = json.dumps(
    {
        "points": [
            {"text": "The dentist moved and Ann is afraid.", "memories": [1, 2, 3, 4, 5]},
            {"text": "Nobody knows why.", "memories": [1]},
        ]
    }
)


def reflecting(face: Face, store: RecallStore, model: Any, **settings: Any) -> Any:
    stages = [face.Reflect(llm=model, kind="key_points", store_reflections=True, **settings)]
    return face.RecallRetriever(
        store=store, stages=stages, scope={"user_id": "ann"}, timestamp=NOW, timezone="UTC"
    )


@once
def test_a_reflection_is_stored_once_with_its_question_and_sources(
    own_store: RecallStore, face: Face
) -> None:
    before = own_store.count()
    model = face.model(POINTS)
    retriever = reflecting(face, own_store, model)

    for _ in range(2):
        [told] = face.ask(retriever, "the dentist moved")

    assert model.prompts[1] == model.prompts[0]  # reflections never feed reflections
    assert told.content == "- The dentist moved and Ann is afraid. [1, 2]"
    assert "1 sentence(s) left out" in told.metadata["recall_degraded"]
    assert own_store.count() == before + 1
    [stored] = [m for m in _all(own_store) if m.memory_type == "reflection"]
    assert stored.content == "The dentist moved and Ann is afraid."
    assert stored.metadata["query"] == "the dentist moved"
    assert set(stored.metadata["source_ids"]) == {"moved", "fear"}
    assert stored.scope.fields() == {"user_id": "ann"}
    assert stored.created_at.isoformat() == "2024-03-08T12:00:00+00:00"


def _all(store: RecallStore) -> list[Any]:
    from recall_retrievers.core.stage import Search

    return [hit.memory for hit in store.find([Search("the dentist moved", limit=100)])[0]]


@once
def test_reflections_alone_come_back_as_they_are(face: Face) -> None:
    stage = face.Reflect(llm=face.model(POINTS))
    given = [Found("r", "The dentist moved.", 0.5, {"memory_type": "reflection"})]

    [found] = face.refine(stage, given, "the dentist")

    assert (found.id, found.content) == ("r", "The dentist moved.")
    assert found.metadata["recall_degraded"].startswith("Reflect: there is nothing to reflect on")


@once
def test_what_repeats_a_memory_or_was_written_by_no_model_is_not_stored(
    store: RecallStore, face: Face
) -> None:
    """Of two memories with the same text a search returns one, and the other would be lost."""
    repeats = '{"points": [{"text": "The dentist moved to Elm Street.", "memories": [1]}]}'
    before, moved = store.count(), "- The dentist moved to Elm Street. [1]"

    for model, text in (
        (face.model(repeats), moved),
        (None, f"{moved}\n- "),
        (face.model("I cannot help with that."), f"{moved}\n- "),
    ):
        [told] = face.ask(reflecting(face, store, model), "the dentist moved")
        assert told.content.startswith(text)
        assert store.count() == before


@once
def test_a_collection_that_cannot_be_written_is_named_and_the_reflection_is_there(
    store: RecallStore, face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(memories: Any) -> list[str]:
        raise PermissionError("read only")

    monkeypatch.setattr(store, "add", refuse)

    [told] = face.ask(reflecting(face, store, face.model(POINTS)), "the dentist moved")

    assert told.content.startswith("- The dentist moved")
    assert told.metadata["recall_degraded"].endswith("Reflect: PermissionError: read only")


@once
def test_outside_a_retriever_there_is_nothing_to_store_it_in(face: Face) -> None:
    stage = face.Reflect(llm=face.model(POINTS), store_reflections=True)
    given = [Found("a", "The dentist moved to Elm Street. Ann is afraid.", 0.5, {})]

    [told] = face.refine(stage, given, "the dentist")

    assert told.content == "The dentist moved and Ann is afraid. [1]"
    assert "use this stage inside a RecallRetriever" in told.metadata["recall_degraded"]


STALE = {
    "a source that is gone": lambda store: store.delete(["moved"]),
    "a source that says something else": lambda store: store.add(
        [{"id": "moved", "content": "The dentist stayed.", "scope": {"user_id": "ann"}}]
    ),
}


@once
@pytest.mark.parametrize("change", STALE.values(), ids=STALE)
def test_a_stale_reflection_weighs_half(own_store: RecallStore, face: Face, change: Any) -> None:
    face.ask(reflecting(face, own_store, face.model(POINTS)), "the dentist moved")
    retriever = face.personal_memory_retriever(own_store, timestamp=NOW, k=10)

    def reflection() -> Found:
        found = face.ask(retriever, "The dentist moved and Ann is afraid.", method="semantic")
        return next(each for each in found if each.id.startswith("reflection-"))

    fresh = reflection()
    change(own_store)
    stale = reflection()

    assert "recall_stale" not in fresh.metadata
    assert stale.metadata["recall_stale"] == 0.5
    assert stale.score == pytest.approx(0.5 * fresh.score)


TASKS = [
    {
        "id": "catch",
        "content": "Catch PermissionError and tell the user.",
        "when_to_use": "When a file upload fails",
        "memory_type": "task",
        "quality": 0.9,
    },
    {
        "id": "retry",
        "content": "Retry the upload with a delay.",
        "when_to_use": "When an upload times out",
        "memory_type": "task",
        "quality": 0.1,
    },
    {"id": "chat", "content": "My file upload fails again!", "memory_type": "conversation"},
]


MESSAGES = [{"role": "user", "content": "The upload fails."}, ("assistant", "With which error?")]


@pytest.fixture
def tasks(words: object):
    with RecallStore(embedding=words) as opened:
        opened.add(TASKS)
        yield opened


@once
def test_tasks_without_a_model(tasks: RecallStore, face: Face) -> None:
    [told] = face.ask(face.task_memory_retriever(tasks), "a file upload fails")

    assert told.content == (
        "Memory 1 :\n When to use: When a file upload fails\n"
        " Content: Catch PermissionError and tell the user.\n\n"
        "Memory 2 :\n When to use: When an upload times out\n"
        " Content: Retry the upload with a delay.\n"
    )
    assert told.metadata["recall_ids"] == "catch, retry"
    assert "recall_degraded" not in told.metadata
    assert told.score == pytest.approx(face.kept(told)[0].score)


def test_tasks_with_a_model_from_messages_alone(tasks: RecallStore, words: Any, face: Face) -> None:
    def reply(prompt: str) -> str:
        if "You write the query" in prompt:
            return '{"query": "upload times out"}'
        if "You rank memories" in prompt:
            return '{"ranking": [{"memory": 2, "score": 0.9}, {"memory": 1, "score": 0.2}]}'
        assert "The last messages:" in prompt
        return '{"sentences": [{"text": "Catch PermissionError.", "memories": [2]}]}'

    model = face.model(reply)
    retriever = face.task_memory_retriever(tasks, model)

    [told] = face.ask(retriever, "", messages=MESSAGES)

    assert "upload times out" in words.queries[-2:]
    assert told.content == "Catch PermissionError. [2]"
    assert [each.ids for each in face.cited(told)] == [("catch",)]
    assert len(model.prompts) == 3
    assert "recall_degraded" not in told.metadata


def test_a_chain_may_hand_over_messages() -> None:
    import langchain_recall

    with RecallStore() as store:
        store.add(TASKS)
        retriever = langchain_recall.simple_task_memory_retriever(store)

        [told] = retriever.invoke({"messages": MESSAGES})

    assert told.page_content.startswith("Previous memories:\n- When a file upload fails: Catch")


@once
def test_memories_of_another_type_are_looked_for_where_a_filter_says_so(
    tasks: RecallStore, face: Face
) -> None:
    retriever = face.simple_task_memory_retriever(tasks, filter={"memory_type": "conversation"})

    [told] = face.ask(retriever, "a file upload fails")

    assert told.metadata["recall_ids"] == "chat"


@once
def test_recall_without_settings_asks_the_folder_of_the_examples(
    face: Face, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = import_module(face.RecallRetriever.__module__.partition(".")[0])
    with pytest.raises(MissingCollectionError, match="memories"):
        module.recall("Who likes tea?")
    with RecallStore("./memories") as kept:
        kept.add(["Anna likes tea."])

    [found] = module.recall("Who likes tea?")["memories"]
    assert "Anna likes tea." in (getattr(found, "page_content", "") or found.text)
