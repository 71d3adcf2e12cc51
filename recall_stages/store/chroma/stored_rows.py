"""What a change needs to know of rows: the vector of one, and those that have expired."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.errors import StoreError
from recall_stages.core.scope import Scope
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.row_writer import LOST
from recall_stages.store.chroma.where import all_of, expired_where, scope_where

_PAGE = 250  # rows a call, below every limit


def stored_vector(index: Index, row_id: str) -> NDArray[np.float32] | None:
    """The vector of a row; None if it has none."""
    collection: Any = index.collection
    try:
        page = collection.get(ids=[row_id], include=["embeddings"])
    except StoreError as error:
        if LOST not in str(error):
            raise
        return None
    return np.asarray(page["embeddings"][0], dtype=np.float32) if page["ids"] else None


def expired_ids(index: Index, moment: datetime, scope: Scope) -> list[str]:
    """The ids of the rows of a scope that have expired by a moment; for rows of ours.

    Args:
        index: The collection.
        moment: The moment.
        scope: The scope.
    """
    collection: Any = index.collection
    where = all_of([expired_where(moment), scope_where(scope, index.fields)])
    ids: list[str] = []
    while True:
        page = collection.get(where=where, include=[], limit=_PAGE, offset=len(ids))["ids"]
        ids += page
        if len(page) < _PAGE:
            return ids
