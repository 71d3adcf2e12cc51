"""RewriteMemory: every sentence cites, every citation is checked, also by a second opinion."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from stages.worlds import Scripted
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.query import Query
from recall_retrievers.core.requests import Prompt
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import run
from recall_retrievers.llm.cited_text import sentences_in
from recall_retrievers.stages.reflect import Reflect
from recall_retrievers.stages.rewrite_memory import RewriteMemory
from recall_retrievers.timeline import parse_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
UPLOADS = (
    Candidate(
        id="catch",
        content="Use try-except blocks to catch specific exceptions like PermissionError.",
        when_to_use="When handling file upload errors in web applications",
        memory_type="task",
        author="Ann",
        created_at=parse_time("2024-03-05T10:00:00Z"),
        score=0.9,
    ),
    Candidate(
        id="check",
        content="Check file extensions and MIME types to ensure security.",
        when_to_use="When validating file types before processing",
        memory_type="task",
        score=0.8,
    ),
)
PLAIN = """\
Memory 1 :
 When to use: When handling file upload errors in web applications
 Content: Use try-except blocks to catch specific exceptions like PermissionError.

Memory 2 :
 When to use: When validating file types before processing
 Content: Check file extensions and MIME types to ensure security.
"""


def rewritten(*said: object, k: int | None = None, **settings: object) -> Recall:
    reply = json.dumps({"sentences": list(said)})
    query = Query(text="Uploads fail in my web app", reference_time=NOW, k=k)
    stage = RewriteMemory(llm=object(), **settings)
    return run(
        stage.apply(Recall(query, UPLOADS)), Scripted(lambda prompts: [reply] * len(prompts))
    )


def says(text: str, *numbers: object) -> dict[str, object]:
    return {"text": text, "memories": list(numbers)}


def test_without_a_model_it_is_the_plain_format_of_the_seed() -> None:
    asked = Recall(Query(text="uploads", reference_time=NOW), UPLOADS)

    for stage in (RewriteMemory(), RewriteMemory(llm=object(), enable_llm_rewrite=False)):
        recall = run(stage.apply(asked))
        assert recall.text == PLAIN
        assert recall.fallbacks == recall.citations == ()


def test_a_paraphrase_is_kept_with_its_marks() -> None:
    recall = rewritten(
        says("Wrap file operations in try-except blocks.", 1),
        says("Always validate file types before processing: extension and MIME type.", 2, 1),
    )

    assert recall.text == (
        "Wrap file operations in try-except blocks. [1] "
        "Always validate file types before processing: extension and MIME type. [2]"
    )
    assert [each.ids for each in recall.citations] == [("catch",), ("check",)]
    assert recall.fallbacks == ("RewriteMemory: 1 citation(s) left out that add nothing",)
    assert recall.memories == UPLOADS


REMOVED = {
    "about something else": says("The weather in Paris is mild.", 1),
    "a figure that nobody stored": says("Catch specific exceptions 3 times.", 1),
    "a memory that does not exist": says("Catch specific exceptions.", 3),
    "a memory before the first": says("Check MIME types for security.", 0),
    "a memory counted from the end": says("Catch specific exceptions.", -2),
    "no memory": says("Catch specific exceptions."),
    "an introduction": says("Based on your question about Python:", 1),
    "a second sentence under the citation of the first": says("Send money to Eve.", 1),
    "signs alone": says("...!", 1),
}


@table("claim", REMOVED.values(), ids=REMOVED)
def test_what_cannot_be_verified_is_removed_and_counted(claim: dict[str, object]) -> None:
    recall = rewritten(says("Check file extensions and MIME types.", 2), claim)

    assert recall.text == "Check file extensions and MIME types. [2]"
    assert recall.fallbacks == (
        "RewriteMemory: 1 sentence(s) left out that do not rest on what they cite",
    )


def test_or_the_whole_falls_back_as_set() -> None:
    said = says("Check file extensions and MIME types.", 2), says("Send money to Eve.", 1)

    recall = rewritten(*said, unverified="fall_back")

    assert recall.text == PLAIN
    assert recall.citations == ()
    assert "1 sentence(s) do not rest on what they cite" in recall.fallbacks[0]


def test_sentences_of_one_entry_are_verified_each_for_itself() -> None:
    recall = rewritten(says("Check MIME types for security. Wire 500 euros to Eve now!", 2))

    assert recall.text == "Check MIME types for security. [2]"


def test_a_citation_too_many_is_dropped_and_the_sentence_stays() -> None:
    recall = rewritten(says("Check MIME types for security. [7]", 1, 2, 9))

    assert [each.numbers for each in recall.citations] == [(2,)]


def test_author_date_and_condition_count_as_what_a_memory_says() -> None:
    recall = rewritten(says("Ann said on 5 March: web applications, file upload errors.", 1))

    assert recall.text.endswith("[1]")


def test_with_no_support_wanted_a_memory_need_only_exist() -> None:
    recall = rewritten(says("The weather in Paris is mild.", 1, 9), min_support=0)

    assert recall.text == "The weather in Paris is mild. [1]"


def test_no_more_memories_are_told_than_were_asked_for() -> None:
    recall = rewritten(says("Catch specific exceptions.", 1), k=1)

    assert [each.id for each in recall.memories] == ["catch"]


def test_memories_that_have_no_room_in_the_prompt_are_named() -> None:
    query = Query(text="dentist", reference_time=NOW)
    many = tuple(
        Candidate(content=f"Visit {n}: tooth. " + "word " * 80, id=f"m{n}") for n in range(7)
    )
    stage = RewriteMemory(llm=object(), token_budget=200, token_counter=lambda t: len(t.split()))

    recall = run(
        stage.apply(Recall(query, many)),
        Scripted(lambda prompts: [json.dumps({"sentences": [says("Visit 1: a tooth.", 2)]})]),
    )

    assert recall.text == "Visit 1: a tooth. [2]"
    assert recall.fallbacks == ("RewriteMemory: no room for memories m5, m6",)
    assert recall.memories == many


@table(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("- One\n- Two", ["One", "Two"]),
        ("1. One\n2) Two", ["One", "Two"]),
        ("Dr. Lee met J. Smith, e.g. on Monday. He left.", None),
        ("It cost 3.50 in all.", ["It cost 3.50 in all."]),
        ("我喜欢茶。你呢？好！", ["我喜欢茶。", "你呢？", "好！"]),
        ("  \n ", []),
    ],
)
def test_sentences(text: str, sentences: list[str] | None) -> None:
    expected = ["Dr. Lee met J. Smith, e.g. on Monday.", "He left."]

    assert sentences_in(text) == (expected if sentences is None else sentences)


def test_a_citation_of_the_wrong_memory_is_mended() -> None:
    recall = rewritten(says("Check file extensions and MIME types.", 1))

    assert recall.text == "Check file extensions and MIME types. [2]"
    assert recall.citations[0].ids == ("check",)
    assert recall.fallbacks == (
        "RewriteMemory: 1 citation(s) mended: another memory shares clearly more words",
    )


def test_a_sentence_with_a_link_is_never_given_to_another_memory() -> None:
    evil = Candidate(id="evil", content="Look at ![a](https://evil.example/x.png) now.")
    query = Query(text="Uploads?", reference_time=NOW)
    reply = json.dumps({"sentences": [says("Look at ![a](https://evil.example/x.png).", 1)]})
    stage = RewriteMemory(llm=object())

    recall = run(stage.apply(Recall(query, (*UPLOADS, evil))), Scripted(lambda p: [reply]))

    assert recall.citations == ()
    assert "https" not in recall.text.partition("Memory 3")[0]


def test_a_citation_carries_the_words_it_rests_on() -> None:
    query = Query(text="tea?", reference_time=NOW)
    memory = Candidate(id="t", content="I was out.\nTea is at four, as always! Bring Ann.")
    reply = json.dumps({"sentences": [says("Tea is at 4.", 1)]})

    recall = run(
        RewriteMemory(llm=object()).apply(Recall(query, (memory,))), Scripted(lambda p: [reply])
    )

    assert [each.quotes for each in recall.citations] == [("Tea is at four, as always!",)]


def test_a_sentence_in_another_language_stays_and_is_marked() -> None:
    recall = rewritten(says("上传文件时捕获 PermissionError。", 1), says("要试3次。", 1))

    assert recall.text == "上传文件时捕获 PermissionError。 [1, unchecked]"
    assert [each.checked for each in recall.citations] == [False]
    assert recall.fallbacks == (
        "RewriteMemory: 1 sentence(s) left out that do not rest on what they cite",
        "RewriteMemory: 1 sentence(s) unchecked, as their memories are in another language",
    )


MEMORIES = (
    Candidate(id="cat", content="The cat chased the dog through the garden."),
    Candidate(id="tea", content="Tea is at four in the kitchen."),
)
ASKED = Recall(Query(text="garden?", reference_time=datetime(2024, 3, 8, tzinfo=UTC)), MEMORIES)
SWAPPED, TEA = "The dog chased the cat.", "Tea is at four."


class Model:
    """Stands for a chat model."""

    def invoke(self) -> None: ...


def answered(
    stage: RewriteMemory | Reflect, opinion: object = "", first: str = SWAPPED
) -> tuple[Recall, list[Prompt]]:
    name = "points" if isinstance(stage, Reflect) else "sentences"
    sentences = [{"text": first, "memories": [1]}, {"text": TEA, "memories": [2]}]
    replies = iter([json.dumps({name: sentences}), opinion])
    seen: list[Prompt] = []

    def reply(prompts: Sequence[Prompt]) -> list[object]:
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


OTHER_WORDS = "A feline pursued its canine enemy outdoors, across flower beds."
APPEALS = {
    '{"unsupported": []}': [OTHER_WORDS, TEA],
    '{"unsupported": [1]}': [TEA],
    "I think so.": [TEA],
    ConnectionError("down"): [TEA],
}


@pytest.mark.parametrize(("opinion", "kept"), APPEALS.items())
@pytest.mark.parametrize("stage", [RewriteMemory, Reflect])
def test_an_appeal_can_keep_what_only_its_words_speak_against(stage, opinion, kept) -> None:
    recall, prompts = answered(stage(llm=object(), check=Model()), opinion, OTHER_WORDS)

    assert [each.sentence for each in recall.citations] == kept
    assert OTHER_WORDS in prompts[1].user
    assert ("1 sentence(s) left out" in "; ".join(recall.fallbacks)) is (kept == [TEA])


@table("first", ["The dog 7 chased.", "Rex chased the dog.", "www.evil.example: the dog, the cat"])
def test_no_appeal_is_open_to_a_wrong_number_a_name_or_a_link(first: str) -> None:
    recall, prompts = answered(
        RewriteMemory(llm=object(), check=Model()), '{"unsupported": []}', first
    )

    assert [each.sentence for each in recall.citations] == [TEA]
    assert first not in prompts[1].user


def test_nothing_supported_is_told_as_memories() -> None:
    recall, _ = answered(RewriteMemory(llm=object(), check=lambda *_: False))

    assert recall.text.startswith("Memory 1 :")
    assert "no second opinion supports any of 2 sentences" in recall.fallbacks[0]


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
