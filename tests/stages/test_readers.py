"""Whatever a model replies, a reader returns what it says or raises a `ReplyError`.

Stages catch nothing else from a reader, so that a bug of ours is not taken for a bad reply.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_retrievers.core.errors import ReplyError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.llm.checking.citation_check import verify
from recall_retrievers.llm.cited_text import read_sentences
from recall_retrievers.llm.judging import read_scores
from recall_retrievers.llm.time_question import read_time
from recall_retrievers.stages.build_query import read_query
from recall_retrievers.stages.search_gate import read_verdict

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
