"""Two users, odd values for the fields of a scope, and what retrievers do through either face."""

from typing import Any

from faces.adapters import Face
from faces.conftest import NOW
from hypothesis import strategies as st
from langchain_core.documents import Document
from llama_index.core.schema import TextNode

ANN, BOB = {"user_id": "ann"}, {"user_id": "bob"}
QUESTION = "Who is the dentist?"


def retriever(face: Face, store: Any, **settings: Any) -> Any:
    return face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", **settings)


def add(face: Face, asked: Any, *texts: str, ids: Any = (), **metadata: Any) -> list[str]:
    named = [*ids, *[None] * (len(texts) - len(ids))]
    if face.is_langchain:
        return asked.add_documents(
            [Document(t, id=i, metadata=metadata) for t, i in zip(texts, named, strict=True)]
        )
    return asked.add_nodes(
        [
            TextNode(text=t, metadata=metadata, **({"id_": i} if i else {}))
            for t, i in zip(texts, named, strict=True)
        ]
    )


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
