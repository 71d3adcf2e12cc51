"""Text of a language that writes spaces to tokens, in groups that may name a time."""

import re
from collections.abc import Iterator
from itertools import accumulate

from recall_retrievers.timeline.grammar.engine import Token
from recall_retrievers.timeline.grammar.lexing import NUMERIC, numeric_kinds, worth_reading
from recall_retrievers.timeline.grammar.neighbours import STRANGE, decide
from recall_retrievers.timeline.grammar.vocabulary import (
    FOLDED,
    Kinds,
    Vocabulary,
    number_kinds,
    words_of,
)

# One word: a quotation, because its words are not the asker's, and "5/7", "3rd" or "2 pm".
_WORD = re.compile(
    r"""
    (
        [^\W\d_]+
      | '? \d (?: [/.:-]? \d ){0,7} (?: '? [^\W\d_]{1,3} (?! \w ) )?
      | ["“„«] [^«»"“”„\n]{1,80} ["”“»]
    )
    """,
    re.VERBOSE,
)
_TOKEN = r"""
    (?P<word> [^\W\d_]+ )
  | (?P<quoted> (?<!\w) ["“„«] [^«»"“”„\n]{1,80} ["”“»] (?!\w) )
  | (?P<short> (?<![\d.]) \d{1,2} \. \d{1,2} \. (?! \d ) )
  | NUMERIC
  | (?P<ordinal> \d{1,2} (?: ENDINGS ) (?! \w ) )
  | (?P<decade> (?: \d\d )? \d0 '? (?: YEARS ) (?! \w ) )
  | (?P<short_year> (?<! \w ) ' \d\d (?! \w ) )
  | (?P<number> \d+ )
  | (?P<possessive> 's (?! \w ) )
  | (?P<marks> (?: [^\w\s'] \s*+ ){5,} )
  | (?P<mark> [^\w\s'] )
""".replace("NUMERIC", NUMERIC.strip())
_QUIET = words_of(
    "NUM DAY HOUR YEAR COUNT DOTTED SLASHED ORD ONES TEEN TENS EDGE END AMPM REL REL_BEHIND"
)
_WEAK = words_of("UNIT UNITS PART PARTS ORD EDGE END QUARTER HINT")
_REACH = 6  # words to read on both sides: "nineteen hundred and twenty five" has five
_MARKS = 3  # characters to read beside them: "= 2019", "7 p.m."
_MOST_STRANGERS = 2  # strange words a phrase may hold: "the week before our big move on 5 June"
_YEARS = range(1500, 2200)


