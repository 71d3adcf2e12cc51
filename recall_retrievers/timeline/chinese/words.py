"""The Chinese words of time, in simplified script: their names in patterns, and their values."""

from collections.abc import Iterator

from recall_retrievers.timeline.chinese.lookalikes import LOOKALIKES
from recall_retrievers.timeline.grammar.lexing import Kinds
from recall_retrievers.timeline.time_range import Grain

_OLD = (
    "週禮個兩這號點時後過內間來當從開節聖誕國慶導為經帶氣陽曆舊鐘頭沒剛歲晝陰農歷與雙殘億幾親"
    "勞動婦兒師終於樣課長麼無裡裏將萬貳參陸臘復鍾陣黃週聽線樓門館廳機員選車庫電話飯會產術戰賽"
    "東錢見議題說寫買賣發現實際淩遲週閏書畫廠隊職處應該樂學習團報紙漲價準備連續纔才還結束夠禮兩"
    "階級輕齡銀鐵鏡響願驚蟄穀種漢滿鄰險風飛馬魚鳥麗"
)
_NEW = (
    "周礼个两这号点时后过内间来当从开节圣诞国庆导为经带气阳历旧钟头没刚岁昼阴农历与双残亿几亲"
    "劳动妇儿师终于样课长么无里里将万贰叁陆腊复钟阵黄周听线楼门馆厅机员选车库电话饭会产术战赛"
    "东钱见议题说写买卖发现实际凌迟周闰书画厂队职处应该乐学习团报纸涨价准备连续才才还结束够礼两"
    "阶级轻龄银铁镜响愿惊蛰谷种汉满邻险风飞马鱼鸟丽"
)
_WIDE = {ord("０") + n: ord("0") + n for n in range(10)}
SIMPLIFIED = str.maketrans(_OLD, _NEW) | _WIDE | str.maketrans("－—–～~，：／．＝Q", "-----,:/.=q")
"""Character for character, so that places in the text stay where they are."""

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
    "weekend": "周末 星期末 礼拜末",
    "month": "月 个月 月份",
    "quarter": "季度 个季度 季",
}
_OFFSETS = {
    "DAYWORD": {
        "今天": 0, "今日": 0, "本日": 0, "今儿": 0, "今儿个": 0,
        "昨天": -1, "昨日": -1, "昨儿": -1, "昨儿个": -1, "琴日": -1, "寻日": -1, "噚日": -1,
        "前天": -2, "前日": -2, "前儿个": -2, "大前天": -3, "大前日": -3,
        "明天": 1, "明日": 1, "明儿": 1, "明儿个": 1, "听日": 1,
        "后天": 2, "后日": 2, "大后天": 3, "大后日": 3,
    },
    "YEARWORD": {
        "今年": 0, "本年": 0, "本年度": 0, "去年": -1, "上年": -1, "上年度": -1, "旧年": -1,
        "前年": -2, "大前年": -3, "明年": 1, "来年": 1, "出年": 1, "下年度": 1, "后年": 2,
    },
    "REL": {
        "上": -1, "上上": -2, "大上": -2, "上上上": -3,
        "这": 0, "本": 0, "今": 0, "呢": 0, "下": 1, "下下": 2,
    },
    "THIRD": {
        "初": 0, "上旬": 0, "早期": 0, "初期": 0, "中旬": 1, "中期": 1, "底": 2, "末": 2,
        "下旬": 2, "后期": 2, "晚期": 2, "末期": 2,
    },
    "YEAR_THIRD": {"年初": 0, "开年": 0, "年中": 1, "年底": 2, "年末": 2, "岁末": 2, "年尾": 2},
    "MONTH_THIRD": {
        "月初": 0, "月上旬": 0, "月中": 1, "月中旬": 1, "月底": 2, "月末": 2, "月尾": 2,
        "月下旬": 2,
    },
    "WEEK_THIRD": {"周初": 0, "周中": 1},
    "HALF": {"上半": 1, "前半": 1, "下半": 2, "后半": 2},
    "SEASON": {
        "春天": 0, "春季": 0, "夏天": 1, "夏季": 1, "秋天": 2, "秋季": 2, "冬天": 3, "冬季": 3,
        "暑天": 1,
    },
    "LUNAR_MONTH": {"正月": 1, "冬月": 11, "腊月": 12},
    "LUNAR_DAY": {"初" + n: place for place, n in enumerate("一二三四五六七八九十", 1)},
    "ADJACENT": {"前一天": -1, "前夕": -1, "头天": -1, "第二天": 1, "次日": 1,
               "后一天": 1, "隔天": 1},
}  # fmt: skip
_PARTS = {
    "凌晨": (0, 5),
    "清晨 清早 早晨 早上 早间 一早 一大早 大清早 大早上 朝早": (5, 12),
    "上午 上昼": (5, 12),
    "中午 正午 晌午": (11, 13),
    "下午 午后 下昼": (12, 17),
    "白天": (5, 18),
    "傍晚 黄昏": (17, 21),
    "晚上 晚间 夜晚": (18, 24),
    "深夜 半夜 大半夜 夜里 夜间 午夜": (21, 29),
}
_SHORT_PARTS = {"早": (5, 12), "晨": (5, 12), "晚": (18, 24), "夜": (21, 29)}
_NIGHTS = ("晚", "晚上", "夜", "夜里", "晚间")
_DAYS_WITH_PARTS = {"今": 0, "昨": -1, "寻": -1, "明": 1}
_FAR_DAYS = {"前": -2, "大前": -3, "后": 2, "大后": 3}


