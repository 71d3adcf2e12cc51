"""An embedding on this machine, each text embedded once: several faces and baselines read it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.progress import progress_bar
from recall_retrievers.store.embedding.local_model import LocalModel, TokenVectors
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual

_CHUNK = 128
_NO_TOKENS = np.empty((0, 0), dtype=np.float32)
_Known = tuple[NDArray[np.float32], TokenVectors]


EMBEDDINGS = ("default", "multilingual")
"""What ``--embedding`` takes."""


def once_per_text(file: Path | None = None, embedding: str = "default") -> OncePerText:
    """The embedding of this name, which remembers the vectors of texts.

    Args:
        file: Where vectors are kept between runs, an SQLite file; None = nowhere.
        embedding: One of `EMBEDDINGS`.
    """
    return OncePerText(Multilingual() if embedding == "multilingual" else MiniLM(), file)


class OncePerText:
    """An embedding that remembers the vectors of stored texts.

    Questions are embedded anew each time, for that is part of what a question costs; with a file
    they are remembered too.

    Args:
        model: The embedding.
        file: Where vectors are kept between runs, an SQLite file; None = nowhere.
    """

    def __init__(self, model: LocalModel, file: Path | None = None) -> None:
        self._model = model
        self._known: dict[str, _Known] = {}
        self._kept = None if file is None else _VectorFile(file, model.model_name)
        self.model_name = model.model_name

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
        return np.stack([vector for vector, _ in self._stored(texts)])

    def _stored(self, texts: Sequence[str]) -> list[_Known]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if self._kept is not None:
            self._known |= self._kept.read(new)
            new = [text for text in new if text not in self._known]
        with progress_bar(
            total=len(new), unit="texts", desc="embedding", wanted=len(new) > _CHUNK
        ) as bar:
            for start in range(0, len(new), _CHUNK):
                chunk = new[start : start + _CHUNK]
                embedded = dict(zip(chunk, self._embedded(chunk), strict=True))
                self._known |= embedded
                if self._kept is not None:
                    self._kept.write(embedded)
                bar.update(len(chunk))
        return [self._known[text] for text in texts]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: every time, or once where vectors are kept in a file."""
        return self._question(text)[0]

    def _question(self, text: str) -> _Known:
        if self._kept is None:
            return self._embedded_question(text)
        key = f"question: {text}"  # which a model may embed in another way
        known = self._kept.read([key])
        if not known:
            known = {key: self._embedded_question(text)}
            self._kept.write(known)
        return known[key]

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question in a thread."""
        return await asyncio.to_thread(self.embed_query, text)

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        """Embed texts with the vectors of their tokens.

        A text alone is a question, as stores embed one.
        """
        alone = len(texts) == 1 and texts[0] not in self._known
        known = [self._question(texts[0])] if alone else self._stored(texts)
        return np.stack([vector for vector, _ in known]), [tokens for _, tokens in known]

    def _embedded(self, texts: Sequence[str]) -> list[_Known]:
        vectors, tokens = self._model.embed_with_tokens(texts)
        return [(vector, TokenVectors(*each)) for vector, each in zip(vectors, tokens, strict=True)]

    def _embedded_question(self, text: str) -> _Known:
        return self._model.embed_query_with_tokens(text)


class _VectorFile:
    """Vectors in an SQLite file, by model and text."""

    def __init__(self, file: Path, model_name: str) -> None:
        self._model_name = model_name
        self._database = sqlite3.connect(file, check_same_thread=False)
        self._lock = threading.Lock()  # stores embed in threads of their own
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS embedded (key BLOB PRIMARY KEY, vector BLOB, words TEXT, "
            "tokens BLOB)"
        )

    def read(self, texts: Iterable[str]) -> dict[str, _Known]:
        """The vectors of those texts that are in the file."""
        found = {}
        for text in texts:
            query = "SELECT vector, words, tokens FROM embedded WHERE key = ?"
            with self._lock:
                row = self._database.execute(query, (self._key(text),)).fetchone()
            if row is not None:
                words = json.loads(row[1])
                tokens = np.frombuffer(row[2], np.float16).astype(np.float32)
                found[text] = (
                    np.frombuffer(row[0], np.float32),
                    TokenVectors(words, tokens.reshape(len(words), -1) if words else _NO_TOKENS),
                )
        return found

    def write(self, embedded: dict[str, _Known]) -> None:
        """Keep vectors."""
        rows = [
            (
                self._key(text),
                vector.tobytes(),
                json.dumps(tokens.words),
                tokens.vectors.astype(np.float16).tobytes(),
            )
            for text, (vector, tokens) in embedded.items()
        ]
        with self._lock, self._database:
            self._database.executemany("INSERT OR REPLACE INTO embedded VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._model_name}, whole numbers\n{text}".encode()).digest()
