"""The meaning of an English word in its sentence: is "may" a month here, "fall" a season?"""

from __future__ import annotations

from collections.abc import Callable

from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.date_numbers import (
    is_day_of_month,
    is_short_year,
    is_slashed_date,
    is_whole_date,
    is_year,
)
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
from recall_retrievers.timeline.english.titles import (
    OF_A_HOLIDAY,
    TITLED,
    is_in_address,
    is_in_title,
    is_named,
)
from recall_retrievers.timeline.english.unit_words import (
    is_a_season,
    is_half_of_year,
    is_last_word,
    is_no_part_of_a_thing,
    the_present_one,
)
from recall_retrievers.timeline.english.words import Kinds

_NO_TIME: Kinds = {STRANGE: None}
_BEFORE_NEW_YEAR = frozenset({"at", "over", "and", "around", "since", "before", "after", "until"})
_SHARES = frozenset({"half", "whole", "all", "most", "rest", "remainder", "much"})
_TO = frozenset({"to", "through", "thru", "until", "till"})
_OVER = frozenset({"in", "over", "within", "during", "throughout", "for"})
_BEFORE_THE_SEASON = frozenset({"in", "during", "over", "since", "throughout", "until"})


def decide(tokens: list[Token], at: int, text: str) -> None:
    """Remove meanings that the neighbours rule out, and add meanings that they bring."""
    token = tokens[at]
    if is_in_address(token, text):
        token.kinds = _NO_TIME
        return
    for kind in token.kinds:
        rule = _RULES.get(kind)
        decided = rule(tokens, at) if rule is not None else None
        if decided is not None:
            token.kinds = decided
            break
    if not TITLED.isdisjoint(token.kinds) and (
        is_named(tokens, at, text) or is_in_title(tokens, at, text)
    ):
        token.kinds = _NO_TIME


def _names_time(tokens: list[Token], at: int, token: Token) -> bool:
    before, ahead = words_before(tokens, at), next_word(tokens, at)
    if "WEEKDAY" in token.kinds:
        return (
            is_chained(tokens, at, "WEEKDAY")
            or follows(before, words.WEEKDAY_PREPOSITIONS)
            or has(ahead, "DAY", "PART", "HM", "MONTH")
            or (ahead is not None and has(ahead, "WEEKDAY") and ahead.text != token.text)
        )
    chained = is_chained(tokens, at, "MONTH", "SEASON", "DATE", "MONTHDAY")
    if chained or _names_its_year(tokens, at):
        return True
    if "SEASON" in token.kinds:
        return _names_season(tokens, at, token)
    if has(ahead, "YEAR", "SHORT_YEAR", "MONTH") or _leads_on(tokens, at):
        return True
    # "may two people", but "August two thousand"
    if has(ahead, "DAY") and not (token.text in words.VERBAL and has(ahead, "ONES", "TEEN")):
        return True
    behind = previous(tokens, at)
    if has(behind, "YEAR", "SLASHED") or (has(behind, "DAY") and not has(behind, "ONES")):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and (
            before[1] in _SHARES | {"as"}
            or has(find(tokens, at, before[1]), "DAY", "UNIT", "EDGE", "WEEKDAY")
        )
    if token.text in words.VERBAL and before[:1] == ["this"]:
        return goes_no_further(tokens, at) and not (ahead and ahead.text in words.AFTER_MODAL)
    return follows(before, words.TIME_PREPOSITIONS)


def _leads_on(tokens: list[Token], at: int) -> bool:
    """March of 2022, June in 2023, March through May."""
    link = tokens[at + 1].text if at + 1 < len(tokens) else ""
    ahead = next_word(tokens, at + 1)
    return has(ahead, "YEAR") if link in ("of", "in") else link in _TO and has(ahead, "MONTH")


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


def _names_its_year(tokens: list[Token], at: int) -> bool:
    """Whether "last year", "of last year" or "before last" follows."""
    following = [token.text for token in tokens[at + 1 : at + 4] if token.text != "of"]
    of_a_year = following[:1] in (["last"], ["this"], ["next"]) and following[1:2] == ["year"]
    return of_a_year or following[:2] == ["before", "last"]


def _is_holiday(tokens: list[Token], at: int) -> bool:
    before, ahead = words_before(tokens, at), next_word(tokens, at)
    if before[:1] == ["of"] and before[1:] and before[1] in OF_A_HOLIDAY:
        return False
    as_a_day = follows(before, words.HOLIDAY_PREPOSITIONS) or before[:2] == ["of", "eve"]
    noun_follows = has(ahead, STRANGE) and not (ahead and ahead.text in words.FOLLOWERS)
    return (as_a_day and before[:1] != ["the"]) or not noun_follows


def _is_new_year(tokens: list[Token], at: int) -> bool:
    """Whether it is the day: "at new year", but not "happy new year" or "the new year"."""
    behind, ahead = previous(tokens, at), next_word(tokens, at)
    return bool(behind and behind.text in _BEFORE_NEW_YEAR and ahead and ahead.text == "year")


