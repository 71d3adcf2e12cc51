"""Odd values for the fields of a scope, and a question that is asked with them."""

from typing import Any

from faces.adapters import Face
from faces.conftest import NOW
from hypothesis import strategies as st

QUESTION = "Who is the dentist?"
FIELDS = ("user_id", "agent_id", "session_id", "workspace")


blanks = st.text(st.sampled_from(" \t\n\r\u00a0\u3000"), max_size=3)
odd = (
    st.sampled_from([None, "", " ", 0, False, [], {}, (), 0.0, b"", frozenset()])
    | blanks
    | st.integers()
    | st.booleans()
    | st.floats()
    | st.binary(max_size=3)
    | st.lists(st.sampled_from(["ann", "bob"]), max_size=2)
    | st.dictionaries(st.sampled_from(["$ne", "$in"]), st.text(max_size=3), max_size=1)
)


def retriever(face: Face, store: Any, **options: Any) -> Any:
    return face.RecallRetriever(store=store, timestamp=NOW, **options)
