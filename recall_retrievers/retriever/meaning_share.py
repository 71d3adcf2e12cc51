"""What an embedding model tells of its similarities, by its name and by what it can do.

They have less of a hybrid search where the model does not know the language. Those of some models
are all high, so that a floor is taken off.
"""

from __future__ import annotations

import re

KNOWN, UNKNOWN = 0.6, 0.4
"""The share of meaning where the model knows the script of a question, and where it does not.

Measured on nine English sets and three Chinese ones, with all-MiniLM-L6-v2. In Chinese it still
sees common characters, so it is not worthless.
"""

_WITH_WORDS = 0.65  # where single words are compared by meaning, too; measured on the same sets

# Models for English alone say so in their name, or are known for it.
_ENGLISH = re.compile(
    r"(?i)all-(?:minilm|mpnet|distilroberta)|(?:^|[-_/])en(?:[-_.]|$)|english|multi-qa-(?:mini|mpnet)"
)
# Trained so that unrelated texts have a cosine of 0.7 to 0.8.
_HIGH = re.compile(r"(?i)(?:^|[-_/])e5-(?:small|base|large)")
_HIGH_FLOOR = 0.7
_LAST_LATIN = "\u024f"


def meaning_share(text: str, embedding_model: str, *, embeds_words: bool = False) -> float:
    """The share of meaning for a question; less if an English model meets another script.

    Args:
        text: The question.
        embedding_model: The name of the model that made the vectors; empty = it is not known.
        embeds_words: Whether the model has vectors of single words.

    Examples:
        >>> meaning_share("Where is tea?", "all-MiniLM-L6-v2", embeds_words=True)
        0.65
        >>> meaning_share("Where is tea?", "all-MiniLM-L6-v2")
        0.6
        >>> meaning_share("茶在哪里？", "all-MiniLM-L6-v2")
        0.4
        >>> meaning_share("茶在哪里？", "multilingual-e5-small")
        0.6
    """
    letters = [letter > _LAST_LATIN for letter in text if letter.isalpha()]
    if not any(letters) or not _ENGLISH.search(embedding_model):
        return _WITH_WORDS if embeds_words else KNOWN
    # Rounded, so that few settings of a search are kept.
    return round(KNOWN - (KNOWN - UNKNOWN) * sum(letters) / len(letters), 1)


def similarity_floor(embedding_model: str) -> float:
    """The similarity that texts have under a model though they have nothing in common; often 0.

    Args:
        embedding_model: The name of the model that made the vectors; empty = it is not known.

    Examples:
        >>> similarity_floor("all-MiniLM-L6-v2"), similarity_floor("intfloat/multilingual-e5-base")
        (0.0, 0.7)
    """
    return _HIGH_FLOOR if _HIGH.search(embedding_model) else 0.0
