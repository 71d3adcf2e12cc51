"""Keeping a mirror in step with its collection, whoever writes to it.

The stores of this process pass their writes on to all mirrors of the collection. Writes of others
are looked for before a question, once a second. Nobody waits on the mirror's lock while Chroma is
read:

- Rows that other processes write with `RecallStore` are found by their time of writing.
- Deleted rows are noticed by the number of rows. Then all ids are listed, but for no more than a
  tenth of the time. Until it is known which rows are gone, memories are read from the collection
  instead of the mirror. Up to 5,000 rows are counted before each question.
- Rows of a collection that somebody else made have no time of writing. There the last ids are
  compared. New rows come last, so one row swapped for another is seen as well. A row that is
  replaced in place is not noticed: open the collection again.

Milliseconds a look, measured on two busy cores: over a server at 100,000 rows 20 by time and
number, 70 by the last ids, 270 to list all; at 10,000 rows 5, 8 and 50.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any

from recall_stages.store.chroma.differences import appended, stored_anew
from recall_stages.store.chroma.epoch import to_milliseconds
from recall_stages.store.chroma.row_fields import WRITTEN_AT
from recall_stages.store.rows.mirror import Mirror

_log = logging.getLogger(__name__)

POLL_S = 1.0  # seconds between two looks
COUNTED_AT_ONCE = 5000  # rows; up to here counting them is quick enough to do for each question
_DELAY = 2_000  # milliseconds from the time that a row carries until Chroma has stored it
_SKEW = 60_000  # milliseconds by which another machine's clock may be late
RARELY = 10  # times as long as it took, until something costly is done again
NOW_AND_THEN = 200  # likewise, until all ids are compared without a reason
TAIL = 250  # the last ids, which are compared at each look
_FULL = 300  # rows: what the Cloud returns at the most, and a collection handed in may be of it
_PAGE = 250  # rows with their texts a call: below every limit
_MOST_IDS = 500_000  # a call
_MOST_TIMES = 30_000  # a call: SQLite takes 32,766 variables


class Follower:
    """Keeps one mirror in step with its collection; threads may use it side by side.

    Args:
        mirror: The mirror.
    """

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._collection: Any = mirror.index.collection
        self._looking = threading.Lock()
        self._looked = -POLL_S  # the clock counts from 0
        self._far_at = self._list_at = self._compare_at = 0.0
        self._seen = self._far_seen = _now()

    def refresh(self, *, build: bool) -> None:
        """Take over what others have written up to a second ago.

        A question that needs it waits while another one looks.

        Args:
            build: Whether to build a mirror that is not there yet; 100,000 rows take ten seconds.
        """
        now = time.monotonic()
        if not self._may_be_behind(now, build=build):
            return
        with self._looking:
            if not self._mirror.ready:
                self._build()
            elif self._may_be_behind(now, build=build):
                self._look()

    def _may_be_behind(self, now: float, *, build: bool) -> bool:
        mirror = self._mirror
        if mirror.alone or not mirror.ready:
            return build and not mirror.ready
        if self._looked < now - POLL_S:
            return True
        return len(mirror) <= COUNTED_AT_ONCE and self._collection.count() != len(mirror)

    def _build(self) -> None:
        clock, started = time.monotonic(), _now()
        _log.info("reading %d rows for the first search", self._collection.count())
        self._mirror.begin()
        self._compare()
        self._looked, self._seen, self._far_seen = clock, started, started
        self._mirror.ready = True
        _log.info("read %d rows in %.1f s", len(self._mirror), time.monotonic() - clock)

    def _look(self) -> None:
        started = time.monotonic()
        in_step = self._by_order() if self._mirror.index.foreign else self._by_number()
        if not in_step or started >= self._compare_at:
            self._compare()
        self._looked = started

    # -- what has changed -------------------------------------------------------------------------

    def _by_order(self) -> bool:
        """Take what was stored last; False where all ids have to be compared."""
        known = self._mirror.ids()
        start = max(0, len(known) - TAIL)
        with self._mirror.reading() as changed:
            new = appended(known[start:], self._ids(start))
            self._fetch(new or [], changed)
        return new is not None

    def _by_number(self) -> bool:
        """Take what was written lately, and count; False where all ids have to be compared."""
        mirror = self._mirror
        # Counted first: a row that comes between the two looks like a deleted one, which costs
        # little. Counted last, a row without a time of writing could be missed.
        count = self._collection.count()
        if mirror.shared:
            self._by_time()
        mirror.doubtful |= len(mirror) > count
        overdue = mirror.doubtful and time.monotonic() >= self._list_at
        return len(mirror) >= count and not overdue

    def _by_time(self) -> None:
        """Take the rows that others have written since the last look.

        Another machine's clock may be late by a minute. To read the rows of a minute at each look
        takes long if there are many. Then only those of the last seconds are read.
        """
        clock, now = time.monotonic(), _now()
        far = clock >= self._far_at
        since = self._far_seen - _SKEW if far else self._seen - _DELAY
        with self._mirror.reading() as changed:
            written: dict[str, int] = {}
            for page in self._pages(_MOST_TIMES, ["metadatas"], {WRITTEN_AT: {"$gte": since}}):
                times = [row[WRITTEN_AT] for row in page["metadatas"]]
                written |= zip(page["ids"], times, strict=True)
            took = time.monotonic() - clock
            self._fetch(self._mirror.written_otherwise(written), changed)
        self._seen = now
        if far:
            self._far_seen, self._far_at = now, clock + RARELY * took

    def _compare(self) -> None:
        """Compare all ids: forget what is gone, take what is new."""
        mirror, clock = self._mirror, time.monotonic()
        with mirror.reading() as changed:
            there = self._ids(0)
            took = time.monotonic() - clock
            known = mirror.ids()
            gone, unknown = set(known).difference(there), set(there).difference(known)
            mirror.forget(gone, changed)
            if mirror.index.foreign:
                self._fetch(stored_anew(known, there), changed)
                mirror.arrange(there)
            else:  # the order of what this process wrote is not known
                self._fetch([row_id for row_id in there if row_id in unknown], changed)
        mirror.doubtful = False
        self._list_at = clock + RARELY * took
        self._compare_at = clock + NOW_AND_THEN * took

    # -- reading ----------------------------------------------------------------------------------

    def _ids(self, start: int) -> list[str]:
        """The ids in the collection, in order, from a place on.

        All at once: in pages it takes five times as long, because Chroma sorts anew for each.
        """
        return [each for page in self._pages(_MOST_IDS, [], start=start) for each in page["ids"]]

    def _fetch(self, ids: Sequence[str], changed: AbstractSet[str]) -> None:
        for start in range(0, len(ids), _PAGE):
            part = list(ids[start : start + _PAGE])
            page = self._collection.get(ids=part, include=["documents", "metadatas"])
            self._mirror.take(page, changed)

    def _pages(
        self, most: int, include: list[str], where: object = None, start: int = 0
    ) -> Iterator[Mapping[str, Any]]:
        limit = min(most, _FULL) if self._mirror.index.cloud else most
        while True:
            page = self._collection.get(where=where, include=include, limit=limit, offset=start)
            yield page
            number = len(page["ids"])
            start += number
            if number not in (limit, _FULL):
                return


def _now() -> int:
    return to_milliseconds(datetime.now(UTC))
