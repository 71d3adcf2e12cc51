"""How much a client may send: requests a second, and bytes a request."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_CLIENTS = 10_000  # whose requests are counted; the one that was quiet the longest is let go


class RateLimit:
    """A number of requests a second for each client, with some in reserve (a token bucket).

    Args:
        per_second: The requests a second; None = no limit.
        burst: How many may come at once. None = those of two seconds.
        clock: Gives the seconds.

    Examples:
        >>> now = 0.0
        >>> limit = RateLimit(1, burst=2, clock=lambda: now)
        >>> [limit.wait_s("ann") for _ in range(3)]
        [0.0, 0.0, 1.0]
        >>> limit.wait_s("bob")
        0.0
    """

    def __init__(
        self,
        per_second: float | None,
        *,
        burst: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_second
        self._burst = float(burst or max(1, math.ceil(2 * (per_second or 0))))
        self._clock = clock
        self._reserves: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Count a request: 0 if it may be done, else the seconds to wait before another one."""
        if self._rate is None:
            return 0.0
        now = self._clock()
        left, since = self._reserves.get(client, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1
        self._reserves[client] = (left - 1 if allowed else left, now)
        self._reserves.move_to_end(client)
        if len(self._reserves) > _MOST_CLIENTS:
            self._reserves.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate
