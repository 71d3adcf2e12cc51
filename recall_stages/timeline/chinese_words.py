"""The Chinese words of time, in simplified script, and how numerals are read."""

from __future__ import annotations

from collections.abc import Iterator

from recall_stages.timeline.time_range import Grain

Kinds = dict[str, object]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OLD = (
    "週禮個兩這號點時後個過內間來這當從開節聖誕國慶導為經帶氣陽曆舊鐘頭沒剛歲晝陰農曆"
    "歷與雙殘億幾親勞動婦兒師終於樣課長麼無"
)
_NEW = (
    "周礼个两这号点时后个过内间来这当从开节圣诞国庆导为经带气阳历旧钟头没刚岁昼阴农历"
    "历与双残亿几亲劳动妇儿师终于样课长么无"
)
_WIDE = {ord("０") + n: ord("0") + n for n in range(10)}
SIMPLIFIED = str.maketrans(_OLD, _NEW) | _WIDE | str.maketrans("－—–～，：／", "----,:/")
"""Character for character, so that places in the text stay where they are."""

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "廿": 20}
_POWERS = {"十": 10, "百": 100, "千": 1000}
NUMERALS = frozenset(_DIGITS) | frozenset(_POWERS)

_UNITS: dict[Grain, str] = {
    "second": "秒 秒钟",
    "minute": "分钟",
    "hour": "小时 钟头",
    "day": "天",
    "week": "周 星期 礼拜",
    "month": "个月",
    "quarter": "个季度",
    "year": "年",
}
_PERIODS: dict[Grain, str] = {
    "week": "周 星期 礼拜",
    "weekend": "周末 星期末",
    "month": "月 个月 月份",
    "quarter": "季度 个季度",
}
_OFFSETS = {
    "DAYWORD": {
        "今天": 0, "今日": 0, "本日": 0, "昨天": -1, "昨日": -1, "昨儿": -1, "前天": -2, "前日": -2,
        "大前天": -3, "明天": 1, "明日": 1, "后天": 2, "大后天": 3,
    },
    "YEARWORD": {
        "今年": 0, "本年": 0, "去年": -1, "上年": -1, "旧年": -1, "前年": -2, "大前年": -3,
        "明年": 1, "后年": 2,
    },
    "REL": {"上": -1, "上上": -2, "上上上": -3, "这": 0, "本": 0, "今": 0, "下": 1, "下下": 2},
    "THIRD": {
        "初": 0, "上旬": 0, "中旬": 1, "底": 2, "末": 2, "下旬": 2, "早期": 0, "中期": 1,
        "后期": 2, "晚期": 2,
    },
    "YEAR_THIRD": {"年初": 0, "年底": 2, "年末": 2, "岁末": 2},
    "MONTH_THIRD": {"月初": 0, "月底": 2, "月末": 2},
    "HALF": {"上半": 1, "前半": 1, "下半": 2, "后半": 2},
    "SEASON": {
        "春天": 0, "春季": 0, "夏天": 1, "夏季": 1, "秋天": 2, "秋季": 2, "冬天": 3, "冬季": 3,
    },
}  # fmt: skip
_PARTS = {
    "凌晨": (0, 5),
    "清晨 清早 早晨 早上 早间 一早 大清早": (5, 12),
    "上午": (5, 12),
    "中午 正午": (11, 13),
    "下午 午后": (12, 17),
    "傍晚 黄昏": (17, 21),
    "晚上 晚间": (18, 24),
    "深夜 半夜 夜里 夜间 午夜": (21, 29),
}
_SHORT_PARTS = {"早": (5, 12), "晨": (5, 12), "晚": (18, 24), "夜": (21, 29)}
_NIGHTS = ("晚", "晚上", "夜", "夜里", "晚间")

