"""The Japanese words of time, orders that only Japanese has, and its traps."""

import re
from dataclasses import replace

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.engine import Expression, Table
from recall_retrievers.timeline.grammar.reading import Now, Reading
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.unspaced import WHEN, Script, Unspaced
from recall_retrievers.timeline.grammar.vocabulary import Kinds, words_of
from recall_retrievers.timeline.meanings import combine, cycles, ranges

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {
        0: "今日 きょう 本日", -1: "昨日 きのう さくじつ", -2: "一昨日 おととい",
        -3: "一昨昨日 さきおととい", 1: "明日 あした あす", 2: "明後日 あさって",
    },
    "NIGHT": {-1: "昨夜 昨晩 ゆうべ", 0: "今夜 今晩"},
    "DAYPART": {(0, (5, 12)): "今朝 けさ"},
    "RELATIVE": {
        (-1, "week"): "先週", (0, "week"): "今週", (1, "week"): "来週",
        (-2, "week"): "先々週 先先週", (2, "week"): "再来週",
        (-1, "month"): "先月", (0, "month"): "今月", (1, "month"): "来月",
        (-2, "month"): "先々月 先先月", (2, "month"): "再来月",
        (-1, "year"): "去年 昨年 前年", (0, "year"): "今年 ことし 本年", (1, "year"): "来年",
        (-2, "year"): "一昨年 おととし", (2, "year"): "再来年",
        (0, "weekend"): "週末 今週末", (-1, "weekend"): "先週末", (1, "weekend"): "来週末",
        (-2, "weekend"): "先々週末",
        (-1, "quarter"): "前四半期 先四半期", (0, "quarter"): "今四半期",
        (1, "quarter"): "来四半期",
    },
    "UNIT": {
        "minute": "分間 分", "hour": "時間", "day": "日間 日", "week": "週間 週",
        "month": "か月 ヶ月 カ月 ケ月 ヵ月 箇月 か月間 ヶ月間 カ月間 ケ月間 ヵ月間",
        "year": "年間 年 ヶ年 か年",
    },
    "WEEKDAY": {
        number: f"{day}曜日 {day}曜" for number, day in enumerate("月火水木金土日")
    },
    "THIRD": {
        0: "初め はじめ 始め 上旬 初旬 初頭", 1: "半ば なかば 中旬", 2: "終わり おわり 末 下旬",
    },
    "THIRD_OF": {
        (0, "year"): "年始 年初", (2, "year"): "年末", (0, "month"): "月初", (2, "month"): "月末",
    },
    "PLACE": {1: "最初", -1: "最後"},
    "HALF": {1: "前半 上半期", 2: "後半 下半期"},
    "SEASON": {0: "春", 1: "夏", 2: "秋", 3: "冬"},
    "PART": {
        (5, 12): "朝 早朝", (0, 12): "午前 午前中", (11, 14): "昼 お昼", (12, 18): "午後",
        (16, 19): "夕方", (18, 24): "夜 晩", (21, 29): "深夜 夜中",
    },
    "ADJACENT": {-1: "前日", 1: "翌日 次の日"},
    "ERA": {2018: "令和", 1988: "平成", 1925: "昭和"},
    "QUARTER": {1: "第一四半期", 2: "第二四半期", 3: "第三四半期", 4: "第四四半期"},
    "HOLIDAY": {
        cal.yearly(12, 25): "クリスマス", cal.yearly(12, 24): "クリスマスイブ クリスマス・イブ",
        cal.yearly(12, 31): "大晦日 大みそか", cal.yearly(1, 1): "元日 元旦",
        cal.yearly(2, 14): "バレンタイン バレンタインデー",
        cal.yearly(10, 31): "ハロウィン ハロウィーン",
        cal.yearly(5, 5): "こどもの日 子供の日", cal.yearly(7, 7): "七夕",
        cal.easter: "イースター 復活祭",
    },
    "HOLIDAYS": {
        (cal.yearly(1, 1), 3): "正月 お正月", (cal.yearly(4, 29), 7): "ゴールデンウィーク",
        (cal.yearly(8, 13), 4): "お盆",
        cal.OVER_CHRISTMAS: "クリスマスの間 クリスマス期間 クリスマス中",
    },
    "SOFT": {30: "最近 近頃 この頃 このごろ ここのところ", 14: "先日 この間 このあいだ"},
}  # fmt: skip
_END = "(?:だ|です|よ|ね|が|ので|から|けど)*(?=$|[、。？?])"
_CUES = Cues(
    ahead=rf"""予定 つもり
    (?:はず|だろう|でしょう|[うくぐすつぬぶむ]|(?<!てい)る|です|ます|ない|まで){_END}""",
    arranged="予約 申し込 招待 注文 約束 チケット 手配",
    back=rf"(?:会話|チャット)で (?:た|んだ|いだ)(?:の|ん|ら)?{_END}",
    present="締め?切り? 期限 最終日",
    asking="予定 締め?切り? 予約 つもり がある がありますか",
    put_off="延期 変更",
    onward="から$",
    spaced=False,
)

