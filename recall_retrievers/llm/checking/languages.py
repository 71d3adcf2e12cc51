"""Whether two texts are in one language: by their letters, and by their small words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_WEIGHTS = {"CJK": 3, "KANA": 3, "HANGUL": 3}  # such a letter stands for a few Latin ones
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
        >>> same_language("お茶は四時です。", "四点喝茶。")
        False
        >>> same_language("Le thé est à quatre heures.", "The tea is at four.")
        False
    """
    script, others = _script(one), _script(other)
    if script and others and script != others:
        return False
    if script != "LATIN" or others != "LATIN":
        return True
    ours, theirs = _latin(one), _latin(other)
    likeliest = max(theirs, key=lambda name: theirs[name])
    return not theirs[likeliest] or max(ours.values()) < ours[likeliest] + _FEWEST


def _script(text: str) -> str:
    """The script of most letters, by the first word of their Unicode names; empty if none."""
    letters = [letter for letter in text[:_SHOWN] if letter.isalpha()]
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    kana = counts.pop("HIRAGANA", 0) + counts.pop("KATAKANA", 0)
    if kana:
        chinese_too = kana * 5 >= counts["CJK"]  # Japanese has both
        counts["KANA"] = kana + (counts.pop("CJK", 0) if chinese_too else 0)
    weighed = {name: count * _WEIGHTS.get(name, 1) for name, count in counts.items()}
    return max(weighed, key=lambda name: weighed[name]) if letters else ""


def _latin(text: str) -> dict[str, int]:
    """How many different small words of each language a text has."""
    found = {word.lower() for word in _WORD.findall(text[:_SHOWN])}
    return {name: len(found & small) for name, small in _BY_WORD.items()}
