"""The sentences of a message that are the user's own: no quotation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recall_retrievers.text.words import CJK, ends

BOUNDARY = "|"
"""The token at the ends of a sentence, and at its commas."""

_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
# Bounded, so that an opening mark without a closing one costs little.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,300}`"
    r'|"[^"]{1,600}"|“[^“”]{1,600}”|„[^„“”]{1,600}[“”]|«[^«»]{1,600}»|»[^«»]{1,600}«'
    r"|「[^「」]{1,600}」|『[^『』]{1,600}』|《[^《》]{1,100}》|‘[^‘’]{1,300}’(?!\w)"
    r"|(?<!\w)'[^'\n]{2,300}'(?!\w)",
    re.DOTALL,
)
_SENTENCE = re.compile(r"(?<=[.?!…])[\"'”»)]*\s+|(?<=[。？！；])|\n+")
_CLAUSE = re.compile(r"[,;:，、：；]\s*(?!\d)|\s[-–—]\s")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence as they stand, with boundaries at its ends and commas."""

    words: tuple[str, ...]
    is_question: bool


def tokens_of(text: str) -> list[str]:
    """The words of a text as they stand; in Chinese and Japanese its characters.

    Examples:
        >>> tokens_of("It's 年糕!")
        ['It', 's', '年', '糕']
    """
    return _TOKEN.findall(text)


def sentences_of(message: str) -> Iterator[Sentence]:
    """The sentences of a message without its quotations, unless it is nothing else.

    Examples:
        >>> [sentence.words for sentence in sentences_of("Hi! Is “Emma” long, or short?")]
        [('|', 'Hi', '|'), ('|', 'Is', 'long', '|', 'or', 'short', '|')]
    """
    message = ends(message)  # a longer one holds a paste
    rest = _QUOTED.sub(" ", message)
    for part in _SENTENCE.split(rest if any(map(str.isalpha, rest)) else message):
        words = [BOUNDARY]
        for clause in _CLAUSE.split(part):
            if tokens := tokens_of(clause):
                words += [*tokens, BOUNDARY]
        if len(words) > 1:
            yield Sentence(tuple(words), part.rstrip(" \"'”»)*").endswith(("?", "？")))
