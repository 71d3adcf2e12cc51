"""The real embedding model, for tests that embed the same texts again and again."""

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recall_retrievers.store.embedding.minilm import MiniLM


def kept(folder: Path) -> dict[str, Callable[..., Any]]:
    """The methods of MiniLM that embed, but each text once in all processes that share a folder.

    Args:
        folder: Where vectors are kept, a file a text; it is made if it is missing.
    """
    embed, embed_question = MiniLM.embed_with_tokens, MiniLM.embed_query_with_tokens
    known: dict[str, Any] = {}
    folder.mkdir(parents=True, exist_ok=True)

    def file_of(text: str) -> Path:
        return folder / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def keep(text: str, made: Any) -> None:
        known[text] = made
        written = file_of(text).with_suffix(f".{os.getpid()}")
        written.write_bytes(pickle.dumps(made))
        written.replace(file_of(text))  # so that nobody reads half a file

    def missing(texts: Sequence[str]) -> list[str]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update((x, pickle.loads(file_of(x).read_bytes())) for x in new if file_of(x).exists())
        return [text for text in new if text not in known]

    def embed_with_tokens(self: MiniLM, texts: Sequence[str]) -> Any:
        if new := missing(texts):
            for text, made in zip(new, zip(*embed(self, new), strict=True), strict=True):
                keep(text, made)
        vectors = [known[text][0] for text in texts]
        return np.array(vectors).reshape(-1, self.dimension), [known[text][1] for text in texts]

    def embed_query_with_tokens(self: MiniLM, text: str) -> Any:
        question = f"question: {text}"
        if missing([question]):
            keep(question, embed_question(self, text))
        return known[question]

    return {
        "embed_with_tokens": embed_with_tokens,
        "embed_query_with_tokens": embed_query_with_tokens,
        "embed_documents": lambda self, texts: embed_with_tokens(self, texts)[0],
        "embed_query": lambda self, text: embed_query_with_tokens(self, text)[0],
    }


def keep_vectors(folder: Path) -> None:
    """Let the default model of this process embed as `kept` does."""
    for name, method in kept(folder).items():
        setattr(MiniLM, name, method)
