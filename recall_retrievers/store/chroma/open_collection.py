"""Opening a collection: by a path, by a client, or as it is; and closing it.

To open never makes anything of the user's: no collection, no database and no folder. All of that
is made for the first memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from recall_retrievers.core.errors import MissingCollectionError, StoreError
from recall_retrievers.store.chroma.access import Access
from recall_retrievers.store.chroma.capability import made_with_words, paced, searches_itself
from recall_retrievers.store.chroma.errors import chroma_errors, guarded

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

MARK = "recall_format"  # in the metadata of a collection that is ours
FORMAT = 1
WITH_WORDS = 2  # the format of a collection whose rows have sparse vectors of their words

Facts = dict[str, str | int]
"""Facts about a collection, in its metadata."""

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")
_MOST_NAMES = 20  # that an error lists


@dataclass(frozen=True, slots=True)
class Opened:
    """A collection, and what has to be closed with it."""

    collection: Collection  # every failure of it is a `StoreError`
    access: Access | None = None  # the way to it; None if the caller passed the collection
    private: bool = False  # whether it is in memory under a name that nobody else knows
    cloud: bool = False  # whether it has Chroma's Search API: Chroma Cloud, a distributed Chroma

    @property
    def folder(self) -> Path | None:
        """Where its files are; None = not known, or there are none."""
        return None if self.access is None else self.access.folder

    @property
    def shared(self) -> bool:
        """Whether other processes may write to it while it is open."""
        return self.access is None or self.access.shared

    def close(self, *, idle: bool = True) -> None:
        """Close what was opened for it; see `Access.close`."""
        if self.access is not None:
            self.access.close(idle=idle, drop=self.collection.name if self.private else "")


def opened_as_it_is(collection: Collection) -> Opened:
    """A collection that the caller passed; the way to it is not known."""
    return _opened(None, collection, Event())


def find_collection(access: Access, name: str) -> Opened | None:
    """The collection of that name, as it is; None if there is none.

    Raises:
        StoreError: When Chroma fails.
    """
    from chromadb.errors import NotFoundError  # noqa: PLC0415 - a second to import

    with chroma_errors(f"open collection {name!r}", access.stuck):
        try:
            collection = access.client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None
    return _opened(access, collection, access.stuck)


def make_collection(access: Access, name: str, facts: Facts, *, private: bool = False) -> Opened:
    """The collection of that name; one that does not exist is made, in cosine space.

    The facts are the metadata of a new collection. One that exists is never changed.

    Raises:
        StoreError: When Chroma fails, or does not take the name.
    """
    with chroma_errors(f"make collection {name!r}", access.stuck):
        collection = None
        if access.shared:
            facts_with_words = {**facts, MARK: WITH_WORDS}
            collection = made_with_words(access.client, name, facts_with_words)
        collection = collection or access.client.get_or_create_collection(
            name,
            metadata=facts,
            # Chroma's default of 100 misses a dozen of LoCoMo's 37,750 nearest fifty, others in
            # each build, so that two equal collections answer differently; 400 missed none, for
            # a sixth more time at 10,000 rows.
            configuration={"hnsw": {"space": "cosine", "ef_search": 400}},
            embedding_function=None,  # vectors are handed in; Chroma's would be downloaded
        )
    return _opened(access, collection, access.stuck, private=private)


def names_in(access: Access) -> list[str]:
    """The names of all collections, sorted."""
    with chroma_errors("list the collections", access.stuck):
        return sorted(each.name for each in access.client.list_collections())


def missing(name: str, names: list[str], advice: str) -> MissingCollectionError:
    """The error for a collection that does not exist.

    Examples:
        >>> print(missing("note", ["notes", "tasks"], "Check the name"))
        there is no collection 'note'; there are 'notes', 'tasks'. Did you mean 'notes'? Check the \
name
    """
    close = get_close_matches(name.lower(), [each.lower() for each in names], n=1, cutoff=0.7)
    meant = next((each for each in names if [each.lower()] == close), "")
    shown = ", ".join(map(repr, names[:_MOST_NAMES]))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    there = f"there {'is' if len(names) == 1 else 'are'} {shown}{more}"
    return MissingCollectionError(
        f"there is no collection {name!r}; {there if names else 'there is none at all'}. "
        + (f"Did you mean {meant!r}? " if meant else "")
        + advice
    )


def check_name(name: str) -> None:
    """Refuse the name of a new collection that Chroma would refuse at the first memory."""
    if not _NAME.fullmatch(name):
        raise StoreError(
            f"the name of a collection has 3 to 512 letters of a-z, A-Z, 0-9, '.', '_' and '-', "
            f"and begins and ends with a letter or a digit; got {name!r}"
        )


def _opened(
    access: Access | None, collection: Collection, stuck: Event, *, private: bool = False
) -> Opened:
    guarded_one = guarded(collection, stuck)
    if searches_itself(guarded_one):  # and must not be read faster than its quota allows
        return Opened(paced(guarded_one), access, private, cloud=True)
    return Opened(guarded_one, access, private)
