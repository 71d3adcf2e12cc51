"""With Ann's token nobody reads, lists, counts, changes or deletes what is Bob's, on any route."""

import json
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, composite
from serve.kit import ANN, MEMORIES, TOKENS, bearer, filled_store, running

from recall_stages.core.scope import Scope
from recall_stages.serve.routes import ROUTES, ApiRoute
from recall_stages.store import RecallStore

SECRETS = ("Dr. Grey", "Check the size", '"bobs"', '"uploads"')  # in memories that are not of Ann
IDS = st.sampled_from(["bobs", "filled", "moved", "uploads", "nobody"])
OWNERS = st.sampled_from(["ann", "bob", "", None])
FILTERS = st.sampled_from(
    [{"user_id": "bob"}, {"user_id": {"$ne": "ann"}}, {"$or": [{"user_id": "bob"}, {"x": 1}]}]
)
TEXTS = st.sampled_from(["dentist", "Who is the dentist of Bob called?", ""])
NEW = st.fixed_dictionaries(
    {"content": TEXTS}, optional={"id": IDS, "user_id": OWNERS, "metadata": FILTERS}
)
VALUES = {
    "id": IDS,
    "ids": st.lists(IDS, min_size=1),
    "query": TEXTS,
    "content": TEXTS,
    "memories": st.lists(NEW, min_size=1, max_size=2),
    "filter": FILTERS,
    "metadata": st.just({"user_id": "bob"}),
    "limit": st.just(100),
    "k": st.just(100),
    "everything": st.booleans(),
    "user_id": OWNERS,
    "agent_id": st.sampled_from(["agent", "bob"]),
    "workspace_id": st.sampled_from(["my_workspace", "bob"]),
    "since": st.just("2024-01-01"),
    "when": st.sampled_from(["in 2024", "on 5 March 2024"]),
    "memory_type": st.sampled_from(["observation", "task"]),
}
ALWAYS = {"query", "content", "memories"}


@composite
def requests(draw: DrawFn) -> tuple[ApiRoute, dict[str, object]]:
    route = draw(st.sampled_from(ROUTES))
    named = {
        name: draw(VALUES[name])
        for name in route.operation.model_fields
        if name in VALUES and (name in ALWAYS or f"{{{name}}}" in route.path or draw(st.booleans()))
    }
    return route, named


def sent(client: httpx.Client, route: ApiRoute, named: dict[str, object]) -> httpx.Response:
    path = route.path.format(**named)
    rest = {name: value for name, value in named.items() if f"{{{name}}}" not in route.path}
    if route.has_body:
        return client.request(route.method, path, json=rest)
    query = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in rest.items()}
    return client.request(route.method, path, params=query)


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[RecallStore, httpx.Client]]:
    with filled_store() as store, running(store, tokens=TOKENS) as client:
        client.headers.update(bearer(ANN))
        yield store, client


def of_others(store: RecallStore) -> list[object]:
    return [each for each in store.memories() if not Scope(user_id="ann").holds(each.scope)]


@settings(max_examples=60)
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