class Lexer:
    """Cuts texts into tokens with the words of one language."""

    def __init__(self, vocabulary: Vocabulary, patterns: frozenset[str]) -> None:
        self._vocabulary = vocabulary
        self.known: dict[str, Kinds] = {w: dict(kinds) for w, kinds in vocabulary.words.items()}
        for word in patterns:
            self.known.setdefault(word, {})[word] = None
        self._hints = dict(self._telling())
        token = _TOKEN.replace("ENDINGS", vocabulary.ordinal).replace("YEARS", vocabulary.decade)
        self._token = re.compile(token, re.VERBOSE | re.IGNORECASE)

    def _telling(self) -> Iterator[tuple[str, bool]]:
        """Words that give a hint, and whether it is a weak one: "day" more often names no time."""
        doubtful = self._vocabulary.doubtful or frozenset()
        for word, kinds in self.known.items():
            telling = {kind for kind in kinds if kind.isupper()} - (_QUIET - _WEAK)
            if telling:
                yield word, telling <= _WEAK or word in doubtful

    def tokenize(self, text: str) -> Iterator[list[Token]]:
        """Cut a text into groups of tokens that may name a time, and drop the rest."""
        folded = text.translate(FOLDED)
        for start, end in self._stretches(folded):
            tokens = [
                token
                for match in self._token.finditer(folded, start, end)
                for token in self._of(match)
            ]
            for at, token in enumerate(tokens):
                if STRANGE not in token.kinds:
                    decide(tokens, at, text, self._vocabulary)
            yield from self._groups(tokens)

    def _stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """The parts of a text that are worth reading, from the left, apart from each other."""
        pieces = _WORD.split(text)  # in turn: the text before a word, and the word
        words = pieces[1::2]
        telling = {word: weak for word in {*words} if (weak := self._hint(word)) is not None}
        hints = [at for at, word in enumerate(words) if word in telling] if telling else []
        if not hints:
            return
        hints = worth_reading(hints, {at for at in hints if telling[words[at]]})
        bounds = list(accumulate(map(len, pieces)))
        first = max(0, hints[0] - _REACH)
        for at, following in zip(hints, [*hints[1:], None], strict=True):
            if following is None or following - at > 2 * _REACH:
                last = min(at + _REACH, len(words) - 1)
                yield max(0, bounds[2 * first] - _MARKS), bounds[2 * last + 1] + _MARKS
                first = max(0, following - _REACH) if following else 0

    def _hint(self, word: str) -> bool | None:
        """Whether a word is a weak hint; None: it is none."""
        if word.isdecimal():
            if int(word) in _YEARS or (len(word) == 8 and word[:2] in ("19", "20")):
                return False
            return True if self._vocabulary.days_are_numbers and len(word) < 3 else None  # le 3
        if word[0] <= "9":
            return False if len(word) > 1 else None
        low = word.lower()
        weak = self._hints.get(low)
        if weak is None and self._vocabulary.compounds and len(low) > 6:
            return False if self._parts(low) else None
        return weak

    def _of(self, match: re.Match[str]) -> list[Token]:
        kind, text = match.lastgroup or "", match[0].lower()
        start, end = match.span()
        if kind == "word":
            kinds = self.known.get(text)
            parts = self._parts(text) if kinds is None and self._vocabulary.compounds else None
            if parts:
                cut = start + len(parts)
                first, second = text[: len(parts)], text[len(parts) :]
                return [
                    Token(first, start, cut, self.known[first]),
                    Token(second, cut, end, self.known[second]),
                ]
            return [Token(text, start, end, {STRANGE: None} if kinds is None else kinds)]
        if kind == "mark":
            return [Token(text, start, end, self.known.get(text, {}))]
        return [Token(text, start, end, _number(kind, text))]

    def _parts(self, word: str) -> str | None:
        """The first part of a word that is written together with another: Dienstag, of -abend."""
        for cut in range(len(word) - 3, 2, -1):
            first, second = self.known.get(word[:cut]), self.known.get(word[cut:])
            if first and second and not _FIRST.isdisjoint(first):
                return word[:cut] if not _SECOND.isdisjoint(second) else None
        return None

    def _groups(self, tokens: list[Token]) -> Iterator[list[Token]]:
        group: list[Token] = []
        strangers = 0
        for token in [*tokens, Token("", 0, 0, {})]:
            strangers = strangers + 1 if STRANGE in token.kinds else 0
            if token.kinds and strangers <= _MOST_STRANGERS:
                group.append(token)
                continue
            if any(map(_tells, group)):
                yield group
            group = []


_FIRST = words_of("WEEKDAY MONTH SEASON UNIT")
_SECOND = words_of("PART UNIT <morning> <half_of>")


def _number(kind: str, text: str) -> Kinds:
    if kind == "possessive":
        return {"'s": None}
    if kind in ("quoted", "marks") or len(text) > 10:
        return {}
    if kind == "number" and len(text) == 8 and 1900 <= int(text[:4]) < 2100:
        return {"DATE": (int(text[:4]), int(text[4:6]), int(text[6:]))}
    if kind == "number":
        return number_kinds(int(text)) if len(text) < 6 else {}
    if kind == "ordinal":
        number = int(re.sub(r"\D", "", text))
        return {"ORD": number, **({"DAY": number} if 1 <= number <= 31 else {})}
    if kind == "decade":
        number = int(re.sub(r"\D", "", text))
        return {"SURE_DECADE" if number > 100 else "DECADE": number}
    if kind == "short":
        return {"SHORT": tuple(int(digits) for digits in text.split(".")[:2])}
    if kind == "short_year":
        return {"SHORT_YEAR": int(text[1:])}
    return numeric_kinds(kind, text)


def _tells(token: Token) -> bool:
    """Whether a token can name a time by itself, as numbers and small words can't."""
    return "YEAR" in token.kinds or not _QUIET.issuperset(
        kind for kind in token.kinds if kind.isupper()
    )
