"""Whose words a question asks for: those of a person by name, or of the assistant."""

from __future__ import annotations

import re

from recall_retrievers.text.split_words import CJK

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
_SAID = """
    recommend(?:ed)? suggest(?:ed)? advised? proposed? said say told tell mention(?:ed)?
    explain(?:ed)? list(?:ed)? offer(?:ed)? outlined? described? gave give warn(?:ed)? point(?:ed)?
    promised? sent send showed show wrote write answer(?:ed)? replied reply quoted? called call
"""
_PAST = """
    recommended suggested advised proposed told mentioned explained listed offered outlined
    described gave warned promised sent showed wrote answered replied quoted
"""
_ASKS_THE_ASSISTANT = re.compile(
    r"\b(?:did|have|had|were) you(?: (?!i\b|we\b)\w+)? "
    rf"(?:{'|'.join(_SAID.split())})\b"
    rf"|\byou(?:'d|'ve| had| have| just| once| also| already)* (?:{'|'.join(_PAST.split())})\b"
    r"|\byour (?:recommendation|suggestion|advice|proposal|explanation|answer|reply|replies)"
    r"|\b(?:the|my) (?:assistant|ai|bot|chatbot)\b"
    "|[你您](?:之前|以前|当时|上次|曾经|曾|都|还|已经)*(?:给我|向我|跟我|对我|为我)?"
    "(?:推荐|建议|告诉|提到|介绍|提议|说)(?:了|过|的|给)|[你您]的(?:建议|推荐|回答|答复|解释)",
    re.IGNORECASE,
)


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


def asks_the_assistant(text: str) -> bool:
    """Whether a question is about something that the assistant said before.

    Advice that is wanted now ("what would you suggest?") was not said before.

    Examples:
        >>> asks_the_assistant("Which hotel did you suggest?")
        True
        >>> asks_the_assistant("你推荐了哪本书？")
        True
        >>> asks_the_assistant("Which hotel would you suggest?")
        False
    """
    return _ASKS_THE_ASSISTANT.search(text) is not None


def _is_among(part: str, words: set[str]) -> bool:
    if part.lower() in _CAPITALS_ONLY:
        return part.capitalize() in words
    return part.lower() in {word.lower() for word in words}
