"""JSON out of whatever a model says."""

import json

import pytest
from growth import TIMES, growth
from tables import table

from recall_stages.core.errors import ReplyError
from recall_stages.llm.answers import read_answer
from recall_stages.llm.replies import json_values

GOOD = {
    "bare": '{"scores": [1]}',
    "fenced": '```json\n{"scores": [1]}\n```',
    "fenced without a language": '```\n{"scores": [1]}\n```',
    "after prose": 'Here you are: {"scores": [1]} Anything else?',
    "after thoughts": '<think>maybe {"scores": [9]}?</think>{"scores": [1]}',
    "after thoughts that began in the prompt": 'maybe {"scores": [9]}?</think>{"scores": [1]}',
    "before thoughts": '{"scores": [1]}<think>Was that right? {"scores": [9]}',
    "with trailing commas": '{"scores": [1,],}',
    "after a brace that opens nothing": 'I {think} so: {"scores": [1]}',
    "after other JSON": '{"thoughts": ["so so"]} {"scores": [1]}',
    "within another object": '{"result": {"scores": [1]}}',
    "in a tool call": '{"name": "rank", "arguments": {"scores": [1]}}',
    "in a tool call as text": '{"tool_calls": [{"arguments": "{\\"scores\\": [1]}"}]}',
    "as a list without its name": "[1]",
    "beside a text of several lines": '{"why": "a\nb", "scores": [1]}',
}


@table("reply", GOOD.values(), ids=GOOD.keys())
def test_json_is_found(reply: str) -> None:
    assert read_answer(reply, "scores").value == [1]


@table(
    "reply",
    [
        "",
        "I cannot help with that.",
        "{",
        "[" * 100_000,
        "x" * 300_000,
        '<think>perhaps {"scores": [9]}, or',
        "[" + "9" * 5000 + "]",
    ],
)
def test_what_is_none_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyError, match="expected"):
        read_answer(reply, "scores")


REAL, QUOTED = '{"scores": [1]}', '{"scores": [9]}'
SEVERAL = ("of several answers, the last one counts",)
SHAPES = {
    "numbers": ([9], [1]),
    "pairs": ([[1, 0.0], [2, 1.0]], [[1, 1.0], [2, 0.0]]),
    "objects": ([{"memory": 1, "score": 0}], [{"memory": 1, "score": 1}]),
    "sentences": ([{"text": "Tea.", "memories": [1]}], [{"text": "Jam.", "memories": [2]}]),
    "texts": ("tea", "jam"),
    "decisions": (False, True),
}


@table(("draft", "final"), SHAPES.values(), ids=SHAPES)
def test_of_several_answers_the_last_one_counts(draft: object, final: object) -> None:
    first, last = (json.dumps({"scores": each}) for each in (draft, final))
    for reply in (
        f"{first} Wait, correction: {last}",
        f"{first} {last} {first} {last}",
        f"```json\n{first}\n```\n```json\n{last}\n```",
        f'{{"calls": [{{"arguments": {first}}}, {{"arguments": {last}}}]}}',
        f"{json.dumps({'arguments': first})} {json.dumps({'arguments': last})}",
    ):
        answer = read_answer(reply, "scores", '{"scores": [5]}')
        assert (answer.value, answer.notes) == (final, SEVERAL)


@table("shape", ["pairs", "objects", "sentences"])
def test_a_last_answer_that_is_cut_off_still_counts(shape: str) -> None:
    draft, final = (json.dumps({"scores": each}) for each in SHAPES[shape])
    whole = SHAPES[shape][1]

    for reply in (
        f"{draft} No: {final[:-1]}",
        f"{draft} No: {final[:-2]}, [3",
        f"{final[:-2]}, {{",
    ):
        answer = read_answer(reply, "scores")
        assert answer.value == whole
        assert answer.notes == ("the list is cut off", *(SEVERAL if "No" in reply else ()))


def test_a_broken_draft_does_not_count_beside_a_whole_answer() -> None:
    assert read_answer(
        '{"scores": [[1, 0.2], [2, 0. No: {"scores": [[1, 0.9]]}', "scores"
    ).value == [[1, 0.9]]


@table("reply", ["Memory 3 says [9]. [1]", '{"why": [9]} Of [3] and [4] none.'])
def test_of_two_bare_lists_of_numbers_none_is_taken(reply: str) -> None:
    with pytest.raises(ReplyError, match="expected one answer with 'scores'"):
        read_answer(reply, "scores")


@table("shown", [QUOTED, "Say [9].", f"{{[({{ say this: {QUOTED}!"])
def test_an_answer_that_the_prompt_shows_is_a_quotation(shown: str) -> None:
    forged = "[9]" if "Say" in shown else QUOTED
    real = "[1]" if "Say" in shown else REAL

    for reply in (f"Memory 3 says {forged}. {real}", f"{real}\nBut:\n```json\n{forged}\n```"):
        assert read_answer(reply, "scores", shown).value == [1]
    for reply in (forged, f"{forged} {forged}", f"Memory 3 says {forged}."):
        with pytest.raises(ReplyError, match="expected an answer of its own with 'scores'"):
            read_answer(reply, "scores", shown)


def test_an_answer_that_is_said_twice_is_one() -> None:
    assert read_answer(f"```json\n{REAL}\n```\nSo: {REAL}", "scores").value == [1]


def test_what_quotes_another_answer_within_itself_is_one() -> None:
    reply = json.dumps({"why": f"Memory 3 says {QUOTED}", "scores": [1]})

    assert read_answer(reply, "scores").value == [1]


@pytest.mark.parametrize("babble", ["[", "{", '{"', "<think>", "```", '{"a":', "[1,", "</think>"])
def test_babble_is_given_up_soon(babble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []
    decode = json.JSONDecoder.raw_decode
    monkeypatch.setattr(
        json.JSONDecoder, "raw_decode", lambda *given: tries.append(1) or decode(*given)
    )

    def read(size: int) -> None:
        with pytest.raises(ReplyError):
            read_answer(babble * (size // len(babble)), "scores")

    assert growth(read, 3_000) < 3 * TIMES
    tries.clear()
    read(199_000)
    assert len(tries) < 1_000


def test_values_do_not_lie_within_each_other() -> None:
    assert list(json_values('{"a": [1]} and [2], [[3]]')) == [{"a": [1]}, [2], [[3]]]
