"""An embedding, or a server, that hangs holds up neither the others nor the end."""

import asyncio
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import chromadb
import pytest
from store.elsewhere import opens_elsewhere
from store.kit import SmallEmbedding, best, contents, python_process
from tables import table

from recall_retrievers.core.errors import SettingsError, StoreError, StoreUnavailableError
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore, writing

SAYS = r"model 'small' did not embed .* within 1 s"


class Hanging(SmallEmbedding):
    """Waits for ever over some texts; until the test ends."""

    def __init__(self) -> None:
        super().__init__()
        self.end = threading.Event()
        self.begun = threading.Event()

    def embed_query(self, text: str) -> list[float]:
        if text.startswith("hang"):
            self.begun.set()
            self.end.wait(60)
        return super().embed_query(text)

    async def aembed_query(self, text: str) -> list[float]:
        if text.startswith("hang"):
            await asyncio.sleep(60)
        return super().embed_query(text)


@pytest.fixture
def embedding() -> Iterator[Hanging]:
    hanging = Hanging()
    yield hanging
    hanging.end.set()


@pytest.fixture
def store(embedding: Hanging) -> Iterator[RecallStore]:
    with RecallStore(embedding=embedding, embed_timeout_s=1) as opened:
        yield opened


def test_an_add_and_a_question_raise_and_the_others_are_answered(
    store: RecallStore, embedding: Hanging
) -> None:
    with pytest.raises(StoreUnavailableError, match=SAYS) as raised:
        store.add(["hang"])
    assert isinstance(raised.value.__cause__, TimeoutError)
    store.add(["tea"])
    with pytest.raises(StoreUnavailableError, match=SAYS) as raised:
        asyncio.run(store.afind([Search("hang", 1)]))
    assert isinstance(raised.value.__cause__, TimeoutError)
    assert contents(best(store, "tea", 9)) == ["tea"]


def test_closing_does_not_wait_for_it(embedding: Hanging) -> None:
    store = RecallStore(embedding=embedding, embed_timeout_s=1)
    with ThreadPoolExecutor(3) as threads:
        adding = [threads.submit(store.add, [text]) for text in ("hang", "hang too")]
        embedding.begun.wait(10)
        threads.submit(store.close).result(20)
        assert all(isinstance(each.exception(20), StoreError) for each in adding)


def test_closing_waits_a_while_for_chroma(
    small: SmallEmbedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server may take a call, and never answer."""
    answers, asked = threading.Event(), threading.Event()
    upsert = chromadb.Collection.upsert

    def hanging(self: chromadb.Collection, **rows: Any) -> None:
        asked.set()
        answers.wait(60)
        upsert(self, **rows)

    store = RecallStore(tmp_path, embedding=small)
    monkeypatch.setattr(chromadb.Collection, "upsert", hanging)
    monkeypatch.setattr(writing, "CHROMA_S", 0.3)
    with ThreadPoolExecutor(3) as threads:
        threads.submit(store.add, ["tea"])
        asked.wait(10)
        second = threads.submit(store.add, ["train"])
        threads.submit(store.close).result(20)
        assert isinstance(second.exception(20), StoreError)
        assert opens_elsewhere(tmp_path) == "StoreLockedError"  # it may still write
        answers.set()


def test_a_process_ends_though_its_embedding_hangs() -> None:
    script = """
        import threading
        from recall_retrievers.core.errors import StoreError
        from recall_retrievers.store import RecallStore
        from store.kit import SmallEmbedding

        class Hanging(SmallEmbedding):
            def embed_documents(self, texts):
                threading.Event().wait()

        with RecallStore(embedding=Hanging(), embed_timeout_s=0.2) as store:
            try:
                store.add(["tea"])
            except StoreError as error:
                print(error)
    """
    process = python_process(script)
    try:
        out, _ = process.communicate(timeout=90)
    finally:
        process.kill()
    assert "did not embed texts to store within 0.2 s" in out


@table("limit", [0, -1, True, "10", 86_401, float("nan")])
def test_a_limit_is_a_number_of_seconds_up_to_a_day(limit: Any) -> None:
    for name in ("embed_timeout_s", "server_timeout_s"):
        with pytest.raises(SettingsError, match=rf"{name} must be .*; got {limit!r}"):
            RecallStore(**{name: limit})


class Relay(socketserver.ThreadingTCPServer):
    """Stands before a server. Once it is ``silent``, it accepts everything and answers nothing."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int) -> None:
        self.silent = threading.Event()
        self.server_port = port
        super().__init__(("127.0.0.1", 0), Relayed)


class Relayed(socketserver.BaseRequestHandler):
    server: Relay

    def handle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server.server_port)) as there:
            threading.Thread(target=self.answer, args=(there,), daemon=True).start()
            while data := self.request.recv(65_536):
                if not self.server.silent.is_set():
                    there.sendall(data)

    def answer(self, there: socket.socket) -> None:
        with suppress(OSError):
            while data := there.recv(65_536):
                self.request.sendall(data)


@pytest.fixture
def relay(server_port: int) -> Iterator[Relay]:
    with Relay(server_port) as relay:
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        yield relay
        relay.shutdown()


@pytest.mark.parametrize("source", ["client", "collection"])
def test_a_server_that_accepts_and_never_answers_is_given_up(
    relay: Relay, collection_name: str, source: str, small: SmallEmbedding
) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=relay.server_address[1])
    with RecallStore(client, collection_name, embedding=small, create=True) as store:
        store.add(["tea"])
    opened: Any = client if source == "client" else client.get_collection(collection_name)
    store = RecallStore(opened, collection_name, embedding=small, server_timeout_s=2)
    assert contents(best(store, "tea")) == ["tea"]

    relay.silent.set()
    time.sleep(1.1)  # after a second a question looks at the collection again
    other = partial(RecallStore, client, "other", embedding=small, server_timeout_s=2)
    with ThreadPoolExecutor(3) as threads:
        calls = (lambda: best(store, "tea"), lambda: store.add(["milk"]), other)
        for call in [threads.submit(each) for each in calls]:
            with pytest.raises(StoreUnavailableError, match=r"ReadTimeout.* do it again"):
                call.result(60)

    relay.silent.clear()
    store.add(["milk"])
    assert contents(best(store, "milk", 2)) == ["milk", "tea"]
    assert client._server._session.timeout.read is None  # type: ignore[attr-defined]
    store.close()
