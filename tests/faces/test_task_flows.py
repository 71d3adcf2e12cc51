"""The flows over task memories, in a retriever: each ends in one text."""

from typing import Any

import pytest
from faces.adapters import Face, once
from tables import table

from recall_retrievers.store import RecallStore

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

    assert words.queries[-1] == "upload times out"
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
def test_the_simple_flow_ends_in_a_merge(tasks: RecallStore, face: Face) -> None:
    [told] = face.ask(face.simple_task_memory_retriever(tasks, k=1), "a file upload fails")

    assert told.content == (
        "Previous memories:\n"
        "- When a file upload fails: Catch PermissionError and tell the user.\n\n"
        "Consider the helpful parts of these memories when you answer the question."
    )


@once
def test_memories_of_another_type_are_looked_for_where_a_filter_says_so(
    tasks: RecallStore, face: Face
) -> None:
    retriever = face.simple_task_memory_retriever(tasks, filter={"memory_type": "conversation"})

    [told] = face.ask(retriever, "a file upload fails")

    assert told.metadata["recall_ids"] == "chat"


@once
def test_nothing_found_is_nothing(words: object, face: Face) -> None:
    with RecallStore(embedding=words) as empty:
        for make in (face.task_memory_retriever, face.simple_task_memory_retriever):
            assert face.ask(make(empty), "a file upload fails") == []


@once
@table("asked", ["", None])
def test_no_question_and_no_messages_is_an_error(
    tasks: RecallStore, face: Face, asked: str | None
) -> None:
    with pytest.raises((ValueError, TypeError)):
        face.ask(face.task_memory_retriever(tasks), asked)
