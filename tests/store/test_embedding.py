"""The embedding default."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding import minilm
from recall_retrievers.store.embedding.minilm import MiniLM

MIXED = ["tea", "word " * 400, "A middling sentence about nothing much.", "", "东京 😀", "tea"]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A process that has loaded nothing, with an empty home directory."""
    monkeypatch.setattr(minilm, "loaded", [])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


class TestMiniLM:
    def test_a_vector_depends_on_its_text_alone(self) -> None:
        texts = [*MIXED, *(" ".join(["many", "small", "words"][: n % 4]) * n for n in range(50))]
        vectors = MiniLM().embed_documents(texts)
        assert (vectors[0] == vectors[5]).all()
        for text, vector in zip(texts, vectors, strict=True):
            assert vector == pytest.approx(MiniLM().embed_documents([text])[0], abs=1e-5), text

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

    def test_a_question_is_rounded_and_hardly_turned(self) -> None:
        asked = ["When did we last speak about tea?", "tea", "Where does Anna's brother live now?"]
        stored, tokens = MiniLM().embed_with_tokens(asked)
        for text, vector, own in zip(asked, stored, tokens, strict=True):
            question, by_word = MiniLM().embed_query_with_tokens(text)
            assert (question == MiniLM().embed_query(text)).all()
            assert 0.999 < question @ vector < 0.99999  # with whole numbers, or it would be 1
            assert by_word.words == own.words
            assert ((by_word.vectors * own.vectors).sum(axis=1) > 0.99).all()

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
        assert np.abs(river.vectors - alone.vectors).max() < 1e-5
        assert 0.2 < river.vectors[1] @ money.vectors[1] < 0.95  # one word, two meanings

    def test_half_an_emoji_is_no_error(self) -> None:
        assert np.isfinite(MiniLM().embed_query("so \ud83d")).all()


class TestWeights:
    def test_loaded_once_by_the_first_who_asks(
        self, fresh: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loads: list[Path] = []

        class Counted(minilm.Network):
            def __init__(self, weights: Path) -> None:
                loads.append(weights)
                super().__init__(weights)

        monkeypatch.setattr(minilm, "Network", Counted)
        models = [MiniLM() for _ in range(8)]
        assert not loads
        with ThreadPoolExecutor(8) as pool:
            vectors = list(pool.map(lambda model: model.embed_query("tea"), models))
        assert len(loads) == 1
        assert all((vector == vectors[0]).all() for vector in vectors)

    def test_none_installed(self, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(minilm, "packaged_weights", lambda: None)
        with pytest.raises(StoreError, match=r"recall-retrievers\[embedding\].*embedding="):
            MiniLM().embed_query("tea")

    @pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
    def test_what_runs_it_is_missing(
        self, fresh: Path, monkeypatch: pytest.MonkeyPatch, package: str
    ) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(StoreError, match=rf"{package} is missing.*\[embedding\].*embedding="):
            MiniLM().embed_query("tea")

    def test_another_file_than_expected(self, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = fresh / "model.onnx"
        other.write_bytes(b"something else")
        monkeypatch.setattr(minilm, "packaged_weights", lambda: other)
        with pytest.raises(StoreError, match=r"not the expected file.*SHA-256.*expected 8199be6f"):
            MiniLM().embed_query("tea")
        assert not minilm.loaded

    def test_chromas_cache_comes_first(self, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        packaged = minilm.packaged_weights()
        assert packaged is not None
        cache = fresh / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
        cache.mkdir(parents=True)
        shutil.copyfile(packaged, cache / "model.onnx")
        monkeypatch.setattr(minilm, "packaged_weights", lambda: None)
        assert MiniLM().embed_query("tea") == pytest.approx(MiniLM().embed_documents(["tea"])[0])

    def test_chromas_cache_is_the_place_chroma_uses(self) -> None:
        chroma = pytest.importorskip("chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2")
        theirs = chroma.ONNXMiniLM_L6_V2
        parts = (theirs.EXTRACTED_FOLDER_NAME, "model.onnx")
        assert theirs.DOWNLOAD_PATH.joinpath(*parts) == minilm.chroma_weights()

    def test_a_half_written_cache_is_named(self, fresh: Path) -> None:
        path = minilm.chroma_weights()
        path.parent.mkdir(parents=True)
        path.write_bytes(b"half")
        with pytest.raises(StoreError, match=r"cannot be loaded.*model\.onnx is .*incomplete"):
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
            "import sys; from recall_retrievers.store.embedding.minilm import MiniLM; MiniLM();"
            "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
        )

    def test_embedding_leaves_nothing_at_home(
        self, run_python: Callable[[str], None], tmp_path: Path
    ) -> None:
        # onnxruntime 1.31 would start reporting, and store an identifier there.
        run_python(
            "from recall_retrievers.store.embedding.minilm import MiniLM\n"
            "MiniLM().embed_query('tea')"
        )
        assert not list(tmp_path.rglob("*"))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    def test_a_forked_child_can_use_the_model_and_ends(
        self, run_python: Callable[[str], None]
    ) -> None:
        run_python(
            "import os, sys; from recall_retrievers.store.embedding.minilm import MiniLM\n"
            "MiniLM().embed_query('tea')\n"
            "child = os.fork()\n"
            "vectors = MiniLM().embed_documents([f'tea {n}' for n in range(40)])\n"
            "assert vectors.shape == (40, 384)\n"
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
