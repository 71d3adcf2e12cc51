"""A word among its neighbours in an English sentence, for `context`."""

from functools import cached_property

from recall_retrievers.timeline.engine.grammar import Token
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
