"""The HTTP API against a server that runs: what is answered, what is refused, which limits hold."""

import json
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema
import pytest
from conftest import WordsEmbedding
from mcp import Client
from serve.kit import ALL, ANN, BOB, JSON, TOKENS, bearer, filled_store, running
from starlette.testclient import TestClient
from tables import table

from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.app import create_memory_app
from recall_retrievers.serve.door import RateLimit
from recall_retrievers.serve.mcp_server import McpTools
from recall_retrievers.serve.operation import ScopedService
from recall_retrievers.serve.routes import ROUTES
from recall_retrievers.serve.running import ServerSettings
from recall_retrievers.serve.tokens import Tokens
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"


def contents(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["content"] for each in answer.json()["metadata"]["memory_list"]]


def test_the_request_of_the_document_is_answered(open_server: httpx.Client) -> None:
    """As ReMe's documentation shows it, for `requests.post(url=..., json=...)`."""
    query = {"workspace_id": "my_workspace", "query": "How to handle file upload errors in Python?"}
    messages = [{"role": "user", "content": "The upload of files begins too early."}]
    for asked in (query, {"messages": messages}):
        answer = open_server.post("/retrieve_task_memory", json=asked)

        assert contents(answer) == ["Check the size before the upload begins."]
        assert answer.json()["success"] is True
        assert "- Uploading files in Python: Check the size" in answer.json()["answer"]


def test_a_dated_question_is_understood(server: httpx.Client) -> None:
    path, ann = "/retrieve_personal_memory", bearer(ANN)
    asked = {"query": "What did the dentist do last Tuesday?", "timestamp": NOW, "k": 1}
    answer = server.post(path, json=asked, headers=ann)

    assert contents(answer) == ["The dentist filled a tooth."]
    [time] = answer.json()["metadata"]["time"]
    assert time["means"] == "2024-03-05 (Tuesday)"
    assert "Recorded: 2024-03-05 10:00:00 Tuesday" in answer.json()["answer"]
    for named in ({"when": "in February 2024"}, {"since": "2024-02-01", "until": "2024-02-01"}):
        answer = server.post(path, json={"query": "dentist", **named}, headers=ann)
        assert contents(answer) == ["The dentist moved to Elm Street."]


def test_the_calendar_has_no_edge_to_fall_from(open_server: httpx.Client) -> None:
    """The last day is the usual way to write "no end"."""
    everything = open_server.get("/count").json()
    first, last = {"since": "0001-01-01"}, {"until": "9999-12-31"}
    for zone in ("UTC", "Pacific/Kiritimati", "Etc/GMT+12"):
        for span in (first, last, {**first, **last}):
            named = {"timezone": zone, **span}
            assert open_server.get("/count", params=named).json() == everything
            listed = open_server.get("/memories", params=named).json()["memories"]
            found = open_server.post("/retrieve_personal_memory", json={**named, "k": 100})
            assert len(listed) == len(contents(found)) == everything["count"]
            none = open_server.delete("/memories", params={"ids": "nobody", **named})
            assert none.json() == {"deleted": 0}
    whole = open_server.delete("/memories", params=last)
    assert (whole.status_code, "delete takes a condition" in whole.text) == (400, True)
    for day in ("0001-01-01", "9999-12-31T23:59:59Z"):
        for query in ("tea last week", "what happened yesterday?", "today", "next year"):
            asked = {"query": query, "timestamp": day, "as_of": day}
            assert open_server.post("/explain", json=asked).status_code == 200


def test_a_token_is_bound_to_its_scope(server: httpx.Client) -> None:
    asked = {"query": "Who is the dentist?"}

    for token, whose in [(ANN, {"ann"}), (BOB, {"bob"}), (ALL, {"ann", "bob", None})]:
        answer = server.post("/retrieve_personal_memory", json=asked, headers=bearer(token))
        found = answer.json()["metadata"]["memory_list"]
        assert {each["scope"].get("user_id") for each in found} == whose

    other = server.post(
        "/retrieve_personal_memory", json={**asked, "user_id": "bob"}, headers=bearer(ANN)
    )
    assert other.status_code == 403
    assert "cannot be changed to 'bob'" in other.json()["error"]


