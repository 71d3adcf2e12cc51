"""A message as sentences of tokens: without quotations and pasted text, with its boundaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recall_retrievers.gate.phrases import BOUNDARY, tokens_of

_LONGEST = 1_000  # characters; of a longer message, which holds a paste, only the two ends count
_END = 400
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
_OPENING = re.compile(r"^[\s¿¡(\[*#>-]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence, with boundaries at its ends and commas; the tokens in lower case."""

    words: tuple[str, ...]
    tokens: tuple[str, ...]
    is_question: bool = False


def without_material(text: str) -> str:
    """A message without its quotations; the whole message, where it is nothing else."""
    if len(text) > _LONGEST:
        text = f"{text[:_END]}\n{text[-_END:]}"
    rest = _QUOTED.sub("…", text)
    return rest if any(letter.isalpha() for letter in rest) else text


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of a text.

    Examples:
        >>> [sentence.tokens for sentence in sentences_of("Hi, Ann! Go on.")]
        [('|', 'hi', '|', 'ann', '|'), ('|', 'go', 'on', '|')]
    """
    for part in _SENTENCE.split(text):
        words = [BOUNDARY]
        for clause in _CLAUSE.split(_OPENING.sub("", part)):
            tokens = tokens_of(clause)
            if tokens:
                words += [*tokens, BOUNDARY]
        if len(words) > 1:
            lower = tuple(word.lower() for word in words)
            yield Sentence(tuple(words), lower, part.rstrip(" \"'”»)*").endswith(("?", "？")))
