"""English clauses around a time: "since I moved in March", "as mentioned on 5 May"."""

from __future__ import annotations

import re

from recall_retrievers.timeline.engine.clauses import Clauses
from recall_retrievers.timeline.engine.reading import Now, Reading
from recall_retrievers.timeline.meanings import ranges

_COARSE = ("month", "quarter", "season", "year", "decade")
_SAID = (
    "mentioned|said|told|noted|stated|described|discussed|reported|wrote|written|recorded|shared"
)
# A clause ends where another question begins: "since I like hiking what did I do in March?".
_WORDS = r"(?:(?!(?:what|which|who|whom|how|did|does|do|when|where|why|since)\b)[\w’'-]+\s+)"
_SUBJECT = r"(?:i|we|he|she|they|you|it|(?:my|our|his|her|their|the)\s+\w+)"
# "Since you asked", "especially since I like it" and "since it's already May" give a reason.
_REASON = r"(?!you\s+(?:ask|mention|said|told|want|like)|(?:it|there|that)(?:['’]s|\s+is)\b)"
_STRESS = r"(?<!especially )(?<!particularly )(?<!mainly )(?<!but )(?<!and )"


def _onwards(now: Now, reading: Reading) -> Reading | None:
    """After I moved in March: at some time in March, or later."""
    return ranges.onwards(now, reading) if reading.grain in _COARSE else None


def _until(now: Now, reading: Reading) -> Reading | None:
    return ranges.until(now, reading) if reading.grain in _COARSE else None


CLAUSES = Clauses(
    openings=(
        (
            re.compile(
                rf"{_STRESS}\b(?:ever\s+)?since\s+{_REASON}{_WORDS}{{1,10}}$", re.IGNORECASE
            ),
            ranges.up_to_now,
        ),
        (re.compile(rf"\bafter\s+{_SUBJECT}\s+{_WORDS}{{1,8}}$", re.IGNORECASE), _onwards),
        (re.compile(rf"\bbefore\s+{_SUBJECT}\s+{_WORDS}{{1,8}}$", re.IGNORECASE), _until),
    ),
    closings=(),
    mention=re.compile(
        rf"(?:(?:,|\(|;|\bas\b)\s*(?:[\w’']+\s+){{0,4}}?(?:{_SAID})\b[^.?!,;]{{0,30}}?\s+"
        r"(?:(?:on|of|from|in)\s+)?|(?<=\s)as\s+of\s+)(?:the\s+)?[\w.,/\s-]{0,30}$",
        re.IGNORECASE,
    ),
    mentioned=re.compile(rf",?\s+[^.?!]{{0,20}}\b(?:{_SAID})\b[^.?!]{{0,60}}", re.IGNORECASE),
)
