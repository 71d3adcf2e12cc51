"""A second opinion removes sentences that the words alone let pass; it fails without harm."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from stages.worlds import Scripted

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.query import Query
from recall_retrievers.core.requests import Prompt
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import run
from recall_retrievers.stages.reflect import Reflect
from recall_retrievers.stages.rewrite_memory import RewriteMemory

MEMORIES = (
    Candidate(id="cat", content="The cat chased the dog through the garden."),
    Candidate(id="tea", content="Tea is at four in the kitchen."),
)
ASKED = Recall(Query(text="garden?", reference_time=datetime(2024, 3, 8, tzinfo=UTC)), MEMORIES)
SWAPPED, TEA = "The dog chased the cat.", "Tea is at four."


class Model:
    """Stands for a chat model."""

    def invoke(self) -> None: ...


def answered(stage: RewriteMemory | Reflect, opinion: str = "") -> tuple[Recall, list[Prompt]]:
    name = "points" if isinstance(stage, Reflect) else "sentences"
    sentences = [{"text": SWAPPED, "memories": [1]}, {"text": TEA, "memories": [2]}]
    replies = iter([json.dumps({name: sentences}), opinion])
    seen: list[Prompt] = []

    def reply(prompts: Sequence[Prompt]) -> list[str]:
        seen.extend(prompts)
        return [next(replies)]

    return run(stage.apply(ASKED), Scripted(reply)), seen


@pytest.mark.parametrize("stage", [RewriteMemory, Reflect])
def test_a_function_sees_the_sentence_and_the_memories_it_cites(stage) -> None:
    seen = []

    def check(sentence: str, memories: Sequence[str]) -> bool:
        seen.append((sentence, [*memories]))
        return sentence != SWAPPED

    recall, _ = answered(stage(llm=object(), check=check))

    assert seen == [(SWAPPED, [MEMORIES[0].content]), (TEA, [MEMORIES[1].content])]
    assert recall.text == f"{TEA} [2]"
    assert "1 sentence(s) left out" in recall.fallbacks[0]


@pytest.mark.parametrize("stage", [RewriteMemory, Reflect])
def test_a_model_is_asked_once_for_all_sentences(stage) -> None:
    model = Model()

    recall, prompts = answered(stage(llm=object(), check=model), '{"unsupported": [1]}')

    assert recall.text == f"{TEA} [2]"
    assert [each.llm for each in prompts[1:]] == [model]
    assert '<sentence number="1" cites="1">\nThe dog chased the cat.' in prompts[1].user
    assert "The cat chased the dog" in prompts[1].user


@pytest.mark.parametrize("opinion", ["I think so.", '{"unsupported": [7]}', '{"unsupported": "x"}'])
def test_an_opinion_that_cannot_be_read_removes_nothing_and_is_named(opinion: str) -> None:
    recall, _ = answered(RewriteMemory(llm=object(), check=Model()), opinion)

    assert [each.sentence for each in recall.citations] == [SWAPPED, TEA]
    assert recall.fallbacks[0].startswith("RewriteMemory: no second opinion: ReplyError")


def test_nothing_supported_is_told_as_memories() -> None:
    recall, _ = answered(RewriteMemory(llm=object(), check=lambda *_: False))

    assert recall.text.startswith("Memory 1 :")
    assert "a second opinion supports none of 2 sentences" in recall.fallbacks[0]


def test_a_sentence_that_is_refused_is_not_counted_as_unchecked() -> None:
    said = [{"text": "四点在厨房喝茶。", "memories": [2]}, {"text": TEA, "memories": [2]}]
    stage = RewriteMemory(llm=object(), check=lambda s, _: s == TEA)

    recall = run(stage.apply(ASKED), Scripted(lambda _: [json.dumps({"sentences": said})]))

    assert recall.text == f"{TEA} [2]"
    assert "unchecked" not in "".join(recall.fallbacks)


def test_all_falls_back_where_one_fails_as_set() -> None:
    stage = RewriteMemory(llm=object(), check=lambda s, _: s == TEA, unverified="fall_back")

    assert answered(stage)[0].text.startswith("Memory 1 :")


def test_the_error_of_a_function_is_raised() -> None:
    def check(sentence: str, memories: Sequence[str]) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        answered(RewriteMemory(llm=object(), check=check))


def test_what_is_neither_is_an_error_of_the_settings() -> None:
    with pytest.raises(SettingsError, match="function or a model"):
        RewriteMemory(llm=object(), check="MiniCheck")
