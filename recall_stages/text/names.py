"""The author of a memory: a person by name, or a role of a chat protocol."""

from __future__ import annotations

import re

from recall_stages.text.split_words import CJK

# Roles: a question does not call a person by them.
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai"})
_CJK = re.compile(f"[{CJK}]")
_WORD = re.compile(r"[^\W_]+")
# Names that are words too: they name a person only in capitals.
_ALSO_WORDS = """
    al art bill chase chip dawn don drew faith frank gene grace guy hope hunter jack jean joy june
    mark may miles pat pearl penny ray rich rob rose ruby sue will
"""
_CAPITALS_ONLY = frozenset(_ALSO_WORDS.split())


def person(author: str) -> str:
    """The name of an author; empty for a role of a chat.

    Examples:
        >>> person("Ann Lee"), person("assistant")
        ('Ann Lee', '')
    """
    return "" if author.lower() in _ROLES else author


def asks_about(text: str, author: str) -> bool:
    """Whether a question names the author of a memory, by any part of the name.

    Examples:
        >>> asks_about("What did Ann's sister buy?", "Ann Lee")
        True
        >>> asks_about("How many user roles are there?", "user")
        False
        >>> asks_about("What will he say?", "Will"), asks_about("What did Will say?", "Will")
        (False, True)
        >>> asks_about("张曼婷喜欢什么书？", "张曼婷")
        True
    """
    name = person(author)
    if _CJK.search(name):  # written without spaces, so there are no words to compare
        return name in text
    words = set(_WORD.findall(text))
    return any(_is_among(part, words) for part in _WORD.findall(name) if len(part) > 1)


def _is_among(part: str, words: set[str]) -> bool:
    if part.lower() in _CAPITALS_ONLY:
        return part.capitalize() in words
    return part.lower() in {word.lower() for word in words}
