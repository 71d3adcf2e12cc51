"""The words of a long question that tell most: the rare ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

MOST_WORDS = 64
"""How many words of a question are searched for."""


def telling_words(
    words: Sequence[str], frequency: Callable[[str], int], most: int = MOST_WORDS
) -> list[str]:
    """The words of a question to search for: all, or of a long question the rarest.

    A pasted dialogue has hundreds of words, and each costs time. Words that no memory has find
    nothing, and words that most memories have order nothing. With the first 64 words in place of
    the rarest, a long Chinese question is cut after some 35 characters.

    Args:
        words: The words of the question, as they are indexed.
        frequency: Returns the number of memories that have a word; called for a long question only.
        most: How many words at most.

    Examples:
        >>> counts = {"say": 80, "dentist": 2, "elm": 1}
        >>> telling_words(["say", "dentist", "elm", "zebra"], lambda word: counts.get(word, 0), 2)
        ['elm', 'dentist']
        >>> telling_words(["say", "say", "zebra"], lambda word: counts.get(word, 0), 2)
        ['say', 'zebra']
    """
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= most:
        return distinct
    counts = {word: frequency(word) for word in distinct}
    return sorted([word for word in distinct if counts[word]], key=counts.__getitem__)[:most]
