"""Collections that somebody else made, filled by the stock writers of both frameworks."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import chromadb
from langchain_chroma import Chroma
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore
from store.kit import SmallEmbedding

from recall_retrievers.timeline import TimeRange

TEXTS = [
    "green tea in the garden",
    "the dentist put in a filling",
    "a train to the river",
    "tea with the dentist",
    "winter bread",
    "letters from the river in winter",
]
FIRST = datetime(2024, 3, 1, 9, 30, tzinfo=UTC)
MOMENTS = [FIRST + timedelta(days=number) for number in range(len(TEXTS))]
FIELDS = {"created_at": "when", "memory_type": "kind", "author": "by", "user_id": "owner"}

TIMES: dict[str, Callable[[datetime], object]] = {
    "seconds": lambda moment: int(moment.timestamp()),
    "fractional seconds": lambda moment: moment.timestamp() + 0.25,
    "milliseconds": lambda moment: int(moment.timestamp() * 1000),
    "fractional milliseconds": lambda moment: moment.timestamp() * 1000 + 0.5,
    "iso": lambda moment: moment.isoformat(),
    "iso, another zone": lambda moment: moment.astimezone(
        datetime.fromisoformat("2024-01-01T00:00:00+05:30").tzinfo
    ).isoformat(),
}


def metadata_of(number: int, moment: object) -> dict[str, Any]:
    return {
        "when": moment,
        "kind": "insight" if number % 2 else "event",
        "by": f"Author {number}",
        "owner": "ann" if number < 4 else "bob",
        "stars": number,
    }


def _by_langchain(
    client: chromadb.ClientAPI,
    name: str,
    embedding: SmallEmbedding,
    write: Callable[[datetime], object],
    space: str,
) -> Any:
    theirs = Chroma(name, embedding, client=client, collection_metadata={"hnsw:space": space})
    metadatas = [metadata_of(n, write(each)) for n, each in enumerate(MOMENTS)]
    theirs.add_texts(TEXTS, metadatas, ids=[f"row{n}" for n in range(len(TEXTS))])
    return client.get_collection(name, embedding_function=None)


def _by_llamaindex(
    client: chromadb.ClientAPI,
    name: str,
    embedding: SmallEmbedding,
    write: Callable[[datetime], object],
) -> Any:
    collection = client.create_collection(name, embedding_function=None)
    nodes = [
        TextNode(
            id_=f"row{n}",
            text=text,
            metadata=metadata_of(n, write(MOMENTS[n])),
            embedding=embedding.embed_query(text),
        )
        for n, text in enumerate(TEXTS)
    ]
    ChromaVectorStore(chroma_collection=collection).add([*nodes])
    return collection


FILLERS: dict[str, Callable[..., Any]] = {
    "langchain, l2": partial(_by_langchain, space="l2"),
    "langchain, cosine": partial(_by_langchain, space="cosine"),
    "langchain, ip": partial(_by_langchain, space="ip"),
    "llamaindex": _by_llamaindex,
}


def everything_in(collection: Any) -> object:
    rows = collection.get(include=["documents", "metadatas", "embeddings"])
    rows["embeddings"] = rows["embeddings"].tolist()
    return rows, collection.metadata, collection.configuration_json, collection.name


def day(number: int) -> TimeRange:
    return TimeRange(MOMENTS[number], MOMENTS[number] + timedelta(days=1), "day")
