"""Models that fail half-way, answer too late or are busy: what is lost by it, and what it cost."""

import json
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from faces.adapters import FACES, Face, Found, ScriptedChat, ScriptedLLM, document, node, once
from faces.form_models import FormChat
from faces.slow_models import GIVEN, THREE_WINDOWS, all_judged, slow_model
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole
from tables import table

from recall_retrievers.llm.model_output import Spent
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"


def failing_on(marker: str, then: Callable[[], Any]) -> Callable[[str], str]:
    """Judges, but for the prompt that holds the marker."""

    def reply(prompt: str) -> str:
        if marker in prompt:
            then()
        return all_judged(prompt)

    return reply


def down() -> None:
    raise ConnectionError("the model is down")


@once
@pytest.mark.parametrize("stage", ["SemanticRank", "RerankMemory"])
def test_a_window_that_fails_costs_itself_alone(face: Face, stage: str) -> None:
    model = face.model(failing_on("said 2.", down))  # the second of three windows

    made = getattr(face, stage)(llm=model, **THREE_WINDOWS, semantic_share=0.8)
    found = face.refine(made, GIVEN, "the dentist")

    scores = {each.id: each.score for each in found}
    before = {each.id: each.score or 0 for each in GIVEN}
    judged = {"0": 0.1, "1": 0.2, "4": 0.1}
    mean = sum(judged.values()) / 3  # what those of the failed window count as
    share = 0.8 * (1 - sum(judged.values()) / 20) ** 2
    assert scores == pytest.approx(
        {name: (1 - share) * before[name] + share * judged.get(name, mean) for name in before}
    )
    assert [each.id for each in found] == ["1", "0", "2", "3", "4"]
    assert [e.metadata["recall_semantic"] for e in found if e.id in "23"] == ["not judged"] * 2
    assert found[0].metadata["recall_degraded"] == (
        f"{stage}: 1 of 3 prompts failed: ConnectionError: the model is down; "
        f"{stage}: 2 of 5 not judged"
    )


@once
def test_of_a_text_the_part_that_fails_is_told_plainly(face: Face) -> None:
    model = face.model(failing_on("said 3.", down))
    given = [Found(each.id, each.content + " word" * 60, each.score, {}) for each in GIVEN]
    stage = face.RewriteMemory(llm=model, token_budget=200, token_counter=lambda t: len(t.split()))

    [told] = face.refine(stage, given, "the dentist")

    rewritten, *plain, last = told.content.split("\n\n")
    assert rewritten.startswith("The dentist said 0. word")
    assert [each.strip()[:36] for each in plain] == [
        f"Memory {n + 1} :\n Content: The dentist said {n}"[:36] for n in (2, 3)
    ]
    assert last.endswith("[5]")
    assert "1 of 3 prompts failed" in told.metadata["recall_degraded"]


def test_windows_are_asked_at_the_same_time(face: Face) -> None:
    together = threading.Barrier(3, timeout=10)

    def reply(prompt: str) -> str:
        together.wait()  # passes only when all three windows are being asked
        return all_judged(prompt)

    if not face.is_langchain and face.is_async:
        return  # a CustomLLM has no async of its own; that of SlowLLM below is asked at once
    found = face.refine(
        face.SemanticRank(llm=face.model(reply), **THREE_WINDOWS), GIVEN, "the dentist"
    )

    assert "recall_degraded" not in found[0].metadata