def test_no_token_reaches_beyond_the_scope_of_the_server() -> None:
    asked = {"query": "Who is the dentist?"}
    with (
        filled_store() as store,
        running(store, tokens=TOKENS, scope=Scope(user_id="ann")) as client,
    ):
        for token in (ANN, ALL):
            answer = client.post("/retrieve_personal_memory", json=asked, headers=bearer(token))
            assert {each["id"] for each in answer.json()["metadata"]["memory_list"]} == {
                "filled",
                "moved",
            }
        refused = client.post("/retrieve_personal_memory", json=asked, headers=bearer(BOB))
        assert refused.status_code == 401


def test_what_is_stored_is_its_owners() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as client:
        fresh = {"memories": [{"content": "Ann likes tea.", "created_at": NOW}]}
        added = client.post("/memories", json=fresh, headers=bearer(ANN))
        assert added.status_code == 201
        [memory] = store.get(added.json()["ids"])
        assert (memory.content, memory.scope.user_id) == ("Ann likes tea.", "ann")

        for stolen in ({"id": "bobs"}, {"user_id": "bob"}):
            new = {"memories": [{"content": "Mine now.", **stolen}]}
            assert client.post("/memories", json=new, headers=bearer(ANN)).status_code == 403
        assert store.get(["bobs"])[0].content.startswith("The dentist of Bob")


def test_of_clients_that_store_one_text_at_once_one_does() -> None:
    twice = {"memories": [{"content": "Tea at four."}, {"content": "Tea  at four."}]}
    with filled_store() as store, running(store) as client, ThreadPoolExecutor(6) as pool:
        before = store.count()
        sent = [
            pool.submit(client.post, "/memories", json={**twice, "only_new": True})
            for _ in range(6)
        ]
        ids = {one for each in sent for one in each.result().json()["ids"]}
        assert (store.count() - before, len(ids)) == (1, 1)


def test_memories_are_managed() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as client:
        client.headers.update(bearer(ANN))

        def listed(**asked: object) -> list[str]:
            return [each["id"] for each in client.get("/memories", params=asked).json()["memories"]]

        assert listed() == ["filled", "moved"]
        assert listed(order="oldest", limit=1) == ["moved"]
        assert listed(when="in February 2024") == ["moved"]
        assert listed(filter='{"topic": "health"}') == ["moved"]
        first = client.get("/memories", params={"limit": 1}).json()
        assert listed(limit=1, after=first["next"]) == ["moved"]
        assert client.get("/count", params={"since": "2024-03-01"}).json() == {"count": 1}

        change = {"content": "The dentist moved to Oak Street.", "metadata": {"topic": None}}
        changed = client.patch("/memories/moved", json=change).json()
        assert (changed["content"], changed["metadata"]) == (change["content"], {})
        assert client.get("/memories/moved").json() == changed
        assert store.get(["moved"])[0].content == change["content"]

        assert client.delete("/memories/moved").json() == {"deleted": 1}
        assert client.get("/memories/moved").status_code == 404
        twice = client.get("/memories", params={"limit": [1, 2]})
        assert (twice.status_code, "limit must be a whole number" in twice.text) == (400, True)
        assert client.delete("/memories", params={"ids": ["filled", "bobs"]}).json() == {
            "deleted": 1
        }
        assert client.delete("/memories", params={"everything": True}).json() == {"deleted": 0}
        assert sorted(each.id for each in store.memories()) == ["bobs", "uploads"]


def test_the_id_in_the_path_is_the_one_that_is_changed() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as client:
        change = {"id": "filled", "content": "The dentist moved away."}
        answer = client.patch("/memories/moved", json=change, headers=bearer(ANN))

        texts = {each.id: each.content for each in store.get(["filled", "moved"])}
        assert texts["filled"] == "The dentist filled a tooth."
        assert (answer.status_code, texts["moved"]) == (200, change["content"])


@table("memory_id", ["a/../b", "a/b", "/", "a//b?c#d", "../memories"])
def test_a_memory_with_slashes_in_its_id_is_managed(server: httpx.Client, memory_id: str) -> None:
    new = {"memories": [{"id": memory_id, "content": "Tea."}]}
    path, headers = f"/memories/{quote(memory_id, safe='')}", bearer(BOB)

    assert server.post("/memories", json=new, headers=headers).status_code == 201
    assert server.get(path, headers=headers).json()["id"] == memory_id
    assert server.patch(path, json={"content": "Rum."}, headers=headers).json()["content"] == "Rum."
    assert server.delete(path, headers=bearer(ANN)).json() == {"deleted": 0}
    assert server.delete(path, headers=headers).json() == {"deleted": 1}
    assert server.get(path, headers=headers).status_code == 404
    assert server.delete("/memories/", headers=headers).status_code == 400  # no id is not all


