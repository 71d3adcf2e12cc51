"""One row of the table, and the stand-ins that the rows share."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.conformance.check import AnySubject


@dataclass(frozen=True, eq=False)
class Piece:
    """A compressor or postprocessor that is put on trial.

    Attributes:
        name: What a row of the table is called.
        subject: Makes what is on trial; may raise ImportError where a package is missing.
        by_design: The checks that it does not mean to pass, and why: no fault.
    """

    name: str
    subject: Callable[[], AnySubject]
    by_design: Mapping[str, str] = field(default_factory=dict)


LETS_ERRORS_THROUGH = {"failing": "the model's error reaches the caller, who decides"}


def word_counts(text: str) -> list[float]:
    """An embedding for which texts of the same words are equal.

    Examples:
        >>> word_counts("tea, milk") == word_counts("Milk. Tea!")
        True
    """
    vector = [0.0] * 64
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % 64] += 1
    return vector


def scored(key: str, number: str, score: str, value: float) -> Callable[[Sequence[int]], str]:
    """A model that gives every number the same score, as JSON.

    Examples:
        >>> scored("scores", "memory", "score", 0.5)([1])
        '{"scores": [{"memory": 1, "score": 0.5}]}'
    """
    return lambda numbers: json.dumps({key: [{number: n, score: value} for n in numbers]})
