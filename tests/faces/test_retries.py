"""Models that are busy or whose connection drops, in a question and in a stage."""

from typing import Any

from faces.adapters import Face, Found, ScriptedChat, once

from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"
GIVEN = [Found(name, f"Memory {name}.", 0.5, {}) for name in "ab"]
JUDGED = '{"scores": [{"memory": 1, "score": 0.1}, {"memory": 2, "score": 0.9}]}'


class RateLimitError(Exception):
    """As the clients of OpenAI and Anthropic raise it."""

    status_code = 429


def busy(times: int) -> Any:
    """Says nothing but that it is busy, so many times."""
    left = iter([RateLimitError("slow down")] * times)

    def reply(prompt: str) -> str:
        if error := next(left, None):
            raise error
        return JUDGED

    return reply


def test_a_busy_model_is_asked_again_and_the_usage_says_how_often(face: Face) -> None:
    stage = face.SemanticRank(llm=face.model(busy(2)))

    found = face.refine(stage, GIVEN, "which?")

    assert [each.id for each in found] == ["b", "a"]
    assert "recall_degraded" not in found[0].metadata
    assert found[0].metadata["recall_usage"].startswith("SemanticRank: 1 call (3 attempts), ")


@once
def test_the_deadline_of_a_question_ends_the_attempts(store: RecallStore, face: Face) -> None:
    class LaterError(RateLimitError):
        """As a server that wants to be left alone for a while."""

        class response:  # noqa: N801 - an attribute, as clients name it
            headers = {"Retry-After": "30"}  # noqa: RUF012 - nobody writes to it

    model = face.model(LaterError("slow down"))
    retriever = face.personal_memory_retriever(store, model, timestamp=NOW, deadline_s=5)

    found = face.ask(retriever, "the dentist")

    assert len(found) == 5
    assert len(model.prompts) == 1
    assert found[0].metadata["recall_degraded"] == "SemanticRank: LaterError: slow down"


def test_a_model_that_tries_again_by_itself_is_asked_once(face: Face) -> None:
    class Patient(type(face.model())):  # type: ignore[misc]  # of either framework
        """A client with retries of its own, as those of OpenAI have."""

        max_retries: int | None = 2

    model = Patient(replies=[busy(9)])

    face.refine(face.SemanticRank(llm=model), GIVEN, "which?")

    assert len(model.prompts) == 1


def test_langchains_own_retries_are_not_doubled() -> None:
    face = Face("langchain_recall", is_async=False)
    inner = ScriptedChat(replies=[busy(9)])
    model = inner.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)

    found = face.refine(face.SemanticRank(llm=model), GIVEN, "which?")

    assert len(inner.prompts) == 2
    assert "RateLimitError" in found[0].metadata["recall_degraded"]