@table(
    ("sent", "status", "said"),
    [
        ({"query": ""}, 400, "query must say what to look for"),
        ({"query": "x" * 50_001}, 400, "query may have 50,000 characters at most; got 50,001"),
        ({"query": "tea", "k": "many"}, 400, "k must be a whole number; got 'many'"),
        ({"query": "tea", "kk": 1}, 400, "did you mean 'k'?"),
        ({"query": "tea", "when": "blue"}, 400, "no time is named by 'blue'"),
        ({"query": "tea", "since": "soon"}, 400, "since must be a date such as 2024-03-01"),
        ({"query": "tea", "since": "2024-05-01", "until": "2024-04-01"}, 400, "start must be befo"),
        ({"query": "tea", "threshold_score": "0.5"}, 400, "threshold_score must be a number"),
        ({"query": "tea", "filter": {"a": {"$eg": 1}}}, 400, "$eg"),
        ({"query": "tea", "filter": {"$or": [{"a": 1}] * 201}}, 400, "a filter may have 200 condi"),
        (
            {"query": "tea", "messages": [{"content": "x"}] * 201},
            400,
            "messages may be 200 at most",
        ),
        ({f"k{n}": n for n in range(50)}, 400, "RetrievePersonalMemory has at least 10 wrong sett"),
        ([], 400, "the body must be a JSON object; got a list"),
        ("{", 400, "it is no JSON"),
        ("[" * 100_000, 400, "it is no JSON"),
    ],
)
def test_what_is_wrong_is_a_sentence(
    open_server: httpx.Client, sent: object, status: int, said: str
) -> None:
    body = sent if isinstance(sent, str) else json.dumps(sent)
    answer = open_server.post("/retrieve_personal_memory", content=body, headers=JSON)

    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert answer.json()["error"].count("\n- ") in (0, 10)
    assert not re.search('Traceback|pydantic|File "', answer.text)
    for nonsense in ("{", "[" * 20_000):
        answer = open_server.get("/memories", params={"filter": nonsense})
        assert (answer.status_code, "filter must be JSON, such" in answer.text) == (400, True)


def test_the_log_has_what_a_client_must_not_read(
    open_server: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ScopedService, "recall", lambda *_, **__: int("a bug of ours"))

    answer = open_server.post("/retrieve_personal_memory", json={"query": "tea"})

    assert (answer.status_code, "a bug" in answer.text) == (500, False)
    assert "the server failed, and its log says why" in answer.json()["error"]
    assert "ValueError" in caplog.text


class Leaking(WordsEmbedding):
    """A model whose provider tells of its keys and machines."""

    secret = ""

    def embed_query(self, text: str) -> list[float]:
        if self.secret:
            raise (ConnectionError if "away" in self.secret else ZeroDivisionError)(self.secret)
        return super().embed_query(text)


@pytest.mark.parametrize(
    ("secret", "status", "said"),
    [("key sk-123 of 10.0.0.7", 500, "the server failed"), ("sk-123 is away", 503, "reached now")],
)
async def test_nothing_of_what_a_provider_says_reaches_a_client_or_the_log(
    caplog: pytest.LogCaptureFixture, secret: str, status: int, said: str
) -> None:
    embedding = Leaking()
    with RecallStore(embedding=embedding) as store, running(store) as client:
        store.add(["Tea."])
        embedding.secret = secret
        answer = client.post("/retrieve_personal_memory", json={"query": "tea"})
        async with Client(McpTools(ScopedService.of(store), Scope()).server()) as model:
            [shown] = (await model.call_tool("recall", {"query": "tea"})).content

    assert (answer.status_code, "Retry-After" in answer.headers) == (status, status == 503)
    for text in (answer.text, str(shown)):
        assert said in text
        assert "Error" not in text
    assert "Error: ..." in caplog.text  # the class alone
    assert "sk-123" not in answer.text + str(shown) + caplog.text


def test_without_a_token_nothing_of_anybody_is_shown(
    server: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="recall_retrievers"):
        for headers in ({}, bearer("token-of-eve-9999"), {"Authorization": f"Basic {ANN}"}):
            for method, path in [("POST", "/mcp"), *((each.method, each.path) for each in ROUTES)]:
                answer = server.request(method, path, headers=headers, json={})
                assert answer.status_code == 401
                assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert server.get("/health").json() == {"status": "ok"}
        asked = {"query": "dentist"}
        server.post("/retrieve_personal_memory", json=asked, headers=bearer(ANN))

    assert "by token 1" in caplog.text  # the log tells clients apart
    assert not re.search("token-of", caplog.text)


