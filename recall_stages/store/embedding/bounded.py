"""An embedding model with a deadline: one that hangs must hold up neither adds nor questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.concurrent import at_once, at_once_async
from recall_stages.core.errors import StoreUnavailableError
from recall_stages.store.embedding.embedder import Embedder
from recall_stages.store.embedding.minilm import MiniLM

Outcome = NDArray[np.float32] | Exception


class BoundedEmbedding:
    """An embedding model whose every call ends within some seconds.

    A call that hangs cannot be stopped, only left behind, in a thread that does not keep the
    process alive.

    Args:
        model: The model. Our own waits for nobody, so it is called without a deadline.
        timeout_s: Seconds a call; None = no limit.
    """

    def __init__(self, model: Embedder, timeout_s: float | None) -> None:
        _check(timeout_s)
        self._model = model
        self._timeout_s = None if isinstance(model, MiniLM) else timeout_s

    @property
    def model_name(self) -> str:
        """What a collection records about who made its vectors."""
        return self._model.model_name

    @property
    def timeout_s(self) -> float | None:
        """After how many seconds a call is left behind; None where it is waited for."""
        return self._timeout_s

    def embed_batches(self, batches: Sequence[Sequence[str]]) -> list[Outcome]:
        """Embed batches of texts side by side, all within one deadline.

        Returns:
            For each batch its vectors, or why there are none.
        """
        outcomes = at_once(self._model.embed_documents, batches, self._timeout_s)
        return [self._said(each, "texts to store") for each in outcomes]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question.

        Raises:
            StoreUnavailableError: When the model has not answered in time.
            StoreError: When it fails, or answers with something else than a vector.
        """
        [outcome] = at_once(self._model.embed_query, [text], self._timeout_s)
        return self._vector(outcome)

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question, without blocking the event loop."""
        [outcome] = await at_once_async(self._model.aembed_query, [text], self._timeout_s)
        return self._vector(outcome)

    def _vector(self, outcome: Outcome) -> NDArray[np.float32]:
        outcome = self._said(outcome, "a question")
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _said(self, outcome: Outcome, what: str) -> Outcome:
        """The same, but that what came too late says whose fault it was."""
        if not isinstance(outcome, TimeoutError):  # one of the model's own is a StoreError already
            return outcome
        late = StoreUnavailableError(
            f"the embedding model {self.model_name!r} did not embed {what} within "
            f"{self._timeout_s:g} s; see that it can be reached, then do it again, or open the "
            "store with a larger embed_timeout_s"
        )
        late.__cause__ = outcome
        return late


def _check(timeout_s: float | None) -> None:
    number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if timeout_s is not None and not (number and timeout_s > 0):
        raise ValueError(
            f"embed_timeout_s must be a number of seconds above 0, or None; got {timeout_s!r}"
        )
