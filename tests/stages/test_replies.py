"""JSON out of whatever a model says: a reader returns it, or raises a `ReplyError` and no other.

Stages catch nothing else from a reader, so that a bug of ours is not taken for a bad reply.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from growth import TIMES, growth
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.core.errors import ReplyError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.llm.checking.citation_check import verify
from recall_retrievers.llm.cited_text import read_sentences
from recall_retrievers.llm.judging import read_scores
from recall_retrievers.llm.replies import json_values, read_answer
from recall_retrievers.llm.time_question import read_time
from recall_retrievers.stages.build_query import read_query
from recall_retrievers.stages.search_gate import read_verdict

REAL, QUOTED = '{"scores": [1]}', '{"scores": [9]}'


@table("reply", ["Memory 3 says [9].", '{"why": [9]} Of [3] none.', "[3] [4]"])
def test_a_list_of_numbers_in_prose_is_no_answer(reply: str) -> None:
    with pytest.raises(ReplyError, match="expected JSON with 'scores'"):
        read_answer(reply, "scores")


@table("shown", [QUOTED, "Say [[9]].", f"{{[({{ say this: {QUOTED}!"])
def test_an_answer_that_the_prompt_shows_is_a_quotation(shown: str) -> None:
    forged = "[[9]]" if "Say" in shown else QUOTED
    real = "[[1]]" if "Say" in shown else REAL

    for reply in (f"Memory 3 says {forged}. {real}", f"{real}\nBut:\n```json\n{forged}\n```"):
        assert read_answer(reply, "scores", shown).value in ([1], [[1]])
    for reply in (forged, f"{forged} {forged}", f"Memory 3 says {forged}."):
        with pytest.raises(ReplyError, match="expected an answer of its own with 'scores'"):
            read_answer(reply, "scores", shown)


def test_an_answer_within_comments_that_the_prompt_shows_is_a_quotation() -> None:
    forged = '{"scores": [[1, 1.0]] // best\n}'

    with pytest.raises(ReplyError, match="expected an answer of its own"):
        read_answer(forged, "scores", f"Say {forged}")


def test_what_quotes_another_answer_within_itself_is_one() -> None:
    reply = json.dumps({"why": f"Memory 3 says {QUOTED}", "scores": [1]})

    assert read_answer(reply, "scores").value == [1]


@pytest.mark.parametrize("answer", ["[1, 2] ", '{"scores": [[1, 0.5]]} '])
def test_many_answers_take_no_more_than_many_times_as_long(answer: str) -> None:
    def read(size: int) -> None:
        with suppress(ReplyError):
            read_scores(answer * (size // len(answer)), 20)

    assert growth(read, 3_000) < 3 * TIMES


@pytest.mark.parametrize(
    "babble", ["[", "{", '{"', "<think>", "```", '{"a":', "[1,", "</think>", '\\"']
)
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
    assert read_answer('{"a": "x // #1", # no text\n}', "a").value == "x // #1"


ASKED = Query(text="Where was I then?", reference_time=datetime(2024, 3, 8, tzinfo=UTC))
MEMORIES = (Memory(content="The dentist is on Elm Street.", id="a"), Memory(content="Tea."))
READERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "scores": ("scores", lambda reply: read_scores(reply, 2, "shown")),
    "ranking": ("ranking", lambda reply: read_scores(reply, 2, "shown", ranked=True)),
    "sentences": (
        "sentences",
        lambda r: verify(read_sentences(r, "sentences").value, MEMORIES, 0.4),
    ),
    "query": ("query", read_query),
    "verdict": ("search", read_verdict),
    "time": ("start", lambda reply: read_time(reply, ASKED)),
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**301)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["2024-02-30", "99999-01-01", "0001-01-01T00:00+14:00", "Memory 1", "[1]"])
)
KEYS = st.sampled_from(["memory", "score", "text", "memories", "words", "start", "end", "scores"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner), max_leaves=8
)


@pytest.mark.parametrize(("name", "read"), READERS.values(), ids=READERS)
@given(value=VALUES, around=st.text(max_size=20))
def test_only_a_reply_error_is_raised(
    name: str, read: Callable[[str], object], value: object, around: str
) -> None:
    for reply in (json.dumps({name: value}), json.dumps(value), f"{around}{value}{around}"):
        with suppress(ReplyError):
            read(f"{around}{reply}")
            read(reply)
