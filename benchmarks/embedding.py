"""The default embedding, each stored text embedded once: several faces and baselines read it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.progress import progress_bar
from recall_stages.store.embedding.embedder import as_embedder

_CHUNK = 128


class OncePerText:
    """All-MiniLM-L6-v2 that remembers the vectors of stored texts.

    Questions are embedded anew each time: that is part of what a question costs.
    """

    def __init__(self) -> None:
        self._model = as_embedder(None)
        self._known: dict[str, NDArray[np.float32]] = {}
        self.model_name = self._model.model_name

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed stored texts, those that are new with a progress bar."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        with progress_bar(
            total=len(new), unit="texts", desc="embedding", wanted=len(new) > _CHUNK
        ) as bar:
            for start in range(0, len(new), _CHUNK):
                chunk = new[start : start + _CHUNK]
                self._known.update(zip(chunk, self._model.embed_documents(chunk), strict=True))
                bar.update(len(chunk))
        return np.stack([self._known[text] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question, every time."""
        return self._model.embed_query(text)

    async def aembed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed stored texts in a thread."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question in a thread."""
        return await asyncio.to_thread(self.embed_query, text)
