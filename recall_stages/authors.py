"""Who said a memory: a person by name, or a role of a chat protocol."""

from __future__ import annotations

import re

# No names that a question would use for a person.
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai"})
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+")


def person(author: str) -> str:
    """The name of whoever said it; empty where only a role of a chat is known.

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
        >>> asks_about("张曼婷喜欢什么书？", "张曼婷")
        True
    """
    name = person(author).lower()
    if _CJK.search(name):  # written without spaces, so it has no words to compare
        return name in text.lower()
    return not set(_WORD.findall(name)).isdisjoint(_WORD.findall(text.lower()))
