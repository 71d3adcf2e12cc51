"""Phrases looked up among the words of a sentence, all of them at once, in one walk.

A phrase is written as words with blanks between them:

    my usual            these words, one after the other
    book|order it       either word
    ?please continue    a word that may be missing
    my <person>         any word of that class; classes are named in the language's file
    <name>s             the same with an ending
    what .. again       up to four words between, "..." up to twelve; never across a boundary
    | go on |           a boundary: an end of the sentence, or a comma

In Chinese, which writes no blanks, every character counts as a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from recall_stages.letters import CJK

BOUNDARY = "|"

_GAPS = {"..": 4, "...": 12}
_TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+")


class Match(NamedTuple):
    """A phrase that was found: what kind of cue it is, and which tokens it spans."""

    kind: str
    start: int
    end: int


@dataclass(slots=True)
class _Node:
    """A place within phrases.

    Attributes:
        named: What follows here, by how the phrase writes it: a word, words to choose from, a gap.
        onward: What follows each word.
        gaps: How many words may be passed over, and what follows these.
        kinds: The kinds of the phrases that end here.
        skips: Where a phrase may go on without a word, as the next one may be missing.
    """

    named: dict[str, _Node] = field(default_factory=dict)
    onward: dict[str, list[_Node]] = field(default_factory=dict)
    gaps: list[tuple[int, _Node]] = field(default_factory=list)
    kinds: dict[str, None] = field(default_factory=dict)
    skips: list[_Node] = field(default_factory=list)


def tokens_of(text: str) -> list[str]:
    """The words of a text as they stand; apostrophes and hyphens part them.

    Examples:
        >>> tokens_of("What's my to-do list?"), tokens_of("订一次 pizza")
        (['What', 's', 'my', 'to', 'do', 'list'], ['订', '一', '次', 'pizza'])
    """
    return _TOKEN.findall(text)


class Phrases:
    """The phrases of one language.

    Args:
        cues: The phrases of each kind.
        words: The words of each class that phrases may name; ``_`` joins the words of one entry.

    Raises:
        ValueError: When a phrase names a class that is not there, or says nothing.

    Examples:
        >>> known = Phrases({"habit": ["my <usual>"]}, {"usual": ["usual", "old_favourite"]})
        >>> known.find(["|", "book", "my", "old", "favourite", "|"])
        [Match(kind='habit', start=2, end=5)]
    """

    def __init__(
        self, cues: Mapping[str, Sequence[str]], words: Mapping[str, Sequence[str]]
    ) -> None:
        self._words = words
        self._root = _Node()
        for kind, phrases in cues.items():
            for phrase in phrases:
                self._grow(phrase).kinds[kind] = None
        _join(self._root)

    def find(self, tokens: Sequence[str]) -> list[Match]:
        """Every phrase among lower-case tokens, in order; phrases may lie within each other."""
        found: dict[Match, None] = {}
        count = len(tokens)
        for start in range(count):
            if tokens[start] not in self._root.onward:
                continue
            ahead = [(self._root, start)]
            while ahead:
                node, place = ahead.pop()
                for kind in node.kinds:
                    found[Match(kind, start, place)] = None
                if place == count:
                    continue
                following = node.onward.get(tokens[place])
                if following:
                    ahead += [(each, place + 1) for each in following]
                if node.gaps:
                    ahead += _beyond(node, place, tokens)
        return list(found)

    def _grow(self, phrase: str) -> _Node:
        """The place where a phrase ends; what it shares with others is there already."""
        items = phrase.split()
        if all(item in (BOUNDARY, *_GAPS) or item.startswith("?") for item in items):
            raise ValueError(f"phrase {phrase!r} holds no word that must be there")
        node = self._root
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
        """Let the words that an item stands for lead from one place to another."""
        if item.startswith("?"):
            node.skips.append(following)
        for entry in self._entries(item.removeprefix("?")):
            if not entry:
                raise ValueError(f"{item!r} in a phrase holds no word")
            here = node
            for token in entry[:-1]:
                between = _Node()
                here.onward.setdefault(token, []).append(between)
                here = between
            here.onward.setdefault(entry[-1], []).append(following)

    def _entries(self, item: str) -> Iterator[list[str]]:
        """The words that an item stands for, each as its tokens."""
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


def _join(node: _Node) -> None:
    """Add to each place what may follow where words that may be missing are."""
    for following in node.named.values():
        _join(following)
    for skipped in node.skips:
        for word, places in skipped.onward.items():
            node.onward.setdefault(word, []).extend(places)
        node.gaps.extend(skipped.gaps)
        node.kinds.update(skipped.kinds)


def _beyond(node: _Node, place: int, tokens: Sequence[str]) -> Iterator[tuple[_Node, int]]:
    """Where a gap may end: at a word that goes on from there."""
    for longest, after in node.gaps:
        for end in range(place, min(place + longest + 1, len(tokens))):
            if tokens[end] in after.onward:
                yield after, end
            if tokens[end] == BOUNDARY:
                break
