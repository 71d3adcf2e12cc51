"""The meaning of an English word in its sentence: is "may" a month here, "fall" a season?"""

from collections.abc import Callable

from recall_retrievers.timeline.grammar.engine import Token
from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.date_numbers import (
    is_day_of_month,
    is_short_year,
    is_slashed_date,
    is_whole_date,
    is_year,
)
from recall_retrievers.timeline.english.neighbours import (
    OF_A_HOLIDAY,
    STRANGE,
    TITLED,
    Place,
    has,
    is_in_address,
    is_in_title,
    is_named,
    is_one_of,
)
from recall_retrievers.timeline.english.words import Kinds

_NO_TIME: Kinds = {STRANGE: None}
_BEFORE_NEW_YEAR = frozenset({"at", "over", "and", "around", "since", "before", "after", "until"})
_PLANNED = words.word_set("planned booked scheduled reserved due set fixed")
_SHARES = frozenset({"half", "whole", "all", "most", "rest", "remainder", "much"})
_TO = frozenset({"to", "through", "thru", "until", "till"})
_OVER = frozenset({"in", "over", "within", "during", "throughout", "for"})
_YEAR = frozenset({"year"})
_ONE = frozenset({"a", "an", "half"})
_MINE = frozenset({"my", "our"})
_OF_A_SERIES = frozenset({"of", "with", "from"})
_BEFORE_THE_SEASON = frozenset({"in", "during", "over", "since", "throughout", "until"})


def decide(tokens: list[Token], at: int, text: str) -> None:
    """Remove meanings that the neighbours rule out, and add meanings that they bring."""
    token, here = tokens[at], Place(tokens, at)
    if is_in_address(token, text):
        token.kinds = _NO_TIME
        return
    for kind in token.kinds:
        rule = _RULES.get(kind)
        decided = rule(here) if rule is not None else None
        if decided is not None:
            token.kinds = decided
            break
    if not TITLED.isdisjoint(token.kinds) and (is_named(here, text) or is_in_title(here, text)):
        token.kinds = _NO_TIME


def _names_time(here: Place) -> bool:
    token, before, ahead, behind = here.token, here.before, here.next, here.behind
    if "WEEKDAY" in token.kinds:
        return (
            here.is_chained("WEEKDAY")
            or here.follows(words.WEEKDAY_PREPOSITIONS)
            or has(ahead, "DAY", "PART", "HM", "MONTH")
            or (ahead is not None and has(ahead, "WEEKDAY") and ahead.text != token.text)
        )
    if here.is_chained("MONTH", "SEASON", "DATE", "MONTHDAY") or _names_its_year(here):
        return True
    if "SEASON" in token.kinds:
        return _names_season(here)
    if has(ahead, "YEAR", "SHORT_YEAR", "MONTH") or _leads_on(here):
        return True
    # "may two people", but "August two thousand"
    if has(ahead, "DAY") and not (token.text in words.VERBAL and has(ahead, "ONES", "TEEN")):
        return True
    if has(behind, "YEAR", "SLASHED") or (has(behind, "DAY") and not has(behind, "ONES")):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and (
            before[1] in _SHARES | {"as"}
            or here.follows_a(before[1], "DAY", "UNIT", "EDGE", "WEEKDAY")
        )
    return _stands_after_a_preposition(here)


def _stands_after_a_preposition(here: Place) -> bool:
    if here.token.text in words.VERBAL and here.before[:1] == ["this"]:
        return here.goes_no_further() and not is_one_of(here.next, words.AFTER_MODAL)
    planned = here.before[:1] == ["for"] and here.before[1:2] and here.before[1] in _PLANNED
    return here.follows(words.TIME_PREPOSITIONS) or bool(planned)


def _leads_on(here: Place) -> bool:
    """March of 2022, June in 2023, March through May."""
    link = here.ahead.text if here.ahead else ""
    ahead = here.next_from(2)
    return has(ahead, "YEAR") if link in ("of", "in") else link in _TO and has(ahead, "MONTH")


def _names_season(here: Place) -> bool:
    before, ahead = here.before, here.next
    if ahead and ahead.text == "of" and has(here.next_from(2), "YEAR", "SHORT_YEAR"):
        return True
    if has(ahead, "YEAR", "SHORT_YEAR"):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and (
            before[1] in _SHARES or here.follows_a(before[1], "UNIT", "EDGE")
        )
    if here.behind and here.behind.text == "the":
        return here.follows(_BEFORE_THE_SEASON)
    return _stands_after_a_preposition(here)


def _names_its_year(here: Place) -> bool:
    """Whether "last year", "of last year" or "before last" follows."""
    following = [text for text in here.texts(1, 4) if text != "of"][:2]
    return following in (["last", "year"], ["this", "year"], ["next", "year"], ["before", "last"])


def _is_holiday(here: Place) -> bool:
    before, ahead = here.before, here.next
    if before[:1] == ["of"] and before[1:] and before[1] in OF_A_HOLIDAY:
        return False
    as_a_day = here.follows(words.HOLIDAY_PREPOSITIONS) or before[:2] == ["of", "eve"]
    noun_follows = has(ahead, STRANGE) and not is_one_of(ahead, words.FOLLOWERS)
    return (as_a_day and before[:1] != ["the"]) or not noun_follows


def _is_new_year(here: Place) -> bool:
    """Whether it is the day: "at new year", but not "happy new year" or "the new year"."""
    return is_one_of(here.behind, _BEFORE_NEW_YEAR) and is_one_of(here.next, _YEAR)