class ToolCallingChat(ScriptedChat):
    """A LangChain model that answers with a tool call, after its reply if it has one."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        arguments = json.loads(all_judged(str(messages[-1].content)))
        call = {"name": "rank", "args": arguments, "id": "1"}
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(self.replies[0], tool_calls=[call]))]
        )


class ToolCallingLLM(ScriptedLLM):
    """The same for LlamaIndex."""

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        arguments = json.loads(all_judged(str(messages[-1].content)))
        block = ToolCallBlock(tool_name="rank", tool_kwargs=arguments)
        blocks = [TextBlock(text=self.replies[0]), block]
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks))


@table("text", ["", "I will rank these."])
def test_a_model_that_answers_with_a_tool_call_is_understood(face: Face, text: str) -> None:
    model = (ToolCallingChat if face.is_langchain else ToolCallingLLM)(replies=[text])

    stage = face.SemanticRank(llm=model, semantic_share=1)
    found = face.refine(stage, GIVEN, "the dentist")

    assert [each.id for each in found] == ["4", "3", "2", "1", "0"]
    assert "recall_degraded" not in found[0].metadata


def test_a_model_of_text_alone_will_do() -> None:
    import langchain_recall

    model = FakeListLLM(responses=[all_judged("<memory \n" * 5)])
    stage = langchain_recall.SemanticRank(llm=model, semantic_share=1)

    ranked = stage.compress_documents([document(each) for each in GIVEN], "the dentist")

    assert [each.id for each in ranked] == ["4", "3", "2", "1", "0"]


def test_nodes_of_a_text_show_a_prompt_the_text_alone() -> None:
    from llama_index.core.schema import MetadataMode

    import llamaindex_recall

    [told] = llamaindex_recall.RewriteMemory().postprocess_nodes([node(GIVEN[0])])

    assert told.node.get_content(MetadataMode.LLM) == told.text
    assert told.score == 0.9


@once
def test_a_type_error_of_ours_reaches_the_user(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise TypeError("a bug of ours")

    monkeypatch.setattr("recall_retrievers.llm.judging.read_scores", broken)

    with pytest.raises(TypeError, match="a bug of ours"):
        face.refine(face.SemanticRank(llm=face.model(all_judged)), GIVEN, "the dentist")


@pytest.mark.parametrize("stage", ["SemanticRank", "RerankMemory", "RewriteMemory", "Reflect"])
def test_a_model_that_hangs_costs_the_timeout_and_no_memory(face: Face, stage: str) -> None:
    model = slow_model(face)
    made = getattr(face, stage)(llm=model, timeout_s=0.2)
    plain = face.refine(getattr(face, stage)(), GIVEN, "the dentist")

    found = face.refine(made, GIVEN, "the dentist")

    assert not model.waited_out
    assert [(each.content, each.score) for each in found] == [(e.content, e.score) for e in plain]
    assert found[0].metadata["recall_degraded"] == (
        f"{stage}: TimeoutError: no answer within 0.2 s"
    )


@once
def test_a_deadline_ends_the_waiting_and_what_is_ranked_by_then_is_returned(
    store: RecallStore, face: Face
) -> None:
    """The first stage has its answer; the second is cut short; the third is not asked at all."""
    model = slow_model(face, quick="<memory")  # in every prompt
    slow = slow_model(face)
    stages = [
        face.SemanticRank(llm=model),
        face.RerankMemory(llm=slow),
        face.RewriteMemory(llm=slow),
    ]
    retriever = face.RecallRetriever(store=store, stages=stages, timestamp=NOW, deadline_s=3)

    [told] = face.ask(retriever, "the dentist")

    assert not slow.waited_out
    rerank, rewrite = told.metadata["recall_degraded"].split("; ")
    assert rerank.startswith("RerankMemory: TimeoutError: no answer within")
    assert rewrite == "RewriteMemory: TimeoutError: the 3 s for the question are over"
    assert told.content.startswith("Memory 1 :")
    assert [each.split(":")[0] for each in told.metadata["recall_usage"].split("; ")] == [
        "SemanticRank",
        "RerankMemory",
    ]


@once
def test_a_deadline_may_be_set_for_a_call(store: RecallStore, face: Face) -> None:
    retriever = face.personal_memory_retriever(store, slow_model(face), timestamp=NOW)

    found = face.ask(retriever, "the dentist", deadline_s=0.3)

    assert len(found) == 5
    assert "TimeoutError" in found[0].metadata["recall_degraded"]
    with pytest.raises(ValueError, match="must be above 0"):
        face.ask(retriever, "the dentist", deadline_s=0)


TWO = [Found(name, f"Memory {name}.", 0.5, {}) for name in "ab"]


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


def test_a_model_that_tries_again_by_itself_is_asked_once(face: Face) -> None:
    class Patient(type(face.model())):  # type: ignore[misc]  # of either framework
        """A client with retries of its own, as those of OpenAI have."""

        max_retries: int | None = 2

    model = Patient(replies=[busy(9)])

    face.refine(face.SemanticRank(llm=model), TWO, "which?")

    assert len(model.prompts) == 1


def test_langchains_own_retries_are_not_doubled() -> None:
    face = Face("langchain_recall", is_async=False)
    inner = ScriptedChat(replies=[busy(9)])
    model = inner.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)

    found = face.refine(face.SemanticRank(llm=model), TWO, "which?")

    assert len(inner.prompts) == 2
    assert "RateLimitError" in found[0].metadata["recall_degraded"]


SENT, RECEIVED = 100, 7


class CountingChat(ScriptedChat):
    """A LangChain model that says what it cost."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        [generation] = super()._generate(messages, *args, **kwargs).generations
        message = AIMessage(
            str(generation.message.content),
            usage_metadata={
                "input_tokens": SENT,
                "output_tokens": RECEIVED,
                "total_tokens": SENT + RECEIVED,
            },
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


class CountingLLM(ScriptedLLM):
    """The same for LlamaIndex."""

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        response = super().chat(messages, **kwargs)
        response.raw = {"usage": {"prompt_tokens": SENT, "completion_tokens": RECEIVED}}
        return response


def counting(face: Face, *replies: object) -> Any:
    return (CountingChat if face.is_langchain else CountingLLM)(replies=list(replies))


def cost(face: Face, model: Any, **settings: Any) -> str:
    [first, *_] = face.refine(face.SemanticRank(llm=model, **settings), GIVEN, "the dentist")
    return first.metadata["recall_usage"].rpartition(", ")[0]


def test_the_counts_of_the_model_are_taken(face: Face) -> None:
    usage = cost(face, counting(face, all_judged), **THREE_WINDOWS)

    assert usage == f"SemanticRank: 3 calls, {3 * SENT} tokens in, {3 * RECEIVED} out"


@once
def test_every_attempt_counts_but_those_that_were_turned_away(face: Face) -> None:
    turned_away = ConnectionResetError("by peer")
    once = cost(face, counting(face, all_judged))
    again = cost(face, counting(face, turned_away, all_judged), attempts=2)

    assert again == once.replace("1 call,", "1 call (2 attempts),")


def test_a_form_that_fails_and_the_plain_question_after_it_both_count() -> None:
    class Counting(FormChat):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
            result = super()._generate(messages, *args, **kwargs)
            result.llm_output = {"token_usage": {"prompt_tokens": 50, "completion_tokens": 5}}
            return result

    face = Face("langchain_recall", is_async=False)
    model = Counting(replies=[all_judged], filled={"another": []})

    assert cost(face, model) == "SemanticRank: 1 call (2 attempts), 100 tokens in, 10 out"


COUNTS = {
    "OpenAI": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    "Anthropic": {"usage": {"input_tokens": 3, "output_tokens": 2}},
    "Anthropic's cache": {
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 2,
            "cache_creation_input_tokens": None,
        }
    },
    "Bedrock": {"usage": {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 2}},
    "Cohere": {"meta": {"tokens": {"input_tokens": 3.0, "output_tokens": 2.0}}},
    "Google": {"usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2}},
    "Gemini": {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}},
    "Ollama": {"prompt_eval_count": 3, "eval_count": 2},
    "an object": type("Raw", (), {"usage": type("U", (), {"input_tokens": 3, "output_tokens": 2})}),
}


