"""Hints of time in an English text: one cheap look at every word, before any is read.

Only the words around a hint become tokens, and of very many hints only some count. So a text of any
length takes a bounded time to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from recall_retrievers.timeline.english.words import AMBIGUOUS, COMMON, NAMED, QUIET_KINDS, WORDS

# One word: a quotation, because its words are not the asker's, and "5/7", "3rd" or "2 pm".
_WORD = re.compile(
    r"""
    (
        [^\W\d_]+
      | ['’]? \d (?: [/.:-]? \d ){0,7}
        (?: (?i: st | nd | rd | th | ['’]? s | \s? [ap]m ) (?! \w ) )?
      | "[^"\n]{1,80}" | “[^“”\n]{1,80}”
    )
    """,
    re.VERBOSE,
)
_WEAK_KINDS = frozenset({"UNIT", "UNITS", "PART", "PARTS", "ORD", "YEAR_BEGINS"})
_MOST_HINTS = 18  # some 9 expressions or more; a question names a few, a pasted calendar hundreds
_REACH = 6  # words to read on both sides: "nineteen hundred and twenty five" has five
_MARKS = 3  # characters to read beside them: "= 2019", "7 p.m."


def _hints() -> dict[str, bool]:
    """The words that give a hint, and whether it is a weak one: "day" more often names no time."""
    hints = {str(year): False for year in range(1500, 2200)}
    hints |= {name: name in COMMON for name in NAMED}
    for word, kinds in WORDS.items():
        telling = kinds.keys() - (QUIET_KINDS - {"ORD"})
        if telling:
            hints[word] = telling <= _WEAK_KINDS or word in AMBIGUOUS
    return hints


_HINTS = _hints()


def stretches(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text that are worth reading, from the left, apart from each other.

    Of too many hints the strong ones count, and of too many of these the first and the last.
    """
    pieces = _WORD.split(text)  # in turn: the text before a word, and the word
    words = pieces[1::2]
    telling = set(filter(_is_hint, set(words)))  # a long text says the same words again and again
    hints = [at for at, word in enumerate(words) if word in telling] if telling else []
    if not hints:
        return
    if len(hints) > _MOST_HINTS:
        doubtful = {word for word in telling if _HINTS.get(word.lower(), False)}
        strong = [at for at in hints if words[at] not in doubtful]
        weak = [at for at in hints if words[at] in doubtful]
        chosen = _outermost(strong, _MOST_HINTS)
        hints = sorted(chosen + _outermost(weak, _MOST_HINTS - len(chosen)))
    bounds = list(accumulate(map(len, pieces)))
    first = max(0, hints[0] - _REACH)
    for at, following in zip(hints, [*hints[1:], None], strict=True):
        if following is None or following - at > 2 * _REACH:
            last = min(at + _REACH, len(words) - 1)
            yield max(0, bounds[2 * first] - _MARKS), bounds[2 * last + 1] + _MARKS
            first = max(0, following - _REACH) if following else 0


def _is_hint(word: str) -> bool:
    if word.isdigit():
        return word in _HINTS or (len(word) == 8 and word[:2] in ("19", "20"))  # 20240305
    return word.lower() in _HINTS or (word[0] <= "9" and len(word) > 1)


def _outermost(hints: list[int], most: int) -> list[int]:
    """The first and the last ones: a pasted text may stand before the question or behind it."""
    front = most - most // 2
    return hints if len(hints) <= most else hints[:front] + hints[len(hints) - most // 2 :]
