"""The numbers of an English sentence that are dates: 2023, 5/7, 5.3.21, "the 3rd", '99."""

import re

from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.neighbours import NUMBERED, STRANGE, Place, has, is_one_of

_WHICH_MONTH = frozenset({"last", "this", "the", "next", "previous", "that", "every", "each"})
_BEFORE_THE_HOUR = frozenset({"before", "after", "at", "around", "by", "from", "until"})


def is_year(here: Place) -> bool:
    """Whether 2023 is a year: "in 2023", but not "in 2000 steps" or "think of 1984"."""
    number, before = here.token.kinds["YEAR"], here.before
    if not (isinstance(number, int) and 1500 <= number <= 2199 and here.token.text.isdigit()):
        return False
    if is_one_of(here.next, words.MEASURES | {"%"}):
        return False
    if before[:1] == ["of"] and before[1:] and before[1] in words.THOUGHT_OF:
        return False
    if before[:1] in (["in"], ["with"]) and not NUMBERED.isdisjoint(here.texts(-6, 0)):
        return False  # "the PIN that ends in 2019"
    if before[:1] == ["on"]:  # 2016 10 16
        return all(has(one, "DAY") for one in here.near(1, 3))
    return here.follows(words.YEAR_PREPOSITIONS) or here.is_chained("SURE_YEAR")


def is_day_of_month(here: Place) -> bool:
    """Whether "the 3rd" is a day, and not a floor; and its month is not named."""
    if "MONTH" in here.token.kinds or not _is_meant_as_day(here):
        return False
    if _begins_hours(here) or _counts_a_thing(here):
        return False
    return here.goes_no_further() and not _leads_to_month(here)


def _begins_hours(here: Place) -> bool:
    """Whether it is an hour: "Monday 8-9am", "Friday 2 to 4"."""
    return (
        "ORD" not in here.token.kinds
        and here.texts(1, 2)[:1] in (["-"], ["to"], ["until"], ["till"])
        and any(has(number, "HOUR", "HM") for number in here.near(2, 3))
    )


def _counts_a_thing(here: Place) -> bool:
    """Whether it is no day: "the first and the second time", "the second or third attempt"."""
    following = [token for token in here.near(1, 5) if token.text != "the"]
    if not (len(following) > 1 and following[0].text in ("and", "or") and has(following[1], "ORD")):
        return False
    other = Place(here.tokens, here.tokens.index(following[1], here.at))
    return not other.goes_no_further()


def _is_meant_as_day(here: Place) -> bool:
    if has(here.behind, "WEEKDAY"):
        return True
    if here.behind and here.behind.text == "the":
        if here.follows(words.DATE_PREPOSITIONS):
            return True
        if here.before and here.follows_a(here.before[0], "WEEKDAY"):
            return True
    following = here.texts(1, 4)
    of_a_month = following[:1] == ["of"] and following[2:] == ["month"]
    return here.is_chained("MONTHDAY") or (of_a_month and following[1] in _WHICH_MONTH)


def _leads_to_month(here: Place) -> bool:
    ahead = here.next
    if ahead is None:
        return False
    if here.texts(1, 2) == [","] and has(ahead, "DAY"):  # "the 1st, 2nd and 5th of May"
        return _leads_to_month(Place(here.tokens, here.tokens.index(ahead, here.at)))
    if ahead.text in ("and", "or", "&"):  # "the 3rd and the 4th of May"
        link = here.tokens.index(ahead, here.at)
        other = Place(here.tokens, link).next
        return (
            other is not None
            and has(other, "DAY")
            and _leads_to_month(Place(here.tokens, here.tokens.index(other, link)))
        )
    return has(ahead, "MONTH") or (ahead.text == "of" and has(here.next_from(2), "MONTH"))


def is_slashed_date(here: Place) -> bool:
    """Whether 5/7 is a day: "on 5/7", but not "a 5/7 rating"."""
    if is_one_of(here.next, _BEFORE_THE_HOUR) and has(here.next_from(2), "HOUR", "HM"):
        return True
    if has(here.next, "MONTH") or has(here.behind, "MONTH"):
        return True
    if has(here.next, STRANGE, "UNIT"):
        return is_one_of(here.next, words.FOLLOWERS)
    return (
        here.follows(words.DATE_PREPOSITIONS)
        or has(here.behind, "WEEKDAY")
        or here.is_chained("SLASHED")
    )


def is_whole_date(here: Place) -> bool:
    """Whether 5.3.21 is a date and not a version; 5/3/21 and 5.3.2021 always are."""
    text, as_date = here.token.text, here.follows(words.DATE_PREPOSITIONS)
    if text.isdigit():  # 20240305 is more often the number of an order
        return as_date
    if "/" in text or any(len(part) == 4 for part in re.split(r"[.-]", text)):
        return True
    return as_date or has(here.behind, "WEEKDAY")


def is_short_year(here: Place) -> bool:
    """Whether '99 is a year: "in '99", "May '99", "the summer of '99"."""
    behind = [token for token in here.near(-2, 0) if token.text != ","][-1:]
    return (
        here.follows(words.YEAR_PREPOSITIONS)
        or here.before[:1] == ["back"]
        or any(has(token, "MONTH", "SEASON", "DAY") for token in behind)
    )
