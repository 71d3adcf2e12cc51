"""The weights of words: what the words of a message say about whether it needs memories.

A language is one TOML file. It has classes of words, written by hand, and the weights, which
`python -m benchmarks.gate_weights` learns from labelled messages and writes. A weight belongs to a
feature, which is one of these:

    my              a word
    <person>        a class of words, so what was learned about electricians holds for plumbers
    where_<mine>    two words in a row, by their classes
    |_who           a word at an end of a sentence, or at a comma
    ?               a question mark
    .<person>       a word in a sentence that asks nothing: "my sister" matters less in a report
    ^my_<person>    the same in an earlier message, if the last one leaves open what it is about
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import sqrt
from pathlib import Path

from recall_retrievers.gate.sentences import BOUNDARY, Sentence, sentences_of, tokens_of
from recall_retrievers.text.words import SMALL_WORDS, language_of

_LONGEST_ENTRY = 4  # words of an entry of a class: "plan for the weekend"
_ASKING = ("?", "<asks>")  # a question mark, or a word such as "who"
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")

Described = dict[str, tuple[str, ...]]
"""The features of a message, each with the words that it comes from."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one language."""

    start: float  # the sum of a message without any feature
    classes: Mapping[str, str]  # of a word, or of several
    weights: Mapping[str, float]  # of a feature

    def described(self, message: str, before: str = "") -> Described:
        """The features of a message, and of those before it if it leaves something open."""
        found: Described = {}
        for sentence in sentences_of(message):
            found |= self._features(sentence)
        # "Got it" leaves open what it is about too, and asks nothing.
        asks = not found.keys().isdisjoint(_ASKING)
        for sentence in sentences_of(before if asks else ""):
            earlier = self._features(sentence)
            found |= earlier | {f"^{feature}": words for feature, words in earlier.items()}
        return found

    def points(self, described: Described) -> dict[str, float]:
        """What each word adds to the sum; a feature's weight is shared by its words."""
        # Without the root, long messages would be sure of everything.
        scale = sqrt(len(described) or 1)
        points: dict[str, float] = {}
        for feature, words in described.items():
            for word in words:
                weight = self.weights.get(feature, 0.0) / scale / len(words)
                points[word] = points.get(word, 0.0) + weight
        return points

    def _features(self, sentence: Sentence) -> Described:
        units = [*self._by_class(sentence)]
        found: Described = {word.lower(): (word,) for word in sentence.words}
        found |= {kind: (words,) for words, kind in units}
        if not any(kind in _ASKING for _, kind in units):
            found |= {f".{kind}": (words,) for words, kind in units}
        for (left, first), (right, second) in pairwise(units):
            both = tuple(word for word in (left, right) if word != BOUNDARY)
            found[f"{first}_{second}"] = both
        return {feature: words for feature, words in found.items() if words != (BOUNDARY,)}

    def _by_class(self, sentence: Sentence) -> Iterator[tuple[str, str]]:
        """The words of a sentence, each with its class or what else stands for it."""
        words, at = sentence.words, 0
        while at < len(words):
            for end in range(min(at + _LONGEST_ENTRY, len(words)), at, -1):
                kind = self.classes.get(" ".join(words[at:end]).lower())
                if kind and (kind != "name" or words[at][0].isupper()):
                    yield " ".join(words[at:end]), f"<{kind}>"
                    at = end
                    break
            else:
                yield words[at], _without_class(words[at], words[at - 1])
                at += 1
        if sentence.is_question:
            yield "?", "?"


def _without_class(word: str, before: str) -> str:
    """What stands for a word that has no class: a name, a number, or itself."""
    if len(word) > 1 and word[0].isupper() and before != BOUNDARY:
        return "<Name>"
    return "<number>" if word.isdigit() else word.lower()


def weights_for(text: str) -> Weights | None:
    """The weights of the language of a text; None where there are none.

    Examples:
        >>> weights_for("Where is my hat?") is load_weights("en")
        True
        >>> weights_for("Wo ist mein Hut?"), weights_for("Mijn hoed?"), weights_for("帽子はどこ")
        (None, None, None)
    """
    if _HAN.search(text):
        return None if _KANA.search(text) else load_weights("zh")
    english = load_weights("en")
    words = [word for word in tokens_of(text.lower()) if word.isalpha()]
    vocabularies = (SMALL_WORDS["english"], english.classes, english.weights)
    known = [word for word in words if any(word in one for one in vocabularies)]
    # Without small words, words tell no language; unknown ones are not taken for English.
    return english if language_of(words) == "english" and 2 * len(known) >= len(words) else None


@cache
def load_weights(language: str) -> Weights:
    """The weights of "en" or "zh"."""
    file = Path(__file__).with_name(f"{language}.toml")
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Weights(
        start=data["start"],
        classes={
            " ".join(tokens_of(entry.replace("_", " ").lower())): name
            for name, entries in reversed(data["classes"].items())
            for entry in entries.split()
        },
        weights={
            feature: float(weight)
            for weight, features in data["weights"].items()
            for feature in features.split()
        },
    )


def names_served(system_prompt: str) -> dict[str, str]:
    """The names in the possessive in a system prompt, with the class of first names.

    Examples:
        >>> names_served("You are Zaphod's assistant.")
        {'zaphod': 'name'}
    """
    tokens = tokens_of(system_prompt[:4_000])
    return {name.lower(): "name" for name, mark in pairwise(tokens) if mark == "s"}
