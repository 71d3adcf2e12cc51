"""The embedding default."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding import local_model, minilm
from recall_retrievers.store.embedding.local_model import LocalModel
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual
from recall_retrievers.store.embedding.token_vectors import unit

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
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A process that has loaded nothing, with an empty home directory."""
    MiniLM.load.cache_clear()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    yield tmp_path
    MiniLM.load.cache_clear()


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
        onnxruntime, _ = local_model.runtime("")
        floats = onnxruntime.InferenceSession(str(minilm.packaged_weights()))
        for text, vector in zip(texts, MiniLM().embed_documents(texts), strict=True):
            ids = np.array([MiniLM().network().tokens("passage", text)])
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


class TestWeights:
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
