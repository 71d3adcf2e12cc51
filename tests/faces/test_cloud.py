"""Both faces over Chroma Cloud, as the stand-in plays it: the same answers, traces and warnings."""

from collections.abc import Iterator

import chromadb
import pytest
from cloud_stand_in import CloudStandIn
from conftest import WordsEmbedding
from faces.adapters import Face, once
from faces.conftest import MEMORIES, NOW

from recall_retrievers.store import RecallStore

QUESTIONS = (
    "What did I say about the dentist last Tuesday?",
    "Who drinks tea in the morning?",
    "the dentist on Elm Street, last Tuesday or on 2 March",
)


@pytest.fixture(scope="module")
def there(cloud: CloudStandIn) -> Iterator[RecallStore]:
    with RecallStore(cloud.client(), "faces", embedding=WordsEmbedding(), create=True) as opened:
        opened.add(MEMORIES)
        yield opened


@once
@pytest.mark.parametrize("method", ["semantic", "keyword", "hybrid"])
def test_the_cloud_answers_as_an_embedded_collection_does(
    face: Face, store: RecallStore, there: RecallStore, method: str
) -> None:
    for question in QUESTIONS:
        here, cloud = (
            face.ask(
                face.RecallRetriever(store=each, k=6, method=method, scope={"user_id": "ann"}),
                question,
                timestamp=NOW,
            )
            for each in (store, there)
        )
        assert cloud[0].id == here[0].id
        assert {each.id: set(each.metadata) for each in cloud} == {
            each.id: set(each.metadata) for each in here
        }
        if method == "semantic":  # BM25 is another by a little: the order of the others may change
            assert [each.id for each in cloud] == [each.id for each in here]
        assert cloud[0].content.split()[0] in face.explain_text(cloud)


@once
def test_a_collection_of_the_cloud_without_words_says_so(
    face: Face, cloud: CloudStandIn, collection_name: str
) -> None:
    client, schema = cloud.client(), chromadb.Schema()
    client.create_collection(
        collection_name,
        metadata={"recall_format": 1, "embedding_model": "words-256"},
        schema=schema.create_index(chromadb.VectorIndexConfig(space="cosine")),
        embedding_function=None,
    )
    with RecallStore(client, collection_name, embedding=WordsEmbedding()) as old:
        old.add(MEMORIES)
        found = face.ask(face.RecallRetriever(store=old, k=3), "Who drinks tea?", timestamp=NOW)
    client.delete_collection(collection_name)
    assert found[0].id == "tea"
    assert "cannot be searched for words" in found[0].metadata["recall_degraded"]
