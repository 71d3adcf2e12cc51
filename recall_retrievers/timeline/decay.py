"""How much a memory's age takes from its weight."""

import math
import sys
from datetime import timedelta


def half_life_weight(age: timedelta, half_life: timedelta) -> float:
    """Weigh a memory by its age: 1 when new, a half after one half-life, a quarter after two.

    It is never zero, so that an old memory can still be found. A negative age counts as new.

    Examples:
        >>> half_life_weight(timedelta(days=30), timedelta(days=30))
        0.5
        >>> half_life_weight(timedelta(days=-1), timedelta(days=30))
        1.0
    """
    if half_life <= timedelta(0):
        msg = f"half_life must be longer than zero, such as timedelta(days=30); got {half_life!r}"
        raise ValueError(msg)
    if age <= timedelta(0):
        return 1.0
    return max(math.exp2(-(age / half_life)), sys.float_info.min)
