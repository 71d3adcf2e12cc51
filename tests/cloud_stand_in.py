"""A stand-in for Chroma Cloud on this machine: `chroma run` behind a proxy that can search.

The proxy answers the Search API exactly, keeps the sparse vectors that `chroma run` refuses, and
enforces the default quotas. Scores are those of Chroma's source: a dense score is the distance, a
sparse one is 1 minus the dot product, and with ``bm25=True`` the question is first multiplied by
ln(1 + (n - m + 0.5) / (m + 0.5)), where m of the n rows have the word. As in the source, rows that
share no word fill up a sparse answer.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import httpx
import numpy as np
from chroma_server import ChromaServer
from chromadb import CloudClient
from chromadb.api import ClientAPI

_SPARSE = "sparse_vector"  # how JSON marks a sparse vector, and how this proxy marks a stored one
_DATABASE = "cloud"  # the server has its other collections in the default one
_WRITES = {"add", "upsert", "update"}
_READS = {"get", "query", "search", "count"}


class Refused(Exception):  # noqa: N818 - an answer, not a failure of the tests
    """An answer of the cloud other than 200."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        self.status = status
        self.body = {"error": kind, "message": message}


class CloudStandIn:
    """The server; use it as a context.

    Attributes:
        requests: The operations that were asked for, such as "search".
        searches: The searches that were sent together, as JSON, of each request.
        most_reads: How many reads of one collection ran at once, at the most.
        turned_away: How many of the next reads are answered with "too many requests".
    """

    def __init__(self, chroma: ChromaServer) -> None:
        self._url = f"http://127.0.0.1:{chroma.port}"
        self._http = httpx.Client(base_url=self._url, timeout=60)
        self._ask("POST", "/api/v2/tenants/default_tenant/databases", {"name": _DATABASE})
        self._schemas: dict[str, dict[str, Any]] = {}
        self._rows: dict[str, Any] = {}  # of each collection, until something is written
        self._lock = Lock()
        self._reading: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.searches: list[list[dict[str, Any]]] = []
        self.most_reads = 0
        self.turned_away = 0
        handler = type("Handler", (_Handler,), {"cloud": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def client(self) -> ClientAPI:
        """A client, as one of Chroma Cloud."""
        return CloudClient(
            tenant="default_tenant",
            database=_DATABASE,
            api_key="secret",
            cloud_host="127.0.0.1",
            cloud_port=self.port,
            enable_ssl=False,
        )

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._http.close()

    def answer(self, method: str, path: str, token: str | None, body: bytes) -> tuple[int, bytes]:
        try:
            status, answer = self._answer(method, path, token, body)
        except Refused as refused:
            status, answer = refused.status, refused.body
        return status, json.dumps(answer).encode()

    def _answer(self, method: str, path: str, token: str | None, body: bytes) -> tuple[int, Any]:
        if token != "secret":
            raise Refused(401, "AuthorizationError", "no key, or a wrong one")
        parts = path.split("?", maxsplit=1)[0].split("/collections")
        rest = parts[1].strip("/").split("/") if len(parts) > 1 else [""]
        collection, action = rest[0], rest[1] if len(rest) > 1 else ""
        data = json.loads(body) if body else {}
        self.requests[action] += 1
        if path.endswith("/auth/identity"):
            return 200, {"user_id": "", "tenant": "default_tenant", "databases": [_DATABASE]}
        if path.endswith("/pre-flight-checks"):
            return 200, {"max_batch_size": 1000, "supports_base64_encoding": False}
        if action in _READS:
            return 200, self._read(method, path, collection, action, data)
        if method != "GET":
            self._rows.clear()
        if action in _WRITES:
            _check_rows(data, self._words_key(collection))
            data["metadatas"] = [_packed(row) for row in data["metadatas"] or []] or None
        schema = data.pop("schema", None) if method == "POST" and not collection else None
        if schema is not None:
            data["configuration"] = {"hnsw": {"space": _space(schema)}}
        status, answer = self._ask(method, path, data if body else None)
        if schema is not None and status < 300:
            self._schemas.setdefault(answer["id"], schema)
        return status, self._as_in_the_cloud(answer)

    def _read(self, method: str, path: str, collection: str, action: str, data: Any) -> Any:
        with self._lock:
            self._reading[collection] += 1
            self.most_reads = max(self.most_reads, self._reading[collection])
            busy = self._reading[collection] > 10 or self.turned_away > 0
            self.turned_away -= self.turned_away > 0
        try:
            if busy:
                raise Refused(429, "RateLimitError", "Number of concurrent reads per collection")
            if action == "search":
                return self._search(path.removesuffix("/search"), collection, data)
            if action in {"get", "query"}:
                _check_where(data.get("where"))
                wanted = "n_results" if action == "query" else "limit"
                data[wanted] = _within("Limit value", data.get(wanted) or 300, 300)
            status, answer = self._ask(method, path, data or None)
            if status >= 300:
                raise Refused(status, answer["error"], answer["message"])
            return _unpacked(answer)
        finally:
            with self._lock:
                self._reading[collection] -= 1

    def _ask(self, method: str, path: str, data: Any) -> tuple[int, Any]:
        answer = self._http.request(method, path, json=data)
        return answer.status_code, answer.json() if answer.content else None

    def _as_in_the_cloud(self, answer: Any) -> Any:
        for each in answer if isinstance(answer, list) else [answer]:
            configuration = each.get("configuration_json") if isinstance(each, dict) else None
            if configuration:
                space = configuration["hnsw"]["space"]
                configuration |= {"hnsw": None, "spann": {"space": space}}
                each["schema"] = self._schemas.get(each["id"])
        return answer

    def _words_key(self, collection: str) -> str | None:
        """The key with an index of sparse vectors."""
        keys = self._schemas.get(collection, {}).get("keys", {})
        return next((key for key, types in keys.items() if _SPARSE in types), None)

    def _search(self, url: str, collection: str, data: Any) -> Any:
        searches = data["searches"]
        _within("Number of search payloads in a search", len(searches), 5)
        self.searches.append(searches)
        rows = self._rows.get(url)
        if rows is None:
            rows = self._get(url, include=["documents", "metadatas", "embeddings"])
            rows["vectors"] = np.asarray(rows["embeddings"], dtype=np.float32)
            self._rows[url] = rows
        answers = [self._one(url, collection, rows, search) for search in searches]
        names = ("ids", "documents", "metadatas", "scores", "embeddings")
        return {name: [answer[name] for answer in answers] for name in names} | {
            "select": [search["select"]["keys"] for search in searches]
        }

    def _one(self, url: str, collection: str, rows: Any, search: Any) -> dict[str, Any]:
        _check_where(search["filter"])
        limit = _within("Limit value", search["limit"]["limit"], 300)
        fitting = list(range(len(rows["ids"])))
        if search["filter"] is not None:
            admitted = set(self._get(url, where=search["filter"], include=[])["ids"])
            fitting = [n for n in fitting if rows["ids"][n] in admitted]
        scores: list[float | None] = [None] * len(fitting)
        if search["rank"] is not None:
            knn = search["rank"]["$knn"]
            _within("Limit value in rank expression", knn["limit"], 384)
            every = self._scores(collection, rows, knn)
            scores = [every[n] for n in fitting]
            found = [n for n in range(len(fitting)) if scores[n] is not None]
            ranked = sorted(found, key=lambda n: (scores[n], n))[: knn["limit"]]
            fitting, scores = [fitting[n] for n in ranked], [scores[n] for n in ranked]
        start = search["limit"].get("offset", 0)
        fitting, scores = fitting[start : start + limit], scores[start : start + limit]
        chosen = search["select"]["keys"]
        columns = {
            "documents": ("#document", rows["documents"]),
            "metadatas": ("#metadata", rows["metadatas"]),
            "embeddings": ("#embedding", rows["embeddings"]),
        }
        return {
            "ids": [rows["ids"][n] for n in fitting],
            "scores": scores if "#score" in chosen else None,
            **{
                name: [values[n] for n in fitting] if key in chosen else None
                for name, (key, values) in columns.items()
            },
        }

    def _scores(self, collection: str, rows: Any, knn: Any) -> Any:
        if knn["key"] == "#embedding":
            return _cosine_distances(knn["query"], rows["vectors"])
        if knn["key"] != self._words_key(collection):
            raise Refused(400, "InvalidArgumentError", f"no sparse index on {knn['key']}")
        stored = [(row or {}).get(knn["key"]) for row in rows["metadatas"]]
        vectors = [dict(_pairs(each)) if each else None for each in stored]
        config = self._schemas[collection]["keys"][knn["key"]][_SPARSE]["sparse_vector_index"]
        wanted = dict(_pairs(knn["query"]))
        if config["config"].get("bm25"):
            wanted = {number: value * _rarity(number, vectors) for number, value in wanted.items()}
        return [
            None if each is None else 1 - sum(v * each.get(n, 0.0) for n, v in wanted.items())
            for each in vectors
        ]

    def _get(self, url: str, **wanted: Any) -> Any:
        status, answer = self._ask("POST", f"{url}/get", wanted)
        if status >= 300:
            raise Refused(status, answer["error"], answer["message"])
        return _unpacked(answer)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cloud: CloudStandIn

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        token = self.headers.get("X-Chroma-Token")
        status, answer = self.cloud.answer(self.command, self.path, token, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - names of the base class

    def log_message(self, *_: object) -> None:
        """Nothing: the tests print what they want to say."""


def _check_rows(data: Any, words_key: str | None) -> None:
    _within("Number of records", len(data["ids"]), 300)
    for row_id in data["ids"]:
        _within("ID size (bytes)", len(row_id.encode()), 128)
    for text in data["documents"] or []:
        _within("Document size (bytes)", len((text or "").encode()), 16_384)
    for row in data["metadatas"] or []:
        kept = {key: value for key, value in (row or {}).items() if value is not None}
        _within("Number of metadata dictionary keys", len(kept), 32)
        for key, value in kept.items():
            _within("Size of metadata dictionary key (bytes)", len(key.encode()), 36)
            if isinstance(value, str):
                size = len(value.encode())
                _within("Size of metadata dictionary value (bytes)", size, 4096)
            if isinstance(value, dict):
                if key != words_key:
                    raise Refused(400, "InvalidArgumentError", f"no sparse index on {key}")
                _within("Sparse vector populated dimension", len(value["indices"]), 4096)


def _check_where(where: Any) -> None:
    _within("Number of where clause predicates", sum(1 for _ in _leaves(where)), 8)


def _leaves(where: Any) -> Iterator[Any]:
    for key, value in (where or {}).items():
        if key in {"$and", "$or"}:
            for arm in value:
                yield from _leaves(arm)
        else:
            yield value


def _within(what: str, number: int, most: int) -> int:
    if number > most:
        raise Refused(
            422,
            "ChromaError",
            f"Quota exceeded: '{what}' exceeded quota limit: current usage of {number} exceeds "
            f"limit of {most}",
        )
    return number


def _space(schema: Any) -> Any:
    return schema["keys"]["#embedding"]["float_list"]["vector_index"]["config"]["space"]


def _packed(row: Any) -> Any:
    """Metadata as `chroma run` takes it: a sparse vector is a text."""
    return row and {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}


def _unpacked(answer: Any) -> Any:
    def row(each: Any) -> Any:
        return each and {
            key: json.loads(value) if isinstance(value, str) and f'"{_SPARSE}"' in value else value
            for key, value in each.items()
        }

    if isinstance(answer, dict) and answer.get("metadatas"):
        nested = isinstance(answer["metadatas"][0], list)
        batches = answer["metadatas"] if nested else [answer["metadatas"]]
        unpacked = [[row(each) for each in batch] for batch in batches]
        answer["metadatas"] = unpacked if nested else unpacked[0]
    return answer


def _pairs(vector: Any) -> Iterator[tuple[int, float]]:
    return zip(vector["indices"], vector["values"], strict=True)


def _rarity(number: int, vectors: list[dict[int, float] | None]) -> float:
    having = sum(each is not None and number in each for each in vectors)
    return math.log1p((len(vectors) - having + 0.5) / (having + 0.5))


def _cosine_distances(query: list[float], rows: Any) -> Any:
    if not len(rows):
        return []
    vector = np.asarray(query, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    return (1 - rows @ vector / lengths).tolist()
