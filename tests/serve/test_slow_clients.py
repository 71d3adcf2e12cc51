"""Clients that send half a request: they end, they cost little, and the others are served."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from serve.kit import ALL, ANN, JSON, TOKENS, bearer, filled_store, running

from recall_retrievers.serve.running import ServerSettings, listening

ASK = "POST /retrieve_personal_memory HTTP/1.1\r\nHost: localhost\r\n"
HEADERS = f"Content-Type: application/json\r\nAuthorization: Bearer {ANN}\r\n"
HEALTH = f"GET /health HTTP/1.1\r\nHost: localhost\r\n{HEADERS}\r\n"
BODY = f"{ASK}{HEADERS}Content-Length: 100000\r\n\r\n" + '{"query": '


def sent(client: httpx.Client, text: str) -> socket.socket:
    """A connection over which only this text was sent."""
    assert client.base_url.port
    connection = socket.create_connection((client.base_url.host, client.base_url.port), 10)
    connection.sendall(text.encode())
    return connection


def read(connection: socket.socket) -> bytes:
    """All that the server answers until it closes."""
    with closing(connection):
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def check_health(connection: socket.socket) -> None:
    answer = b""
    while b'"ok"}' not in answer:
        part = connection.recv(65_536)
        assert part, "the server has closed"
        answer += part


@pytest.fixture
def impatient() -> Iterator[httpx.Client]:
    limits = {"request_timeout_s": 1, "most_bytes": 90_000_000}
    with filled_store() as store, running(store, tokens=TOKENS, **limits) as client:
        client.headers.update(bearer(ANN))
        yield client


def test_half_requests_end_and_slow_ones_in_time_do_not(impatient: httpx.Client) -> None:
    whole, busy = sent(impatient, HEALTH), sent(impatient, HEALTH)
    for each in (whole, busy):
        check_health(each)
    whole.sendall(b"G")  # half of another request, in the same connection
    halves = [sent(impatient, text) for text in ("", "GET /hea", ASK)]
    bodies = [sent(impatient, BODY) for _ in range(3)]
    deletes = (
        f"DELETE /memories/x HTTP/1.1\r\nHost: localhost\r\n{HEADERS}Content-Length: 9\r\n\r\n"
    )
    unread = sent(impatient, deletes)
    slow = sent(impatient, f"{ASK}{HEADERS}Content-Le")
    time.sleep(0.6)
    busy.sendall(HEALTH.encode())
    check_health(busy)
    slow.sendall(b'ngth: 20\r\nConnection: close\r\n\r\n{"query": ')
    time.sleep(0.6)
    busy.sendall(HEALTH.encode())
    slow.sendall(b'"dentist"}')

    check_health(busy)
    assert read(slow).startswith(b"HTTP/1.1 200")
    assert [read(each) for each in (whole, *halves)] == [b""] * 4
    read(unread)  # it ends
    for each in bodies:
        assert re.match(b"HTTP/1.1 408 .*did not arrive within 1 s", read(each), re.DOTALL)


def test_of_too_many_connections_the_waiting_ones_are_closed() -> None:
    with filled_store() as store, running(store, most_connections=5) as client:
        halves = [sent(client, "GET /hea") for _ in range(30)]
        time.sleep(0.5)
        closed, _, _ = select.select(halves, [], [], 0)
        assert len(closed) >= 25
        assert client.get("/health").status_code == 200
        for each in halves:
            each.close()


def test_who_leaves_in_the_middle_of_a_body_has_not_sent_it(impatient: httpx.Client) -> None:
    body = '{"memories": [{"content": "Half of what Ann has to say."}]}'
    head = ASK.replace("retrieve_personal_memory", "memories") + HEADERS

    sent(impatient, f"{head}Content-Length: {len(body) + 1}\r\n\r\n{body}").close()

    for _ in range(5):
        assert impatient.get("/count").json() == {"count": 2}
        time.sleep(0.1)


def test_few_large_bodies_are_in_memory_at_once(impatient: httpx.Client) -> None:
    large = f"{ASK}{HEADERS}Content-Length: 80000000\r\n\r\n"
    holding = [sent(impatient, large) for _ in range(16)]
    waiting = sent(impatient, large)
    waiting.settimeout(0.3)

    with pytest.raises(TimeoutError):  # nobody reads it
        waiting.sendall(b" " * 40_000_000)
    asked = {"query": "dentist"}
    assert impatient.post("/retrieve_personal_memory", json=asked).status_code == 200
    padded = b'{"query": "dentist"' + b" " * 100_000 + b"}"
    assert impatient.post("/retrieve_personal_memory", content=padded, headers=JSON).is_success
    for each in (*holding, waiting):
        each.close()


def test_an_answer_is_not_held_back() -> None:
    with listening(ServerSettings(port=0)) as bound, socket.socket() as client:
        client.connect(bound.getsockname())
        with bound.accept()[0] as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_command_stops_in_time_and_requires_what_it_was_started_with(tmp_path: Path) -> None:
    script = (
        "import sys; from recall_retrievers.cli import program, serving\n"
        "serving.is_loopback = lambda host: False\n"  # as of another address
        "sys.exit(program.main(sys.argv[1:]))"
    )
    words = ["serve", str(tmp_path), "--port", "0", "--require-scope", "agent_id,user_id", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words],
        env={**os.environ, "RECALL_TOKENS": f"{ANN} user_id=ann;{ALL} *"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        lines = iter(process.stdout.readline, "}\n")
        [address] = re.findall(r"http://[\d.:]+", "".join(lines))
        with httpx.Client(base_url=address, timeout=30) as client:
            path, ask = "/retrieve_personal_memory", {"query": "tea", "agent_id": "bot"}
            for token, asked, status in [
                (ANN, ask, 200),
                (ALL, {**ask, "user_id": "bob"}, 200),
                (ALL, ask, 403),
                (ANN, {"query": "tea"}, 403),
            ]:
                answer = client.post(path, json=asked, headers=bearer(token))
                assert answer.status_code == status, answer.text
            halves = [sent(client, text) for text in (BODY, "GET /hea") for _ in range(6)]
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
            for each in halves:
                each.close()
    finally:
        process.kill()
    assert process.returncode == 0
    assert "graceful shutdown exceeded" not in errors  # nobody waited for them
    assert "no TLS: tokens and memories can be read on the way" in errors
