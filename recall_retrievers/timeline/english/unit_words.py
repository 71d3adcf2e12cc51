"""Whether an English unit is meant, and which: "my week", "in the year", "the last day of ..."."""

from __future__ import annotations

from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.neighbours import (
    STRANGE,
    follows,
    goes_no_further,
    has,
    next_word,
    previous,
    words_before,
)
from recall_retrievers.timeline.english.words import Kinds


def is_no_part_of_a_thing(tokens: list[Token], at: int) -> bool:
    """Whether it is not "the last day of school", which only the school knows."""
    unit, of, *rest = [*tokens[at + 1 : at + 6], None, None][:6]
    if not (has(unit, "UNIT") and of is not None and of.text == "of"):
        return True
    whole = next((one for one in rest if one and one.text not in ("the", "a", "my", "our")), None)
    return whole is None or not has(whole, STRANGE)


def is_a_season(tokens: list[Token], at: int) -> bool:
    """Whether a part of the year is meant, and not a season of a series."""
    ahead = next_word(tokens, at)
    return goes_no_further(tokens, at) and not (ahead and ahead.text in ("of", "with", "from"))


def the_present_one(tokens: list[Token], at: int) -> Kinds | None:
    """The present week, month or year, where it is meant."""
    unit = tokens[at].kinds["UNIT"]
    if unit not in ("day", "week", "weekend", "month", "quarter", "year"):
        return None
    return {"PRESENT": unit} if _is_mine(tokens, at) or _is_in_it(tokens, at) else None


def _is_mine(tokens: list[Token], at: int) -> bool:
    """Whether it is the asker's: "how was my week?", but not "a poem about my day"."""
    behind, ahead = previous(tokens, at), tokens[at + 1] if at + 1 < len(tokens) else None
    if behind is None or behind.text not in ("my", "our"):
        return False
    if ahead is not None and ahead.text in words.GOES_LIKE:
        return True
    return is_last_word(tokens, at) and any(
        token.text == "how" for token in tokens[max(0, at - 4) : at]
    )


def _is_in_it(tokens: list[Token], at: int) -> bool:
    """Whether it is this one: "the sales in the year", but not "how many days in the year?"."""
    return (
        tokens[at].kinds["UNIT"] not in ("day", "weekend")
        and [token.text for token in tokens[max(0, at - 2) : at]] == ["in", "the"]
        and is_last_word(tokens, at)
        and not any(token.text in words.COUNTED for token in tokens[max(0, at - 10) : at])
    )


def is_last_word(tokens: list[Token], at: int) -> bool:
    """Whether a sentence ends here: then "the day before" is the day before now."""
    return at + 1 == len(tokens) or tokens[at + 1].text in (".", "?", "!")


def is_half_of_year(tokens: list[Token], at: int) -> bool:
    """H2 is half a year beside a year or after a preposition, and else a heading."""
    before = words_before(tokens, at)
    around = previous(tokens, at), tokens[at + 2] if at + 2 < len(tokens) else None
    return follows(before, words.YEAR_PREPOSITIONS) or any(has(one, "YEAR") for one in around)
