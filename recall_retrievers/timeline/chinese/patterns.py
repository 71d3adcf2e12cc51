"""Chinese: from a text to its readings.

The modules `amounts`, `dates`, `holidays`, `relative`, `phrases` and `ranges` hold the tables:
patterns of time expressions, each with the function that gives its meaning. To teach the grammar
an expression, add a line to a table. `engine.grammar` explains the patterns.

The grammar is our own: no small library reads Chinese questions. jionlp brings 218 MB and compiles
C, and dateparser reads one question in six. The meanings are shared with English.
"""

import re

from recall_retrievers.timeline.chinese.amounts import AMOUNTS, CLOCKS
from recall_retrievers.timeline.chinese.dates import DATES, LUNAR
from recall_retrievers.timeline.chinese.holidays import HOLIDAYS
from recall_retrievers.timeline.chinese.lexer import Tokenizer
from recall_retrievers.timeline.chinese.phrases import EVERY, LEADS, PARTS, PHRASES, RANGES, VAGUE
from recall_retrievers.timeline.chinese.relative import RELATIVE
from recall_retrievers.timeline.chinese.words import WORDS
from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.clauses import Clauses
from recall_retrievers.timeline.grammar.engine import Expression, Grammar, Token, read_all
from recall_retrievers.timeline.grammar.reading import Cycle, Now, Reading
from recall_retrievers.timeline.meanings import cycles, ranges

_LINKS = frozenset("和与、跟及或") | {"以及", "还有"}


def read(text: str, now: Now) -> list[Expression]:
    """Every time expression of a Chinese text, with its place."""
    return _CLAUSES.apply(text, now, _read) or _part_of_today(text, now)


def _read(text: str, now: Now) -> list[Expression]:
    return read_all(_TOKENIZER.tokenize(text), now, _GRAMMARS, _LEADS, _share_units)


def _share_units(tokens: list[Token], now: Now) -> None:
    """In 上周二和周四 and in 去年三月和五月 the second lies in the week, the year of the first."""
    for before, link, token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        first, second = _when(before), token.kinds.get(Cycle.KIND)
        if link.text not in _LINKS or first is None or not isinstance(second, Cycle):
            continue
        if isinstance(first, Cycle) and first.unit == second.unit:
            continue  # no unit to share: 三月和五月
        anchor = ranges.resolved(now, first)
        if anchor is None or anchor.start is None or anchor.grain != second.grain:
            continue
        try:
            shared = second.at(cal.start_of(second.unit, anchor.start, now.week_start))
        except ValueError:  # 2月1号和30号
            continue
        if shared is None or shared.start is None or shared.start <= anchor.start:
            continue
        if shared.start <= now.moment or anchor.start > now.moment:
            token.kinds = {Reading.KIND: shared}


def _when(token: Token) -> Reading | Cycle | None:
    meaning = token.kinds.get(Reading.KIND) or token.kinds.get(Cycle.KIND)
    return meaning if isinstance(meaning, Reading | Cycle) else None


_GRAMMARS = (
    Grammar(CLOCKS, backwards=False),
    Grammar(AMOUNTS, DATES, LUNAR, HOLIDAYS, RELATIVE, PARTS, backwards=False),
    Grammar(VAGUE, PHRASES, backwards=False),
    Grammar(EVERY, RANGES, backwards=False),
)
_LEADS = Grammar(LEADS)
_TOKENIZER = Tokenizer(
    {word for grammar in (*_GRAMMARS, _LEADS) for word in grammar.words} | _LINKS,
    {word for pattern in (*VAGUE, *HOLIDAYS) if " " not in pattern for word in pattern.split("|")},
)

# --- Clauses around a time: 自从三月搬家以来 ------------------------------------------------------

_PARTS = "|".join(word for word, kinds in WORDS.items() if "PART" in kinds)
_PART_FIRST = re.compile(rf"[我你]?们?({_PARTS})(?![饭餐好安课班会])[^？?]*了")

_CLAUSES = Clauses(
    openings=(),
    closings=(
        (
            re.compile("自从?|打?从"),
            re.compile("[^，。？！,?!]{1,12}?(?:以来|以后|之后|到现在|至今)"),
            ranges.up_to_now,
        ),
    ),
    mention=re.compile("(?!)"),
    mentioned=re.compile(
        "[^，。？！,?!]{0,6}(?:提到|提过|说过?|讲过?|聊到|写到?)[^，。？！,?!]{0,3}"
    ),
)


def _part_of_today(text: str, now: Now) -> list[Expression]:
    """中午我吃了什么: a part of the day at the beginning, of today or of the day before."""
    match = _PART_FIRST.match(text)
    if match is None:
        return []
    ends = WORDS[match[1]]["PART"]
    reading = cycles.part_of_day(now, ends).latest(now)  # type: ignore[arg-type]  # a PART has its hours
    return [(reading, *match.span(1))] if reading else []
