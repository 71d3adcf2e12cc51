"""What LlamaIndex asks of a vector store: metadata filters, queries of some nodes, query modes."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, llamaindex
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from tables import table

import llamaindex_recall
from llamaindex_recall import FilterError, RecallStore

NODES = [
    TextNode(id_="1", text="One.", metadata={"kind": "a", "stars": 1, "tags": ["x", "y"]}),
    TextNode(id_="2", text="Two.", metadata={"kind": "b", "stars": 2, "tags": ["y"]}),
    TextNode(id_="3", text="Three.", metadata={"kind": "c", "stars": 3.5}),
]
FILTERS: list[tuple[tuple[Any, ...], str]] = [
    (("kind", "a", "=="), "1"),
    (("kind", "a", "!="), "2 3"),
    (("stars", 2, ">"), "3"),
    (("stars", 2, ">="), "2 3"),
    (("stars", 2, "<"), "1"),
    (("stars", 3.5, "<="), "1 2 3"),
    (("kind", ["a", "b"], "in"), "1 2"),
    (("kind", ["a", "b"], "nin"), "3"),
    (("tags", "x", "contains"), "1"),
    (("tags", ["x", "y"], "any"), "1 2"),
    (("tags", ["x", "y"], "all"), "1"),
]


@pytest.fixture(scope="module")
def nodes() -> Iterator[llamaindex_recall.RecallVectorStore]:
    with RecallStore(embedding=WordsEmbedding()) as store:
        vectors = llamaindex_recall.RecallVectorStore(store)
        vectors.add(NODES)
        yield vectors


def one(key: str, value: Any, operator: str) -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=operator)


@table(("condition", "ids"), FILTERS)
def test_metadata_filters(nodes: Any, condition: tuple[Any, ...], ids: str) -> None:
    filters = MetadataFilters(filters=[one(*condition)])
    ranked = nodes.query(VectorStoreQuery(query_str="one", similarity_top_k=3, filters=filters))

    assert [node.node_id for node in nodes.get_nodes(filters=filters)] == ids.split()
    assert sorted(ranked.ids) == ids.split()


@pytest.mark.parametrize("mode", ["default", "text_search"])
def test_a_query_of_some_nodes_ranks_these_alone(nodes: Any, mode: str) -> None:
    asked: Any = {"query_str": "one two two three", "mode": VectorStoreQueryMode(mode)}
    everything = nodes.query(VectorStoreQuery(similarity_top_k=3, **asked))
    whole = dict(zip(everything.ids, everything.similarities, strict=True))
    query = VectorStoreQuery(node_ids=["3", "2", "none"], similarity_top_k=2, **asked)

    found = nodes.query(query)

    assert sorted(found.ids) == ["2", "3"]
    assert (
        found.ids == asyncio.run(nodes.aquery(query)).ids == [x for x in whole if x in ("2", "3")]
    )
    if mode == "default":
        assert found.similarities == pytest.approx([whole[each] for each in found.ids], abs=1e-6)


def test_a_query_of_some_nodes_reads_no_others(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("find", "memories", "count"):
        monkeypatch.setattr(type(nodes.store), method, None)
    query = VectorStoreQuery(
        query_str="one", node_ids=["2"], filters=MetadataFilters(filters=[one("kind", "a", "==")])
    )

    assert nodes.query(query).ids == []
    assert nodes.query(VectorStoreQuery(query_str="one", node_ids=["2"])).ids == ["2"]


@llamaindex
def test_nodes_by_their_ids_are_read_alone(
    nodes: Any, monkeypatch: pytest.MonkeyPatch, face: Face
) -> None:
    monkeypatch.setattr(type(nodes.store), "memories", None)
    kinds = MetadataFilters(filters=[one("kind", ["a", "b"], "in")])

    def read(*asked: Any) -> list[str]:
        return [node.node_id for node in face.call(nodes, "get_nodes", *asked)]

    assert read(["3", "2", "none"]) == ["3", "2"]
    assert read(["3", "2", "none"], kinds) == ["2"]
    assert read(["3"], kinds) == []


@pytest.mark.parametrize(("condition", "ids"), [("and", "1"), ("or", "1 2 3")])
def test_metadata_filters_beside_none(nodes: Any, condition: str, ids: str) -> None:
    beside_none = [one("kind", "a", "=="), MetadataFilters(filters=[])]
    filters = MetadataFilters(filters=beside_none, condition=FilterCondition(condition))

    assert [node.node_id for node in nodes.get_nodes(filters=filters)] == ids.split()


def test_metadata_filters_within_filters(nodes: Any) -> None:
    either = MetadataFilters(
        filters=[one("kind", "a", "=="), one("stars", 3, ">")], condition=FilterCondition.OR
    )
    both = MetadataFilters(filters=[either, one("stars", 2, "<")])

    assert [node.node_id for node in nodes.get_nodes(filters=either)] == ["1", "3"]
    assert [node.node_id for node in nodes.get_nodes(["1", "2"], either)] == ["1"]
    assert [node.node_id for node in nodes.get_nodes(filters=both)] == ["1"]
    assert len(nodes.get_nodes(filters=MetadataFilters(filters=[]))) == 3


@table(
    ("filters", "said"),
    [
        (MetadataFilters(filters=[one("kind", None, "is_empty")]), "'is_empty' cannot be asked"),
        (
            MetadataFilters(filters=[one("kind", "a", "==")], condition=FilterCondition.NOT),
            "joined by 'and' or 'or'",
        ),
    ],
)
def test_filters_without_a_counterpart_are_errors(nodes: Any, filters: Any, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        nodes.get_nodes(filters=filters)


@table(
    ("query", "said"),
    [
        (VectorStoreQuery(query_embedding=[0.1]), "it needs query_str"),
        (VectorStoreQuery(query_str="a", mode=VectorStoreQueryMode.MMR), "must be 'default'"),
    ],
)
def test_queries_that_the_store_cannot_answer_are_errors(nodes: Any, query: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        nodes.query(query)
