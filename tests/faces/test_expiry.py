"""What has expired reaches nobody through a face: no retriever, tool, block or reflection."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.conftest import NOW
from faces.other_stores import KINDS, open_store, rows
from llama_index.core.base.llms.types import ChatMessage

from llamaindex_recall import RecallMemoryBlock
from llamaindex_recall import RecallRetriever as LlamaIndexRetriever
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.store import RecallStore

pytestmark = [
    pytest.mark.filterwarnings("ignore:builtin type .* has no __module__"),  # FAISS's own
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
]

AT_NOON, LATER = "2024-03-08T12:00:00Z", "2024-03-09T12:00:00Z"
PARCELS: list[dict[str, Any]] = [
    {"id": "locker", "content": "The parcel is in the locker.", "expires_at": LATER},
    {"id": "porch", "content": "The parcel is on the porch.", "expires_at": AT_NOON},
    {"id": "desk", "content": "The parcel is on the desk.", "created_at": "2024-03-01T00:00:00Z"},
]
QUESTION = "Where is the parcel?"
IN_MARCH: dict[str, Any] = {"time_range": ("2024-03-01", None)}


@pytest.fixture
def parcels(words: object) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as opened:
        opened.add(PARCELS)
        yield opened


def retriever(face: Face, store: Any, timestamp: str = NOW, **settings: Any) -> Any:
    return face.RecallRetriever(store=store, timestamp=timestamp, timezone="UTC", **settings)


@once
@pytest.mark.parametrize(
    ("moment", "zone"),
    [
        ("9999-12-31T23:59:59Z", "Asia/Tokyo"),  # how other systems write "never"
        ("0001-01-01T00:00:00Z", "America/New_York"),
    ],
)
def test_a_time_at_an_end_of_the_calendar_can_be_asked_for_from_any_zone(
    face: Face, words: object, moment: str, zone: str
) -> None:
    with RecallStore(embedding=words) as store:
        endless = {**PARCELS[0], "expires_at": "9999-12-31T23:59:59Z"}
        store.add([{**PARCELS[2], "created_at": moment}, endless])
        asked = face.RecallRetriever(store=store, timestamp=NOW, timezone=zone)

        for question in (QUESTION, f"{QUESTION} In the mornings?"):
            found = {each.id: each.metadata for each in face.ask(asked, question)}
            assert found.keys() == {"desk", "locker"}
            assert found["desk"]["created_at"].startswith(moment.removesuffix("Z"))
        asked = face.RecallRetriever(store=store, timestamp=moment, timezone=zone)
        assert "desk" in {each.id for each in face.ask(asked, QUESTION)}


@both
def test_a_result_says_when_it_expires_and_can_be_stored_again(
    face: Face, parcels: RecallStore
) -> None:
    asked = retriever(face, parcels, k=2)
    found = face.ask(asked, "the parcel in the locker")
    assert found[0].metadata["expires_at"] == "2024-03-09T12:00:00+00:00"
    assert "expires_at" not in found[1].metadata
    (asked.add_documents if face.is_langchain else asked.add_nodes)(face.items(found))
    again = face.ask(asked, "the parcel in the locker", timestamp=LATER)
    assert [each.id for each in again] == ["desk"]


@once
@pytest.mark.parametrize("kind", [each for each in KINDS if each != "pgvector"])
def test_in_a_store_of_another_kind_its_metadata_decides(face: Face, kind: str) -> None:
    def no_server() -> int:
        raise AssertionError("this kind needs no server")

    stored = rows([{"created_at": "2024-03-01T00:00:00Z", **each} for each in PARCELS])
    unexpected: Callable[[], int] = no_server
    store = open_store(kind, face, stored, unexpected)
    found = face.ask(retriever(face, store), QUESTION)
    assert "The parcel is on the porch." not in {each.content for each in found}
    assert found
    earlier = face.ask(retriever(face, store, "2024-03-08T11:00:00Z"), "the parcel on the porch")
    assert "The parcel is on the porch." in {each.content for each in earlier}


@once
def test_a_listing_is_of_the_moment_of_asking_too(face: Face, words: object) -> None:
    with RecallStore(embedding=words, clock=lambda: datetime(2024, 3, 10, tzinfo=UTC)) as store:
        store.add([{"created_at": "2024-03-01T00:00:00Z", **each} for each in PARCELS])
        listed = {
            moment: {each.id for each in face.ask(retriever(face, store, moment), "", **IN_MARCH)}
            for moment in ("2024-03-08T11:00:00Z", AT_NOON, LATER)
        }
    everything = {"locker", "porch", "desk"}
    assert [*listed.values()] == [everything, everything - {"porch"}, {"desk"}]


async def test_a_block_does_not_repeat_it_from_its_answers(words: object) -> None:
    with RecallStore(embedding=words) as store:
        soon = datetime.now(UTC) + timedelta(seconds=1)
        store.add([{"content": "The parcel is in the locker.", "expires_at": soon}])
        block = RecallMemoryBlock(retriever=LlamaIndexRetriever(store=store))
        asked = [ChatMessage(role="user", content=QUESTION)]
        assert "locker" in await block.aget(asked)
        while datetime.now(UTC) < soon:
            assert "locker" in await block.aget(asked) or datetime.now(UTC) >= soon
        assert await block.aget(asked) == ""


async def test_what_a_block_stores_expires_after_a_while(words: object) -> None:
    with RecallStore(embedding=words) as store:
        retriever = LlamaIndexRetriever(store=store)
        block = RecallMemoryBlock(retriever=retriever, expires_in=timedelta(days=30))
        said = datetime.now(UTC) - timedelta(days=31)
        old = {"timestamp": said.isoformat(), "session_id": "monday"}
        messages = [
            ChatMessage(role="user", content="My cat is called Tom.", additional_kwargs=old),
            ChatMessage(role="user", content="The parcel is in the locker."),
        ]
        for _ in range(2):  # twice is once
            await block.aput(messages)
        [turn] = store.memories()
        assert turn.content == "The parcel is in the locker."
        assert turn.created_at is not None
        assert turn.expires_at == turn.created_at + timedelta(days=30)
        assert await store.apurge() == 1
        with pytest.raises(SettingsError, match="expires_in must be above"):
            RecallMemoryBlock(retriever=retriever, expires_in=timedelta(0))


@once
def test_a_reflection_expires_with_the_first_of_its_sources(
    face: Face, parcels: RecallStore
) -> None:
    reply = '{"points": [{"text": "In the locker is the parcel.", "memories": [1]}]}'
    writer = face.Reflect(llm=face.model(reply), store_reflections=True)
    asked = retriever(face, parcels, stages=[writer], k=1)
    face.ask(asked, "the parcel in the locker")
    [reflection] = [
        hit for hit in face.ask(retriever(face, parcels), QUESTION) if "reflection" in hit.id
    ]
    assert reflection.metadata["expires_at"] == "2024-03-09T12:00:00+00:00"
