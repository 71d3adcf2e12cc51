"""RecallVectorStore: the same store as the vector store of LangChain and of LlamaIndex."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, langchain, llamaindex
from langchain_core import indexing
from langchain_core.documents import Document
from langchain_tests.integration_tests import VectorStoreIntegrationTests
from llama_index.core import Document as IndexDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from tables import table

import langchain_recall
import llamaindex_recall
from langchain_recall import MemoryFormatError, RecallError, ScopeError
from llamaindex_recall import FilterError, RecallStore

TEA = Document(page_content="Ann likes green tea.", metadata={"source": "a.txt", "stars": 3})
DENTIST = Document(page_content="The dentist is on Elm Street.", metadata={"source": "b.txt"})
COFFEE = Document(page_content="Ann likes coffee.", metadata={"source": "a.txt"})


@pytest.fixture
def store(words: WordsEmbedding) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as store:
        yield store


class TestStandard(VectorStoreIntegrationTests):
    """LangChain's own suite for vector stores; nothing of it is refused."""

    @pytest.fixture
    def vectorstore(self) -> Iterator[langchain_recall.RecallVectorStore]:
        with RecallStore(embedding=self.get_embeddings()) as store:
            yield langchain_recall.RecallVectorStore(store)


@langchain
def test_langchains_index_adds_skips_replaces_and_deletes(store: RecallStore, face: Face) -> None:
    vectors = langchain_recall.RecallVectorStore(store, scope={"user_id": "ann"})
    records = indexing.InMemoryRecordManager("notes")
    records.create_schema()
    store.add([{"id": "other", "content": "Bob's.", "user_id": "bob"}])

    def load(*documents: Document) -> tuple[int, int, int]:
        given: Any = {"cleanup": "full", "source_id_key": "source", "key_encoder": "sha256"}
        done = face.call(indexing, "index", list(documents), records, vectors, **given)
        return done["num_added"], done["num_skipped"], done["num_deleted"]

    assert load(TEA, DENTIST) == (2, 0, 0)
    assert load(TEA, DENTIST) == (0, 2, 0)
    assert load(COFFEE, DENTIST) == (1, 1, 1)
    assert sorted(memory.content for memory in store.memories()) == [
        "Ann likes coffee.",
        "Bob's.",
        "The dentist is on Elm Street.",
    ]


def test_a_vector_store_of_langchain_filters_scores_and_is_a_retriever(store: RecallStore) -> None:
    vectors = langchain_recall.RecallVectorStore(store)
    vectors.add_documents([TEA, DENTIST, COFFEE])
    vectors.add_texts((text for text in ["Tea is hot."]), [{"stars": 5}], ids=["hot"])

    [(best, score)] = vectors.similarity_search_with_relevance_scores("Ann likes green tea", k=1)
    starred = vectors.similarity_search("tea", k=9, filter={"stars": {"$gte": 4}})
    asked = vectors.as_retriever(search_kwargs={"k": 2, "filter": {"source": "a.txt"}})

    assert (best.page_content, round(score, 6)) == (TEA.page_content, 1.0)
    assert [(each.id, each.page_content) for each in starred] == [("hot", "Tea is hot.")]
    assert {each.page_content for each in asked.invoke("dentist")} == {
        TEA.page_content,
        COFFEE.page_content,
    }


def test_from_texts_opens_a_store(words: WordsEmbedding) -> None:
    vectors = langchain_recall.RecallVectorStore.from_documents([TEA, DENTIST], words)  # type: ignore[arg-type]

    assert vectors.similarity_search("dentist", k=1)[0].metadata == DENTIST.metadata


