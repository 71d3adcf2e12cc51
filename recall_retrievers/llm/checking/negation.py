"""Negation: does a sentence deny what its memory says, or say what the memory denies?

A word is denied if it stands behind "not" and the like, in the same clause. English and Chinese.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from recall_retrievers.text.words import CJK, STOP_WORDS, language_of, words

_WEIGHTS = {"CJK": 3, "KANA": 3, "HANGUL": 3}  # such a letter stands for a few Latin ones
_WORD = re.compile(r"[^\W\d_]+")
_SHOWN = 4000  # characters that are looked at


def same_language(one: str, other: str) -> bool:
    """Whether two texts may be in one language; nothing said against it counts as yes."""
    scripts = {script for text in (one, other) if (script := _script(text))}
    if scripts != {"LATIN"}:
        return len(scripts) < 2
    ours, theirs = (language_of(_WORD.findall(text[:_SHOWN].lower())) for text in (one, other))
    return ours == theirs


def _script(text: str) -> str:
    """The script of most letters, by the first word of their Unicode names; empty if none."""
    letters = [letter for letter in text[:_SHOWN] if letter.isalpha()]
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    counts["KANA"] = counts.pop("HIRAGANA", 0) + counts.pop("KATAKANA", 0)
    if counts["KANA"] * 5 >= counts["CJK"] > 0:  # Japanese has both
        counts["KANA"] += counts.pop("CJK")
    weighed = {name: count * _WEIGHTS.get(name, 1) for name, count in counts.items()}
    return max(weighed, key=lambda name: weighed[name]) if letters else ""


_DENIALS = "not cannot never no none nobody nothing nowhere neither nor without hardly barely"
# These deny too, but a sentence may put them in other words: "I lack ideas" is "she has no ideas".
_DOUBTS = """
    avoid refuse stop quit unable fail lack dislike hate unsure uncertain unlikely unwilling unhappy
    unfamiliar impossible missing hard difficult difficulty struggle gave rarely seldom few little
    lost anymore empty reluctant except unless confused
"""
_LINKS = "but because although though until unless when while if so since however"
_STRICT = frozenset(_DENIALS.split())
_SOFT = frozenset(words(_DOUBTS))
_BREAKS = frozenset(_LINKS.split())
_REACH = 7  # words behind a denial that it may be about
_TOKEN = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?|[,;:.!?()–—]")
_NO_DENIAL = re.compile(
    r"\bnot\s+(?:only|just|merely|simply)\b|\b(?:can['’]?t|cannot)\s+wait\b|\bno\s+(?:problem|doubt|"
    r"matter|wonder)\b|\bwhy\s+not\b|\b(?:do|did|does|is|are|was|were|have|has|wo|ca|could|would|should)"
    r"n['’]t\s+(?:you|we|i|it|they|worry|forget|hesitate)\b|\bor\s+not\b|^no[,.!]"
    r"|(?:\bnot|n['’]t)\s+(?:[\w'’]+\s+){0,8}until\b",
    re.IGNORECASE,
)
_HAN_DENIAL = re.compile(r"[不没無无未别莫勿]")
_HAN_NO_DENIAL = re.compile(
    r"(.)[不没]\1|有没有|不[错久过仅但断少只管论同足]|差不多|无论|[特分区告级性]别|别人|没关系|没问题|是否"
)
_HAN_CLAUSE = re.compile(r"[，。！？；：、,.!?;:\s]|但是?|而是?|却|因为|所以|如果")
_HAN_REACH = 8  # characters
_ONLY_HAN = re.compile(f"[{CJK}]+")


@dataclass(frozen=True, slots=True)
class Polarity:
    """The words of a sentence that it affirms, and those that it denies."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    doubted: frozenset[str]
    denies: bool

    def affirms_denied(self, other: Polarity) -> bool:
        """Whether this sentence affirms what the other denies."""
        only_affirmed = self.affirmed - self.denied - self.doubted
        return bool(only_affirmed & other.denied - other.affirmed - other.doubted)


def polarity(sentence: str) -> Polarity:
    """What a sentence affirms and what it denies."""
    found = [*_english(sentence), *_chinese(sentence)]

    def of(kind: str) -> frozenset[str]:
        return frozenset(part for part, each in found if each == kind)

    return Polarity(of("affirmed"), of("denied"), of("doubted"), bool(of("denies")))


def may_deny(text: str) -> bool:
    """Whether a text denies anything, in whatever words."""
    return polarity(text).denies or not _SOFT.isdisjoint(words(text))


def _english(sentence: str) -> Iterable[tuple[str, str]]:
    reach = soft_reach = 0
    for token in _TOKEN.findall(_NO_DENIAL.sub(" ", sentence)):
        word = token.lower().replace("’", "'")
        if not word[0].isalpha() or word in _BREAKS:
            reach = soft_reach = 0
            continue
        if word in _STRICT or word.endswith("n't"):
            reach = _REACH
            yield word, "denies"
            continue
        if word not in STOP_WORDS and word != "i'm":
            kind = "denied" if reach else "doubted" if soft_reach else "affirmed"
            yield from ((stem, kind) for stem in words(word.removesuffix("'s")))
        reach, soft_reach = max(reach - 1, 0), max(soft_reach - 1, 0)
        if not _SOFT.isdisjoint(words(word)):
            soft_reach = _REACH


def _chinese(sentence: str) -> Iterable[tuple[str, str]]:
    plain = _HAN_NO_DENIAL.sub(lambda match: "·" * len(match[0]), sentence)
    for clause in _HAN_CLAUSE.split(plain):
        for run in _ONLY_HAN.findall(clause or ""):
            found = [match.start() for match in _HAN_DENIAL.finditer(run)]
            if found:
                yield run[found[0]], "denies"
            for place in range(len(run) - 1):
                pair = run[place : place + 2]
                if _HAN_DENIAL.search(pair) or not words(pair):
                    continue
                near = any(at < place <= at + _HAN_REACH for at in found)
                yield pair, "denied" if near else "affirmed"
