"""Weights of words: whether a message is like the labelled prompts that need memories.

Each language has its weights in a JSON file. `python -m benchmarks.gate_weights` learns them from
the labelled prompts and writes the file. A weight belongs to one word, or to two or three in a row.
A word also counts as its class, so what was learned about electricians holds for plumbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from recall_retrievers.gate.phrases import BOUNDARY, tokens_of
from recall_retrievers.gate.sentences import Sentence

_WORDS, _CLASSES = 2, 3  # how many in a row, at most
_LONGEST_ENTRY = 4  # words of an entry of a class: "plan for the weekend"
# Scale and lean were chosen on batches 10 to 13 of the labelled prompts; see benchmarks/README.
_SCALE = 1.5  # to the weights of the cues
_LEAN = 2.5  # towards a search: one too many costs 10 ms, one too few costs the memory
_LEAST, _MOST = -3.0, 4.0  # it adds no less and no more


def classes_of(words: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The class of every entry; of the first class, where several have it."""
    return {
        " ".join(tokens_of(entry.replace("_", " ").lower())): name
        for name, entries in reversed(list(words.items()))
        for entry in entries
    }


def features(sentences: Sequence[Sentence], classes: Mapping[str, str]) -> frozenset[str]:
    """What a message is described by: its words in a row, as they stand and by their classes."""
    found: set[str] = set()
    for sentence in sentences:
        found |= {"?"} if sentence.is_question else set()
        found |= _in_a_row(sentence.tokens, _WORDS)
        found |= _in_a_row(tuple(_by_class(sentence, classes)), _CLASSES)
    return frozenset(found)


def _in_a_row(words: Sequence[str], most: int) -> set[str]:
    ends = range(1, most + 1)
    return {" ".join(words[at : at + n]) for n in ends for at in range(len(words) - n + 1)}


def _by_class(sentence: Sentence, classes: Mapping[str, str]) -> Iterator[str]:
    """The tokens of a sentence, with the class in place of a word that has one."""
    at = 0
    while at < len(sentence.tokens):
        for many in range(_LONGEST_ENTRY, 0, -1):
            name = classes.get(" ".join(sentence.tokens[at : at + many]))
            if name and (name != "name" or sentence.words[at][0].isupper()):
                yield f"<{name}>"
                at += many
                break
        else:
            yield _alone(sentence, at)
            at += 1


def _alone(sentence: Sentence, at: int) -> str:
    """A token that has no class: the token, a name or a number."""
    word = sentence.words[at]
    if len(word) > 1 and word[0].isupper() and sentence.words[at - 1] != BOUNDARY:
        return "<Name>"
    return "<number>" if word.isdigit() else sentence.tokens[at]


@dataclass(frozen=True, slots=True)
class Learned:
    """The weights of one language; the bias is the sum of a message without any feature."""

    classes: Mapping[str, str]
    bias: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)

    def read(self, sentences: Sequence[Sentence]) -> tuple[str, float]:
        """The feature that says most about a message, and the sum of all of them."""
        found = features(sentences, self.classes)
        known = {each: self.weights[each] for each in found if each in self.weights}
        total = self.bias + sum(known.values()) / sqrt(len(found) or 1)
        most = max(known, key=lambda each: (known[each] * total, each), default="")
        return most, round(min(max(_SCALE * total + _LEAN, _LEAST), _MOST), 1)
