"""The rows that a search may return: what is wanted of them, and which ones fulfil it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.scope import Scope
from recall_retrievers.timeline import TimeRange

Places = NDArray[np.intp]
"""The places of rows: where each is in the columns, and among the vectors."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The conditions on owner and time.

    Attributes:
        scope: The scope.
        within: If not empty, the recorded time or the hull of the events must touch a range.
        moment: When a row must not have expired. None = expired rows fit too.
    """

    scope: Scope
    within: Sequence[TimeRange] = ()
    moment: datetime | None = None

    @property
    def limited(self) -> bool:
        """Whether owner, time or expiry keep rows out."""
        return bool(self.within or self.moment is not None or self.scope.fields())


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows that fulfil the conditions of a search.

    Attributes:
        fits: Whether the row at each place does; these may be too many, never too few.
        places: Their places.
    """

    fits: NDArray[np.bool_]
    places: Places

    def holds(self, places: Places) -> NDArray[np.bool_]:
        """Whether each of these rows fits; a row that is newer than the selection does not."""
        known = places < len(self.fits)
        known[known] = self.fits[places[known]]
        return known
