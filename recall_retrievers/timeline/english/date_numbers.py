"""The numbers of an English sentence that are dates: 2023, 5/7, 5.3.21, "the 3rd", '99."""

from __future__ import annotations

import re

from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.neighbours import (
    STRANGE,
    find,
    follows,
    goes_no_further,
    has,
    is_chained,
    next_word,
    previous,
    words_before,
)
from recall_retrievers.timeline.english.titles import NUMBERED

_WHICH_MONTH = frozenset({"last", "this", "the", "next", "previous", "that", "every", "each"})
_BEFORE_THE_HOUR = frozenset({"before", "after", "at", "around", "by", "from", "until"})


def is_year(tokens: list[Token], at: int) -> bool:
    """Whether 2023 is a year: "in 2023", but not "in 2000 steps" or "think of 1984"."""
    token, ahead = tokens[at], next_word(tokens, at)
    number = token.kinds["YEAR"]
    if not (isinstance(number, int) and 1500 <= number <= 2199 and token.text.isdigit()):
        return False
    if ahead and (ahead.text in words.MEASURES or ahead.text == "%"):
        return False
    before = words_before(tokens, at)
    if before[:1] == ["of"] and before[1:] and before[1] in words.THOUGHT_OF:
        return False
    if before[:1] in (["in"], ["with"]) and any(
        token.text in NUMBERED for token in tokens[max(0, at - 6) : at]
    ):
        return False  # "the PIN that ends in 2019"
    if before[:1] == ["on"]:  # 2016 10 16
        return all(has(one, "DAY") for one in tokens[at + 1 : at + 3])
    return follows(before, words.YEAR_PREPOSITIONS) or is_chained(tokens, at, "SURE_YEAR")


def is_day_of_month(tokens: list[Token], at: int) -> bool:
    """Whether "the 3rd" is a day, and not a floor; and its month is not named."""
    if "MONTH" in tokens[at].kinds or not _is_meant_as_day(tokens, at):
        return False
    if _begins_hours(tokens, at) or _counts_a_thing(tokens, at):
        return False
    return goes_no_further(tokens, at) and not _leads_to_month(tokens, at)


def _begins_hours(tokens: list[Token], at: int) -> bool:
    """Whether it is an hour: "Monday 8-9am", "Friday 2 to 4"."""
    link, number = [*tokens[at + 1 : at + 3], None, None][:2]
    return (
        "ORD" not in tokens[at].kinds
        and link is not None
        and link.text in ("-", "to", "until", "till")
        and has(number, "HOUR", "HM")
    )


def _counts_a_thing(tokens: list[Token], at: int) -> bool:
    """Whether it is no day: "the first and the second time", "the second or third attempt"."""
    following = [token for token in tokens[at + 1 : at + 5] if token.text != "the"]
    if not (len(following) > 1 and following[0].text in ("and", "or") and has(following[1], "ORD")):
        return False
    return not goes_no_further(tokens, tokens.index(following[1], at))


def _is_meant_as_day(tokens: list[Token], at: int) -> bool:
    behind = previous(tokens, at)
    if has(behind, "WEEKDAY"):
        return True
    if behind and behind.text == "the":
        before = words_before(tokens, at)
        if follows(before, words.DATE_PREPOSITIONS):
            return True
        if before and has(find(tokens, at, before[0]), "WEEKDAY"):
            return True
    return is_chained(tokens, at, "MONTHDAY") or _is_of_a_month(tokens, at)


def _is_of_a_month(tokens: list[Token], at: int) -> bool:
    following = [token.text for token in tokens[at + 1 : at + 4]]
    return following[:1] == ["of"] and following[2:] == ["month"] and following[1] in _WHICH_MONTH


def _leads_to_month(tokens: list[Token], at: int) -> bool:
    ahead = next_word(tokens, at)
    comma = at + 1 < len(tokens) and tokens[at + 1].text == ","
    if comma and has(ahead, "DAY") and ahead is not None:  # "the 1st, 2nd and 5th of May"
        return _leads_to_month(tokens, tokens.index(ahead, at))
    if ahead and ahead.text in ("and", "or", "&"):  # "the 3rd and the 4th of May"
        link = tokens.index(ahead, at)
        other = next_word(tokens, link)
        return (
            has(other, "DAY")
            and other is not None
            and _leads_to_month(tokens, tokens.index(other, link))
        )
    return has(ahead, "MONTH") or bool(
        ahead and ahead.text == "of" and has(next_word(tokens, at + 1), "MONTH")
    )


def is_slashed_date(tokens: list[Token], at: int) -> bool:
    """Whether 5/7 is a day: "on 5/7", but not "a 5/7 rating"."""
    before, behind, ahead = words_before(tokens, at), previous(tokens, at), next_word(tokens, at)
    if ahead and ahead.text in _BEFORE_THE_HOUR and has(next_word(tokens, at + 1), "HOUR", "HM"):
        return True
    if has(ahead, "MONTH") or has(behind, "MONTH"):
        return True
    if has(ahead, STRANGE, "UNIT"):
        return bool(ahead and ahead.text in words.FOLLOWERS)
    return (
        follows(before, words.DATE_PREPOSITIONS)
        or has(behind, "WEEKDAY")
        or is_chained(tokens, at, "SLASHED")
    )


def is_whole_date(tokens: list[Token], at: int) -> bool:
    """Whether 5.3.21 is a date and not a version; 5/3/21 and 5.3.2021 always are."""
    text = tokens[at].text
    if text.isdigit():  # 20240305 is more often the number of an order
        return follows(words_before(tokens, at), words.DATE_PREPOSITIONS)
    if "/" in text or any(len(part) == 4 for part in re.split(r"[.-]", text)):
        return True
    as_date = follows(words_before(tokens, at), words.DATE_PREPOSITIONS)
    return as_date or has(previous(tokens, at), "WEEKDAY")


def _before_a_comma(tokens: list[Token], at: int) -> Token | None:
    behind = previous(tokens, at)
    return previous(tokens, at - 1) if behind and behind.text == "," else behind


def is_short_year(tokens: list[Token], at: int) -> bool:
    """Whether '99 is a year: "in '99", "May '99", "the summer of '99"."""
    before = words_before(tokens, at)
    return (
        follows(before, words.YEAR_PREPOSITIONS)
        or before[:1] == ["back"]
        or has(_before_a_comma(tokens, at), "MONTH", "SEASON", "DAY")
    )
