"""The default embedding, each text embedded once: several faces and baselines read the vectors."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.progress import progress_bar
from recall_stages.store.embedding.embedder import as_embedder

_CHUNK = 128


class OncePerText:
    """All-MiniLM-L6-v2 that remembers the vectors of stored texts.

    Questions are embedded anew each time, for that is part of what a question costs; with a file
    they are remembered too.

    Args:
        file: Where vectors are kept between runs, an SQLite file; None = nowhere.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._model = as_embedder(None)
        self._known: dict[str, NDArray[np.float32]] = {}
        self._kept = None if file is None else _VectorFile(file, self._model.model_name)
        self.model_name = self._model.model_name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._kept is not None:
            self._kept.close()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed stored texts, those that are new with a progress bar."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if self._kept is not None:
            self._known |= self._kept.read(new)
            new = [text for text in new if text not in self._known]
        with progress_bar(
            total=len(new), unit="texts", desc="embedding", wanted=len(new) > _CHUNK
        ) as bar:
            for start in range(0, len(new), _CHUNK):
                chunk = new[start : start + _CHUNK]
                vectors = dict(zip(chunk, self._model.embed_documents(chunk), strict=True))
                self._known |= vectors
                if self._kept is not None:
                    self._kept.write(vectors)
                bar.update(len(chunk))
        return np.stack([self._known[text] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: every time, or once where vectors are kept in a file."""
        if self._kept is None:
            return self._model.embed_query(text)
        key = f"question: {text}"  # embedded alone, which differs a little from among others
        known = self._kept.read([key])
        if not known:
            known = {key: self._model.embed_query(text)}
            self._kept.write(known)
        return known[key]

    async def aembed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed stored texts in a thread."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question in a thread."""
        return await asyncio.to_thread(self.embed_query, text)


class _VectorFile:
    """Vectors in an SQLite file, by model and text."""

    def __init__(self, file: Path, model_name: str) -> None:
        self._model_name = model_name
        self._database = sqlite3.connect(file, check_same_thread=False)
        self._lock = threading.Lock()  # stores embed in threads of their own
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)"
        )

    def read(self, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of those texts that are in the file."""
        found = {}
        for text in texts:
            query = "SELECT vector FROM vectors WHERE key = ?"
            with self._lock:
                row = self._database.execute(query, (self._key(text),)).fetchone()
            if row is not None:
                found[text] = np.frombuffer(row[0], np.float32)
        return found

    def write(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        """Keep vectors."""
        with self._lock, self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(self._key(text), vector.tobytes()) for text, vector in vectors.items()],
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._model_name}\n{text}".encode()).digest()
