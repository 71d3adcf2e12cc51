"""A word among its neighbours: whether a month is a name, a number a year, "the 3rd" a day."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from recall_retrievers.timeline.grammar.engine import Token

if TYPE_CHECKING:
    from recall_retrievers.timeline.grammar.vocabulary import Vocabulary

STRANGE: Final = "?word"  # in small letters: a pattern passes no value of it on
NO_TIME: Final[dict[str, object]] = {STRANGE: None}

_NAMES = frozenset({"WEEKDAY", "MONTH", "SEASON", "HOLIDAY"})
_IN_A_YEAR = frozenset({"MONTH", "SEASON", "HOLIDAY"})
_LEADING = (
    *("DAY", "SHORT", "EDGE", "END", "UNIT", "WEEKDAY", "YEAR", "SLASHED"),
    *("<half_of>", "<share>"),
)
_LINKS = frozenset({".", "-", "/", ","})


class Place:
    def __init__(self, tokens: list[Token], at: int, text: str, vocabulary: Vocabulary) -> None:
        self.tokens = tokens
        self.at = at
        self.text = text
        self.vocabulary = vocabulary
        self.token = tokens[at]
        self.behind = tokens[at - 1] if at else None
        self.ahead = tokens[at + 1] if at + 1 < len(tokens) else None

    def near(self, first: int, last: int) -> list[Token]:
        return self.tokens[max(0, self.at + first) : max(0, self.at + last)]

    def texts(self, first: int, last: int) -> list[str]:
        return [token.text for token in self.near(first, last)]

    @cached_property
    def before(self) -> list[str]:
        """The two words before, nearest first, without articles and hyphens."""
        return [
            one.text
            for one in reversed(self.near(-4, 0))
            if not has(one, "<art>", "<one>") and one.text != "-"
        ][:2]

    def follows(self, allowed: frozenset[str]) -> bool:
        """Whether the nearest of the words before is one of these; "up to" is "until"."""
        if self.before == ["to", "up"]:
            return "until" in allowed
        return bool(self.before) and self.before[0] in allowed

    @cached_property
    def next(self) -> Token | None:
        """The next word, over the mark of an abbreviation or a link: "Dec. 31", "Jan-Feb"."""
        return self.next_from(1)

    def next_from(self, distance: int) -> Token | None:
        for token in self.near(distance, distance + 3):
            if token.text not in _LINKS and "<art>" not in token.kinds:
                return token
        return None

    def is_chained(self, *kinds: str) -> bool:
        """Whether a word like it stands before it, with "and" or "to" between the two."""
        links = 0
        for token in reversed(self.near(-3, 0)):
            if has(token, *kinds):
                return links > 0
            if "<art>" in token.kinds:
                continue
            if token.text not in _LINKS and not has(token, "<and>", "<to>", "<or>"):
                return False
            links += 1
        return False

    def goes_no_further(self) -> bool:
        """Whether the expression is over after it: a full stop, a pronoun, a preposition."""
        ahead = self.ahead
        if ahead is None or ahead.text in self.vocabulary.common:
            return True
        if "REL" in ahead.kinds:  # the 3rd last month; but not "les 6 derniers mois"
            return not self.vocabulary.days_are_numbers
        if self.vocabulary.days_are_numbers == "." and self.text[ahead.start].islower():
            return True  # am 3. überwiesen
        if has(ahead, "HM") or any(has(token, "AMPM") for token in self.near(2, 3)):
            return True
        return not ahead.text[:1].isalnum() and ahead.text not in ("%", "/", "'s", "°")

    def is_last(self) -> bool:
        """Whether a sentence ends here: then "the day before" is the day before now."""
        return self.ahead is None or self.ahead.text in (".", "?", "!")


def has(token: Token | None, *kinds: str) -> bool:
    return token is not None and any(kind in token.kinds for kind in kinds)


def is_one_of(token: Token | None, texts: frozenset[str]) -> bool:
    return token is not None and token.text in texts


def decide(tokens: list[Token], at: int, text: str, vocabulary: Vocabulary) -> None:
    """Take from a word what its neighbours rule out, and add what they bring."""
    token = tokens[at]
    if _is_in_address(token, text):
        token.kinds = NO_TIME
        return
    here = Place(tokens, at, text, vocabulary)
    own = vocabulary.decide(here) if vocabulary.decide else None
    if own is not None:
        token.kinds = own
    kinds = token.kinds
    if "YEAR" in kinds and token.text.isdigit() and _is_year(here):
        token.kinds = {"SURE_YEAR": kinds["YEAR"], **kinds}
    elif "DAY" in kinds and _is_day_of_month(here):
        token.kinds = {"MONTHDAY": kinds["DAY"], **kinds}
    elif "DATE" in kinds and not _is_whole_date(here):
        token.kinds = {}
    elif "SLASHED" in kinds and _is_slashed_date(here):
        token.kinds = {"DAY_MONTH": kinds["SLASHED"]}
    elif not _NAMES.isdisjoint(kinds) and not _names_time(here):
        # A phrase that has the word itself says enough: "durante la Navidad".
        own_word = {kind: None for kind in kinds if kind == token.text}
        token.kinds = own_word or ({} if "WEEKDAY" in kinds else NO_TIME)


def _is_year(here: Place) -> bool:
    """Whether 2023 is a year: "in 2023", and not "the PIN 2023"."""
    known = here.vocabulary
    if is_one_of(here.next, known.measures | {"%"}):
        return False
    return here.follows(known.before_year) or here.is_chained("SURE_YEAR")


def _is_whole_date(here: Place) -> bool:
    """Whether 5.3.21 is a date and not a version; 5/3/21 and 5.3.2021 always are."""
    text = here.token.text
    sure = not text.isdigit() and (
        "/" in text or any(len(part) == 4 for part in re.split("[.-]", text))
    )
    return sure or here.follows(here.vocabulary.before_day) or has(here.behind, "WEEKDAY")


def _is_slashed_date(here: Place) -> bool:
    """Whether 5/7 is a day: "on 5/7", but not "a 5/7 rating"; "22/23 March" are two."""
    known = here.vocabulary
    meant = (
        here.follows(known.before_day)
        or has(here.behind, "WEEKDAY")
        or (has(here.behind, "<art>") and known.days_are_numbers == " ")
        or here.is_chained("DAY_MONTH")
    )
    return meant and here.goes_no_further() and not has(here.next, "MONTH")


def _is_day_of_month(here: Place) -> bool:
    """Whether "the 3rd" is a day, and not a floor; and its month is not named."""
    known, token = here.vocabulary, here.token
    of_weekday = _is_of_weekday(here)
    if has(token, "MONTH") or not (has(token, "ORD") or known.days_are_numbers or of_weekday):
        return False
    if known.days_are_numbers == " " and (
        (token.text.isalpha() and has(token, "ORD"))
        or has(here.ahead, "<or>")
        or any(has(one, "<or>") for one in here.near(-2, 0))
    ):
        return False  # el segundo de la lista, le 12 ou le 14
    articled = has(here.behind, "<art>") and (
        known.days_are_numbers == " " or here.follows(known.before_day)
    )
    meant = articled or (known.days_are_numbers and is_one_of(here.behind, known.before_day))
    if not (meant or of_weekday or here.is_chained("MONTHDAY")):
        return False
    over = here
    if known.days_are_numbers == "." and "ORD" not in token.kinds:  # am 3.
        if here.ahead is None or here.ahead.text != ".":
            return False
        over = Place(here.tokens, here.at + 1, here.text, known)
    return over.goes_no_further() and not _leads_to_month(here) and not _counts_a_thing(here)


def _is_of_weekday(here: Place) -> bool:
    """Whether it follows a day of the week: "Friday the 13th", "Sunday 31"."""
    if "ORD" not in here.token.kinds and not here.vocabulary.days_are_numbers:
        return has(here.behind, "WEEKDAY") and here.texts(1, 2) != ["-"]  # Monday 8-9am
    links = [one for one in here.near(-3, 0) if not (has(one, "<art>") or one.text == ",")]
    return has(links[-1] if links else None, "WEEKDAY")


def _counts_a_thing(here: Place) -> bool:
    """Whether it is no day: "the first and the second time", "the second or third attempt"."""
    following = [token for token in here.near(1, 5) if "<art>" not in token.kinds]
    if not (len(following) > 1 and has(following[0], "<and>", "<or>") and has(following[1], "ORD")):
        return False
    at = here.tokens.index(following[1], here.at)
    return not Place(here.tokens, at, here.text, here.vocabulary).goes_no_further()


def _leads_to_month(here: Place) -> bool:
    """Whether the month follows, perhaps after another day: "the 1st, 2nd and 5th of May"."""
    for token in here.near(1, 9):
        if has(token, "MONTH"):
            return True
        if not (
            has(token, "DAY", "<of>", "<and>", "<or>", "<to>", "<art>") or token.text in _LINKS
        ):
            return False
    return False


def _names_time(here: Place) -> bool:
    """Whether a day, a month, a season or a holiday is one, and no name of something else."""
    token, known = here.token, here.vocabulary
    if _is_compound(here) or ("HOLIDAY" in token.kinds and _is_of_a_holiday(here)):
        return False
    if known.doubtful is not None and token.text not in known.doubtful:
        return True
    if "WEEKDAY" in token.kinds:
        return _is_weekday(here)
    if here.is_chained("MONTH", "SEASON", "DATE", "MONTHDAY"):
        return True
    if here.follows(known.before_month):
        # "El cumpleaños de Julio" is that of a person.
        person = here.before[0] == "de" and here.text[token.start].isupper()
        if not person or "MONTH" not in token.kinds:
            return True
    behind = [one for one in here.near(-2, 0) if not has(one, "<of>") and one.text not in _LINKS]
    return _leads_to_a_time(here) or has(behind[-1] if behind else None, *_LEADING)


def _is_of_a_holiday(here: Place) -> bool:
    """The tree, the spirit of Christmas."""
    of = any(has(one, "<of>") for one in here.near(-2, 0))
    return of and not here.vocabulary.things.isdisjoint(here.before[1:2])


def _leads_to_a_time(here: Place) -> bool:
    """March 2021, mars dernier, the summer of 2020, May 5; but "may one of us ...?"."""
    known, ahead, over = here.vocabulary, here.next, here.next_from(2)
    if has(ahead, "YEAR", "SHORT_YEAR"):
        return True
    if has(ahead, "MONTH") and here.ahead is not None and here.ahead.text == "-":
        return True
    if has(ahead, "REL", "REL_BEHIND"):
        return known.nouns_first or known.compounds or has(over, "UNIT")
    linked = has(ahead, "<inside>", "<to>", "<before>")
    if linked and has(over, "YEAR", "SHORT_YEAR", "REL", "MONTH"):
        return True
    if not (known.month_first and "MONTH" in here.token.kinds and has(ahead, "DAY")):
        return False
    return not (here.token.text in known.verbs and has(ahead, "ONES", "TEEN"))


def _is_weekday(here: Place) -> bool:
    known, ahead = here.vocabulary, here.ahead
    if known.month_first:  # "Sat Feb 3", "on Sun", "Mon morning"
        return (
            here.is_chained("WEEKDAY")
            or here.follows(known.before_weekday or frozenset())
            or has(here.next, "DAY", "PART", "HM", "MONTH", "WEEKDAY")
        )
    if has(ahead, "DAY") and not has(ahead, "HM"):  # the film "Vendredi 13"
        after = [one for one in here.near(2, 4) if one.text not in _LINKS and not has(one, "<of>")]
        leads = has(here.behind, "<art>", "<in>", "<from>")
        return leads or has(after[0] if after else None, "MONTH", "<oclock>")
    if has(here.behind, "ORD", "REL"):
        return True
    behind = here.behind.text if here.behind else ""
    if known.before_weekday is None:
        small = not here.text[here.token.start].isupper()
        return not here.at or small or behind in known.before_month
    return has(ahead, "REL") or not behind or behind in known.before_weekday


def _is_compound(here: Place) -> bool:
    """Whether it is the first part of a word: the Sommer-Schlussverkauf."""
    end = here.token.end
    goes_on = here.text[end : end + 1] == "-" and here.text[end + 1 : end + 2].isalpha()
    return goes_on and not any(one.kinds and STRANGE not in one.kinds for one in here.near(2, 3))


def _is_in_address(token: Token, text: str) -> bool:
    """Whether a word is a part of an address, a file or a tag: monday.com, may.csv, #friday."""
    before, after = text[token.start - 1 : token.start], text[token.end : token.end + 2]
    goes_on = after[:1] in (".", "@", "_") and after[1:].islower()
    return len(token.text) > 2 and token.text.isalpha() and (before in ("@", "#", "_") or goes_on)
