"""Chroma's failures as `StoreError`, with advice: classified here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, cast

from recall_retrievers.core.errors import (
    RecallError,
    StoreDamagedError,
    StoreError,
    StoreUnavailableError,
)
from recall_retrievers.core.transient_errors import is_away
from recall_retrievers.store.chroma.watch import DATABASE

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

CURE = (
    f"Chroma keeps all texts in the file {DATABASE}: put it back from a backup, or try the command "
    "`.recover` of SQLite on a copy of it. `recall check` on its folder says what is damaged"
)

LOST = "Error finding id"
"""What Chroma says of a row that has no vector, or is deleted while it is read."""

_REPAIR = (
    "Its index is damaged, its texts are intact. Close the path everywhere, stop a server on it, "
    "and run `recall repair` on its folder"
)

# Words of an error in small letters, and the advice for it. The first match counts.
_ADVICE = {
    "different settings": "This program has a Chroma client for it already, with settings of its "
    "own; hand that client in: RecallStore(client)",
    "http-only client mode": "The package chromadb-client is installed, which reaches servers "
    "only. To keep memories on this machine: pip uninstall chromadb-client, then pip install "
    "'recall-retrievers[chroma]'",
    "too many sql variables": "Chroma takes 32,766 values at once: make the lists shorter",
    "payload too large": "Store shorter texts, or fewer at once",
    "does not exist": "Somebody has deleted it: open the store again",
    "hnsw": _REPAIR,
    "malformed": CURE,
    "not a database": CURE,
}
# After these errors Chroma's engine hangs at one of its next calls, or answers wrongly. Its last
# writes may show when it is opened again, and not before.
_BREAKS = ("disk i/o error", "disk is full", "readonly database", "failed to apply logs")
_STUCK = (
    "Chroma can hang for ever when it is called after this, and the whole program with it, so "
    "this store calls it no more. Close it, see that there is room on the disk, that it can be "
    "written and that `recall check` finds no damage, and open it again"
)
_VERBS = {"upsert": "store in", "get": "read", "query": "search", "modify": "note facts about"}


@dataclass(frozen=True, slots=True)
class _Guarded:
    _collection: Collection
    _stuck: Event

    def __getattr__(self, name: str) -> object:
        value = getattr(self._collection, name)
        if not callable(value):
            return value
        what = f"{_VERBS.get(name, name)} collection {self._collection.name!r}"
        return chroma_errors(what, self._stuck)(value)


def guarded(collection: Collection, stuck: Event) -> Collection:
    # It has whatever a collection has, and Chroma's types have no protocol for that.
    return cast("Collection", _Guarded(collection, stuck))


@contextmanager
def chroma_errors(what: str, stuck: Event) -> Iterator[None]:
    """Make every failure of Chroma a `StoreError`.

    After an error of the disk Chroma's engine hangs at one of its next calls, a read as well, and
    holds the interpreter while it does: no other thread could end that. So ``stuck`` is set then,
    and the engine is called no more.
    """
    if stuck.is_set():
        raise StoreError(f"Chroma is not asked to {what}: it has failed before. {_STUCK}")
    try:
        yield
    except RecallError:
        raise
    except BaseException as error:
        # A panic of Chroma's engine is no Exception, and no interrupt either.
        if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
            raise
        cause, says = f"{type(error).__name__}: {error}".removesuffix("."), str(error).lower()
        if any(sign in says for sign in _BREAKS):
            stuck.set()
        if is_away(error):
            raise StoreUnavailableError(
                f"Chroma's server could not {what}: {cause}. See that it runs and can be reached, "
                "then do it again"
            ) from error
        advice = next((advice for sign, advice in _ADVICE.items() if sign in says), "")
        advice = _STUCK if stuck.is_set() else advice
        kind = StoreDamagedError if advice in (_REPAIR, CURE) else StoreError
        problem = f"Chroma could not {what}: {cause}"
        raise kind(f"{problem}. {advice}" if advice else problem) from error
