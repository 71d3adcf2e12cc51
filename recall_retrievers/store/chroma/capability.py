"""What a server can do, found out by asking it, never by its name; and how fast it may be read."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential

from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.transient_errors import is_transient
from recall_retrievers.store.chroma.errors import Method, wrapped
from recall_retrievers.store.chroma.row_fields import KEYWORD_VECTOR

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import Schema

_AT_ONCE = 5  # reads; the quota is 10, which a second store of the process shares
_READS = frozenset({"count", "get", "query", "search"})

_again = retry(
    # Other processes read as well, so the cloud may turn a read away nevertheless.
    retry=retry_if_exception(lambda error: is_transient(error.__cause__ or error)),
    stop=stop_after_attempt(4),
    wait=wait_random_exponential(multiplier=0.1, max=2),
    reraise=True,
)

# The words of a server's error for what it cannot do. `chroma run` 1.5 says the first two.
_CANNOT_SEARCH = ("not implemented", "notimplemented", "not found", "not allowed")
_CANNOT_INDEX = ("not enabled in local", "not supported", "unimplemented", "not implemented")


def searches_itself(collection: Collection) -> bool:
    """Whether a collection has Chroma's Search API: in Chroma Cloud, or a distributed Chroma.

    A collection in this process and one of `chroma run` have not.

    Raises:
        StoreError: When anything else fails, such as a server that does not answer.
    """
    from chromadb import Search  # noqa: PLC0415 - it takes a second to import

    try:
        collection.search(Search().limit(1))
    except StoreError as error:
        # The route of the search is missing on older servers, and their error has no text.
        if not str(error.__cause__) or _says(error, _CANNOT_SEARCH):
            return False
        raise
    return True


def made_with_words(
    client: ClientAPI, name: str, metadata: dict[str, str | int]
) -> Collection | None:
    """A collection that can be searched by words; one that exists is opened as it is.

    Returns:
        The collection; None if the server has no index for sparse vectors.
    """
    try:
        return client.get_or_create_collection(
            name, schema=_schema(), metadata=metadata, embedding_function=None
        )
    except Exception as error:
        if _says(error, _CANNOT_INDEX):
            return None
        raise


def paced(collection: Collection) -> Collection:
    """A collection of which no more than `_AT_ONCE` reads run at once; the others wait."""
    places = BoundedSemaphore(_AT_ONCE)

    def pace(name: str, method: Method) -> Method:
        @_again
        def read(*args: object, **kwargs: object) -> object:
            with places:
                return method(*args, **kwargs)

        return read if name in _READS else method

    return wrapped(collection, pace)


def _schema() -> Schema:
    from chromadb import Schema, SparseVectorIndexConfig, VectorIndexConfig  # noqa: PLC0415

    schema = Schema().create_index(VectorIndexConfig(space="cosine"))
    return schema.create_index(SparseVectorIndexConfig(bm25=True), key=KEYWORD_VECTOR)


def _says(error: Exception, signs: tuple[str, ...]) -> bool:
    text = str(error).lower()
    return any(sign in text for sign in signs)
