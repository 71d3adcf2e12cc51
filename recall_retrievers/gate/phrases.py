"""A message as sentences of tokens, and the search for many phrases in a sentence, in one walk.

A phrase is written as words with blanks between them:

    my usual            these words, one after the other
    book|order it       either word
    ?please continue    a word that may be missing
    my <person>         any word of that class; classes are named in the language's file
    <name>s             the same with an ending
    what .. again       up to four words between, "..." up to twelve; never over a boundary
    | go on |           a boundary: an end of the sentence, or a comma

In Chinese, which writes no blanks, every character counts as a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from recall_retrievers.text.words import CJK

BOUNDARY = "|"

_GAPS = {"..": 4, "...": 12}
_TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+")


class Match(NamedTuple):
    """A phrase in a sentence: its kind of cue, and the tokens that it spans."""

    kind: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class _Node:
    """A place within one phrase, or within several that begin alike."""

    named: dict[str, _Node] = field(default_factory=dict)  # the next, by notation: word, gap, ...
    onward: dict[str, tuple[_Node, ...]] = field(default_factory=dict)  # the next, by word
    gaps: list[tuple[int, _Node]] = field(default_factory=list)  # words to pass over, and the next
    kinds: dict[str, None] = field(default_factory=dict)  # of the phrases that end here
    skips: list[_Node] = field(default_factory=list)  # behind an optional word


def tokens_of(text: str) -> list[str]:
    """The words of a text as they stand; apostrophes and hyphens separate them."""
    return _TOKEN.findall(text)


class Phrases:
    """The phrases of one language.

    Raises:
        ValueError: When a phrase names an unknown class, or has no word that must be there.

    Examples:
        >>> known = Phrases({"habit": ["my <usual>"]}, {"usual": ["usual", "old_favourite"]})
        >>> known.find(["|", "book", "my", "old", "favourite", "|"])
        [Match(kind='habit', start=2, end=5)]
    """

    def __init__(
        self, cues: Mapping[str, Sequence[str]], words: Mapping[str, Sequence[str]]
    ) -> None:
        self._words = words
        self._entries_of: dict[str, list[list[str]]] = {}
        root = _Node()
        for kind, phrases in cues.items():
            for phrase in phrases:
                self._grow(root, phrase).kinds[kind] = None
        self._start = [*_without_missing([root])]

    def find(self, tokens: Sequence[str]) -> list[Match]:
        """Every phrase among lower-case tokens, in order; phrases may lie within each other."""
        matches: dict[Match, None] = {}
        for start, first in enumerate(tokens):
            if not any(first in node.onward for node in self._start):
                continue
            ahead = [(self._start, start)]
            while ahead:
                nodes, end = ahead.pop()
                while nodes and end < len(tokens):
                    ahead += _beyond(nodes, end, tokens)
                    led = [one for node in nodes for one in node.onward.get(tokens[end], ())]
                    nodes, end = [*_without_missing(led)], end + 1
                    matches |= {Match(kind, start, end): None for x in nodes for kind in x.kinds}
        return list(matches)

    def _grow(self, node: _Node, phrase: str) -> _Node:
        """The node where a phrase ends; phrases that begin alike share their first nodes."""
        items = phrase.split()
        if all(item in (BOUNDARY, *_GAPS) or item.startswith("?") for item in items):
            raise ValueError(f"phrase {phrase!r} holds no word that must be there")
        for item in items:
            following = node.named.get(item)
            if following is None:
                following = node.named[item] = _Node()
                if item in _GAPS:
                    node.gaps.append((_GAPS[item], following))
                else:
                    self._lead(node, item, following)
            node = following
        return node

    def _lead(self, node: _Node, item: str, following: _Node) -> None:
        """Let the words of an item lead from one node to another."""
        if item.startswith("?"):
            node.skips.append(following)
        item = item.removeprefix("?")
        if item not in self._entries_of:  # many phrases name the same class
            self._entries_of[item] = list(self._entries(item))
        alone = (following,)
        for entry in self._entries_of[item]:
            if not entry:
                raise ValueError(f"{item!r} in a phrase holds no word")
            here = node
            for token in entry[:-1]:
                between = _Node()
                here.onward[token] = (*here.onward.get(token, ()), between)
                here = between
            others = here.onward.get(entry[-1])
            here.onward[entry[-1]] = (*others, following) if others else alone

    def _entries(self, item: str) -> Iterator[list[str]]:
        """The words of an item; every word as its tokens."""
        if item == BOUNDARY:
            yield [BOUNDARY]
            return
        for part in item.split("|"):
            if not part.startswith("<"):
                yield tokens_of(part.replace("_", " ").lower())
                continue
            name, _, ending = part[1:].partition(">")
            if name not in self._words:
                raise ValueError(f"<{name}> is no class; there are {', '.join(self._words)}")
            for entry in self._words[name]:
                yield tokens_of(f"{entry}{ending}".replace("_", " ").lower())


def _without_missing(nodes: Iterable[_Node]) -> Iterator[_Node]:
    """The nodes, and the nodes after optional words."""
    for node in nodes:
        yield node
        yield from _without_missing(node.skips)


def _beyond(
    nodes: Sequence[_Node], start: int, tokens: Sequence[str]
) -> Iterator[tuple[list[_Node], int]]:
    """The nodes after a gap, and their positions: a gap ends at a word that leads on."""
    for longest, after in (gap for node in nodes for gap in node.gaps):
        reached = [*_without_missing([after])]
        for end in range(start, min(start + longest + 1, len(tokens))):
            if any(tokens[end] in node.onward for node in reached):
                yield reached, end
            if tokens[end] == BOUNDARY:
                break


_LONGEST = 1_000  # characters; of a longer message, which holds a paste, only the two ends count
_END = 400
# Bounded, so that an opening mark without a closing one costs little.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,300}`"
    r'|"[^"]{1,600}"|“[^“”]{1,600}”|„[^„“”]{1,600}[“”]|«[^«»]{1,600}»|»[^«»]{1,600}«'
    r"|「[^「」]{1,600}」|『[^『』]{1,600}』|《[^《》]{1,100}》|‘[^‘’]{1,300}’(?!\w)"
    r"|(?<!\w)'[^'\n]{2,300}'(?!\w)",
    re.DOTALL,
)
_SENTENCE = re.compile(r"(?<=[.?!…])[\"'”»)]*\s+|(?<=[。？！；])|\n+")
_CLAUSE = re.compile(r"[,;:，、：；]\s*(?!\d)|\s[-–—]\s")
_OPENING = re.compile(r"^[\s¿¡(\[*#>-]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence, with boundaries at its ends and commas; the tokens in lower case."""

    words: tuple[str, ...]
    tokens: tuple[str, ...]
    is_question: bool = False


def without_material(text: str) -> str:
    """A message without its quotations; the whole message, where it is nothing else."""
    if len(text) > _LONGEST:
        text = f"{text[:_END]}\n{text[-_END:]}"
    rest = _QUOTED.sub("…", text)
    return rest if any(letter.isalpha() for letter in rest) else text


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of a text."""
    for part in _SENTENCE.split(text):
        words = [BOUNDARY]
        for clause in _CLAUSE.split(_OPENING.sub("", part)):
            tokens = tokens_of(clause)
            if tokens:
                words += [*tokens, BOUNDARY]
        if len(words) > 1:
            lower = tuple(word.lower() for word in words)
            yield Sentence(tuple(words), lower, part.rstrip(" \"'”»)*").endswith(("?", "？")))
