"""One process of `server`: it opens a collection over HTTP and asks questions.

    python -m benchmarks.server_process SYSTEM PORT USER PATH

It prints the seconds that opening took. Then, for each line with the number of a question, it
prints a line: the seconds, the ids of the answer and the memory of the process in MB.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chromadb
from chromadb.api import ClientAPI

from benchmarks.kept_collection import NAME, Kept, read_kept
from benchmarks.opening_process import K, memory

Ask = Callable[[int], list[str]]
"""Asks a question by its number, and returns the ids of the answer."""


def _chroma(client: ClientAPI, user: str, data: Kept) -> Ask:
    collection = client.get_collection(NAME, embedding_function=None)

    def ask(number: int) -> list[str]:
        vector = data.embedding.vectors[[number]]
        return collection.query(query_embeddings=vector, n_results=K, where={"user_id": user})[
            "ids"
        ][0]

    return ask


def _langchain_chroma(client: ClientAPI, user: str, data: Kept) -> Ask:
    from langchain_chroma import Chroma  # noqa: PLC0415 - the other processes do without

    stock = Chroma(NAME, data.embedding, client=client)  # type: ignore[arg-type]  # it has the two methods

    def ask(number: int) -> list[str]:
        found = stock.similarity_search(data.questions[number], k=K, filter={"user_id": user})
        return [str(each.id) for each in found]

    return ask


def _recall(client: ClientAPI, user: str, data: Kept) -> Ask:
    from langchain_recall import RecallRetriever, RecallStore, Scope  # noqa: PLC0415 - as above

    store = RecallStore(client, NAME, embedding=data.embedding, event_times=False)
    retriever = RecallRetriever(store=store, scope=Scope(user_id=user), k=K)

    def ask(number: int) -> list[str]:
        while True:
            found = retriever.invoke(data.questions[number])
            if not any("recall_degraded" in each.metadata for each in found):
                return [str(each.id) for each in found]
            time.sleep(0.02)

    return ask


SYSTEMS = {"chroma": _chroma, "langchain_chroma": _langchain_chroma, "recall": _recall}


def main(system: str, port: str, user: str, path: str) -> None:
    """Answer the questions that standard input names."""
    client = chromadb.HttpClient(host="127.0.0.1", port=int(port))
    data = read_kept(Path(path))
    started = time.perf_counter()
    ask = SYSTEMS[system](client, user, data)
    print(json.dumps({"s": time.perf_counter() - started}), flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        ids = ask(int(line))
        took = time.perf_counter() - started
        print(json.dumps({"s": took, "ids": ids, "rss_mb": memory()[0]}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