@llamaindex
def test_a_pipeline_of_llamaindex_adds_skips_replaces_and_deletes(
    store: RecallStore, face: Face
) -> None:
    vectors = llamaindex_recall.RecallVectorStore(store, scope={"user_id": "ann"})
    pipeline = IngestionPipeline(
        transformations=[TokenTextSplitter(chunk_size=60, chunk_overlap=0), vectors.embed_model],
        vector_store=vectors,
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    store.add([{"id": "other", "content": "Bob's.", "user_id": "bob"}])

    def load(**texts: str) -> int:
        documents = [IndexDocument(text=text, id_=name) for name, text in texts.items()]
        return len(face.call(pipeline, "run", documents=documents))

    assert load(tea="Ann likes green tea. " * 20, dentist="The dentist is on Elm Street.") == 3
    assert load(tea="Ann likes green tea. " * 20, dentist="The dentist is on Elm Street.") == 0
    assert store.count() == 4
    assert load(tea="Ann likes coffee.", dentist="The dentist is on Elm Street.") == 1
    assert load(tea="Ann likes coffee.") == 0
    assert [(node.text, node.ref_doc_id) for node in vectors.get_nodes()] == [
        ("Ann likes coffee.", "tea")
    ]
    assert store.count() == 2


@llamaindex
def test_an_index_of_llamaindex_inserts_finds_and_deletes(store: RecallStore, face: Face) -> None:
    vectors = llamaindex_recall.RecallVectorStore(store)
    index = VectorStoreIndex.from_vector_store(vectors, vectors.embed_model)
    index.insert(IndexDocument(text="Ann likes tea.", id_="ann", metadata={"stars": 3}))
    index.insert(IndexDocument(text="Bob likes tea.", id_="bob", metadata={"stars": 4}))

    def ask(**settings: Any) -> list[Any]:
        retriever = index.as_retriever(similarity_top_k=5, **settings)
        return face.call(retriever, "retrieve", "Ann likes tea.")

    best = ask()[0]
    starred = MetadataFilters(filters=[MetadataFilter(key="stars", value=3, operator=">")])

    assert (best.text, best.metadata, best.node.ref_doc_id) == (
        "Ann likes tea.",
        {"stars": 3},
        "ann",
    )
    assert best.score == pytest.approx(1, abs=0.01)
    assert [node.text for node in ask(filters=starred)] == ["Bob likes tea."]
    assert [node.text for node in ask(doc_ids=["bob"])] == ["Bob likes tea."]
    assert ask(vector_store_query_mode="text_search")[0].text == "Ann likes tea."

    index.delete_ref_doc("ann")
    assert [node.text for node in vectors.get_nodes()] == ["Bob likes tea."]
    vectors.clear()
    assert store.count() == 0


def test_either_framework_reads_what_the_other_has_stored(store: RecallStore) -> None:
    documents = langchain_recall.RecallVectorStore(store)
    nodes = llamaindex_recall.RecallVectorStore(store)
    whole = {"topic": "tea", "created_at": "2024-03-05T10:00:00+00:00", "user_id": "ann"}
    documents.add_documents([Document(id="1", page_content="Green tea.", metadata=whole)])
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="notes")}
    nodes.add([TextNode(id_="2", text="Black tea.", metadata=whole, relationships=source)])

    assert [node.metadata for node in nodes.get_nodes(["1", "2"])] == [whole, whole]
    assert [each.metadata for each in documents.get_by_ids(["1", "2"])] == [
        whole,
        {**whole, "ref_doc_id": "notes"},
    ]
    nodes.delete("notes")
    documents.delete(["1"])
    assert store.count() == 0


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_a_memory_stored_another_way_shows_all_its_fields(store: RecallStore, face: Any) -> None:
    store.add([{"id": "1", "content": "Tea.", "created_at": 0, "metadata": {"topic": "tea"}}])
    vectors = face.RecallVectorStore(store)
    [found] = (vectors.get_by_ids if face is langchain_recall else vectors.get_nodes)(["1"])

    assert found.metadata == {
        "topic": "tea",
        "memory_type": "observation",
        "created_at": "1970-01-01T00:00:00+00:00",
    }


def test_a_scope_holds_for_everything(store: RecallStore) -> None:
    store.add([{"id": "bob", "content": "Bob likes tea.", "user_id": "bob"}])
    scope = {"user_id": "ann"}
    documents = langchain_recall.RecallVectorStore(store, scope=scope)
    nodes = llamaindex_recall.RecallVectorStore(store, scope=scope)

    assert documents.similarity_search("tea") == documents.get_by_ids(["bob"]) == []
    assert nodes.get_nodes() == nodes.get_nodes(["bob"]) == []
    documents.delete(["bob"])
    nodes.delete_nodes(["bob"])
    nodes.clear()
    for write in (
        lambda: documents.add_texts(["Mine."], ids=["bob"]),
        lambda: nodes.add([TextNode(id_="bob", text="Mine.")]),
    ):
        with pytest.raises(ScopeError, match="outside the scope"):
            write()
    assert store.get(["bob"])[0].content == "Bob likes tea."


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_a_retriever_makes_one_in_its_scope_and_takes_one(store: RecallStore, face: Any) -> None:
    store.add([{"content": f"{name} likes tea.", "user_id": name} for name in ("ann", "bob")])
    retriever = face.RecallRetriever(store=store, scope={"user_id": "ann"})
    vectors = retriever.as_vector_store()
    [memory] = face.RecallRetriever(store=vectors).recall_without_model("tea").memories

    assert type(vectors) is face.RecallVectorStore
    assert memory.content == "ann likes tea."


