"""JSON out of whatever a model says."""

import json

import pytest
from growth import TIMES, growth

from recall_stages.errors import ReplyError
from recall_stages.model.replies import answer_under, json_values

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


@pytest.mark.parametrize("reply", GOOD.values(), ids=GOOD.keys())
def test_json_is_found(reply: str) -> None:
    assert answer_under(reply, "scores") == [1]


@pytest.mark.parametrize(
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
        answer_under(reply, "scores")


@pytest.mark.parametrize("babble", ["[", "{", "<think>", "```", '{"a":', "[1,", "</think>"])
def test_babble_is_given_up_soon(babble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []
    decode = json.JSONDecoder.raw_decode
    monkeypatch.setattr(
        json.JSONDecoder, "raw_decode", lambda *given: tries.append(1) or decode(*given)
    )

    def read(size: int) -> None:
        with pytest.raises(ReplyError):
            answer_under(babble * (size // len(babble)), "scores")

    assert growth(read, 3_000) < 3 * TIMES
    tries.clear()
    read(199_000)
    assert len(tries) < 1_000


def test_values_do_not_lie_within_each_other() -> None:
    assert list(json_values('{"a": [1]} and [2], [[3]]')) == [{"a": [1]}, [2], [[3]]]
