"""Chroma Cloud, as the stand-in plays it: searched by the collection itself, within its quotas."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import chromadb
import pytest
from cloud_stand_in import CloudStandIn
from store.kit import SmallEmbedding, best, contents, ids, similarities
from store.places import store_in
from tables import table

from recall_retrievers.core.errors import FilterError, KeywordSearchError, MemoryFormatError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

DAY = datetime(2024, 3, 5, tzinfo=UTC)
WORDS = ("tea", "train", "dentist", "bread", "walk", "piano", "cat")


def days(first: int, last: int) -> TimeRange:
    return TimeRange(DAY + timedelta(days=first), DAY + timedelta(days=last), "day")


def memory(n: int) -> dict[str, Any]:
    event = days(n % 40, n % 40 + 1)
    return {
        "id": f"m{n:03}",
        "content": " ".join(WORDS[n * step % 7] for step in (1, 3, 5)) + f" note {n % 11}",
        "created_at": DAY + timedelta(hours=7 * n),
        "events": [{"start": event.start, "end": event.end, "grain": "day"}] if n % 4 == 0 else [],
        "scope": {"user_id": f"u{n % 3}", "agent_id": f"a{n % 2}"},
        "metadata": {
            "stars": n % 5,
            "weight": n % 7 / 2 if n % 2 else n // 2 % 4,  # fractions, and whole numbers
            "topic": WORDS[n % 4],
            "tags": [WORDS[n % 3]],
        },
    }


@pytest.fixture(scope="module")
def both(cloud: CloudStandIn) -> Iterator[tuple[RecallStore, RecallStore]]:
    """The same memories in this process and in the cloud; no test may change them."""
    small = SmallEmbedding()
    with (
        RecallStore(embedding=small) as here,
        RecallStore(cloud.client(), "both", embedding=small) as there,
    ):
        for store in (here, there):
            store.add(memory(n) for n in range(150))
        yield here, there
        # Chroma gives the lists of a deleted collection to the rows that it stores next.
        here.delete([memory(n)["id"] for n in range(150)])


@pytest.fixture
def store(
    request: pytest.FixtureRequest, tmp_path: Path, collection_name: str, small: SmallEmbedding
) -> Iterator[RecallStore]:
    """A store of one test in the cloud."""
    with store_in("cloud", request, tmp_path, collection_name, small) as opened:
        yield opened


ANN = Scope(user_id="u1", agent_id="a1")
NAMED = (days(3, 4), days(5, 6), days(9, 12), days(20, 90), TimeRange(None, days(1, 2).end, "day"))


@table(
    "search",
    [
        {},
        {"scope": ANN},
        {"filter": {"stars": {"$gte": 3}, "topic": {"$in": ["tea", "train"]}}},
        {"filter": {"$or": [{"tags": {"$contains": "tea"}}, {"stars": 0}]}, "scope": ANN},
        {"filter": {"weight": {"$gte": 1.5}}},
        {"filter": {"weight": {"$gt": 0.5, "$lt": 2.5}, "stars": {"$ne": 1.5}}},
        {"filter": {"created_at": {"$lte": "2024-03-20T00:00:00Z"}}},
        {"within": NAMED[:1]},
        {"within": NAMED},
        {"within": NAMED, "scope": ANN, "filter": {"stars": {"$ne": 1}, "topic": {"$ne": "cat"}}},
        # Scope and filter leave no room for a time: it is compared with the rows.
        {
            "within": NAMED[:1],
            "scope": ANN,
            "filter": {"$and": [{"stars": {"$ne": n}} for n in (6, 7, 8, 9, 10)]},
        },
        {"within": (TimeRange(None, None, "day"),)},
    ],
    ids=repr,
)
def test_the_cloud_finds_what_an_embedded_collection_finds(
    both: tuple[RecallStore, RecallStore], search: dict[str, Any]
) -> None:
    here, there = both
    for method in ("semantic", "keyword"):
        wanted = Search("tea and a walk to the dentist", 150, method=method, **search)
        [expected], [found] = here.find([wanted]), there.find([wanted])
        assert sorted(ids(found)) == sorted(ids(expected))
        assert found
        score = {hit.id: hit.score for hit in expected}
        if method == "semantic":
            assert all(hit.score == pytest.approx(score[hit.id], abs=1e-4) for hit in found)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_its_bm25_is_that_of_an_embedded_collection_for_memories_of_the_usual_length(
    store: RecallStore,
) -> None:
    """Stored weights cannot follow the mean length, so they are made for 48 words."""
    texts = [f"{' '.join(WORDS[: n + 1])} {'tea ' * n}".split() for n in range(7)]
    texts = [" ".join(words + ["other"] * (48 - len(words))) for words in texts]
    with RecallStore(embedding=SmallEmbedding()) as here:
        for each in (here, store):
            each.add({"id": str(n), "content": text} for n, text in enumerate(texts))
        search = Search("tea, bread and the cat", 9, method="keyword")
        [expected], [found] = here.find([search]), store.find([search])
    assert ids(found) == ids(expected)
    scores = [hit.score for hit in expected]
    assert [hit.score for hit in found] == pytest.approx(scores, rel=1e-3)


def test_the_searches_of_a_question_go_together(
    cloud: CloudStandIn, both: tuple[RecallStore, RecallStore]
) -> None:
    _, there = both
    cloud.requests.clear()
    two = [Search("tea", 5), Search("tea", 5, method="keyword")]
    assert [len(each) for each in there.find(two)] == [5, 5]
    assert cloud.requests == {"search": 1}  # and nothing is copied or followed
    three_days = [
        Search("tea", 5, ANN, {"stars": {"$ne": 9}}, NAMED[:3], method=m)
        for m in ("semantic", "keyword")
    ]
    there.find(three_days)
    assert cloud.requests["search"] == 2  # as four searches: two days in each


def test_words_are_replaced_and_deleted_with_their_memory(store: RecallStore) -> None:
    store.add([{"id": "one", "content": "tea"}, {"id": "two", "content": "tea and bread"}])
    store.add([{"id": "one", "content": "coffee"}])
    assert ids(best(store, "tea", 5, method="keyword")) == ["two"]
    assert ids(best(store, "coffee", 5, method="keyword")) == ["one"]
    store.add([{"id": "one", "content": "!!!"}])  # no words at all
    assert best(store, "coffee", 5, method="keyword") == best(store, "?", 5, method="keyword") == []
    store.delete(["two"])
    assert best(store, "tea", 5, method="keyword") == []


def test_what_another_process_writes_is_found_at_once(
    cloud: CloudStandIn, store: RecallStore
) -> None:
    store.add([{"id": "none", "content": "bread"}])
    collection = cloud.client().get_collection(store.name, embedding_function=None)
    with RecallStore(collection, embedding=SmallEmbedding()) as other:  # its server is not known
        other.add([{"id": "one", "content": "tea"}])
        for method in ("semantic", "keyword"):
            assert ids(best(store, "tea", 1, method=method)) == ["one"]


def test_many_memories_are_written_read_and_found_within_the_quotas(store: RecallStore) -> None:
    made = store.add(f"tea word{n}" for n in range(620))
    assert store.count() == len(store.get(made)) == len(list(store.memories())) == 620
    for method in ("semantic", "keyword"):
        assert len(best(store, "tea", 100_000, method=method)) == 300


@table(
    ("field", "most"),
    [
        ({"id": "x"}, 128),
        ({"content": "ä"}, 16_384 // 2),
        ({"when_to_use": "x"}, 4096),
        ({"author": "x"}, 4096),
        ({"metadata": {"note": "x"}}, 4096),
    ],
    ids=repr,
)
def test_a_memory_that_is_too_large_is_refused_before_any_is_stored(
    store: RecallStore, field: dict[str, Any], most: int
) -> None:
    def sized(size: int) -> dict[str, Any]:
        [(name, value)] = field.items()
        grown = {k: v * size for k, v in value.items()} if name == "metadata" else value * size
        return {"content": "tea", name: grown}

    before = store.count()
    with pytest.raises(MemoryFormatError, match=f"and {most * (1 + ('content' in field)):,} is"):
        store.add(["fits", sized(most + 1)])
    assert store.count() == before
    store.add([sized(most)])
    assert store.count() == before + 1


def test_a_row_with_too_many_or_too_long_keys_is_refused(store: RecallStore) -> None:
    fits = {f"{n:036}": n for n in range(26)}  # with 6 keys of ours: type, 3 of the time, 2 more
    store.add([{"content": "tea", "metadata": fits}])
    for wrong in ({**fits, "x": 1}, {"x" * 37: 1}):
        with pytest.raises(MemoryFormatError, match="key"):
            store.add([{"content": "tea", "metadata": wrong}])
    assert store.count() == 1


def test_a_filter_with_too_many_conditions_is_an_error_that_says_how_many(
    store: RecallStore,
) -> None:
    store.add(["tea"])
    long = {"$and": [{"stars": {"$ne": n}} for n in range(7)]}
    with pytest.raises(FilterError, match=r"takes 8 conditions .* scope has 2, and this filter 7"):
        best(store, "tea", scope=ANN, filter=long)


def test_few_reads_run_at_once_and_one_that_is_turned_away_is_read_again(
    cloud: CloudStandIn, both: tuple[RecallStore, RecallStore]
) -> None:
    _, there = both
    cloud.most_reads = 0
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda n: best(there, f"tea {n}", 3), range(40)))
    assert [len(each) for each in found] == [3] * 40
    assert 1 < cloud.most_reads <= 5
    cloud.turned_away = 2
    assert len(best(there, "tea", 3)) == 3


class TestWithoutWords:
    """Collections of the cloud that were made without an index of words."""

    @pytest.fixture
    def old(self, cloud: CloudStandIn, collection_name: str) -> Iterator[RecallStore]:
        client = cloud.client()
        marks = {"recall_format": 1, "embedding_model": "small"}
        client.create_collection(
            collection_name,
            metadata=marks,
            schema=chromadb.Schema().create_index(chromadb.VectorIndexConfig(space="cosine")),
            embedding_function=None,
        )
        with RecallStore(client, collection_name, embedding=SmallEmbedding()) as store:
            yield store
        client.delete_collection(collection_name)

    def test_words_weigh_among_what_is_found_by_meaning(self, old: RecallStore) -> None:
        old.add(["tea and bread", "a walk", "green tea"])
        semantic, keyword = old.find([Search("tea", 5), Search("tea", 5, method="keyword")])
        assert len(semantic) == 3
        assert sorted(contents(keyword)) == ["green tea", "tea and bread"]
        assert {hit.measures["keyword_pool"] for hit in keyword} == {3.0}

    def test_words_alone_are_an_error_that_says_what_to_do(self, old: RecallStore) -> None:
        old.add(["tea"])
        with pytest.raises(KeywordSearchError, match="recall migrate"):
            best(old, "tea", method="keyword")

    def test_rows_of_others_in_another_space_have_their_cosine(
        self, cloud: CloudStandIn, collection_name: str
    ) -> None:
        client, small = cloud.client(), SmallEmbedding(unit=False)
        schema = chromadb.Schema().create_index(chromadb.VectorIndexConfig(space="l2"))
        theirs = client.create_collection(collection_name, schema=schema, embedding_function=None)
        texts = ["tea", "tea and bread", "tea or coffee at four"]
        theirs.add(
            ids=["a", "b", "c"],
            documents=texts,
            embeddings=small.embed_documents(texts),
            metadatas=[{"owner": "ann"}, {"owner": "ann"}, {"owner": "bob"}],
        )
        with RecallStore(
            client, collection_name, embedding=small, fields={"user_id": "owner"}
        ) as store:
            hits = best(store, "tea or coffee", 5, scope=Scope(user_id="ann"))
            assert sorted(ids(hits)) == ["a", "b"]
            expected = similarities("tea or coffee", contents(hits), small)
            assert [hit.score for hit in hits] == pytest.approx(list(expected), abs=1e-5)
