"""A word among its neighbours in an English sentence, for `context`."""

from functools import cached_property

from recall_retrievers.timeline.grammar.engine import Token
from recall_retrievers.timeline.english import words

STRANGE = "?word"  # in small letters: a pattern passes no value of it on


class Place:
    """A token and its neighbours."""

    def __init__(self, tokens: list[Token], at: int) -> None:
        self.tokens = tokens
        self.at = at
        self.token = tokens[at]
        self.behind = tokens[at - 1] if at else None
        self.ahead = tokens[at + 1] if at + 1 < len(tokens) else None

    def near(self, first: int, last: int) -> list[Token]:
        """The tokens from one distance up to another; there may be fewer."""
        return self.tokens[max(0, self.at + first) : max(0, self.at + last)]

    def texts(self, first: int, last: int) -> list[str]:
        """The texts of these tokens."""
        return [token.text for token in self.near(first, last)]

    @cached_property
    def before(self) -> list[str]:
        """The two words before, nearest first, without articles and hyphens."""
        return [text for text in reversed(self.texts(-4, 0)) if text not in ("the", "-", "a")][:2]

    def follows(self, allowed: frozenset[str]) -> bool:
        """Whether the nearest of the words before is one of these; "up to" is "until"."""
        if self.before == ["to", "up"]:  # but "what I am up to may be odd"
            return "until" in allowed and not is_one_of(self.next, words.AFTER_MODAL)
        return bool(self.before) and self.before[0] in allowed

    def follows_a(self, text: str, *kinds: str) -> bool:
        """Whether the nearest token before with this text may be called one of these."""
        found = next((token for token in reversed(self.near(-4, 0)) if token.text == text), None)
        return has(found, *kinds)

    @cached_property
    def next(self) -> Token | None:
        """The next word, over the mark of an abbreviation or a link: "Dec. 31", "Jan-Feb"."""
        return self.next_from(1)

    def next_from(self, distance: int) -> Token | None:
        """The same from a distance on."""
        for token in self.near(distance, distance + 3):
            if token.text not in (".", "-", "/", ",", "the"):
                return token
        return None

    def is_chained(self, *kinds: str) -> bool:
        """Whether a word like it stands before it, with "and" or "to" between the two."""
        links = 0
        for token in reversed(self.near(-3, 0)):
            if has(token, *kinds):
                return links > 0
            if token.text not in words.CHAIN and token.text != "the":
                return False
            links += token.text != "the"
        return False

    def goes_no_further(self) -> bool:
        """Whether the expression is over after it: a full stop, a pronoun, a preposition."""
        ahead = self.ahead
        if ahead is None or ahead.text in words.FOLLOWERS or ahead.text in ("last", "next"):
            return True
        if has(ahead, "HM") or any(has(token, "AMPM") for token in self.near(2, 3)):
            return True
        return not ahead.text[:1].isalnum() and ahead.text not in ("%", "/", "'s", "°")

    def is_last(self) -> bool:
        """Whether a sentence ends here: then "the day before" is the day before now."""
        return self.ahead is None or self.ahead.text in (".", "?", "!")


def has(token: Token | None, *kinds: str) -> bool:
    """Whether a token may be called one of these."""
    return token is not None and any(kind in token.kinds for kind in kinds)


def is_one_of(token: Token | None, texts: frozenset[str]) -> bool:
    """Whether a token has one of these texts."""
    return token is not None and token.text in texts


# -- titles: "Friday Night Lights" names no Friday ------------------------------------------------

NUMBERED = words.word_set(
    "pin code password card account number iban serial plate model phone passport licence license"
)
"""Things that have a number: "the PIN that ends in 2019"."""

DAY_FEATURES = words.word_set(
    "roast roasts feeling feelings blues vibes motivation driver drivers school best "
    "papers supplement crossword funday scaries"
)
"""Words after a day that make it a name: "Sunday roast", "that Friday feeling"."""

BEFORE_A_DAY = (
    words.TIME_PREPOSITIONS
    | words.WEEKDAY_PREPOSITIONS
    | words.CHAIN
    | {"of", "for", "by", "at", "to", "the"}
)
"""Words that make the day after them a time, whatever follows."""

DAY_EPITHETS = words.word_set(
    "casual taco throwback manic meatless freaky wacky giving super girl gal man fat sloppy blue"
)
"""Words before a day that make it a name: "Casual Friday", "Taco Tuesday"."""

OF_A_HOLIDAY = words.word_set(
    "spirit meaning story history origin ghost magic days colours colors songs"
)
"""Words before "of" and a holiday that make it a topic: "the meaning of Christmas"."""

TITLED = frozenset({"WEEKDAY", "WEEKDAYS", "MONTH", "SEASON", "today", "tomorrow", "yesterday"})
"""Kinds of words that titles borrow."""


def is_in_title(here: Place, text: str) -> bool:
    """Whether a day stands in a title: "Friday Night Lights", "The Man Who Was Thursday".

    A title has other words in capitals, after words in small letters.
    """
    tokens, at = here.tokens, here.at
    if not _is_capital(here.token, text):
        return False
    first = last = at
    while first and _is_capital(tokens[first - 1], text):
        first -= 1
    while last + 1 < len(tokens) and _is_capital(tokens[last + 1], text):
        last += 1
    if first in (0, last) or not tokens[first - 1].text.isalpha():
        return False
    behind, ahead = tokens[first:at], tokens[at + 1 : last + 1]
    if len(behind) > 1 and any(one.text in words.FOLLOWERS for one in behind):
        return True
    if not any(has(one, STRANGE, "PARTS") for one in ahead):
        return False
    named_after = has(ahead[0], STRANGE) and "SEASON" not in here.token.kinds
    return not (named_after and is_one_of(here.behind, words.HOLIDAY_PREPOSITIONS - {"the"}))


def is_named(here: Place, text: str) -> bool:
    """Whether a day or a month is a part of a name: "Sunday roast", "Wednesday Addams".

    A preposition before it speaks for the time: "on Wednesday Adam came".
    """
    token, behind, ahead = here.token, here.behind, here.ahead
    if has(token, "WEEKDAY") and (
        is_one_of(ahead, DAY_FEATURES) or is_one_of(behind, DAY_EPITHETS)
    ):
        return True
    if here.texts(-2, 0) in (["who", "is"], ["who", "was"]) and not (ahead and ahead.text == "'s"):
        return True
    if behind is None or ahead is None or behind.text in BEFORE_A_DAY:
        return False
    if has(behind, "DAY") or not behind.text.isalpha():
        return False
    if not has(token, "WEEKDAY", "MONTH") or not _is_capital(token, text):
        return False
    if not _is_capital(ahead, text) or text[token.end : ahead.start] != " ":
        return False
    return has(ahead, STRANGE) or (
        has(ahead, "PART") and any(one.text.isalpha() for one in here.near(2, 3))
    )


def is_in_address(token: Token, text: str) -> bool:
    """Whether a word is a part of an address, a file or a tag: monday.com, may.csv, #friday."""
    before, after = text[token.start - 1 : token.start], text[token.end : token.end + 2]
    goes_on = after[:1] in (".", "@", "_") and after[1:].islower()
    return len(token.text) > 2 and token.text.isalpha() and (before in ("@", "#", "_") or goes_on)


def _is_capital(token: Token, text: str) -> bool:
    first, second = text[token.start], text[token.start + 1 : token.start + 2]
    return first.isupper() and second.islower()
