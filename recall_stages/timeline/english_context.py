"""Which meaning an English word has in its sentence: is "may" a month here, 5/7 a date?"""

from __future__ import annotations

import re
from collections.abc import Callable

from recall_stages.timeline import english_words as words
from recall_stages.timeline.english_neighbours import (
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
from recall_stages.timeline.english_titles import is_in_title
from recall_stages.timeline.grammar import Token

_BEFORE_THE_HOUR = frozenset({"before", "after", "at", "around", "by", "from", "until"})
_SHARES = frozenset({"half", "whole", "all", "most", "rest", "remainder", "much"})
_TO = frozenset({"to", "through", "thru", "until", "till"})
_OVER = frozenset({"in", "over", "within", "during", "throughout", "for"})
_BEFORE_THE_SEASON = frozenset({"in", "during", "over", "since", "throughout", "until"})


def decide(tokens: list[Token], at: int, text: str) -> None:
    """Take away meanings that the neighbours rule out, and add those that they bring."""
    token = tokens[at]
    for kind, names_time in _ONLY_WHERE.items():
        if kind in token.kinds and not names_time(tokens, at):
            token.kinds = {}
            return
    if (
        (token.text in words.AMBIGUOUS and not _names_time(tokens, at, token))
        or (token.text in words.FEASTS and not _is_feast_day(tokens, at))
        or (token.text == "about" and not _is_roughly(tokens, at))
        or is_in_title(tokens, at, text)
    ):
        token.kinds = {STRANGE: None}
    elif "YEAR" in token.kinds and _is_said_year(tokens, at):
        token.kinds = {"SAID_YEAR": token.kinds["YEAR"], **token.kinds}
    elif "DAY" in token.kinds and "MONTH" not in token.kinds and _is_day_of_month(tokens, at):
        token.kinds = {"MONTHDAY": token.kinds["DAY"], **token.kinds}
    elif "UNIT" in token.kinds and _is_the_present_one(tokens, at):
        token.kinds = {"PRESENT": token.kinds["UNIT"]}
    elif "EDGE" in token.kinds and _is_end_of_unit(tokens, at):
        token.kinds = {"SAID_EDGE": token.kinds["EDGE"], **token.kinds}
    elif token.text == "next" and _is_told_from_then(tokens, at):
        token.kinds = {}
    elif token.text == "last" and _is_over_the_last(tokens, at):
        token.kinds = {"OVER_LAST": None, **token.kinds}


def _names_time(tokens: list[Token], at: int, token: Token) -> bool:
    before, ahead = words_before(tokens, at), next_word(tokens, at)
    if "WEEKDAY" in token.kinds:
        return follows(before, words.WEEKDAY_PREPOSITIONS) or has(
            ahead, "DAY", "PART", "HM", "MONTH"
        )
    if is_chained(tokens, at, "MONTH", "SEASON", "DATE", "MONTHDAY"):
        return True
    if _is_of_a_year(tokens, at):
        return True
    if "SEASON" in token.kinds:
        return _names_season(tokens, at, token)
    if has(ahead, "YEAR", "SHORT_YEAR", "MONTH") or _leads_on(tokens, at):
        return True
    # "may two people", but "August two thousand"
    if has(ahead, "DAY") and not (token.text in words.VERBAL and has(ahead, "ONES", "TEEN")):
        return True
    behind = previous(tokens, at)
    if has(behind, "YEAR") or (has(behind, "DAY") and not has(behind, "ONES")):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and (
            before[1] in _SHARES
            or has(find(tokens, at, before[1]), "DAY", "UNIT", "EDGE", "WEEKDAY")
        )
    if token.text in words.VERBAL and before[:1] == ["this"]:
        return goes_no_further(tokens, at) and not (ahead and ahead.text in words.AFTER_MODAL)
    return follows(before, words.TIME_PREPOSITIONS)


def _leads_on(tokens: list[Token], at: int) -> bool:
    """March of 2022, March through May."""
    link = tokens[at + 1].text if at + 1 < len(tokens) else ""
    ahead = next_word(tokens, at + 1)
    return has(ahead, "YEAR") if link == "of" else link in _TO and has(ahead, "MONTH")


def _names_season(tokens: list[Token], at: int, token: Token) -> bool:
    before, ahead = words_before(tokens, at), next_word(tokens, at)
    if has(ahead, "YEAR", "SHORT_YEAR"):
        return True
    if ahead and ahead.text == "of" and has(next_word(tokens, at + 1), "YEAR", "SHORT_YEAR"):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and (
            before[1] in _SHARES or has(find(tokens, at, before[1]), "UNIT", "EDGE")
        )
    behind = previous(tokens, at)
    if behind and behind.text == "the":
        return follows(before, _BEFORE_THE_SEASON)
    if token.text in words.VERBAL and before[:1] == ["this"]:
        return goes_no_further(tokens, at) and not (ahead and ahead.text in words.AFTER_MODAL)
    return follows(before, words.TIME_PREPOSITIONS)


def _is_of_a_year(tokens: list[Token], at: int) -> bool:
    """Whether "last year" or "of last year" follows."""
    following = [token.text for token in tokens[at + 1 : at + 4] if token.text != "of"]
    return following[:1] in (["last"], ["this"], ["next"]) and following[1:2] == ["year"]


def _is_feast_day(tokens: list[Token], at: int) -> bool:
    before, ahead = words_before(tokens, at), next_word(tokens, at)
    said_as_a_day = follows(before, words.FEAST_PREPOSITIONS)
    noun_follows = has(ahead, STRANGE) and not (ahead and ahead.text in words.FOLLOWERS)
    return (said_as_a_day and before[:1] != ["the"]) or not noun_follows


def _is_said_year(tokens: list[Token], at: int) -> bool:
    token, ahead = tokens[at], next_word(tokens, at)
    number = token.kinds["YEAR"]
    if not (isinstance(number, int) and 1500 <= number <= 2199 and token.text.isdigit()):
        return False
    if ahead and (ahead.text in words.MEASURES or ahead.text == "%"):
        return False
    before = words_before(tokens, at)
    if before[:1] == ["of"] and before[1:] and before[1] in words.THOUGHT_OF:
        return False
    if before[:1] == ["on"]:  # 2016 10 16
        return all(has(one, "DAY") for one in tokens[at + 1 : at + 3])
    return follows(before, words.YEAR_PREPOSITIONS) or is_chained(tokens, at, "SAID_YEAR")


def _is_day_of_month(tokens: list[Token], at: int) -> bool:
    if not goes_no_further(tokens, at) or _leads_to_month(tokens, at):
        return False
    before = words_before(tokens, at)
    behind = previous(tokens, at)
    if has(behind, "WEEKDAY") or (
        before and has(find(tokens, at, before[0]), "WEEKDAY") and behind and behind.text == "the"
    ):
        return True
    if is_chained(tokens, at, "MONTHDAY") or _is_of_a_month(tokens, at):
        return True
    return bool(behind and behind.text == "the") and follows(before, words.DATE_PREPOSITIONS)


def _is_of_a_month(tokens: list[Token], at: int) -> bool:
    following = [token.text for token in tokens[at + 1 : at + 4]]
    return following in (["of", "last", "month"], ["of", "this", "month"], ["of", "the", "month"])


def _leads_to_month(tokens: list[Token], at: int) -> bool:
    ahead = next_word(tokens, at)
    return has(ahead, "MONTH") or bool(
        ahead and ahead.text == "of" and has(next_word(tokens, at + 1), "MONTH")
    )


def _is_slashed_date(tokens: list[Token], at: int) -> bool:
    before, behind, ahead = words_before(tokens, at), previous(tokens, at), next_word(tokens, at)
    if ahead and ahead.text in _BEFORE_THE_HOUR and has(next_word(tokens, at + 1), "HOUR", "HM"):
        return True
    if has(ahead, STRANGE, "UNIT"):
        return bool(ahead and ahead.text in words.FOLLOWERS)
    return (
        follows(before, words.DATE_PREPOSITIONS)
        or has(behind, "WEEKDAY")
        or is_chained(tokens, at, "SLASHED")
    )


def _is_whole_date(tokens: list[Token], at: int) -> bool:
    """Whether 5.3.21 is a date and not a version; 5/3/21 and 5.3.2021 always are."""
    text = tokens[at].text
    if "/" in text or any(len(part) == 4 for part in re.split(r"[.-]", text)):
        return True
    said_as_date = follows(words_before(tokens, at), words.DATE_PREPOSITIONS)
    return said_as_date or has(previous(tokens, at), "WEEKDAY")


def _is_short_year(tokens: list[Token], at: int) -> bool:
    """Whether '99 is a year: "in '99", "May '99", "the summer of '99"."""
    before = words_before(tokens, at)
    return (
        follows(before, words.YEAR_PREPOSITIONS)
        or before[:1] == ["back"]
        or has(previous(tokens, at), "MONTH", "SEASON", "DAY")
    )


def _is_end_of_unit(tokens: list[Token], at: int) -> bool:
    return follows(words_before(tokens, at), words.BEFORE_THE_END)


def _is_over_the_last(tokens: list[Token], at: int) -> bool:
    """Over the last month, within the last year."""
    before = [token.text for token in tokens[max(0, at - 2) : at]]
    return before[1:] == ["the"] and before[0] in _OVER


def _is_told_from_then(tokens: list[Token], at: int) -> bool:
    """Whether "the next day" is that of a story, as it always is, and not tomorrow."""
    behind = previous(tokens, at)
    follows = tokens[at + 1].kinds if at + 1 < len(tokens) else {}
    return bool(behind and behind.text == "the") and (
        follows.get("UNIT") == "day" or "PART" in follows
    )


def _is_a_season(tokens: list[Token], at: int) -> bool:
    """Last season, but not the last season of a series, the season finale or season 3."""
    ahead = next_word(tokens, at)
    return goes_no_further(tokens, at) and not (ahead and ahead.text in ("of", "with", "from"))


def _is_the_present_one(tokens: list[Token], at: int) -> bool:
    """In "show the sales in the year", but not in "how many days are there in the year?"."""
    if [token.text for token in tokens[max(0, at - 2) : at]] != ["in", "the"]:
        return False
    ahead = tokens[at + 1] if at + 1 < len(tokens) else None
    if ahead is not None and ahead.text not in (".", "?", "!"):
        return False
    return all(t.text not in words.COUNTED for t in tokens[max(0, at - 10) : at])


def _is_roughly(tokens: list[Token], at: int) -> bool:
    """Whether "about" belongs to a time: "about two weeks ago", but not "talk about last week"."""
    behind = previous(tokens, at)
    if behind and behind.text in words.ABOUT_A_THING:
        return False
    return has(next_word(tokens, at), "NUM", "HM", "CLOCK") or any(
        token.text in ("a", "an", "half") for token in tokens[at + 1 : at + 2]
    )


_ONLY_WHERE: dict[str, Callable[[list[Token], int], bool]] = {
    "SLASHED": _is_slashed_date,
    "DATE": _is_whole_date,
    "SHORT_YEAR": _is_short_year,
    "EDGE_OF": _is_end_of_unit,
    "ANY_SEASON": _is_a_season,
}
"""Kinds of tokens that mean nothing at all outside certain neighbours."""
