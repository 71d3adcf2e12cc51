"""Whether two texts are in one language: by their letters, and by their small words."""

from __future__ import annotations

import re

_LETTERS = {
    "Han": "\u3400-\u4dbf\u4e00-\u9fff",
    "Kana": "\u3040-\u30ff",
    "Hangul": "\uac00-\ud7af\u1100-\u11ff",
    "Latin": "A-Za-z\u00c0-\u024f",
    "Cyrillic": "\u0400-\u04ff",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0600-\u06ff",
    "Hebrew": "\u0590-\u05ff",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
}
_SCRIPTS = {name: re.compile(f"[{letters}]") for name, letters in _LETTERS.items()}
_WEIGHTS = {"Han": 3, "Kana": 3, "Hangul": 3}  # such a letter stands for a few Latin ones
_FEWEST = 2  # small words that one language must have more than the other
_SMALL_WORDS = {
    "en": "the and is was of to in that it for with she he her his has had as at on by an be not",
    "de": "der die das und ist war zu sich mit für sie er ein eine dass nicht auf von den dem im",
    "fr": "le la les et est une des du dans que qui pour elle il au avec sur pas par ses son sa en",
    "es": "el la los las y es una del que en para con ella su sus por se no al fue muy como",
    "it": "il lo la gli e di che per con una del della è non si sono nel alla suo sua ha",
    "pt": "o os as e é uma do da que em para com ela seu sua por não no na foi um ao",
    "nl": "de het een en is van dat op te voor met ze zij hij haar zijn niet aan heeft er",
}
_BY_WORD = {name: frozenset(line.split()) for name, line in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_SHOWN = 4000  # characters that are looked at


def same_language(one: str, other: str) -> bool:
    """Whether two texts may be in one language; nothing said against it counts as yes.

    Examples:
        >>> same_language("Tea is at four.", "四点喝茶。"), same_language("Tea!", "Tea at four.")
        (False, True)
        >>> same_language("Le thé est à quatre heures.", "The tea is at four.")
        False
    """
    script, others = _script(one), _script(other)
    if script and others and script != others:
        return False
    if script != "Latin" or others != "Latin":
        return True
    ours, theirs = _latin(one), _latin(other)
    likeliest = max(theirs, key=lambda name: theirs[name])
    return not theirs[likeliest] or max(ours.values()) < ours[likeliest] + _FEWEST


def _script(text: str) -> str:
    text = text[:_SHOWN]
    counts = {
        name: len(letter.findall(text)) * _WEIGHTS.get(name, 1) for name, letter in _SCRIPTS.items()
    }
    if counts["Kana"] * 5 >= counts["Han"] > 0 < counts["Kana"]:  # Japanese has both
        counts["Kana"] += counts.pop("Han")
    name = max(counts, key=lambda each: counts[each])
    return name if counts[name] else ""


def _latin(text: str) -> dict[str, int]:
    """How many different small words of each language a text has."""
    found = {word.lower() for word in _WORD.findall(text[:_SHOWN])}
    return {name: len(found & small) for name, small in _BY_WORD.items()}