def _calendar_words() -> Iterator[tuple[str, str, object]]:
    """Names, their kind, and their value."""
    for kind, units in (("UNIT", _UNITS), ("PERIOD", _PERIODS)):
        yield from ((names, kind, unit) for unit, names in units.items())
    for kind, offsets in _OFFSETS.items():
        yield from ((name, kind, offset) for name, offset in offsets.items())
    for kind, parts in (("PART", _PARTS), ("SHORT_PART", _SHORT_PARTS)):
        yield from ((names, kind, hours) for names, hours in parts.items())
    for week in ("周", "星期", "礼拜"):
        yield from ((week + day, "WEEKDAY", number) for number, day in enumerate("一二三四五六日"))
        yield week + "天", "WEEKDAY", 6


def _compounds() -> Iterator[tuple[str, str, object]]:
    """今早, 昨晚, 明晨: the day and its part in one word; 今夏: the year and its season."""
    far = {"早": (5, 12), "早上": (5, 12), "晚": (18, 24), "晚上": (18, 24)}
    near = far | _SHORT_PARTS | {"朝": (5, 12), "夜里": (21, 29)}
    for prefixes, parts in ((_DAYS_WITH_PARTS, near), (_FAR_DAYS, far)):
        for prefix, offset in prefixes.items():
            for part, hours in parts.items():
                night = part in _NIGHTS
                yield prefix + part, *(("NIGHT", offset) if night else ("DAYPART", (offset, hours)))
    yield from (("今" + season, "THIS_SEASON", number) for number, season in enumerate("春夏秋冬"))


def _vocabulary() -> dict[str, Kinds]:
    words: dict[str, Kinds] = {word: {} for word in LOOKALIKES}
    for names, kind, value in (*_calendar_words(), *_compounds()):
        for name in names.split():
            words.setdefault(name, {})[kind] = value
    return words


WORDS: dict[str, Kinds] = _vocabulary()
"""Every word of time, and the words that only look like one."""

QUIET = frozenset(
    {"NUM", "HAN", "COUNT", "ABOUT", "YEAR", "LATE_YEAR", "SHORT_YEAR", "DAY", "REL", "UNIT"}
    | {"PERIOD", "THIRD", "SHORT_PART", "LUNAR_DAY", "ADJACENT", "HALF", "DOTTED", "PART"}
)
"""Kinds that name no time by themselves."""
