"""Japanese text to tokens: the longest known word at every place, numerals read as numbers."""

import re
from collections.abc import Iterator

from recall_retrievers.timeline.chinese.numbers import NUMERALS, numeral_kinds
from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.engine.lexing import NUMERIC, Kinds, Lexicon, numeric_kinds
from recall_retrievers.timeline.japanese.words import ADDRESSED, TELLING

_NUMERALS = "".join(sorted(NUMERALS - {"両", "两"}))
_NUMBER = re.compile(
    rf"{NUMERIC} | (?P<digits> \d{{1,8}} ) | (?P<numeral> [{_NUMERALS}]+ )", re.VERBOSE
)
_NARROW = str.maketrans("０１２３４５６７８９／．：－～〜", "0123456789/.:---")
_QUOTED = re.compile("「[^」]{1,80}」|『[^』]{1,80}』")
_MOST_TOKENS = 24  # of a group: a phrase has some ten
_MOST_GROUPS = 10  # of a text: a question has a few
_MOST = 2000  # characters at either end of a text; a question has fewer


class Tokenizer(Lexicon):
    """Cuts a text into groups of tokens that may name a time, and drops the rest."""

    def tokenize(self, text: str) -> Iterator[list[Token]]:
        """The first and the last groups of a text: a paste stands before or behind the question."""
        text = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), text.translate(_NARROW))
        ends = [range(len(text))]
        if len(text) > 2 * _MOST:
            ends = [range(_MOST), range(len(text) - _MOST, len(text))]
        groups = [group for places in ends for group in self._groups(text, places)]
        if len(groups) > _MOST_GROUPS:
            groups = groups[: _MOST_GROUPS // 2] + groups[-_MOST_GROUPS // 2 :]
        yield from groups

    def _groups(self, text: str, places: range) -> Iterator[list[Token]]:
        group: list[Token] = []
        at = places.start
        while at < places.stop:
            token = self._word(text, at) or _number(text, at)
            at = token.end if token else at + 1
            if token and token.kinds and len(group) < _MOST_TOKENS:
                group.append(token)
                continue
            if _tells(group):
                yield group
            group = []
        if _tells(group):
            yield group

    def _word(self, text: str, at: int) -> Token | None:
        for word, kinds in self.words_at(text, at):
            if len(word) > 1 or word not in NUMERALS:
                return Token(word, at, at + len(word), kinds)
        return None


def _tells(group: list[Token]) -> bool:
    return len(group) > 1 or any(not TELLING.isdisjoint(token.kinds) for token in group)


def _number(text: str, at: int) -> Token | None:
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    kind, number = match.lastgroup or "", match[0]
    if kind == "digits":
        kinds = _digits(number)
    elif kind == "numeral":
        kinds = {key: value for key, value in numeral_kinds(number).items() if key != "HAN"}
    elif kind == "date" and "/" not in number and not re.search(r"\d{4}", number):
        kinds = {}  # 3.4.1 is a version
    else:
        kinds = numeric_kinds(kind, number)
    return Token(number, at, match.end(), kinds)


def _digits(number: str) -> Kinds:
    kinds: Kinds = {"NUM": int(number)}
    if len(number) == 4:
        kinds["YEAR"] = int(number)
    return kinds


def is_name(text: str, end: int) -> bool:
    """Whether a person is addressed: 五月さん."""
    return text.startswith(ADDRESSED, end)
