"""Two users, and what their retrievers do through either face."""

from typing import Any

from faces.adapters import Face
from faces.conftest import NOW
from langchain_core.documents import Document
from llama_index.core.schema import TextNode

ANN, BOB = {"user_id": "ann"}, {"user_id": "bob"}
QUESTION = "the dentist"


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
