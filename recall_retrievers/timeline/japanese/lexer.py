"""Japanese text to tokens: the longest known word at every place, numerals read as numbers."""

import re
from collections.abc import Iterator

from recall_retrievers.timeline.chinese.numbers import NUMERALS, numeral_kinds
from recall_retrievers.timeline.grammar.engine import Token
from recall_retrievers.timeline.grammar.lexing import NUMERIC, Kinds, Lexicon, numeric_kinds
from recall_retrievers.timeline.time_range import Grain

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


# -- the words of time: their names in patterns, and their values ---------------------------------

_UNITS: dict[Grain, str] = {
    "minute": "分間 分",
    "hour": "時間",
    "day": "日間 日",
    "week": "週間 週",
    "month": "か月 ヶ月 カ月 ケ月 ヵ月 箇月 か月間 ヶ月間 カ月間 ケ月間 ヵ月間",
    "year": "年間 年 ヶ年 か年",
}
_OFFSETS: dict[str, dict[object, str]] = {
    "DAYWORD": {
        0: "今日 きょう 本日", -1: "昨日 きのう さくじつ", -2: "一昨日 おととい 一昨昨日",
        1: "明日 あした あす", 2: "明後日 あさって",
    },
    "NIGHT": {-1: "昨夜 昨晩 ゆうべ", 0: "今夜 今晩"},
    "DAYPART": {(0, (5, 12)): "今朝 けさ"},
    "RELATIVE": {
        (-1, "week"): "先週", (0, "week"): "今週", (1, "week"): "来週",
        (-2, "week"): "先々週 先先週",
        (2, "week"): "再来週", (-1, "month"): "先月", (0, "month"): "今月", (1, "month"): "来月",
        (-2, "month"): "先々月 先先月", (2, "month"): "再来月",
        (-1, "year"): "去年 昨年 前年", (0, "year"): "今年 ことし 本年", (1, "year"): "来年",
        (-2, "year"): "一昨年 おととし", (2, "year"): "再来年",
        (0, "weekend"): "週末 今週末", (-1, "weekend"): "先週末", (1, "weekend"): "来週末",
    },
    "THIRD": {
        0: "初め はじめ 始め 上旬 初旬 初頭", 1: "半ば なかば 中旬", 2: "終わり おわり 末 下旬",
    },
    "SEASON": {0: "春", 1: "夏", 2: "秋", 3: "冬"},
    "PART": {
        (5, 12): "朝 早朝", (0, 12): "午前 午前中", (11, 14): "昼 お昼", (12, 18): "午後",
        (16, 19): "夕方", (18, 24): "夜 晩", (21, 29): "深夜 夜中",
    },
    "ERA": {2018: "令和", 1988: "平成", 1925: "昭和"},
    "QUARTER": {1: "第一四半期", 2: "第二四半期", 3: "第三四半期", 4: "第四四半期"},
    "HOLIDAY": {
        (12, 25, 1): "クリスマス", (12, 24, 1): "クリスマスイブ クリスマス・イブ",
        (12, 31, 1): "大晦日 大みそか", (1, 1, 1): "元日 元旦", (1, 1, 3): "正月 お正月",
        (2, 14, 1): "バレンタイン バレンタインデー", (10, 31, 1): "ハロウィン ハロウィーン",
        (5, 5, 1): "こどもの日 子供の日", (7, 7, 1): "七夕", (4, 29, 7): "ゴールデンウィーク",
        (8, 13, 4): "お盆", (12, 24, 4): "クリスマスの間 クリスマス期間 クリスマス中",
    },
    "SOFT": {30: "最近 近頃 この頃 このごろ ここのところ", 14: "先日 この間 このあいだ"},
}  # fmt: skip
_LOOKALIKES = """
今日子 明日香 三日月 三日坊主 一日中 一年中 日曜大工 金曜ロードショー 土曜ワイド 月曜病 最近の若者
二日酔い 十日町 四日市 八日市 前日 前年比 春巻き 春雨 秋刀魚 朝食 昼食 夕食 夜食 朝ごはん
昼ごはん 晩ごはん 夜景 昼寝 夜行 夏目 冬瓜 春樹 秋葉原 夏祭り 末っ子 月末まで クリスマスマーケット
クリスマスツリー クリスマスプレゼント クリスマスカード
"""
_ADDRESSED = "さん ちゃん くん 君 様 さま"


def _entries() -> Iterator[tuple[str, str, object]]:
    for unit, names in _UNITS.items():
        yield names, "UNIT", unit
    for kind, values in _OFFSETS.items():
        yield from ((names, kind, value) for value, names in values.items())
    for number, day in enumerate("月火水木金土日"):
        yield f"{day}曜日 {day}曜", "WEEKDAY", number


def _vocabulary() -> dict[str, Kinds]:
    words: dict[str, Kinds] = {word: {} for word in _LOOKALIKES.split()}
    for names, kind, value in _entries():
        for name in names.split():
            words.setdefault(name, {})[kind] = value
    return words


WORDS: dict[str, Kinds] = _vocabulary()
"""Every word of time, and the words that only look like one."""

ADDRESSED: tuple[str, ...] = tuple(_ADDRESSED.split())
"""What follows the name of a person: 五月さん."""

TELLING = frozenset({"DAYWORD", "NIGHT", "DAYPART", "RELATIVE", "WEEKDAY", "HOLIDAY", "SOFT"})
"""Kinds that name a time by themselves."""
