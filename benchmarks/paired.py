"""What a change does, question by question: the mean difference, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SAMPLES = 2000
_SEED = 0  # the same differences always give the same interval


class Change(NamedTuple):
    """A mean difference and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def paired_change(before: Sequence[float], after: Sequence[float]) -> Change:
    """The change over the questions of one set, with a paired bootstrap interval.

    Questions are drawn with replacement, 2,000 times; the interval holds 95 % of the mean
    differences (Efron and Tibshirani 1993).

    Args:
        before: A figure for each question.
        after: The same figure for the same questions.

    Examples:
        >>> str(paired_change([0.0, 0.5, 1.0], [0.5, 1.0, 1.0]))
        '+0.333 [+0.000, +0.500]'
    """
    differences = np.subtract(after, before)
    means = _resampled(differences)
    return Change(float(differences.mean()), *_interval(means))


def mean_change(sets: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Change:
    """The change of the mean over sets; each set counts the same, whatever its size.

    Args:
        sets: The figures of each set before and after, question by question.
    """
    differences = [np.subtract(after, before) for before, after in sets.values()]
    means = np.mean([_resampled(each) for each in differences], axis=0)
    return Change(float(np.mean([each.mean() for each in differences])), *_interval(means))


def _resampled(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    draws = np.random.default_rng(_SEED).integers(
        len(differences), size=(_SAMPLES, len(differences))
    )
    means: NDArray[np.float64] = differences[draws].mean(axis=1)
    return means


def _interval(means: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
