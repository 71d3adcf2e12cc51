"""Texts that are the same but for the last digits of their numbers."""

import re

import pytest

_NUMBER = re.compile(r"\d+\.\d+")


def nearly_same(one: str, other: str, off: float = 0.03) -> bool:
    """Whether two texts say the same: the embedding rounds otherwise on other processors.

    Args:
        one: The first text.
        other: The second text.
        off: How far their numbers with a decimal point may lie apart.
    """
    numbers = [[float(each) for each in _NUMBER.findall(text)] for text in (one, other)]
    words = [_NUMBER.sub("#", text) for text in (one, other)]
    return words[0] == words[1] and numbers[0] == pytest.approx(numbers[1], abs=off)