def test_pages_of_other_sites_are_refused(open_server: httpx.Client) -> None:
    """Such a page may be called by a name that leads to this machine, or send a form."""
    asked = {"query": "dentist"}
    path = "/retrieve_personal_memory"

    assert open_server.post(path, json=asked, headers={"Host": "evil.example"}).status_code == 421
    origin = {"Origin": "https://evil.example"}
    assert open_server.post(path, json=asked, headers=origin).status_code == 403
    form = {"Content-Type": "text/plain"}
    assert open_server.post(path, content='{"query": "x"}', headers=form).status_code == 415
    assert open_server.post(path, json=asked, headers={"Host": "localhost"}).status_code == 200


def test_a_proxy_may_serve_it_by_another_name() -> None:
    named = {"tokens": TOKENS, "allowed_hosts": ("Memories.example.com",)}
    with filled_store() as store, running(store, **named) as client:
        for host, origin, status in [
            ("memories.example.com", "https://memories.example.com", 200),
            ("memories.example.com:8443", "http://localhost:3000", 200),
            ("localhost", "https://memories.example.com", 200),
            ("example.com", "https://memories.example.com", 421),
            ("memories.example.com", "https://memories.example.com.evil.example", 403),
        ]:
            headers = {"Host": host, "Origin": origin, **bearer(ANN)}
            assert client.get("/count", headers=headers).status_code == status


def test_beyond_this_machine_names_are_checked_where_they_are_known() -> None:
    host = {"host": "0.0.0.0", "tokens": TOKENS}
    with filled_store() as store:
        for names, status in [((), 200), (("memories.example.com",), 421)]:
            app = create_memory_app(store, allowed_hosts=names, **host)
            with TestClient(app, "http://10.0.0.7", headers=bearer(ANN)) as client:
                assert client.get("/count").status_code == status


@table(
    ("method", "path", "allowed"),
    [
        ("PUT", "/memories/a/b", {"DELETE", "GET", "HEAD", "PATCH"}),
        ("GET", "/memories/a/b/supersede", {"POST"}),
        ("POST", "/count", {"GET", "HEAD"}),
    ],
)
def test_another_method_is_told_which_there_are(
    open_server: httpx.Client, method: str, path: str, allowed: set[str]
) -> None:
    answer = open_server.request(method, path)

    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == allowed
    assert f"{path} takes " in answer.json()["error"]


def test_null_takes_a_value_out_of_an_update_alone() -> None:
    body = {"content": "Oak Street.", "metadata": {"topic": None}}
    with filled_store() as store, running(store) as server:
        schemas = server.get("/openapi.json").json()["components"]["schemas"]
        changed = server.patch("/memories/moved", json=body)
        replaced = server.post("/memories/moved/supersede", json=body)

    for name, answer, status in [("Update", changed, 200), ("Supersede", replaced, 400)]:
        taken = jsonschema.Draft202012Validator(schemas[f"{name}Memory"]).is_valid(body)
        assert (answer.status_code, taken) == (status, status == 200)
    assert "metadata" in replaced.json()["error"]


