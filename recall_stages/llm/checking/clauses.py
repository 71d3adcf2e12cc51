"""Clauses of a sentence that a model added: nothing of them stands in the cited memories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from recall_stages.text.split_words import CJK
from recall_stages.text.stems import words

_HAN = re.compile(f"[{CJK}]")
_BETWEEN = re.compile(
    r"[,;，；]|\b(?:and|but|because|since|where|which|who|while|until|so that|after|before|when)\b"
    r"|因为|所以|但是|然后",
    re.IGNORECASE,
)
_WORDS, _HAN_WORDS = 2, 4
"""From so many words on (in Chinese, characters), a part between conjunctions is a clause."""
_KNOWN_HAN = 0.2
"""Single characters recur by chance: so large a share of a clause may stand in the memories."""
_STRETCH, _HAN_STRETCH = 3, 6
"""So many unknown words in a row (in Chinese, characters) are a clause of their own."""


def adds_a_clause(sentence: str, known: frozenset[str]) -> bool:
    """Whether a clause of a sentence has no word of its sources.

    A clause is a part between commas and conjunctions, or a stretch of unknown words. The limits
    were chosen with ``benchmarks.citations``: they refuse most invented clauses and keep 96 % of
    the light paraphrases.

    Args:
        sentence: The sentence.
        known: The words of its sources, as `words` gives them.

    Examples:
        >>> known = frozenset({"ann", "bake", "bread"})
        >>> adds_a_clause("Ann bakes bread.", known)
        False
        >>> adds_a_clause("Ann bakes bread and sells tickets.", known)
        True
    """
    return _has_a_stretch(sentence, known) or any(
        _is_unknown(clause, known) for clause in _BETWEEN.split(sentence)
    )


def _is_unknown(clause: str, known: frozenset[str]) -> bool:
    characters, others = _by_script(words(clause))
    if len(others) >= _WORDS and known.isdisjoint(others):
        return True
    found = sum(character in known for character in characters)
    return len(characters) >= _HAN_WORDS and found <= _KNOWN_HAN * len(characters)


def _has_a_stretch(sentence: str, known: frozenset[str]) -> bool:
    characters, others = _by_script(words(sentence))
    return _longest(others, known) >= _STRETCH or _longest(characters, known) >= _HAN_STRETCH


def _by_script(found: Iterable[str]) -> tuple[list[str], list[str]]:
    """The Chinese characters and the other words; pairs of characters say nothing new."""
    characters: list[str] = []
    others: list[str] = []
    for word in found:
        if not _HAN.match(word):
            others.append(word)
        elif len(word) == 1:
            characters.append(word)
    return characters, others


def _longest(found: Iterable[str], known: frozenset[str]) -> int:
    """The length of the longest run of unknown words."""
    runs = groupby(found, key=known.__contains__)
    return max((len([*run]) for is_known, run in runs if not is_known), default=0)
