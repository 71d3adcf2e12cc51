"""How long `recall serve` takes to answer many clients at once, on this machine.

    python -m benchmarks.serving [--clients 50] [--seconds 60] [--rows 1000] [--json OUT]

The server is a process of its own, as `recall serve` starts it, with the default model. First one
client alone asks it for /health and with questions: that shows what an answer costs. Then each
client has a token of its own, asks again as soon as it has its answer, and mixes: 80 % questions,
10 % lists, 10 % memories to store. Clients and server share the cores, so the figures are upper
bounds. An answer other than 200 or 201 is an error, and so is a memory of somebody else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

import httpx
import numpy as np

from benchmarks.output import json_file, write_json
from recall_retrievers.store import RecallStore

_TOPICS = ("dentist", "sister", "garden", "train", "book", "tea", "museum", "bicycle")
_PERCENTILES = (50, 90, 99)
_ALONE = 200  # requests of one kind by one client alone


class Alone(TypedDict):
    """What one request costs where nobody else asks: the median, and the server's processor."""

    wall_ms: float
    cpu_ms: float


class Served(TypedDict):
    """What was measured."""

    alone: dict[str, Alone]
    clients: int
    seconds: float
    requests: int
    errors: int
    per_second: float
    latency_ms: dict[str, dict[str, float]]


def measure(clients: int, seconds: float, rows: int) -> Served:
    """Fill a folder, serve it, and ask it with many clients."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with RecallStore(folder) as store:
            store.add(_memories(clients, rows), progress=True)
        with _server(Path(folder), clients) as (address, process):
            alone = _one_client(address, process)
            began = time.perf_counter()
            outcomes = asyncio.run(_asked(address, clients, seconds))
            took = time.perf_counter() - began
    times: dict[str, list[float]] = defaultdict(list)
    for kind, taken, is_right in outcomes:
        if is_right:
            times[kind].append(taken)
    done = sum(map(len, times.values()))
    return {
        "alone": alone,
        "clients": clients,
        "seconds": round(took, 1),
        "requests": len(outcomes),
        "errors": len(outcomes) - done,
        "per_second": round(done / took, 1),
        "latency_ms": {kind: _percentiles(each) for kind, each in sorted(times.items())},
    }


def _memories(clients: int, rows: int) -> Iterator[Mapping[str, object]]:
    for number in range(rows):
        topic = _TOPICS[number % len(_TOPICS)]
        day = 1 + number % 28
        yield {
            "content": f"Note {number} of the {topic}: seen again, and talked about for a while.",
            "created_at": f"2024-03-{day:02}T10:00:00Z",
            "user_id": f"user-{number % clients}",
        }


@contextmanager
def _server(folder: Path, clients: int) -> Iterator[tuple[str, int]]:
    tokens = [f"{_token(n)} user_id=user-{n}" for n in range(clients)]
    words = ["serve", str(folder), "--port", "0", "--rate", "none", "--json"]
    process = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", "langchain_recall", *words],
        env={**os.environ, "RECALL_TOKENS": ";".join(tokens)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield _address(process), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _address(process: subprocess.Popen[str]) -> str:
    lines = ""
    for line in process.stdout or ():
        lines += line
        if "}" in line:
            return str(json.loads(lines)["address"])
    raise RuntimeError("the server did not start; its standard error says why")


def _token(number: int) -> str:
    return f"token-of-client-{number:06}"


def _one_client(address: str, process: int) -> dict[str, Alone]:
    chance, headers = random.Random(0), {"Authorization": f"Bearer {_token(0)}"}  # noqa: S311 - nothing secret
    found: dict[str, Alone] = {}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        for kind in ("health", "ask"):
            for _ in range(20):  # what a first request makes is there afterwards
                client.send(_alone(client, kind, chance)).raise_for_status()
            times, cpu_ms = [], _cpu_ms(process)
            for _ in range(_ALONE):
                request, began = _alone(client, kind, chance), time.perf_counter()
                client.send(request).raise_for_status()
                times.append(1000 * (time.perf_counter() - began))
            cpu_ms = (_cpu_ms(process) - cpu_ms) / _ALONE
            found[kind] = {"wall_ms": round(float(np.median(times)), 1), "cpu_ms": round(cpu_ms, 1)}
    return found


def _alone(client: httpx.Client, kind: str, chance: random.Random) -> httpx.Request:
    if kind == "health":
        return client.build_request("GET", "/health")
    return client.build_request("POST", "/retrieve_personal_memory", json=_question(chance))


def _cpu_ms(process: int) -> float:
    """The processor time of a process so far, as Linux has it."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


async def _asked(address: str, clients: int, seconds: float) -> list[tuple[str, float, bool]]:
    end = time.perf_counter() + seconds
    parts = await asyncio.gather(*(_client(address, n, end) for n in range(clients)))
    return [outcome for part in parts for outcome in part]


async def _client(address: str, number: int, end: float) -> list[tuple[str, float, bool]]:
    chance = random.Random(number)  # noqa: S311 - nothing secret
    outcomes = []
    headers = {"Authorization": f"Bearer {_token(number)}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
        while time.perf_counter() < end:
            kind, method, path, named = _request(chance)
            began = time.perf_counter()
            try:
                answer = await client.request(method, path, **named)
                is_right = answer.is_success and _is_own(answer.text, number)
            except httpx.HTTPError:
                is_right = False
            outcomes.append((kind, 1000 * (time.perf_counter() - began), is_right))
    return outcomes


def _request(chance: random.Random) -> tuple[str, str, str, dict[str, object]]:
    dice = chance.random()
    if dice < 0.8:
        return "ask", "POST", "/retrieve_personal_memory", {"json": _question(chance)}
    if dice < 0.9:
        return "list", "GET", "/memories", {"params": {"limit": 10}}
    topic = chance.choice(_TOPICS)
    new = {"memories": [{"content": f"A new note of the {topic}, number {chance.random()}."}]}
    return "add", "POST", "/memories", {"json": new}


def _question(chance: random.Random) -> dict[str, object]:
    topic, day = chance.choice(_TOPICS), chance.randrange(1, 28)
    return {"query": f"What about the {topic} on {day} March 2024?"}


def _is_own(text: str, number: int) -> bool:
    owners = text.split('"user_id":"')[1:]
    return all(each.startswith(f'user-{number}"') for each in owners)


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    values = np.percentile(times, _PERCENTILES)
    named = {f"p{p}": round(float(each), 1) for p, each in zip(_PERCENTILES, values, strict=True)}
    return {**named, "requests": len(times)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--json", type=json_file)
    options = parser.parse_args(arguments)
    served = measure(options.clients, options.seconds, options.rows)
    for kind, cost in served["alone"].items():
        wall, cpu = cost["wall_ms"], cost["cpu_ms"]
        print(f"{kind:>6} alone: {wall} ms (median), of which {cpu} ms of processor")
    print(
        f"{served['clients']} clients, {served['seconds']} s: {served['requests']} requests, "
        f"{served['per_second']} a second, {served['errors']} errors"
    )
    print(f"{'ms':>6}  {'p50':>8} {'p90':>8} {'p99':>8} {'requests':>9}")
    for kind, times in served["latency_ms"].items():
        p50, p90, p99, count = (times[each] for each in ("p50", "p90", "p99", "requests"))
        print(f"{kind:>6}  {p50:8.1f} {p90:8.1f} {p99:8.1f} {count:9.0f}")
    write_json(options.json, served)


if __name__ == "__main__":
    main()
