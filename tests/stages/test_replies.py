"""JSON out of whatever a model says."""

import json

import pytest
from growth import TIMES, growth
from tables import table

from recall_retrievers.core.errors import ReplyError
from recall_retrievers.llm.replies import json_values, read_answer

REAL, QUOTED = '{"scores": [1]}', '{"scores": [9]}'


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
