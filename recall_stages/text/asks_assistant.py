"""Whether a question asks what the assistant said: "which hotel did you suggest?"."""

from __future__ import annotations

import re

_SAID = """
    recommend(?:ed)? suggest(?:ed)? advised? proposed? said say told tell mention(?:ed)?
    explain(?:ed)? list(?:ed)? offer(?:ed)? outlined? described? gave give warn(?:ed)? point(?:ed)?
    promised? sent send showed show wrote write answer(?:ed)? replied reply quoted? called call
"""
_PAST = """
    recommended suggested advised proposed told mentioned explained listed offered outlined
    described gave warned promised sent showed wrote answered replied quoted
"""
_ASKS = re.compile(
    r"\b(?:did|have|had|were) you(?: (?!i\b|we\b)\w+)? "
    rf"(?:{'|'.join(_SAID.split())})\b"
    rf"|\byou(?:'d|'ve| had| have| just| once| also| already)* (?:{'|'.join(_PAST.split())})\b"
    r"|\byour (?:recommendation|suggestion|advice|proposal|explanation|answer|reply|replies)"
    r"|\b(?:the|my) (?:assistant|ai|bot|chatbot)\b"
    "|[你您](?:之前|以前|当时|上次|曾经|曾|都|还|已经)*(?:给我|向我|跟我|对我|为我)?"
    "(?:推荐|建议|告诉|提到|介绍|提议|说)(?:了|过|的|给)|[你您]的(?:建议|推荐|回答|答复|解释)",
    re.IGNORECASE,
)


def asks_the_assistant(text: str) -> bool:
    """Whether a question is about something that the assistant said before.

    Advice that is wanted now ("what would you suggest?") was not said before.

    Examples:
        >>> asks_the_assistant("Which hotel did you suggest?")
        True
        >>> asks_the_assistant("你推荐了哪本书？")
        True
        >>> asks_the_assistant("Which hotel would you suggest?")
        False
    """
    return _ASKS.search(text) is not None