def _is_valentines_day(tokens: list[Token], at: int) -> bool:
    """Whether it is the day, and not a person: "who was my valentine?"."""
    return follows(words_before(tokens, at), words.HOLIDAY_PREPOSITIONS) or any(
        token.text == "day" for token in tokens[at + 1 : at + 3]
    )


def _is_end_of_unit(tokens: list[Token], at: int) -> bool:
    return follows(words_before(tokens, at), words.BEFORE_THE_END)


def _is_over_the_last(tokens: list[Token], at: int) -> bool:
    """Whether "last" stands in "over the last month" or "within the last year"."""
    before = [token.text for token in tokens[max(0, at - 2) : at]]
    return before[1:] == ["the"] and before[0] in _OVER


def _counts_from_now(tokens: list[Token], at: int) -> bool:
    """Whether "next" counts from now: "the next day" of a story is not tomorrow."""
    behind = previous(tokens, at)
    ahead = tokens[at + 1].kinds if at + 1 < len(tokens) else {}
    of_a_story = ahead.get("UNIT") == "day" or "PART" in ahead
    return not (of_a_story and behind and behind.text == "the")


def _is_roughly(tokens: list[Token], at: int) -> bool:
    """Whether "about" belongs to a time: "about two weeks ago", but not "talk about last week"."""
    behind = previous(tokens, at)
    if behind and behind.text in words.ABOUT_A_THING:
        return False
    return has(next_word(tokens, at), "NUM", "HM", "CLOCK") or any(
        token.text in ("a", "an", "half") for token in tokens[at + 1 : at + 2]
    )


def _is_to_come(tokens: list[Token], at: int) -> bool:
    """Whether "in two weeks" is a time to come: "I will visit her", and not "I painted it"."""
    return any(token.text in words.PROMISES for token in tokens[max(0, at - 8) : at])


def _is_no_question(tokens: list[Token], at: int) -> bool:
    """Whether it is no question: "long ago", but not "how long ago" or "how many years ago"."""
    before = [token.text for token in tokens[max(0, at - 2) : at]]
    return before[-1:] not in (["how"], ["as"]) and before != ["how", "many"]


# --- The decision for every kind -----------------------------------------------------------------

_Decision = Callable[[list[Token], int], Kinds | None]
_Test = Callable[[list[Token], int], bool]


def _calendar_word(tokens: list[Token], at: int) -> Kinds | None:
    token = tokens[at]
    doubtful = token.text in words.AMBIGUOUS and not _names_time(tokens, at, token)
    return _NO_TIME if doubtful else None


def _last(tokens: list[Token], at: int) -> Kinds | None:
    if not is_no_part_of_a_thing(tokens, at):
        return _NO_TIME
    kinds = tokens[at].kinds
    return {"OVER_LAST": None, **kinds} if _is_over_the_last(tokens, at) else None


def _only_where(test: _Test, otherwise: Kinds) -> _Decision:
    return lambda tokens, at: None if test(tokens, at) else otherwise


def _also(kind: str, own: str, test: _Test) -> _Decision:
    """Add a kind, which patterns then see first, with the value of another one."""

    def decision(tokens: list[Token], at: int) -> Kinds | None:
        kinds = tokens[at].kinds
        return {kind: kinds[own], **kinds} if test(tokens, at) else None

    return decision


_RULES: dict[str, _Decision] = {
    "MONTH": _calendar_word,
    "WEEKDAY": _calendar_word,
    "SEASON": _calendar_word,
    "YEAR": _also("SURE_YEAR", "YEAR", is_year),
    "DAY": _also("MONTHDAY", "DAY", is_day_of_month),
    "EDGE": _also("SURE_EDGE", "EDGE", _is_end_of_unit),
    "last": _last,
    "first": _only_where(is_no_part_of_a_thing, _NO_TIME),
    "UNIT": the_present_one,
    "before": _also("before_now", "before", is_last_word),
    "HALF_YEAR": _only_where(is_half_of_year, {"UNIT": "hour"}),
    "SLASHED": _only_where(is_slashed_date, {}),
    "DATE": _only_where(is_whole_date, {}),
    "SHORT_YEAR": _only_where(is_short_year, {}),
    "EDGE_OF": _only_where(_is_end_of_unit, {}),
    "ANY_SEASON": _only_where(is_a_season, {}),
    "next": _only_where(_counts_from_now, {}),
    "valentine": _only_where(_is_valentines_day, _NO_TIME),
    "valentines": _only_where(_is_valentines_day, _NO_TIME),
    "new": _also("NEW", "new", _is_new_year),
    "about": _only_where(_is_roughly, _NO_TIME),
    "in": _also("will_in", "in", _is_to_come),
    "within": _also("will_within", "within", _is_to_come),
    "long": _only_where(_is_no_question, _NO_TIME),
    "UNITS": _only_where(_is_no_question, _NO_TIME),
    **{name: _only_where(_is_holiday, _NO_TIME) for name in words.HOLIDAY_NAMES},
}
"""Kinds that depend on the neighbours; the first decision counts, in the token's order of kinds."""
