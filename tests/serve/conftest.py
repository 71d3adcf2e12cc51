"""One server for the tests that change nothing in it."""

from collections.abc import Iterator

import httpx
import pytest
from serve.kit import TOKENS, filled_store, running

collect_ignore = ["langchain_client.py"]  # a program of its own, for another environment


@pytest.fixture(scope="module")
def open_server() -> Iterator[httpx.Client]:
    """A server for this machine alone, without tokens."""
    with filled_store() as store, running(store) as client:
        yield client


@pytest.fixture(scope="module")
def server() -> Iterator[httpx.Client]:
    """A server with tokens for Ann, Bob and everybody."""
    with filled_store() as store, running(store, tokens=TOKENS) as client:
        yield client
