"""The real embedding model, for tests that embed the same texts again and again."""

from collections.abc import Sequence

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
