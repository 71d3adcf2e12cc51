"""What a question of one user costs over `chroma run`: seconds, and bytes from the server.

    python -m benchmarks.server [--rows 100000] [--folder FOLDER] [--json OUT]
                                [--page docs/how_it_grows.md]

The collection is that of `opening`, with 50 users, and is kept under ``--folder``; the server reads
a copy of it. Each system asks in a process of its own, through a proxy on loopback that counts
bytes; all questions are of one user. In turn:

- ``open``: the store is opened;
- ``first``: its first question; for ours, the first that is answered by meaning *and* words;
- ``next``: the median of ten more questions;
- ``deleted``: a question after another process has deleted the best memory of the last answer;
- ``others``: a question after another process has deleted a row of another user;
- ``added``: a question after another process has added a memory with `RecallStore`.

Before the last three, two seconds pass. ``right`` says whether the answer was as it must be: the
deleted memory is gone, the new one is there. ``rss_mb`` is the memory of the process at the end.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
from chromadb.api import ClientAPI

from benchmarks.counting_proxy import CountingProxy
from benchmarks.grown_page import write_server
from benchmarks.kept_collection import NAME, Kept
from benchmarks.made_collection import made
from benchmarks.output import json_file, write_json
from benchmarks.report import print_server
from benchmarks.server_process import SYSTEMS
from langchain_recall import Memory, RecallStore, Scope

_USER = "user7"
_OTHER = "user8"
_NEXT = 10
_SEEN_AFTER = 2.0  # seconds; what others write is seen within one

Step = dict[str, Any]


class Client:
    """A process that asks through the proxy.

    Args:
        system: Its system.
        proxy: Counts its bytes.
        data: The collection, with its questions.
    """

    def __init__(self, system: str, proxy: CountingProxy, data: Kept) -> None:
        self._proxy = proxy
        proxy.reset()
        command = [sys.executable, "-m", "benchmarks.server_process"]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, system, str(proxy.port), _USER, str(data.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.opened: Step = {**self._read(), **self._bytes()}

    def ask(self, number: int) -> Step:
        """The answer to a question, its seconds and its bytes."""
        self._proxy.reset()
        self._process.stdin.write(f"{number}\n")  # type: ignore[union-attr]  # it is a pipe
        self._process.stdin.flush()  # type: ignore[union-attr]
        return {**self._read(), **self._bytes()}

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=60)

    def _read(self) -> Any:
        return json.loads(self._process.stdout.readline())  # type: ignore[union-attr]

    def _bytes(self) -> Step:
        return {"down": self._proxy.down, "up": self._proxy.up}


def measure(system: str, port: int, data: Kept) -> dict[str, Step]:
    """All steps of one system."""
    direct = chromadb.HttpClient(host="127.0.0.1", port=port)
    with CountingProxy(port) as proxy:
        client = Client(system, proxy, data)
        first = client.ask(0)
        further = [client.ask(1 + number % 5) for number in range(_NEXT)]
        steps = {"open": client.opened, "first": first, "next": _median(further)}
        gone = first["ids"][0]
        steps["deleted"] = _after(client, lambda: _delete(direct, [gone]))
        steps["deleted"]["right"] = gone not in steps["deleted"]["ids"]
        steps["others"] = _after(client, lambda: _delete(direct, _a_row_of_another(direct)))
        steps["added"] = _after(client, lambda: _add(direct, data, f"new-{system}"))
        steps["added"]["right"] = f"new-{system}" in steps["added"]["ids"]
        client.close()
    rss = steps["added"]["rss_mb"]
    return {name: {**step, "ids": None} for name, step in steps.items()} | {"end": {"rss_mb": rss}}


def _after(client: Client, change: Callable[[], None]) -> Step:
    change()
    time.sleep(_SEEN_AFTER)
    return client.ask(0)


def _median(steps: Sequence[Step]) -> Step:
    return {key: statistics.median(each[key] for each in steps) for key in ("s", "down", "up")}


def _a_row_of_another(client: ClientAPI) -> list[str]:
    collection = client.get_collection(NAME, embedding_function=None)
    return collection.get(where={"user_id": _OTHER}, limit=1, include=[])["ids"]


def _delete(client: ClientAPI, ids: list[str]) -> None:
    client.get_collection(NAME, embedding_function=None).delete(ids=ids)


def _add(client: ClientAPI, data: Kept, row_id: str) -> None:
    """Add the first question as a memory: it is the nearest to itself."""
    with RecallStore(client, NAME, embedding=data.embedding, event_times=False) as store:
        store.add([Memory(id=row_id, content=data.questions[0], scope=Scope(user_id=_USER))])


@contextmanager
def served(data: Kept) -> Iterator[int]:
    """The port of `chroma run` on a copy of a collection."""
    with tempfile.TemporaryDirectory(dir=data.path.parent, ignore_cleanup_errors=True) as folder:
        path = shutil.copytree(data.path, Path(folder) / "served")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port: int = free.getsockname()[1]
        chroma = Path(sys.executable).with_name("chroma")
        address = ["--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(  # noqa: S603 - the tool of our own environment
            [chroma, "run", "--path", path, *address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            client = chromadb.HttpClient(host="127.0.0.1", port=port)
            # The server reads its index at the first query; that is no client's business.
            collection = client.get_collection(NAME, embedding_function=None)
            row = collection.get(limit=1, include=["embeddings"])
            collection.query(query_embeddings=row["embeddings"], n_results=1)
        except Exception:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.server")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the collection is kept (nowhere)")
    parser.add_argument("--minutes", type=float, default=60, help="for building it")
    parser.add_argument("--json", type=json_file)
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="put the figures into it")
    given = parser.parse_args(argv)
    if given.rows < 1000:
        parser.error("--rows takes a number from 1000 on: each of 50 users needs 20")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as nowhere:
        data = made(given.folder or Path(nowhere), given.rows, given.minutes)
        by_system = {}
        for system in SYSTEMS:
            with served(data) as port:
                by_system[system] = measure(system, port, data)
    result = {"rows": given.rows, "systems": by_system}
    print_server(result)
    if given.page is not None:
        write_server(given.page, by_system)
    write_json(given.json, result)


if __name__ == "__main__":
    main()