def test_wrong_input_is_an_error(store: RecallStore) -> None:
    documents = langchain_recall.RecallVectorStore(store)
    nodes = llamaindex_recall.RecallVectorStore(store)

    with pytest.raises(ValueError, match="takes the ids of documents"):
        documents.delete()
    with pytest.raises(ValueError, match="an id for each of 1 documents"):
        documents.add_documents([TEA], ids=["1", "2"])
    for nothing in (None, MetadataFilters(filters=[])):
        with pytest.raises(ValueError, match="needs ids, or filters that not every node fits"):
            nodes.delete_nodes(filters=nothing)
    # It would be done without the limit that was meant.
    for limited in (
        documents.delete,
        documents.similarity_search,
        nodes.delete,
        nodes.delete_nodes,
    ):
        with pytest.raises(TypeError, match="there is no argument user_id here"):
            limited("1", user_id=None)  # type: ignore[operator]  # of several kinds
    with pytest.raises(MemoryFormatError):
        documents.add_texts(["Tea."], [{"nested": {"a": 1}}])
    for face in (langchain_recall, llamaindex_recall):
        with pytest.raises(TypeError, match=r"must be an open RecallStore; got '\./memories'"):
            face.RecallVectorStore("./memories")


async def test_langchain_searches_for_what_differs_and_from_a_threshold_on() -> None:
    texts = ["Tea is green.", "Tea is green!", "Tea is hot.", "Rum."]
    with RecallStore(embedding=WordsEmbedding()) as store:
        vectors = langchain_recall.RecallVectorStore(store)
        vectors.add_texts(texts, ids=["green", "again", "hot", "rum"])
        settings = {"k": 2, "fetch_k": 3, "lambda_mult": 0.3}
        different = vectors.as_retriever(search_type="mmr", search_kwargs=settings)
        likely = vectors.as_retriever(search_kwargs={"k": 4, "score_threshold": 0.5})
        for found in (different.invoke("tea green"), await different.ainvoke("tea green")):
            assert found[0].id in ("green", "again")
            assert found[1].id == "hot"
        for wrong in (
            {"k": -1},
            {"k": 0},
            {"fetch_k": 0},
            {"lambda_mult": 5},
            {"lambda_mult": float("nan")},
        ):
            with pytest.raises(RecallError, match="must be"):
                vectors.max_marginal_relevance_search("tea green", **wrong)
        with pytest.raises(NotImplementedError, match="by the text of a question"):
            vectors.similarity_search_by_vector([0.1] * 256)
        for wrong in ("x", 7, float("nan")):
            with pytest.raises(RecallError, match="threshold_score must be"):
                vectors.similarity_search("tea green", score_threshold=wrong)
        for found in (likely.invoke("tea green"), await likely.ainvoke("tea green")):
            assert {each.id for each in found} == {"green", "again"}
        retriever = langchain_recall.RecallRetriever(store=store, method="semantic")
        assert retriever.invoke("tea green")
        assert not retriever.invoke("tea green", score_threshold=0.999)
        with pytest.raises(ValueError, match="did you mean 'threshold_score'"):
            retriever.invoke("tea", score_threshold=0.5, threshold_score=0.5)


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
def shelf() -> Iterator[llamaindex_recall.RecallVectorStore]:
    with RecallStore(embedding=WordsEmbedding()) as store:
        vectors = llamaindex_recall.RecallVectorStore(store)
        vectors.add(NODES)
        yield vectors


def one(key: str, value: Any, operator: str) -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=operator)


@table(("condition", "ids"), FILTERS)
def test_metadata_filters(shelf: Any, condition: tuple[Any, ...], ids: str) -> None:
    filters = MetadataFilters(filters=[one(*condition)])
    ranked = shelf.query(VectorStoreQuery(query_str="one", similarity_top_k=3, filters=filters))

    assert [node.node_id for node in shelf.get_nodes(filters=filters)] == ids.split()
    assert sorted(ranked.ids) == ids.split()


