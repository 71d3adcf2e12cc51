"""A language of the gate: its words and phrases, their weights, and which language a text has.

A language is data. Its TOML file has three parts: ``common``, the small words by which the language
is recognised; ``[words]``, the classes of words in phrases; and ``[cues]``, the phrases of every
kind (see `CUES`). A further language is one more such file. First names, much the same in many
languages, stand in names.txt.

Some languages have weights in a JSON file, which say whether a message is like the labelled prompts
that need memories. `python -m benchmarks.gate_weights` learns them and writes the file. A weight
belongs to one word, or to two or three in a row. A word also counts as its class, so what was
learned about electricians holds for plumbers.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from pathlib import Path

from recall_retrievers.gate.phrases import BOUNDARY, Phrases, Sentence, tokens_of

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


CUES = {
    "earlier": "earlier talk: you said, we discussed, remind me what",
    "resume": "going on: continue, where were we",
    "habit": "as always: the usual, the same again",
    "pointing": "something without its name: that book, the other one, did she reply",
    "wish": "advice that depends on who asks: what should I wear",
    "own": "something that only the asker's memories know: my sister, did I, the landlord",
    "asks": "a question or a request: when is, did, cancel",
    "abstract": "an assumption, or a cause in general: if I had, the reason why my",
    "wording": "a question about words, not about their meaning: how do you say",
    "note": "something to remember: remember that I",
}
"""The kinds of cues, and what they stand for."""

_MARKS = {
    "first_name": "a first name, where it stands alone",
    "self": "the asker, in a question",
    "how_to": "a question about how things are done, or a text to be written",
    "statement": "the beginning of a sentence that states something",
    "follow_up": "the beginning of a message that makes sense only after another",
    "back": "a question about a thing in the sentence before",
    "lookalike": "what only looks like a cue: my code, the deadline for taxes",
}
"""Further kinds of phrases, which decide whether a cue counts."""

_NEEDED = ("task", "filler", "being", "things")  # classes of words that every language has
_DATA = Path(__file__).parent
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Language:
    """One language's words of every class, its cues, and the weights of its words."""

    code: str
    common: frozenset[str]  # small words by which it is recognised
    words: Mapping[str, frozenset[str]]
    phrases: Phrases
    written_in_han: bool  # it is recognised by its letters instead
    learned: Learned


def load_language(name: str, extra: Mapping[str, Sequence[str]]) -> Language:
    """A language by its code, or by the path of a TOML file of your own.

    Raises:
        ValueError: When there is no such language, or its file lacks a part.
    """
    file = Path(name) if name.endswith(".toml") else _DATA / f"{name}.toml"
    if not file.is_file():
        known = ", ".join(sorted(path.stem for path in _DATA.glob("*.toml")))
        raise ValueError(f"no language {name!r}; there are {known}, or the path of a TOML file")
    return _language(file, tuple((kind, tuple(phrases)) for kind, phrases in extra.items()))


@cache
def _language(file: Path, extra: tuple[tuple[str, tuple[str, ...]], ...]) -> Language:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    beside = file.with_suffix(".json")
    weights = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    missing = {"words", "cues"} - data.keys() or set(_NEEDED) - data["words"].keys()
    if missing:
        raise ValueError(f"{file.name} must have {', '.join(sorted(missing))}, if empty")
    words = {name: entries.split() for name, entries in data["words"].items()}
    words.setdefault("name", (_DATA / "names.txt").read_text(encoding="utf-8").split())
    cues = {kind: list(phrases) for kind, phrases in data["cues"].items()}
    unknown = cues.keys() - CUES.keys() - _MARKS.keys()
    if unknown:
        known = ", ".join([*CUES, *_MARKS])
        raise ValueError(f"{file.name} has cues {sorted(unknown)}; known are {known}")
    for kind, phrases in extra:
        cues.setdefault(kind, []).extend(phrases)
    common = data.get("common", "")
    return Language(
        code=file.stem,
        common=frozenset(common.split()),
        words={name: frozenset(map(str.lower, entries)) for name, entries in words.items()},
        phrases=Phrases(cues, words),
        written_in_han=bool(_HAN.search(common)),
        learned=Learned(classes_of(words), **weights),
    )


def likely(text: str, languages: Sequence[Language]) -> list[Language]:
    """The languages that a text may be in; several where no word decides."""
    han = bool(_HAN.search(text))
    same_letters = [one for one in languages if one.written_in_han == han]
    # A single letter decides nothing: "s" is in "when's" as in "s'il".
    tokens = {token.lower() for token in tokens_of(text) if len(token) > 1}
    counts = [len(tokens & one.common) for one in same_letters]
    most = max(counts, default=0)
    return [one for one, count in zip(same_letters, counts, strict=True) if han or count == most]
