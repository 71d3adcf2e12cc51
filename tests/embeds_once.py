"""The real embedding model, for tests that embed the same texts again and again."""

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_stages.store.embedding.minilm import MiniLM


class EmbedsOnce(MiniLM):
    """MiniLM, whose vectors depend on the text alone; those it has made are not made again."""

    def __init__(self) -> None:
        self._made: dict[str, NDArray[np.float32]] = {}

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        self._made.update(zip(new, super().embed_documents(new), strict=True))
        return np.array([self._made[text] for text in texts]).reshape(-1, self.dimension)


def keep_vectors(file: Path) -> None:
    """Let the default model embed each text once, in all processes that use a file in turn."""
    embed = MiniLM.embed_with_tokens
    known: dict[str, Any] = pickle.loads(file.read_bytes()) if file.exists() else {}

    def embed_once(self: MiniLM, texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, zip(*embed(self, new), strict=True), strict=True))
            file.write_bytes(pickle.dumps(known))
        vectors = [known[text][0] for text in texts]
        return np.array(vectors).reshape(-1, self.dimension), [known[text][1] for text in texts]

    MiniLM.embed_with_tokens = embed_once  # type: ignore[method-assign]
