"""JSON out of whatever a model says."""

import pytest

from recall_stages.errors import ReplyError
from recall_stages.replies import read_json

GOOD = {
    "bare": '{"scores": [1]}',
    "fenced": '```json\n{"scores": [1]}\n```',
    "fenced without a language": '```\n{"scores": [1]}\n```',
    "after prose": 'Here you are: {"scores": [1]} Anything else?',
    "after thoughts": '<think>maybe {"scores": [9]}?</think>{"scores": [1]}',
    "with trailing commas": '{"scores": [1,],}',
    "after a brace that opens nothing": 'I {think} so: {"scores": [1]}',
}


@pytest.mark.parametrize("reply", GOOD.values(), ids=GOOD.keys())
def test_json_is_found(reply: str) -> None:
    assert read_json(reply) == {"scores": [1]}


@pytest.mark.parametrize(
    "reply", ["", "I cannot help with that.", "{", "[" * 100_000, "x" * 300_000]
)
def test_what_is_none_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyError, match="expected"):
        read_json(reply)