@table("raw", COUNTS.values(), ids=COUNTS)
def test_whoever_serves_the_model(raw: object) -> None:
    spent = Spent()
    for source in (raw, None, {"usage": {"prompt_tokens": None}}, "words"):
        spent.add(source)

    assert spent.tokens == (3, 2)


ENDS = {
    "OpenAI": ({"choices": [{"finish_reason": "length"}]}, "finish_reason: length"),
    "Anthropic": ({"content": [], "stop_reason": "refusal"}, "stop_reason: refusal"),
    "Google": ({"candidates": [{"finishReason": "SAFETY"}]}, "finishReason: SAFETY"),
    "Google's enum": ({"finish_reason": Enum("Reason", "SAFETY").SAFETY}, "finish_reason: SAFETY"),
    "Ollama": ({"done_reason": "length"}, "done_reason: length"),
    "as usual": ([{"finish_reason": x} for x in ("stop", "STOP", "tool_calls", "eos_token")], ""),
    "as usual, Anthropic": ([{"stop_reason": x} for x in ("end_turn", "tool_use")], ""),
    "unknown": ({"finish_reason": None, "choices": [{"refusal": None}]}, ""),
}


@table(("raw", "why"), ENDS.values(), ids=ENDS)
def test_why_a_reply_ended_is_told_where_it_says_nothing(raw: object, why: str) -> None:
    class Empty(ScriptedLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(content=""), raw=raw)

    for face, model in (
        (FACES[0], ScriptedChat(replies=[AIMessage("", response_metadata={"raw": raw})])),
        (FACES[2], Empty(replies=[])),
    ):
        [first, _] = face.refine(face.SemanticRank(llm=model), TWO, "which?")
        told = f"the model said nothing ({why})" if why else "the model said nothing"
        assert first.metadata["recall_degraded"] == f"SemanticRank: ReplyError: {told}"


def text_blocks(face: Face, *texts: str) -> Any:
    """A model that replies in several blocks."""
    if face.is_langchain:
        return ScriptedChat(replies=[AIMessage([{"type": "text", "text": x} for x in texts])])

    class Blocks(ScriptedLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            blocks = [TextBlock(text=text) for text in texts]
            return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks))

    return Blocks(replies=[])


def test_json_in_several_blocks_is_one_text(face: Face) -> None:
    reply = json.dumps({"sentences": [{"text": "The dentist said 0.", "memories": [1]}]})
    cut = reply.index("dentist") + 3  # in a string, where a line end would count
    model = text_blocks(face, reply[:cut], reply[cut:])

    [told] = face.refine(face.RewriteMemory(llm=model), GIVEN, "the dentist")

    assert told.content == "The dentist said 0. [1]"
    assert "recall_degraded" not in told.metadata


@once
@table(("stage", "name"), [("RewriteMemory", "sentences"), ("Reflect", "points")])
def test_a_model_that_finds_no_answer_says_so_and_nothing_has_failed(
    face: Face, stage: str, name: str
) -> None:
    made = getattr(face, stage)(llm=face.model(json.dumps({name: []})))

    [told] = face.refine(made, GIVEN, "Where is my bike?")

    assert told.content == "The memories do not answer this question."
    assert "recall_degraded" not in told.metadata
    assert face.cited(told) == []
    assert len(face.kept(told)) == len(GIVEN)
