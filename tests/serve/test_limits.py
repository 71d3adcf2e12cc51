"""How much a client may send, and which tokens are good."""

from typing import Any

import pytest
from serve.kit import ALL, ANN, BOB, JSON, TOKENS, bearer, filled_store, running
from tables import table

from recall_retrievers.core.errors import SettingsError
from recall_retrievers.serve.app import create_memory_app
from recall_retrievers.serve.door import RateLimit
from recall_retrievers.serve.running import ServerSettings
from recall_retrievers.serve.tokens import Tokens


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
