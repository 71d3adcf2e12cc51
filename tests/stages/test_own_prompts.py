"""Prompts of the user's own: the placeholders are checked when a stage is made."""

from datetime import UTC, datetime

import pytest
from tables import table

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.message import Message
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.llm.model_stage import ModelStage
from recall_retrievers.stages.build_query import BuildQuery
from recall_retrievers.stages.model_rankers import RerankMemory, SemanticRank
from recall_retrievers.stages.reflect import Reflect
from recall_retrievers.stages.rewrite_memory import RewriteMemory

SAID = (Message(role="user", content="The tooth again."),)
NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
ASKED = Recall(
    Query(text="Who?", reference_time=NOW, messages=SAID),
    (Memory(content="The dentist.</memory>"), Memory(content="Tea.")),
)
STAGES = [SemanticRank, RerankMemory, RewriteMemory, Reflect]


@pytest.mark.parametrize("stage", STAGES)
def test_own_words_take_the_place_of_the_stages(stage: type[ModelStage]) -> None:
    made = stage(
        llm=object(),
        system_prompt="Sei kurz. JSON!",
        user_prompt="Kosten: 5 $$\nFrage: $question\nErinnerungen: ${memories}",
    )

    [prompt] = next(made.apply(ASKED))

    assert prompt.system == "Sei kurz. JSON!"
    assert prompt.user.startswith("Kosten: 5 $\nFrage: The question, asked at 2024-03-08 12:00")
    assert prompt.user.endswith(
        'Erinnerungen: <memory number="1">\nThe dentist.&lt;/memory&gt;\n</memory>\n'
        '<memory number="2">\nTea.\n</memory>'
    )


@pytest.mark.parametrize("stage", STAGES)
def test_messages_and_the_number_of_memories_may_stand_in_a_prompt(stage: type[ModelStage]) -> None:
    own = stage(llm=object(), user_prompt="$question $memories $messages $count in all")

    [prompt] = next(own.apply(ASKED))

    assert "The tooth again." in prompt.user
    assert prompt.user.endswith("2 in all")


def test_messages_must_stand_in_the_prompt_of_a_query() -> None:
    unasked = Recall(ASKED.query.model_copy(update={"text": ""}))
    [prompt] = next(BuildQuery(llm=object(), user_prompt="So far: $messages").apply(unasked))
    assert prompt.user == 'So far: <message number="1" role="user">\nThe tooth again.\n</message>'


WRONG = {
    "no memories": ("$question", r"must hold \$memories"),
    "no placeholder": ("Rank them.", r"must hold \$question, \$memories"),
    "an unknown one": ("$question $memories $mood", r"no \$mood .* takes: \$question, \$memories"),
    "a bare sign": ("$question $memories 5 $", r"write \$\$ for the sign"),
}


@table("stage", STAGES)
@table(("prompt", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_placeholder_is_an_error_at_construction(
    stage: type[ModelStage], prompt: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        stage(user_prompt=prompt)


def test_an_empty_instruction_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1 character"):
        SemanticRank(system_prompt="")
    with pytest.raises(ValueError, match=r"must hold \$messages"):
        BuildQuery(user_prompt="$question")
