"""With Ann's token nobody reads, lists, counts, changes or deletes what is Bob's, on any route.

With a token for all, nobody does by a field or a condition that is there and empty.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, composite
from serve.kit import ALL, ANN, MEMORIES, TOKENS, bearer, filled_store, running
from tables import table

from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.routes import ROUTES, ApiRoute
from recall_retrievers.store import RecallStore

SECRETS = ("Dr. Grey", "Check the size", '"bobs"', '"uploads"')  # in memories that are not of Ann
IDS = st.sampled_from(["bobs", "filled", "moved", "uploads", "nobody"])
OWNERS = st.sampled_from(["ann", "bob", "", None])
FILTERS = st.sampled_from(
    [{"user_id": "bob"}, {"user_id": {"$ne": "ann"}}, {"$or": [{"user_id": "bob"}, {"x": 1}]}]
)
NO_FILTERS = st.sampled_from([{}, None, {"$or": [{}, {"x": 1}]}])
TEXTS = st.sampled_from(["dentist", "Who is the dentist of Bob called?", ""])
NEW = st.fixed_dictionaries(
    {"content": TEXTS}, optional={"id": IDS, "user_id": OWNERS, "metadata": FILTERS}
)
VALUES = {
    "id": IDS,
    "ids": st.lists(IDS, min_size=1) | st.just([""]),
    "query": TEXTS,
    "content": TEXTS,
    "memories": st.lists(NEW, min_size=1, max_size=2),
    "filter": FILTERS | NO_FILTERS,
    "metadata": st.just({"user_id": "bob"}),
    "limit": st.just(100),
    "k": st.just(100),
    "everything": st.sampled_from([True, False, "", "no"]),
    "user_id": OWNERS,
    "agent_id": st.sampled_from(["agent", "bob"]),
    "workspace": st.sampled_from(["my_workspace", "bob"]),
    "since": st.sampled_from(["2024-02-15", ""]),
    "only_new": st.booleans(),
    "only_with_evidence": st.booleans(),
    "messages": st.just([{"role": "user", "content": "Who is Bob's dentist?"}]),
    "when": st.sampled_from(["in 2024", "on 5 March 2024", ""]),
    "memory_type": st.sampled_from(["observation", "task", ""]),
}
ALWAYS = {"query", "content", "memories"}
[LIST, DELETE] = [each for each in ROUTES if each.path == "/memories" and not each.has_body]


@composite
def requests(
    draw: DrawFn, routes: Sequence[ApiRoute] = ROUTES
) -> tuple[ApiRoute, dict[str, object]]:
    route = draw(st.sampled_from(routes))
    fields = [name for name in route.operation.model_fields if name in VALUES]
    always = [name for name in fields if name in ALWAYS or f"{{{name}}}" in route.path]
    some = draw(st.lists(st.sampled_from(fields), max_size=3))
    named = {name: draw(VALUES[name]) for name in {*always, *some}}
    return route, named


def sent(
    client: httpx.Client, route: ApiRoute, named: dict[str, object], token: str = ANN
) -> httpx.Response:
    send = partial(client.request, route.method, headers=bearer(token))
    path = route.path.format(**named)
    rest = {name: value for name, value in named.items() if f"{{{name}}}" not in route.path}
    if route.has_body:
        return send(path, json=rest)
    query: dict[str, Any] = {k: json.dumps(v) if k == "filter" else v for k, v in rest.items()}
    return send(path, params=query)


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[RecallStore, httpx.Client]]:
    with filled_store() as store, running(store, tokens=TOKENS) as client:
        client.headers.update(bearer(ANN))
        yield store, client


def of_others(store: RecallStore) -> list[object]:
    return [each for each in store.memories() if not Scope(user_id="ann").holds(each.scope)]


@settings(max_examples=25)
@given(st.lists(requests(), min_size=1, max_size=4))
def test_no_request_reaches_the_memories_of_others(
    world: tuple[RecallStore, httpx.Client], made: list[tuple[ApiRoute, dict[str, object]]]
) -> None:
    store, client = world
    store.add(MEMORIES[:2])
    before = of_others(store)
    for route, named in made:
        answer = sent(client, route, named)
        assert answer.status_code < 500, answer.text
        if answer.is_success:
            assert not any(each in answer.text for each in SECRETS), (route, named)
            assert '"bobs"' not in answer.text, (route, named)
            if route.name == "count_memories":
                assert answer.json()["count"] <= store.count(scope={"user_id": "ann"})
        assert of_others(store) == before, (route, named)


def test_the_ids_of_others_are_unknown_ids(world: tuple[RecallStore, httpx.Client]) -> None:
    _, client = world
    for method, body in [("GET", None), ("PATCH", {"content": "Mine."}), ("DELETE", None)]:
        theirs, nobodys = (
            client.request(method, f"/memories/{each}", json=body) for each in ("bobs", "nobody")
        )
        assert theirs.status_code == nobodys.status_code
        assert theirs.text.replace("bobs", "nobody") == nobodys.text


@settings(max_examples=25)
@given(requests([DELETE]))
def test_no_more_is_deleted_than_the_same_arguments_list(
    world: tuple[RecallStore, httpx.Client], made: tuple[ApiRoute, dict[str, Any]]
) -> None:
    (store, client), named = world, made[1]
    before = set(store.add(MEMORIES))
    conditions = {k: x for k, x in named.items() if k not in ("ids", "everything")}
    # What is superseded is deleted too, or it would count again.
    listed = sent(client, LIST, conditions | {"include_superseded": True}, ALL)

    answer = sent(client, DELETE, named, ALL)

    gone = before - {each.id for each in store.memories(include_superseded=True)}
    assert answer.status_code in {200, 400, 403}, answer.text
    assert listed.is_success or not answer.is_success
    if gone:
        some = {"ids", "filter", "since", "when", "memory_type"} & named.keys()
        assert (named.get("everything") is True) is not bool(some)
        assert gone <= {each["id"] for each in listed.json()["memories"]}
        assert gone <= set(named.get("ids", gone))


EMPTY: list[tuple[str, object, str]] = [
    ("POST /retrieve_personal_memory", {"query": "tea", "user_id": None}, "leave user_id out"),
    ("POST /retrieve_task_memory", {"query": "x", "workspace_id": None}, "leave workspace out"),
    ("POST /memories", {"memories": [{"content": "x", "user_id": None}]}, "leave user_id out"),
    ("PATCH /memories/moved", {"content": "x", "user_id": None}, "leave user_id out"),
    ("DELETE /memories?user_id=ann", None, "or everything=True for all of the scope; got neither"),
    ("DELETE /memories?user_id=ann&everything=false", None, "got neither"),
    ("DELETE /memories?user_id=ann&everything=true", {"ids": ["moved"]}, "in the URL, and no body"),
    ("DELETE /memories/moved", {"ids": ["filled"]}, "takes its arguments in the URL, and no body"),
    ("DELETE /memories?everything=true&since=", None, "since must not be empty"),
    (
        "DELETE /memories?user_id=ann&since=",
        None,
        "since must not be empty: pass a value, or leave",
    ),
    ("DELETE /memories?user_id=ann&when=", None, "when must not be empty"),
    ("DELETE /memories?user_id=ann&ids=", None, "ids must not be empty"),
    ("DELETE /memories?user_id=ann&filter=null", None, "filter must not be empty"),
    ("DELETE /memories?user_id=ann&filter={}", None, "filter must not be empty"),
    ("GET /memories?user_id=ann", {"ids": ["moved"]}, "in the URL, and no body"),
    ("GET /count?memory_type=", None, "memory_type must not be empty"),
    ("POST /retrieve_personal_memory", {"query": "x", "filter": None}, "filter must not be empty"),
]


@table(("line", "body", "why"), EMPTY)
def test_what_is_there_and_empty_is_an_error(
    world: tuple[RecallStore, httpx.Client], line: str, body: object, why: str
) -> None:
    store, client = world
    store.add(MEMORIES)
    before = list(store.memories())

    answer = client.request(*line.split(" "), json=body, headers=bearer(ALL))

    assert answer.status_code == (403 if why.startswith("leave") else 400)
    assert why in answer.json()["error"]
    assert list(store.memories()) == before
