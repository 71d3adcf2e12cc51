"""A text as the words that keyword search compares: stemmed, without stop words.

English, German, Spanish and French are stemmed by PyStemmer (Snowball); Chinese, which writes no
spaces, becomes its characters and the pairs of them.

Words of a dictionary in place of Chinese pairs, or beside them, found less or the same (jieba
0.42.1, measured on three sets in 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import Stemmer

from recall_retrievers.text.languages import STOP_WORDS as _SMALL
from recall_retrievers.text.languages import Language, language_of
from recall_retrievers.text.split_words import CJK

_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CJK = re.compile(f"[{CJK}]")
_LONGEST = 40  # letters; anything longer is an encoded blob, not a word

STOP_WORDS = _SMALL["english"]
_STOP_CHARACTERS = frozenset("的了是在我你他她它们这那吗呢吧啊呀哦哈和与就都也很有还不么什个")


def words(text: str) -> list[str]:
    """The words of a text, in order; a text of stop words alone keeps them.

    Examples:
        >>> words("What did I say about the dentists?")
        ['say', 'dentist']
        >>> words("Running to 博物馆")
        ['run', '博', '物', '馆', '博物', '物馆']
        >>> words("我的猫呢")
        ['猫', '的猫', '猫呢']
        >>> words("Who is he?")
        ['who', 'is', 'he']
    """
    return _stemmed(_WORD.findall(text.lower()), "english", plain=text.isascii())


def indexed_words(text: str) -> list[str]:
    """The words by which a text is found, as `words` in the language of the text.

    Examples:
        >>> indexed_words("Ich habe zwei graue Katzen.")
        ['zwei', 'grau', 'katz']
        >>> indexed_words("The dentists")
        ['dentist']
    """
    found = _WORD.findall(text.lower())
    return _stemmed(found, language_of(found), plain=text.isascii())


def wanted_words(text: str) -> list[str]:
    """The words of a question as `indexed_words`; not in English, with their English stems too.

    A memory of few words may not tell its language. Then it is indexed like an English one.

    Examples:
        >>> wanted_words("Wo sind die grauen Katzen?")
        ['grau', 'katz', 'grauen', 'katzen']
        >>> wanted_words("Where are the cats?")
        ['cat']
    """
    found = _WORD.findall(text.lower())
    language = language_of(found)
    plain = text.isascii()
    stems = _stemmed(found, language, plain=plain)
    if language == "english":
        return stems
    telling = [word for word in found if word not in _SMALL[language]]
    return [*dict.fromkeys([*stems, *_stemmed(telling, "english", plain=plain)])]


def _stemmed(all_words: Sequence[str], language: Language, *, plain: bool) -> list[str]:
    small = _SMALL[language]
    telling = [word for word in all_words if word not in small]
    if plain:  # ASCII, in two thirds of the time
        parts = [word for word in telling or all_words if len(word) <= _LONGEST]
    else:
        parts = [part for word in telling or all_words for part in _parts(word)]
    # Chinese parts have no stem and stay as they are.
    stems: list[str] = _stemmer(language).stemWords(parts)
    return stems


def _parts(word: str) -> Iterable[str]:
    if word.isascii() or not _CJK.match(word):
        return (word,) if len(word) <= _LONGEST else ()
    telling = [character not in _STOP_CHARACTERS for character in word]
    if not any(telling):
        return [*word]
    places = range(len(word) - 1)
    return [
        *(word[place] for place, tells in enumerate(telling) if tells),
        *(word[place : place + 2] for place in places if telling[place] or telling[place + 1]),
    ]


@cache
def _stemmer(language: Language) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)
