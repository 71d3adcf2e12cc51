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

from recall_stages.text.split_words import CJK

BOUNDARY = "|"

_GAPS = {"..": 4, "...": 12}
_TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+")


class Match(NamedTuple):
    """A phrase that was found: what kind of cue it is, and which tokens it spans."""

    kind: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class _Node:
    """A place within one phrase, or within several that begin alike.

    Attributes:
        named: What follows here, by how the phrase writes it: a word, words to choose from, a gap.
        onward: What follows each word.
        gaps: How many words may be passed over, and what follows these.
        kinds: The kinds of the phrases that end here.
        skips: Where a phrase may go on without a word, as the next one may be missing.
    """

    named: dict[str, _Node] = field(default_factory=dict)
    onward: dict[str, _Nodes] = field(default_factory=dict)
    gaps: list[tuple[int, _Node]] = field(default_factory=list)
    kinds: dict[str, None] = field(default_factory=dict)
    skips: list[_Node] = field(default_factory=list)


_Nodes = tuple[_Node, ...]


@dataclass(slots=True)
class _Place:
    """Where the words so far lead, in all phrases at once: from here, a word leads to one place.

    Attributes:
        onward: Where each word leads.
        gaps: How many words may be passed over, and what follows these.
        kinds: The kinds of the phrases that end here.
    """

    onward: dict[str, _Place]
    gaps: list[tuple[int, _Place]]
    kinds: tuple[str, ...]


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
        self._entries_of: dict[str, list[list[str]]] = {}
        root = _Node()
        for kind, phrases in cues.items():
            for phrase in phrases:
                self._grow(root, phrase).kinds[kind] = None
        self._start = _placed((root,), {})

    def find(self, tokens: Sequence[str]) -> list[Match]:
        """Every phrase among lower-case tokens, in order; phrases may lie within each other."""
        found: dict[Match, None] = {}
        for start, first in enumerate(tokens):
            if first not in self._start.onward:
                continue
            ahead = [(self._start, start)]
            while ahead:
                place, end = ahead.pop()
                while end < len(tokens):
                    if place.gaps:
                        ahead += _beyond(place, end, tokens)
                    following = place.onward.get(tokens[end])
                    if following is None:
                        break
                    place, end = following, end + 1
                    for kind in place.kinds:
                        found[Match(kind, start, end)] = None
        return list(found)

    def _grow(self, node: _Node, phrase: str) -> _Node:
        """The place where a phrase ends; what it shares with others is there already."""
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
        """Let the words that an item stands for lead from one place to another."""
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


def _placed(nodes: _Nodes, known: dict[_Nodes, _Place]) -> _Place:
    """Several places within single phrases as the one in which they all are."""
    reached = list(_without_missing(nodes))
    onward: dict[str, _Nodes] = reached[0].onward.copy()
    for node in reached[1:]:
        for word, following in node.onward.items():
            onward[word] = (*onward.get(word, ()), *following)
    gaps = [(most, (after,)) for node in reached for most, after in node.gaps]
    place = known[nodes] = _Place(
        onward={word: known.get(each) or _placed(each, known) for word, each in onward.items()},
        gaps=[(most, known.get(after) or _placed(after, known)) for most, after in gaps],
        kinds=tuple(dict.fromkeys(kind for node in reached for kind in node.kinds)),
    )
    return place


def _without_missing(nodes: _Nodes) -> Iterator[_Node]:
    """The nodes, and those that are reached where words that may be missing are."""
    for node in nodes:
        yield node
        yield from _without_missing(tuple(node.skips))


def _beyond(place: _Place, start: int, tokens: Sequence[str]) -> Iterator[tuple[_Place, int]]:
    """Where a gap may end: at a word that goes on from there."""
    for longest, after in place.gaps:
        for end in range(start, min(start + longest + 1, len(tokens))):
            if tokens[end] in after.onward:
                yield after, end
            if tokens[end] == BOUNDARY:
                break
