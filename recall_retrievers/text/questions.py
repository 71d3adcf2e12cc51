"""What a question asks about: a time alone, a person, what the assistant said."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from recall_retrievers.text.words import CJK, SMALL_WORDS, Language, language_of, stemmed


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern of any of these words, the longest first."""
    return re.compile("|".join(sorted(words, key=lambda each: -len(each))))


def data(name: str) -> Mapping[str, Any]:
    """What a data file of this room holds."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


_DATA, _PATTERNS = data("asking.toml"), data("patterns.toml")
NO_TOPIC = frozenset(_DATA["cjk"].split())
"""What is no topic in Chinese and Japanese."""

_NO_TOPIC = any_of(NO_TOPIC)
WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+")
"""A word, or a run of Chinese or Japanese characters."""


@cache
def pattern(kind: str) -> re.Pattern[str]:
    """What a question of a kind has in it; see patterns.toml."""
    words, anywhere = ("|".join(_PATTERNS[kind][x].split("\n")[:-1]) for x in ("words", "anywhere"))
    parts = [rf"\b(?:{words})\b" if words else "", anywhere]
    return re.compile("|".join(filter(None, parts)), re.IGNORECASE)


@cache
def empty_words(language: Language) -> frozenset[str]:
    """The small words of a language, and the stems of those that say nothing of a topic."""
    return SMALL_WORDS[language].union(stemmed(_DATA[language].split(), language))


def asks_for_time_alone(
    text: str, spans: Sequence[tuple[int, int]], names: Iterable[str] = ()
) -> bool:
    """Whether nothing is left of a question but its time, its people, and the words of asking.

    The spans are the places of its words of time. The names are those of authors: they say nothing
    about a topic.

    Examples:
        >>> asks_for_time_alone("What did I do last Tuesday?", [(14, 26)])
        True
        >>> asks_for_time_alone("What did I eat last Tuesday?", [(15, 27)])
        False
        >>> asks_for_time_alone("昨天发生了什么？", [(0, 2)])
        True
    """
    if not spans:
        return False
    rest = text
    for start, end in sorted(spans, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    named = {part for name in names for part in WORD.findall(name.lower())}
    left = [
        word
        for word in WORD.findall(rest.lower())
        if word not in named and (word.isascii() or _NO_TOPIC.sub("", _without(word, named)))
    ]
    return any(
        all(
            word in empty_words(language) or stem in empty_words(language)
            for word, stem in zip(left, stemmed(left, language), strict=True)
        )
        for language in SMALL_WORDS
    )


_GRAMMAR = """
    anybody anyone everybody everyone may might must need nobody now shall should somebody someone
    still want whether yes yet
"""


@cache
def _no_topic(language: Language) -> frozenset[str]:
    return empty_words(language).union(_GRAMMAR.split())


def telling(text: str, names: Iterable[str] = ()) -> dict[str, frozenset[str]]:
    """The words of a question that tell a topic, as they are written, each with its stems.

    The names are those of authors, and tell none. Chinese and Japanese have no spaces between
    words, so theirs are left out.

    Examples:
        >>> [*telling("What did Ann's sister tell me about Lisbon?", ["Ann"])]
        ['sister', 'Lisbon']
    """
    found = [word for word in WORD.findall(text) if len(word) > 1 and not _CJK.match(word)]
    lower = [word.lower() for word in found]
    language = language_of(lower)
    without = _no_topic(language).union(*(WORD.findall(name.lower()) for name in names))
    stems = [stemmed(lower, code) for code in dict.fromkeys((language, "english"))]
    forms = zip(found, lower, map(frozenset, zip(*stems, strict=True)), strict=True)
    return {
        word: told for word, low, told in forms if low not in without and told.isdisjoint(without)
    }


def asks_for_all(text: str) -> bool:
    """Whether a question wants everything of its time: how often, how much, which ones.

    Examples:
        >>> asks_for_all("How often did I swim in May?"), asks_for_all("Did I swim in May?")
        (True, False)
        >>> asks_for_all("Which books did I read?"), asks_for_all("Which country was it?")
        (True, False)
    """
    return pattern("all").search(text) is not None


def _without(word: str, names: Iterable[str]) -> str:
    """A word without the names in it: a Chinese one has no spaces around them."""
    for name in names:
        word = word.replace(name, "")
    return word


# Roles: a question does not call a person by them.
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai"})
_CJK = re.compile(f"[{CJK}]")
_PART_OF_A_NAME = re.compile(r"[^\W_]+")
# Names that are words too: they name a person only in capitals.
_ALSO_WORDS = """
    al art bill chase chip dawn don drew faith frank gene grace guy hope hunter jack jean joy june
    mark may miles pat pearl penny ray rich rob rose ruby sue will
"""
_CAPITALS_ONLY = frozenset(_ALSO_WORDS.split())
_NO_NAMES = SMALL_WORDS["english"] - _CAPITALS_ONLY  # of "The Director"


def person(author: str) -> str:
    """The name of an author; empty for a role of a chat."""
    return "" if author.lower() in _ROLES else author


def asks_about(text: str, author: str) -> bool:
    """Whether a question names the author of a memory, by any part of the name.

    Examples:
        >>> asks_about("What did Ann's sister buy?", "Ann Lee")
        True
        >>> asks_about("How many user roles are there?", "user"), asks_about("the day?", "The Boss")
        (False, False)
        >>> asks_about("What will he say?", "Will"), asks_about("What did Will say?", "Will")
        (False, True)
        >>> asks_about("张曼婷喜欢什么书？", "张曼婷")
        True
    """
    name = person(author)
    if _CJK.search(name):  # written without spaces, so there are no words to compare
        return name in text
    words = set(_PART_OF_A_NAME.findall(text))
    lower = {word.lower() for word in words}
    parts = [part for part in _PART_OF_A_NAME.findall(name) if len(part) > 1]
    return any(
        part.capitalize() in words if part.lower() in _CAPITALS_ONLY else part.lower() in lower
        for part in [each for each in parts if each.lower() not in _NO_NAMES] or parts
    )


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
    return pattern("assistant").search(text) is not None


def asks_what_was_before(text: str) -> bool:
    """Whether a question asks for what was so before, and need not be so any more.

    Examples:
        >>> asks_what_was_before("Where did I use to live?"), asks_what_was_before("以前是什么？")
        (True, True)
        >>> asks_what_was_before("Who called before Friday?")
        False
    """
    return all(pattern(kind).search(text) for kind in ("asks", "before"))
