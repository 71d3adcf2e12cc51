"""How much more work more text is: a ratio within one run, the same on a busy machine."""

from collections.abc import Callable
from time import thread_time

TIMES = 8


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times the processor's time something takes for eight times the size.

    In linear time it takes eight times as much, in quadratic time 64. The best of three counts.
    """
    return _best(work, TIMES * size) / _best(work, size)


def _best(work: Callable[[int], object], size: int) -> float:
    def once() -> float:
        begun = thread_time()
        work(size)
        return thread_time() - begun

    return min(once() for _ in range(3))
