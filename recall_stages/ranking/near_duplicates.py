"""Which texts say the same in nearly the same words: found without comparing each with each.

Texts that differ in a few words at the most have one of their rarest words in common: of ten words
of which one may differ, one of the two rarest (prefix filtering: Chaudhuri et al. 2006). So each
text is compared only with those that share one of these, none is missed, and the work grows with
the number of texts, not with its square.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain

from recall_stages.text.split_words import split_words

_ROUNDING = 1e-9  # a tenth of twenty words is two, and not a little less
_COMPARED = 4  # texts a rare word, at the most: a pool of copies stays linear too
_ENDS = 500  # characters that are compared at the beginning and at the end of a long text
_NUMBER = re.compile(r"\d+")
# What turns a sentence into another one, though a single word differs.
_NEGATION = re.compile(
    "(?:no|not|never|none|cannot|nor|without|.*n['\u2019]t|不|没|無|无|未|别|非)"
)


def near_duplicates(texts: Sequence[str], threshold: float) -> list[int]:
    """For each text the place of the first one that it nearly repeats: its own, where none.

    Two texts repeat each other when they share, in order, at least ``threshold`` of their words,
    and their numbers, names (words in capitals) and negations are the same: "It takes 250 ms now"
    is no repetition of "It takes 800 ms now".

    Args:
        texts: The texts; of those that repeat each other, the first is named.
        threshold: The share of words in common, above 0 to 1; 1 = all of them. Case, punctuation
            and white space do not count.

    Examples:
        >>> told = ["We moved to Elm Street.", "I like tea.", "we moved to Elm Street"]
        >>> near_duplicates(told, 0.95)
        [0, 1, 0]
    """
    first: list[int] = []
    words = [split_words(_ends(text).lower()) for text in texts]
    seen: dict[str, int] = {}
    met: dict[str, list[int]] = defaultdict(list)
    for place, (text, rare) in enumerate(zip(texts, _rarest(words, threshold), strict=True)):
        if text.strip() in seen:
            first.append(seen[text.strip()])
            continue
        repeated = (
            other
            for other in sorted({other for word in rare for other in met[word]})
            if _alike(words[other], words[place], threshold)
            and _NUMBER.findall(texts[other]) == _NUMBER.findall(text)
            and _of_one_length(texts[other], text, threshold)
            and _telling_alike(texts[other], text)
        )
        found = next(repeated, place)
        first.append(found)
        seen[text.strip()] = found
        if found == place:
            for word in rare:
                if len(met[word]) < _COMPARED:
                    met[word].append(place)
    return first


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]} {text[-_ENDS:]}"


def _of_one_length(one: str, other: str, threshold: float) -> bool:
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    return longer <= 2 * _ENDS or shorter >= threshold * longer


def _telling_alike(one: str, other: str) -> bool:
    of_one, of_other = split_words(_ends(one)), split_words(_ends(other))
    telling = _telling(of_one) | _telling(of_other)
    return _among(of_one, telling) == _among(of_other, telling)


def _telling(words: Sequence[str]) -> set[str]:
    """Names and negations; the first word is in capitals whatever it is."""
    return {
        word.lower()
        for place, word in enumerate(words)
        if (place and word[0].isupper() and word != "I") or _NEGATION.fullmatch(word.lower())
    }


def _among(words: Sequence[str], telling: set[str]) -> list[str]:
    return [word.lower() for word in words if word.lower() in telling]


def _rarest(texts: Sequence[Sequence[str]], threshold: float) -> Iterable[list[str]]:
    """The rarest words of each text: one more than may differ in a repetition.

    None of a text that has too many words of its own to be one.
    """
    distinct = [set(words) for words in texts]
    counts = Counter(chain.from_iterable(distinct))
    elsewhere = {word for word, count in counts.items() if count > 1}
    # Of n words at least n x threshold / (2 - threshold) stand in a text that shares enough.
    differing = (2 - 2 * threshold) / (2 - threshold)
    for words, each in zip(texts, distinct, strict=True):
        shared = each & elsewhere
        may_differ = int(differing * len(words) + _ROUNDING) - len(each) + len(shared)
        if may_differ < 0:
            yield []
        else:
            yield sorted(shared, key=lambda word: (counts[word], word))[: may_differ + 1]


def _alike(one: Sequence[str], other: Sequence[str], threshold: float) -> bool:
    if one == other:
        return True
    differing = (1 - threshold) * (len(one) + len(other)) + _ROUNDING
    # What is in one alone differs, whatever the order; and to see that costs little.
    if abs(len(one) - len(other)) > differing or len(set(one) ^ set(other)) > differing:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= threshold