def test_the_description_is_valid(open_server: httpx.Client) -> None:
    described = open_server.get("/openapi.json").json()

    assert described["openapi"].startswith("3.1")
    schemas = described["components"]["schemas"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for name, field in schemas["DeleteMemories"]["properties"].items():
        assert name in ("timestamp", "timezone") or "null" not in json.dumps(field), name
    for ref in re.findall(r'"\$ref": "([^"]+)"', json.dumps(described)):
        assert ref.rpartition("/")[2] in schemas, ref
    named = {
        (method.upper(), path): operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    assert {(each.method, each.path) for each in ROUTES} < set(named)
    assert len({each["operationId"] for each in named.values()}) == len(named)
    for (_, path), operation in named.items():
        in_path = {each["name"] for each in operation.get("parameters", []) if each["in"] == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", path))
        assert all(each["description"] for each in operation["responses"].values())
        assert ("415" in operation["responses"]) == ("requestBody" in operation)
        in_url = [each["schema"] for each in operation.get("parameters", [])]
        # Generators of clients leave out a route with an object in its URL.
        assert not re.search('"type": "(object|null|number)"', json.dumps(in_url)), path
    assert schemas["RetrieveTaskMemory"]["not"]["properties"].keys() == {"query", "messages"}
    assert "id" not in schemas["UpdateMemory"]["properties"]  # it is in the path
    answer = open_server.post("/retrieve_personal_memory", json={"query": "dentist"}).json()
    jsonschema.validate(answer, {"$ref": "#/components/schemas/Retrieved", **described})


def test_others_than_this_machine_need_a_token() -> None:
    reached: Any
    for name, reached in (
        ("0.0.0.0", {"host": "0.0.0.0"}),
        ("memories.example.com", {"allowed_hosts": ("memories.example.com",)}),
    ):
        with pytest.raises(SettingsError, match=f"^on {name} other machines .* there is no token"):
            ServerSettings(**reached)
        ServerSettings(**reached, tokens=Tokens(TOKENS))


@table("name", ["https://memories.example.com", "memories.example.com:443", "*.example.com", ""])
def test_the_name_of_a_proxy_is_a_name_alone(name: str) -> None:
    with pytest.raises(SettingsError, match=r"a name alone, such as memories\.example\.com; got '"):
        ServerSettings(allowed_hosts=(name,), tokens=Tokens(TOKENS))


def test_a_client_has_limits() -> None:
    with (
        filled_store() as store,
        running(store, tokens=TOKENS, rate=0.5, most_bytes=2_000) as client,
    ):
        ask = {"query": "dentist"}
        path = "/retrieve_personal_memory"
        large = client.post(path, json={"query": "x" * 3_000}, headers=bearer(BOB))
        assert (large.status_code, "2,000 bytes" in large.text) == (413, True)
        parts = iter([b'{"query": "', b"x" * 3_000, b'"}'])
        in_parts = client.post(path, content=parts, headers={**JSON, **bearer(ALL)})
        assert in_parts.status_code == 413

        first = client.post(path, json=ask, headers=bearer(ANN))
        second = client.post(path, json=ask, headers=bearer(ANN))
        assert (first.status_code, second.status_code) == (200, 429)
        assert second.headers["Retry-After"] in {"1", "2"}
        assert "too many requests" in second.json()["error"]


def test_who_has_no_token_uses_up_nobodys_requests() -> None:
    """Behind a proxy all clients have one address."""
    with filled_store() as store, running(store, tokens=TOKENS, rate=1) as client:
        refused = [client.get("/count", headers=bearer("token-of-eve-9999")) for _ in range(8)]
        assert {each.status_code for each in refused} == {401, 429}
        assert {client.get("/health").status_code for _ in range(8)} == {200}
        assert client.get("/").status_code == 200
        answer = client.get("/count", headers=bearer(ANN))
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")


def test_a_reserve_fills_again_and_never_holds_more() -> None:
    seconds = [0.0]
    limit = RateLimit(2, clock=lambda: seconds[0])

    assert [limit.wait_s("ann") for _ in range(6)] == [0, 0, 0, 0, 0.5, 0.5]
    assert limit.wait_s("bob") == 0
    seconds[0] = 0.5
    assert [limit.wait_s("ann") for _ in range(2)] == [0, 0.5]
    seconds[0] = 3_600.0
    assert [limit.wait_s("ann") for _ in range(5)] == [0, 0, 0, 0, 0.5]


def test_of_very_many_clients_the_quiet_ones_are_forgotten() -> None:
    limit = RateLimit(0.5, clock=lambda: 0.0)

    assert [limit.wait_s("ann") for _ in range(2)] == [0, 2]
    for number in range(10_000):
        limit.wait_s(f"client {number}")
    assert limit.wait_s("ann") == 0


@table("text", ["", " \n", ";", "# x", "#;#"])
def test_tokens_that_are_no_tokens_open_nothing(text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RECALL_TOKENS", text)
        with pytest.raises(SettingsError, match=r"^RECALL_TOKENS has no token; expected one token"):
            Tokens.configured(None)
        patched.delenv("RECALL_TOKENS")
        assert Tokens.configured(None) is None
    with filled_store() as store, pytest.raises(SettingsError, match="has no token"):
        create_memory_app(store, tokens=text.replace(";", "\n"))


@table(
    ("text", "said"),
    [
        ("short user_id=ann", "token 1 has less than 16 characters"),
        (f"{ANN}", "token 1 has no scope"),
        (f"{ANN} *\n{ANN} user_id=ann", "token 2 is there twice"),
        (f"{ANN} user=ann", "'user', which is no field of a scope"),
        (f"{ANN} user_id=", "scope user_id must be a text"),
    ],
)
def test_wrong_tokens_are_refused_and_not_shown(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as refused:
        Tokens(text)

    assert ANN not in str(refused.value)