_LOOKALIKES = words_of(
    """今日子 明日香 三日月 三日坊主 一日中 一年中 日曜大工 金曜ロードショー 土曜ワイド 月曜病
    最近の若者 二日酔い 十日町 四日市 八日市 前年比 春巻き 春雨 秋刀魚 朝ごはん 昼ごはん 晩ごはん
    夏目 冬瓜 春樹 秋葉原 夏祭り 末っ子 クリスマスマーケット クリスマスツリー クリスマスプレゼント
    クリスマスカード"""
)
_ADDRESSED = ("さん", "ちゃん", "くん", "君", "様", "さま")


def _is_number(text: str, _at: int, end: int, kinds: Kinds) -> Kinds:
    """A day of the month is followed by a particle: 3日に, and not 3日酔い."""
    kinds = {kind: value for kind, value in kinds.items() if kind != "HAN"}
    after = text[end + 1 : end + 2]
    if "NUM" in kinds and text[end : end + 1] == "日" and after and after in "にはのか":
        return {"DAY": kinds["NUM"], **kinds}  # first: before the amount of days
    return kinds


def _year(now: Now, number: int) -> Reading | None:
    """2019年; 19年 may be an amount."""
    return cycles.year(now, number) if 1900 <= number < 2200 else None


_DATES: Table = {
    "QUARTER": cycles.quarter,
    "第? NUM 四半期": cycles.quarter,
    "SEASON": lambda now, number: replace(cycles.season(now, number), alone=False),
    "ERA NUM 年": lambda now, base, number: cycles.year(now, base + number),
    "ERA 元 年": lambda now, base: cycles.year(now, base + 1),
}
_PHRASES: Table = {
    "この前|前回|前|先 の? CYCLE": lambda now, cycle: combine.from_now(now, -1, cycle),
    "今度|次 の CYCLE": combine.coming,
}
_RANGES: Table = {
    f"{WHEN} から": ranges.up_to_now,
    f"{WHEN} まで に?": ranges.until,
    f"{WHEN} の? 時点|現在 で?": ranges.as_of,
    f"{WHEN} より <ago>": ranges.before,
    f"{WHEN} より <later>": ranges.after,
}


class _Japanese(Unspaced):
    def read(self, text: str, now: Now) -> list[Expression]:
        """Every time expression of a text; 五月さん is a person."""
        return [one for one in super().read(text, now) if not text.startswith(_ADDRESSED, one[2])]


JAPANESE = _Japanese(
    Script(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "of": "の",
            "few": "数",
            "half": "半",
            "and": "と 、",
            "oclock": "時",
            "minute": "分",
            "month": "月",
            "day": "日",
            "year": "年",
            "decade": "年代",
            "century": "世紀",
            "weekend": "週末",
            "nth": "第",
            "ago": "前 まえ 前に まえに 以前",
            "later": "後 ご 後に あと",
            "since": "以来 から今まで から現在まで",
            "onwards": "以降",
            "past": "過去 最近 直近 この ここ これまで",
            "coming": "今後 これから 向こう",
            "that": "その この の",
            "same_time": "今頃 今ごろ いまごろ この時期",
            "every": "毎週 毎年 毎月 毎日",
            "from": "",
            "to": "から - 〜 まで",
            "between": "間 あいだ",
            "lead": "約 およそ だいたい",
        },
        hint="NUMBER *[年月日時分週か箇ヶカケヵ世四]|半年|第",
        narrow=str.maketrans("０１２３４５６７８９／．：－～〜", "0123456789/.:---"),
        quoted=re.compile("「[^」]{1,80}」|『[^』]{1,80}』"),
        lookalikes=_LOOKALIKES,
        is_number=_is_number,
        dates=_DATES,
        phrases=_PHRASES,
        ranges=_RANGES,
    )
)
