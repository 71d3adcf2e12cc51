"""A collection that is read a few times at once, as Chroma Cloud allows it."""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, cast

from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential

from recall_stages.core.transient_errors import is_transient

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

READS = 5  # at once; the quota is 10, which a second store of the process shares
_READS = frozenset({"count", "get", "query", "search"})

_again = retry(
    # Other processes read as well, so the cloud may turn a read away nevertheless.
    retry=retry_if_exception(lambda error: is_transient(error.__cause__ or error)),
    stop=stop_after_attempt(4),
    wait=wait_random_exponential(multiplier=0.1, max=2),
    reraise=True,
)


def paced(collection: Collection) -> Collection:
    """A collection of which no more than `READS` reads run at once; the others wait."""
    # It has whatever a collection has, and Chroma's types have no protocol for that.
    return cast("Collection", _Paced(collection))


class _Paced:
    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._places = BoundedSemaphore(READS)

    def __getattr__(self, name: str) -> object:
        value = getattr(self._collection, name)
        if name not in _READS:
            return value
        read: Callable[..., object] = value

        @_again
        def call(*args: object, **kwargs: object) -> object:
            with self._places:
                return read(*args, **kwargs)

        return call
