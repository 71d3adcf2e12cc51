"""Times that a clause around them changes: "since I moved in March", "as I said on 5 May".

A clause holds words of any kind, so no pattern of tokens covers it. A language has a regular
expression for each clause, and looks with it at the text beside its readings.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from recall_retrievers.timeline.grammar.calendar_math import DAY
from recall_retrievers.timeline.grammar.engine import Expression
from recall_retrievers.timeline.grammar.reading import Now, Reading

_REACH = 90  # characters of a clause
_LONG = 1000  # characters; a pasted text mentions many days, and is not read anew for each
_NOON = timedelta(hours=12)
Meaning = Callable[[Now, Reading], Reading | None]


@dataclass(frozen=True, slots=True)
class Clauses:
    openings: tuple[tuple[re.Pattern[str], Meaning], ...]  # up to the time
    closings: tuple[
        tuple[re.Pattern[str], re.Pattern[str], Meaning], ...
    ]  # around it: 自从三月搬家以来
    mention: re.Pattern[str]  # before a date that only says when something was mentioned
    mentioned: re.Pattern[str]  # between such a date and a time that counts from it

    def apply(
        self, text: str, now: Now, read: Callable[[str, Now], list[Expression]]
    ) -> list[Expression]:
        """Read a text, and change the readings by the clauses around them."""
        expressions = read(text, now)
        if not expressions:
            return expressions
        if len(text) <= _LONG:
            expressions = self._from_the_mention(text, now, expressions, read)
        ends = [0, *(end for *_, end in expressions)]
        return [
            self._with_clause(text, now, each, taken)
            for each, taken in zip(expressions, ends, strict=False)
        ]

    def _with_clause(self, text: str, now: Now, expression: Expression, taken: int) -> Expression:
        reading, start, end = expression
        if reading.start is None or reading.soft or reading.recurrence:
            return expression
        has_its_own = reading.end in (None, now.moment)  # "since" stands in its words
        before = text[max(taken, start - _REACH) : start]
        for opening, meaning in self.openings:
            match = None if has_its_own else opening.search(before)
            changed = meaning(now, reading) if match else None
            if match and changed:
                return changed.or_else(reading), start - len(before) + match.start(), end
        after = text[end : end + _REACH]
        for opening, closing, meaning in self.closings:
            first, last = opening.match(text[start:end]), closing.match(after)
            changed = meaning(now, reading) if first and last else None
            if first and last and changed:
                return changed.or_else(reading), start, end + last.end()
        return expression

    def _from_the_mention(
        self,
        text: str,
        now: Now,
        expressions: list[Expression],
        read: Callable[[str, Now], list[Expression]],
    ) -> list[Expression]:
        """Count the times beside "as mentioned on 5 May" from that day; it stays an alternative."""
        for at, (reading, start, end) in enumerate(expressions):
            # "As of 5 May" is that day, too.
            day = (
                reading if reading.start else next((x for x in reading.others if x.start), reading)
            )
            if not (day.start and day.end) or day.end - day.start != DAY or day.recurrence:
                continue
            then = replace(now, moment=day.start + _NOON, elapsed=None)
            match = self.mention.search(text[max(0, start - _REACH) : end])
            mention = max(0, start - _REACH) + match.start() if match else 0
            earlier = read(text[:mention], then) if mention else []
            if _differs(earlier, expressions[:at]):
                *others, (last, first, _) = [(one.or_else(day), b, c) for one, b, c in earlier]
                return [*others, (last, first, end), *expressions[at + 1 :]]
            following = expressions[at + 1] if at + 1 < len(expressions) else None
            if following and self._leads(match, text[end : following[1]]):
                later = [(one, end + b, end + c) for one, b, c in read(text[end:], then)]
                if _differs(later[:1], [following]):
                    (one, _, close), *others = later
                    return [*expressions[:at], (one.or_else(day), start, close), *others]
        return expressions

    def _leads(self, mention: re.Match[str] | None, between: str) -> bool:
        """Whether a time further on counts from the day: "as I said on 5 May, last weekend"."""
        one_sentence = len(between) < _REACH and not re.search("[.?!。？！]", between)
        return bool((mention and one_sentence) or self.mentioned.fullmatch(between))


def _differs(counted: list[Expression], before: list[Expression]) -> bool:
    """Whether the day of the mention changes any reading: "on 3 May 2021" stays what it is.

    "Recently, as mentioned on 5 May" is best found on that day.
    """
    if all(one.soft for one, *_ in counted):
        return False
    bounds = [[one.bounds for one, *_ in each] for each in (counted, before)]
    return bounds[0] != bounds[1]
