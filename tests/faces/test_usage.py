"""What a model cost: as it counted itself, else as an estimate; every attempt that it took."""

import json
from typing import Any

import pytest
from faces.adapters import Face, ScriptedChat, ScriptedLLM, once
from faces.form_models import FormChat
from faces.slow_models import GIVEN, all_judged
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole
from tables import table
from tenacity import wait_none

from recall_retrievers.llm.model_output import Spent

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
    usage = cost(face, counting(face, all_judged), window=2)

    assert usage == f"SemanticRank: 3 calls, {3 * SENT} tokens in, {3 * RECEIVED} out"


@once
def test_every_attempt_counts_but_those_that_were_turned_away(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recall_retrievers.llm.client._BACK_OFF", wait_none())
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
    "Google": {"usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2}},
    "Ollama": {"prompt_eval_count": 3, "eval_count": 2},
    "an object": type("Raw", (), {"usage": type("U", (), {"input_tokens": 3, "output_tokens": 2})}),
}


@table("raw", COUNTS.values(), ids=COUNTS)
def test_whoever_serves_the_model(raw: object) -> None:
    spent = Spent()
    for source in (raw, None, {"usage": {"prompt_tokens": None}}, "words"):
        spent.add(source)

    assert spent.tokens == (3, 2)


def text_blocks(face: Face, blocks: list[tuple[str, list[str]]]) -> Any:
    """A model that replies in several blocks, each with the passages that its API says it cites."""
    if face.is_langchain:
        content = [
            {"type": "text", "text": text, "citations": [{"cited_text": each} for each in passages]}
            for text, passages in blocks
        ]
        return ScriptedChat(replies=[AIMessage(content)])

    from llama_index.core.base.llms.types import CitationBlock, TextBlock

    parts: list[Any] = []
    for text, passages in blocks:
        parts.append(TextBlock(text=text))
        parts += [
            CitationBlock(cited_content=each, source="0", title="", additional_location_info={})
            for each in passages
        ]

    class Blocks(ScriptedLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=parts))

    return Blocks(replies=[])


def test_json_in_several_blocks_is_one_text(face: Face) -> None:
    reply = json.dumps({"sentences": [{"text": "The dentist said 0.", "memories": [1]}]})
    cut = reply.index("dentist") + 3  # in a string, where a line end would count
    model = text_blocks(face, [(reply[:cut], []), (reply[cut:], [])])

    [told] = face.refine(face.RewriteMemory(llm=model), GIVEN, "the dentist")

    assert told.content == "The dentist said 0. [1]"
    assert "recall_degraded" not in told.metadata


def test_the_citations_of_an_api_are_citations(face: Face) -> None:
    model = text_blocks(face, [("The dentist said 3. ", ["dentist said 3"]), ("Or not.", [])])

    [told] = face.refine(face.RewriteMemory(llm=model), GIVEN, "the dentist")

    assert told.content == "The dentist said 3. [4]"
    assert [each.numbers for each in face.cited(told)] == [(4,)]
    assert "RewriteMemory: it is prose with marks" in told.metadata["recall_degraded"]


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
