"""Chinese clauses around a time: 自从三月搬家以来, 我5月8日提到的上周五."""

from __future__ import annotations

import re

from recall_retrievers.timeline.chinese.words import WORDS
from recall_retrievers.timeline.engine.clauses import Clauses
from recall_retrievers.timeline.engine.grammar import Expression
from recall_retrievers.timeline.engine.reading import Now
from recall_retrievers.timeline.meanings import cycles, ranges

_PARTS = "|".join(word for word, kinds in WORDS.items() if "PART" in kinds)
_PART_FIRST = re.compile(rf"[我你]?们?({_PARTS})(?![饭餐好安课班会])[^？?]*了")

CLAUSES = Clauses(
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


def part_of_today(text: str, now: Now) -> list[Expression]:
    """中午我吃了什么: a part of the day at the beginning, of today or of the day before."""
    match = _PART_FIRST.match(text)
    if match is None:
        return []
    ends = WORDS[match[1]]["PART"]
    reading = cycles.part_of_day(now, ends).latest(now)  # type: ignore[arg-type]  # a PART has its hours
    return [(reading, *match.span(1))] if reading else []
