"""LangChain's own suite for retrievers, against each way of keeping a collection."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_recall import RecallRetriever, RecallStore

SAID = [
    "The dentist is on Elm Street.",
    "The dentist fixed a tooth.",
    "Ann is afraid of the dentist.",
    "The dentist of Bob is called Lee.",
    "Carla sees the dentist in May.",
]


class Standard(RetrieversIntegrationTests):
    """What the three have in common."""

    @pytest.fixture(autouse=True)
    def _opened(self, opened: RecallStore) -> None:
        opened.add(SAID)
        self._store = opened

    @property
    def retriever_constructor(self) -> type[RecallRetriever]:
        return RecallRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"store": self._store}

    @property
    def retriever_query_example(self) -> str:
        return "What about the dentist?"


class TestInMemory(Standard):
    @pytest.fixture
    def opened(self) -> Iterator[RecallStore]:
        with RecallStore() as store:
            yield store


class TestPersistent(Standard):
    @pytest.fixture
    def opened(self, tmp_path: Path) -> Iterator[RecallStore]:
        with RecallStore(tmp_path / "memories") as store:
            yield store


class TestServer(Standard):
    @pytest.fixture
    def opened(self, server_port: int, collection_name: str) -> Iterator[RecallStore]:
        client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
        with RecallStore(client, collection_name) as store:
            yield store
        client.delete_collection(collection_name)