# Words that hold a word of time and mean something else.
_NOT_TIME = _set(
    "今年轻 日本 日记 日常 日程 日子 日语 日文 日历 生日 节日 假日 工作日 天气 "
    "天空 天才 天使 天津 天真 天然 聊天 春天里 月饼 月亮 月球 月光 月薪 月台 "
    "月经 岁月 蜜月 年级 年纪 年龄 年轻 年糕 年头 年会 年薪 年份 新年快乐 "
    "百年孤独 五月天 周围 周到 周边 周年 周岁 周期 周杰伦 周刊 四周围 星期五餐厅 "
    "时间 时候 小时候 点心 点赞 点菜 一点都 一点也 一点儿 一点点 有一点 早点 晚点 "
    "晚饭 晚餐 晚会 晚安 早饭 早餐 早就 早已 夜市 夜宵 今后 今日头条 明白 明星 "
    "说明 发明 聪明 证明 文明 前面 前言 目前 以前 之前 以后 之后 后来 后面 然后 "
    "最后 前后 先后 上面 上班 上课 上海 上司 上网 下面 下班 下课 本来 本人 本子 "
    "这里 这些 这样 这么 季节 日后 半天 中国 中文 中心 中间 初中 高中 初恋 当初 "
    "最初 底下 到底 彻底 末日 周末愉快 号码 号称 分数 分享 一分钱 秒杀 天天 年年 "
    "月月 "
)


def _calendar_words() -> Iterator[tuple[str, str, object]]:
    """Names, the kind they are, and their value."""
    for kind, units in (("UNIT", _UNITS), ("PERIOD", _PERIODS)):
        yield from ((names, kind, unit) for unit, names in units.items())
    for kind, offsets in _OFFSETS.items():
        yield from ((name, kind, offset) for name, offset in offsets.items())
    for kind, parts in (("PART", _PARTS), ("SHORT_PART", _SHORT_PARTS)):
        yield from ((names, kind, hours) for names, hours in parts.items())
    for week in ("周", "星期", "礼拜"):
        yield from ((week + day, "WEEKDAY", number) for number, day in enumerate("一二三四五六日"))
        yield week + "天", "WEEKDAY", 6


def _parts_of_days() -> Iterator[tuple[str, str, object]]:
    """今早, 昨晚, 明晨: the day and its part in one word."""
    named = _SHORT_PARTS | {"早上": (5, 12), "晚上": (18, 24), "夜里": (21, 29)}
    for prefix, offset in {"今": 0, "昨": -1, "明": 1, "前": -2}.items():
        for part, hours in named.items():
            night = part in _NIGHTS
            yield prefix + part, *(("NIGHT", offset) if night else ("DAYPART", (offset, hours)))


def _vocabulary() -> dict[str, Kinds]:
    words: dict[str, Kinds] = {word: {} for word in _NOT_TIME}
    for names, kind, value in (*_calendar_words(), *_parts_of_days()):
        for name in names.split():
            words.setdefault(name, {})[kind] = value
    return words


def read_numeral(text: str) -> Kinds:
    """What a run of Chinese numerals may be: 二十三 is 23, 二〇二二 a year, 两三 an about."""
    digits = [_DIGITS[c] for c in text if c in _DIGITS]
    if len(digits) == len(text) and len(text) > 1 and "廿" not in text:
        if "两" in text or (len(text) == 2 and digits[1] - digits[0] == 1 and digits[0]):
            return {"ABOUT": (digits[0], digits[1])} if len(text) == 2 else {}
        return digits_kinds("".join(map(str, digits)))
    total = current = 0
    for character in text:
        if character in _DIGITS:
            current += _DIGITS[character]
        else:
            total += (current or 1) * _POWERS[character]
            current = 0
    return {"NUM": total + current}


def digits_kinds(text: str) -> Kinds:
    """What a run of digits may be: a count, or a year of four or two digits."""
    if len(text) > 9:
        return {}
    number = int(text)
    if len(text) == 2 and (text[0] == "0" or number >= 50):  # 07年 and 98年, but 15年 is an amount
        return {"SHORT_YEAR": number, "NUM": number}
    year: Kinds = {"YEAR": number} if len(text) == 4 and 1000 <= number <= 2999 else {}
    return {**year, "NUM": number}


WORDS: dict[str, Kinds] = _vocabulary()
"""Every word with a meaning in time, and those that only look like one."""

NOT_BEFORE_NUMBER = frozenset("第座栋楼房街路巷弄门道区室院牌")
NOT_AFTER_NUMBER = frozenset("球选楼线门房店馆桌厅院机码位台选车床库井服柜座栋室本元人员")
"""Characters beside which "5号" is a place or a thing, not a day: 3号楼, 第5号."""

HOW_OFTEN = frozenset("次天回遍趟节")
"""After 一周三 these make it three times a week, not a Wednesday."""
