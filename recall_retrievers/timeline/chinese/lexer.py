"""Chinese text to tokens: the longest known word at every place, numerals read as numbers."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from recall_retrievers.timeline.chinese.lookalikes import is_day, is_hour, is_word
from recall_retrievers.timeline.chinese.numbers import NUMERALS, digits_kinds, numeral_kinds
from recall_retrievers.timeline.chinese.words import QUIET, SIMPLIFIED, WORDS
from recall_retrievers.timeline.grammar.engine import Token
from recall_retrievers.timeline.grammar.lexing import NUMERIC, Kinds, Lexicon, numeric_kinds

_NUMBER = re.compile(
    rf"""
    {NUMERIC}
  | (?P<digits> \d+ )
  | (?P<numeral> [{"".join(sorted(NUMERALS))}]+ )
  | (?P<space> \s+ )
    """,
    re.VERBOSE,
)
_NUMERALS = "0-9几数" + "".join(sorted(NUMERALS))
_SURE = rf"""
    [{_NUMERALS}] \s? [月日号点世季/.:-]
  | [\d零〇一二三四五六七八九]{{2}} \s? 年
  | [{_NUMERALS}半多来余] 个? (?: [天周月年] | 星期 | 礼拜 | 小时 | 分钟 ) [半多]? [之以前后内]
  | (?: 前 | 近 | 过去的? | 未来的? ) [{_NUMERALS}半]
  | [上下这本今每] 个? [周月星礼季]
"""
_Span = tuple[int, int]

_WEEKDAYS = re.compile(r"(?:周|星期|礼拜)([一二三四五六日]{2,7})(?![次天回遍趟节月号点年个])")
_QUOTED = re.compile("《[^》]{1,80}》|〈[^〉]{1,80}〉|“[^”]{1,80}”|「[^」]{1,80}」|『[^』]{1,80}』")
_HINTS = "年月日号天周期拜季时分秒点末纪q/.:=-"
_MOST = 50  # characters worth reading: 12 dates; a question has a few
_MOST_STRETCHES = 1500  # to look at more closely; ten thousand characters of prose have fewer


class Tokenizer(Lexicon):
    """The words of the language and of the patterns; some of these are ``alone`` a pattern."""

    def __init__(self, patterns: Iterable[str], alone: Iterable[str]) -> None:
        super().__init__(WORDS, patterns)
        self._telling = {word for word in alone if not word.isupper()} | {
            word for word, kinds in WORDS.items() if not QUIET.issuperset(kinds)
        }
        self._stretch = self._worth_reading()
        self._sure = re.compile(f"{_one_of(self._telling)}|{_SURE}", re.VERBOSE)

    def _worth_reading(self) -> re.Pattern[str]:
        """The pattern of stretches that consist of known characters and tell a time."""
        known = {c for word, kinds in self.words.items() if kinds for c in word}
        known |= NUMERALS | {*_HINTS, *"0123456789 "} | {word[0] for word in self.words}
        # The last character of 昨晚 and 上午 is rarer than the first.
        hints = {*_HINTS} | {word[-1] for word in self._telling if not {*_HINTS} & {*word}}
        every, hint, plain = (
            "".join(map(re.escape, sorted(group))) for group in (known, hints, known - hints)
        )
        return re.compile(f"(?<![{every}])[{plain}]*+[{hint}][{every}]*+")

    def tokenize(self, text: str) -> Iterator[list[Token]]:
        """Cut a text into groups of tokens that may name a time, and drop the rest.

        Of a text with very much to read, only the beginning and the end are read.
        """
        text = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), text.translate(SIMPLIFIED))
        for start, end in self._worthwhile(text):
            group: list[Token] = []
            at = start
            while at < end:
                token = self._word(text, at, group) or _number(text, at)
                at = token.end if token else at + 1
                if token and token.kinds:
                    group.append(token)
                elif not (token and token.text.isspace()):
                    if self._tells(group):
                        yield group
                    group = []
            if self._tells(group):
                yield group

    def _worthwhile(self, text: str) -> Iterator[_Span]:
        """The stretches to read; of too many the surer ones, up to the limit."""
        spans = [match.span() for match in self._stretch.finditer(text)]
        if sum(end - start for start, end in spans) <= _MOST:
            yield from spans
            return
        if len(spans) > _MOST_STRETCHES:
            spans = spans[: _MOST_STRETCHES // 2] + spans[-_MOST_STRETCHES // 2 :]

        def is_sure(span: _Span) -> bool:
            return bool(self._sure.search(text, span[0], min(span[1], span[0] + _MOST)))

        yield from _from_both_ends(spans, is_sure)

    def _tells(self, group: list[Token]) -> bool:
        return len(group) > 1 or any(
            token.text in self._telling or not QUIET.issuperset(token.kinds) for token in group
        )

    def _word(self, text: str, at: int, before: list[Token]) -> Token | None:
        previous = before[-1].kinds if before and before[-1].end == at else {}
        for word, kinds in self.words_at(text, at):
            if not is_word(text, at, word, kinds, previous):
                continue
            if len(word) == 1 and word in NUMERALS:
                return None
            several = _weekdays(text, at) if "WEEKDAY" in kinds else None
            return several or Token(word, at, at + len(word), kinds)
        return None


def _one_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, grouped by their first character to be quick."""
    rests: dict[str, list[str]] = defaultdict(list)
    for word in words:
        rests[word[0]].append(word[1:])
    return "|".join(f"{first}(?:{'|'.join(group)})" for first, group in sorted(rests.items()))


def _from_both_ends(spans: list[_Span], wanted: Callable[[_Span], bool]) -> Iterator[_Span]:
    """The first and the last of the wanted stretches, up to the limit of characters."""
    head = list(_cut(filter(wanted, spans)))
    yield from head
    if sum(end - start for start, end in head) < _MOST // 2:
        return  # there are no others
    read = head[-1][1]
    backwards = ((-end, -start) for start, end in filter(wanted, reversed(spans)))
    tail = [(-end, -start) for start, end in _cut(backwards)]
    yield from ((max(start, read), end) for start, end in reversed(tail) if end > read)


def _cut(spans: Iterable[_Span]) -> Iterator[_Span]:
    left = _MOST // 2
    for start, end in spans:
        yield start, min(end, start + left)
        left -= end - start
        if left <= 0:
            break


def _weekdays(text: str, at: int) -> Token | None:
    """周一三五: Monday, Wednesday and Friday."""
    match = _WEEKDAYS.match(text, at)
    if match is None:
        return None
    days = ["一二三四五六日".index(day) for day in match[1]]
    if days != sorted(set(days)):  # 周一一起: a list names every day once, in order
        return None
    return Token(match[0], at, match.end(), {"WEEKDAYS": frozenset(days)})


def _number(text: str, at: int) -> Token | None:
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    kind, number, end = match.lastgroup or "", match[0], match.end()
    kinds: Kinds
    if kind == "digits":
        kinds = digits_kinds(number)
        if "DATE" in kinds and at and text[at - 1] in "号码单编":  # 订单号20240305
            kinds = {}
    elif kind == "numeral":
        kinds = numeral_kinds(number) if number != "一" or is_hour(text, end) else {}
    elif kind == "date" and "/" not in number and not re.search(r"\d{4}", number):
        kinds = {}  # 5.3.0 is a version, 4-7-8 a way to breathe
    else:
        kinds = {} if kind == "space" else numeric_kinds(kind, number)
    if "NUM" in kinds and is_day(text, at, end):
        kinds["DAY"] = kinds["NUM"]
    return Token(number, at, end, kinds)
