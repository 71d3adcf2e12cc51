"""The engine both languages share: tokens, tables of patterns, and how they are applied.

A language has a lexer, which makes tokens, and tables from patterns to functions:

    "the? DAY of? MONTH": day_of_month

A pattern is a sequence of words. A word in CAPITALS names a kind of token, and the function gets
the token's value. Other words stand for themselves, `a|b` is either word, and a `?` after a word
makes it optional. Of several matching patterns the longest one counts whose function returns a
meaning; its tokens become one token. A table is stored as a tree of words, so a large table costs
a question no more than a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from recall_retrievers.timeline.grammar.calendar_math import WEEK, start_of
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading

Meaning = Reading | Cycle | Duration | Mapping[str, object]
"""The result of a rule: a value, or a mapping from kinds to values for further patterns."""

Rule = Callable[..., "Meaning | None"]
Table = Mapping[str, Rule]
Expression = tuple[Reading, int, int]
"""A reading, and the start and the end of its words in the text."""


def last_first(rule: Rule) -> Rule:
    """The rule for an order that says the first of its parts last."""
    return lambda now, *parts: rule(now, parts[-1], *parts[:-1])


COMPLETE = "COMPLETE"
"""The kind of a reading that has its preposition, so that nothing can be added."""


def complete(_: Now, when: Reading) -> Mapping[str, object]:
    """A time with its preposition; an earlier one is of other words: "what I worked on at noon"."""
    return {COMPLETE: when}


_NEAR = 3 * WEEK  # a day further off says nothing about a weekday beside it
_LINKS = frozenset({"and", "or", "&", ",", "和", "与", "、"})


@dataclass(slots=True)
class Token:
    """A word of the question: its place, and the value for a rule under each of its kinds."""

    text: str
    start: int
    end: int
    kinds: Mapping[str, object]


@dataclass(slots=True)
class _Node:
    following: dict[str, _Node] = field(default_factory=dict)
    rule: Rule | None = None


class Grammar:
    """Tables of patterns, ready to be applied; no two rules have one pattern.

    It may begin at the end of the sentence, so that "last month" is read before "the end of ...".
    """

    def __init__(self, *tables: Table, backwards: bool = True) -> None:
        self.words: set[str] = set()
        self._root = _Node()
        self._backwards = backwards
        for table in tables:
            for pattern, rule in table.items():
                self._add(self._root, pattern.split(), pattern, rule)

    def _add(self, node: _Node, elements: list[str], pattern: str, rule: Rule) -> None:
        if not elements:
            if node.rule not in (None, rule):
                msg = f"two rules share the pattern {pattern!r}; make one of them longer"
                raise ValueError(msg)
            node.rule = rule
            return
        element, rest = elements[0], elements[1:]
        if element.endswith("?"):
            self._add(node, rest, pattern, rule)
            element = element[:-1]
        for word in element.split("|"):
            self.words.add(word)
            self._add(node.following.setdefault(word, _Node()), rest, pattern, rule)

    def rewrite(self, tokens: list[Token], now: Now) -> None:
        """Replace every run of tokens that a rule understands, until no rule does.

        Every replacement makes the list shorter or the token more specific, so the loop ends.
        """
        beginnings = self._root.following.keys()
        at = len(tokens) - 1 if self._backwards else 0
        looked: list[int] = []  # forwards only: how far every earlier place looked ahead
        while 0 <= at < len(tokens):
            last = at
            if not beginnings.isdisjoint(tokens[at].kinds):
                replaced, last = self._rewrite_at(tokens, at, now)
                if replaced:
                    if not self._backwards:  # try the places again that looked at the new token
                        at = next((place for place, far in enumerate(looked) if far >= at), at)
                        del looked[at:]
                    continue
            looked.append(last)
            at += -1 if self._backwards else 1

    def _rewrite_at(self, tokens: list[Token], at: int, now: Now) -> tuple[bool, int]:
        """Whether a run that begins here was replaced, and the last token that was looked at."""
        matches, last = _matches(self._root, tokens, at)
        for end, rule, values in matches:
            try:
                meaning = rule(now, *values)
            except (ValueError, OverflowError):  # 30 February, 100,000 years ago
                continue
            if meaning is not None:
                tokens[at:end] = [_merged(tokens[at:end], meaning)]
                return True, at
        return False, last


_Match = tuple[int, Rule, tuple[object, ...]]


def _matches(root: _Node, tokens: list[Token], at: int) -> tuple[list[_Match], int]:
    """The patterns that begin at a token, the longest first, and the last token looked at."""
    matches: list[_Match] = []
    ways: list[tuple[_Node, int, tuple[object, ...]]] = [(root, at, ())]
    for node, here, values in ways:
        if node.rule is not None:
            matches.append((here, node.rule, values))
        if not node.following or here == len(tokens):
            continue
        for kind, value in tokens[here].kinds.items():
            following = node.following.get(kind)
            if following is not None:
                handed = (*values, value) if kind.isupper() else values
                ways.append((following, here + 1, handed))
    # Breadth first finds short patterns first; those of one length in the order of the kinds.
    if len(matches) > 1:
        matches.sort(key=lambda match: -match[0])
    return matches, ways[-1][1]


def _merged(tokens: list[Token], meaning: Meaning) -> Token:
    kinds = meaning if isinstance(meaning, Mapping) else {meaning.KIND: meaning}
    return Token("", tokens[0].start, tokens[-1].end, kinds)


def read_all(
    groups: Iterable[list[Token]],
    now: Now,
    grammars: Iterable[Grammar],
    leads: Grammar,
    share: Callable[[list[Token], Now], None] = lambda *_: None,
) -> list[Expression]:
    """The readings of every group of tokens.

    The ``leads`` are what may stand around a reading; a language may ``share`` units before them.
    """
    expressions: list[Expression] = []
    for tokens in groups:
        for grammar in grammars:
            grammar.rewrite(tokens, now)
        share(tokens, now)
        _settle(tokens, now)
        leads.rewrite(tokens, now)
        for token in tokens:
            reading = token.kinds.get(Reading.KIND) or token.kinds.get(COMPLETE)
            if isinstance(reading, Reading):
                expressions.append((reading, token.start, token.end))
    return expressions


def _settle(tokens: list[Token], now: Now) -> None:
    """Turn cycles that may stand alone into their latest occurrence: "in March", "on Tuesday".

    In "May and June 2022" the year holds for both.
    """
    _share_a_week(tokens, now)
    # From the left, so that a neighbour on the right still shows whether it has its own year.
    for at in range(len(tokens)):
        cycle = tokens[at].kinds.get(Cycle.KIND)
        if not isinstance(cycle, Cycle) or not cycle.alone:
            continue
        reading = _with_its_neighbour(tokens, at, cycle, now) or cycle.latest(now)
        if reading is not None:
            tokens[at] = replace(tokens[at], kinds={Reading.KIND: reading})


def _share_a_week(tokens: list[Token], now: Now) -> None:
    """In "Monday, Tuesday and Friday last week" all three days lie in that week."""
    for at in range(len(tokens) - 3, -1, -1):
        weekday = tokens[at].kinds.get(Cycle.KIND)
        day = tokens[at + 2].kinds.get(Reading.KIND)
        if tokens[at + 1].text not in _LINKS or not isinstance(weekday, Cycle):
            continue
        if weekday.unit != "week" or not isinstance(day, Reading) or day.grain != "day":
            continue
        if day.start is None or abs(now.today - day.start) > _NEAR:
            continue
        shared = weekday.at(start_of("week", day.start, now.week_start))
        if shared is not None and shared.start is not None and shared.start < day.start:
            tokens[at] = replace(tokens[at], kinds={Reading.KIND: shared})


def _with_its_neighbour(tokens: list[Token], at: int, cycle: Cycle, now: Now) -> Reading | None:
    if at + 2 >= len(tokens) or tokens[at + 1].text not in _LINKS:
        return None
    neighbour = tokens[at + 2].kinds.get(Reading.KIND)
    if not isinstance(neighbour, Reading) or neighbour.start is None:
        return None
    if cycle.unit != "year" or cycle.grain != neighbour.grain:
        return None
    return cycle.starting_before(now, neighbour.start)