def _is_valentines_day(here: Place) -> bool:
    """Whether it is the day, and not a person: "who was my valentine?"."""
    return here.follows(words.HOLIDAY_PREPOSITIONS) or "day" in here.texts(1, 3)


def _is_end_of_unit(here: Place) -> bool:
    return here.follows(words.BEFORE_THE_END)


def _counts_from_now(here: Place) -> bool:
    """Whether "next" counts from now: "the next day" of a story is not tomorrow."""
    ahead = here.ahead.kinds if here.ahead else {}
    of_a_story = ahead.get("UNIT") == "day" or "PART" in ahead
    return not (of_a_story and here.behind and here.behind.text == "the")


def _is_roughly(here: Place) -> bool:
    """Whether "about" belongs to a time: "about two weeks ago", but not "talk about last week"."""
    if is_one_of(here.behind, words.ABOUT_A_THING):
        return False
    return has(here.next, "NUM", "HM", "CLOCK") or is_one_of(here.ahead, _ONE)


def _is_to_come(here: Place) -> bool:
    """Whether "in two weeks" is a time to come: "I will visit her", and not "I painted it"."""
    return not words.PROMISES.isdisjoint(here.texts(-8, 0))


def _is_no_question(here: Place) -> bool:
    """Whether it is no question: "long ago", but not "how long ago" or "how many years ago"."""
    before = here.texts(-2, 0)
    return before[-1:] not in (["how"], ["as"]) and before != ["how", "many"]


def _is_no_part_of_a_thing(here: Place) -> bool:
    """Whether it is not "the last day of school", which only the school knows."""
    if not (has(here.ahead, "UNIT") and here.texts(2, 3) == ["of"]):
        return True
    rest = [one for one in here.near(3, 6) if one.text not in ("the", "a", "my", "our")]
    return not has(rest[0] if rest else None, STRANGE)


def _is_a_season(here: Place) -> bool:
    """Whether a part of the year is meant, and not a season of a series."""
    return here.goes_no_further() and not is_one_of(here.next, _OF_A_SERIES)


def _is_mine(here: Place) -> bool:
    """Whether it is the asker's: "how was my week?", but not "a poem about my day"."""
    if not is_one_of(here.behind, _MINE):
        return False
    return is_one_of(here.ahead, words.GOES_LIKE) or (here.is_last() and "how" in here.texts(-4, 0))


def _is_in_it(here: Place) -> bool:
    """Whether it is this one: "the sales in the year", but not "how many days in the year?"."""
    return (
        here.token.kinds["UNIT"] not in ("day", "weekend")
        and here.texts(-2, 0) == ["in", "the"]
        and here.is_last()
        and words.COUNTED.isdisjoint(here.texts(-10, 0))
    )


def _is_half_of_year(here: Place) -> bool:
    """H2 is half a year beside a year or after a preposition, and else a heading."""
    around = (here.behind, *here.near(2, 3))
    return here.follows(words.YEAR_PREPOSITIONS) or any(has(one, "YEAR") for one in around)


# --- The decision for every kind -----------------------------------------------------------------

_Decision = Callable[[Place], Kinds | None]
_Test = Callable[[Place], bool]


def _calendar_word(here: Place) -> Kinds | None:
    doubtful = here.token.text in words.AMBIGUOUS and not _names_time(here)
    return _NO_TIME if doubtful else None


def _last(here: Place) -> Kinds | None:
    if not _is_no_part_of_a_thing(here):
        return _NO_TIME
    before = here.texts(-2, 0)  # "over the last month", "within the last year"
    rolling = before[1:] == ["the"] and before[0] in _OVER
    return {"OVER_LAST": None, **here.token.kinds} if rolling else None


def _the_present_one(here: Place) -> Kinds | None:
    """The present week, month or year, where it is meant."""
    unit = here.token.kinds["UNIT"]
    if unit not in ("day", "week", "weekend", "month", "quarter", "year"):
        return None
    return {"PRESENT": unit} if _is_mine(here) or _is_in_it(here) else None


def _only_where(test: _Test, otherwise: Kinds) -> _Decision:
    return lambda here: None if test(here) else otherwise


def _also(kind: str, own: str, test: _Test) -> _Decision:
    """Add a kind, which patterns then see first, with the value of another one."""

    def decision(here: Place) -> Kinds | None:
        kinds = here.token.kinds
        return {kind: kinds[own], **kinds} if test(here) else None

    return decision


_RULES: dict[str, _Decision] = {
    "MONTH": _calendar_word,
    "WEEKDAY": _calendar_word,
    "SEASON": _calendar_word,
    "YEAR": _also("SURE_YEAR", "YEAR", is_year),
    "DAY": _also("MONTHDAY", "DAY", is_day_of_month),
    "EDGE": _also("SURE_EDGE", "EDGE", _is_end_of_unit),
    "last": _last,
    "first": _only_where(_is_no_part_of_a_thing, _NO_TIME),
    "UNIT": _the_present_one,
    "before": _also("before_now", "before", Place.is_last),
    "HALF_YEAR": _only_where(_is_half_of_year, {"UNIT": "hour"}),
    "SLASHED": _only_where(is_slashed_date, {}),
    "DATE": _only_where(is_whole_date, {}),
    "SHORT_YEAR": _only_where(is_short_year, {}),
    "EDGE_OF": _only_where(_is_end_of_unit, {}),
    "ANY_SEASON": _only_where(_is_a_season, {}),
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