@pytest.mark.parametrize("mode", ["default", "text_search"])
def test_a_query_of_some_nodes_ranks_these_alone(shelf: Any, mode: str) -> None:
    asked: Any = {"query_str": "one two two three", "mode": VectorStoreQueryMode(mode)}
    everything = shelf.query(VectorStoreQuery(similarity_top_k=3, **asked))
    whole = dict(zip(everything.ids, everything.similarities, strict=True))
    query = VectorStoreQuery(node_ids=["3", "2", "none"], similarity_top_k=2, **asked)

    found = shelf.query(query)

    assert sorted(found.ids) == ["2", "3"]
    assert (
        found.ids == asyncio.run(shelf.aquery(query)).ids == [x for x in whole if x in ("2", "3")]
    )
    if mode == "default":
        assert found.similarities == pytest.approx([whole[each] for each in found.ids], abs=1e-6)


def test_a_query_of_some_nodes_reads_no_others(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("find", "memories", "count"):
        monkeypatch.setattr(type(shelf.store), method, None)
    query = VectorStoreQuery(
        query_str="one", node_ids=["2"], filters=MetadataFilters(filters=[one("kind", "a", "==")])
    )

    assert shelf.query(query).ids == []
    assert shelf.query(VectorStoreQuery(query_str="one", node_ids=["2"])).ids == ["2"]


@llamaindex
def test_nodes_by_their_ids_are_read_alone(
    shelf: Any, monkeypatch: pytest.MonkeyPatch, face: Face
) -> None:
    monkeypatch.setattr(type(shelf.store), "memories", None)
    kinds = MetadataFilters(filters=[one("kind", ["a", "b"], "in")])

    def read(*asked: Any) -> list[str]:
        return [node.node_id for node in face.call(shelf, "get_nodes", *asked)]

    assert read(["3", "2", "none"]) == ["3", "2"]
    assert read(["3", "2", "none"], kinds) == ["2"]
    assert read(["3"], kinds) == []


@pytest.mark.parametrize(("condition", "ids"), [("and", "1"), ("or", "1 2 3")])
def test_metadata_filters_beside_none(shelf: Any, condition: str, ids: str) -> None:
    beside_none = [one("kind", "a", "=="), MetadataFilters(filters=[])]
    filters = MetadataFilters(filters=beside_none, condition=FilterCondition(condition))

    assert [node.node_id for node in shelf.get_nodes(filters=filters)] == ids.split()


def test_metadata_filters_within_filters(shelf: Any) -> None:
    either = MetadataFilters(
        filters=[one("kind", "a", "=="), one("stars", 3, ">")], condition=FilterCondition.OR
    )
    both = MetadataFilters(filters=[either, one("stars", 2, "<")])

    assert [node.node_id for node in shelf.get_nodes(filters=either)] == ["1", "3"]
    assert [node.node_id for node in shelf.get_nodes(["1", "2"], either)] == ["1"]
    assert [node.node_id for node in shelf.get_nodes(filters=both)] == ["1"]
    assert len(shelf.get_nodes(filters=MetadataFilters(filters=[]))) == 3


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
def test_filters_without_a_counterpart_are_errors(shelf: Any, filters: Any, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        shelf.get_nodes(filters=filters)


@table(
    ("query", "said"),
    [
        (VectorStoreQuery(query_embedding=[0.1]), "it needs query_str"),
        (VectorStoreQuery(query_str="a", mode=VectorStoreQueryMode.MMR), "must be 'default'"),
    ],
)
def test_queries_that_the_store_cannot_answer_are_errors(shelf: Any, query: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        shelf.query(query)


@pytest.mark.parametrize(
    "search", ["asimilarity_search", "amax_marginal_relevance_search", "query"]
)
def test_an_awaited_search_whose_embedding_hangs_ends_in_time(search: str) -> None:
    class Hanging(WordsEmbedding):
        async def aembed_query(self, text: str) -> list[float]:
            await asyncio.sleep(60)
            return self.embed_query(text)

    with RecallStore(embedding=Hanging(), embed_timeout_s=0.1) as store:
        store.add(["green tea"])
        query = VectorStoreQuery(query_str="tea", similarity_top_k=1)
        asked = (
            llamaindex_recall.RecallVectorStore(store).aquery(query)
            if search == "query"
            else getattr(langchain_recall.RecallVectorStore(store), search)("tea")
        )
        with pytest.raises(RecallError, match=r"did not embed a question within 0\.1 s"):
            asyncio.run(asked)
