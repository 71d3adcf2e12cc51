"""The benchmark of a server counts every byte."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from benchmarks.counting_proxy import CountingProxy
from benchmarks.grown_page import write_server

PAGE = Path(__file__).parents[2] / "docs" / "how_it_grows.md"


def test_the_proxy_counts_what_it_passes_on():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            connection, _ = listening.accept()
            with connection:
                connection.sendall(3 * connection.recv(100))

        threading.Thread(target=answer, daemon=True).start()
        with CountingProxy(listening.getsockname()[1]) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
                connection.sendall(b"question")
                answered = b"".join(iter(lambda: connection.recv(100), b""))

            assert answered == 3 * b"question"
            assert (proxy.up, proxy.down) == (8, 24)
            proxy.reset()
            assert (proxy.up, proxy.down) == (0, 0)


def test_the_figures_go_into_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    steps = {name: {"s": 0.5, "down": 2048} for name in ("first", "next", "deleted")}

    write_server(page, {"recall": steps, "langchain_chroma": steps})

    written = page.read_text(encoding="utf-8")
    assert written.count("| 500 ms, 2.0 KB | 500 ms, 2.0 KB | 500 ms, 2.0 KB |") == 2
    page.write_text("# Another page", encoding="utf-8")
    with pytest.raises(ValueError, match="has no place for figures"):
        write_server(page, {"recall": steps, "langchain_chroma": steps})
