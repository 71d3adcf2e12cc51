"""The Chinese words of time, orders that only Chinese has, and its traps.

Words are taken the longest first: `LOOKALIKES` hide the words of time in them, and `is_word` asks
what stands beside the others.
"""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.clauses import Clauses
from recall_retrievers.timeline.grammar.engine import Expression, Table, Token
from recall_retrievers.timeline.grammar.lexing import NUMERALS
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.unspaced import (
    WHEN,
    Script,
    Unspaced,
    beside,
    past,
    short_year,
)
from recall_retrievers.timeline.grammar.vocabulary import Kinds
from recall_retrievers.timeline.languages.chinese_holidays import (
    HOLIDAYS,
    lunar_date,
    lunar_months,
)
from recall_retrievers.timeline.meanings import clock, combine, cycles, ranges, relative, subdivide
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import FINER_THAN_DAY, Grain

# --- Words ---------------------------------------------------------------------------------------

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

_WEEKS = ("周", "星期", "礼拜")
_NEAR, _FAR = {0: "今", -1: "昨 寻", 1: "明"}, {-2: "前", -3: "大前", 2: "后", 3: "大后"}
_MORNING = (5, 12)
_PARTS = {
    (0, 5): "凌晨",
    (5, 12): "清晨 清早 早晨 早上 早间 一早 一大早 大清早 大早上 朝早 上午 上昼",
    (11, 13): "中午 正午 晌午", (12, 17): "下午 午后 下昼", (5, 18): "白天",
    (17, 21): "傍晚 黄昏", (18, 24): "晚上 晚间 夜晚",
    (21, 29): "深夜 半夜 大半夜 夜里 夜间 午夜",
}  # fmt: skip


def _joined(days: str, parts: str) -> str:
    """今早, 昨晚, 明晨: the day and its part in one word."""
    return " ".join(day + part for day in days.split() for part in parts.split())


_KINDS: dict[str, dict[object, str]] = {
    "NIGHT": {
        **{offset: _joined(days, "晚 晚上 夜 夜里") for offset, days in _NEAR.items()},
        **{offset: _joined(days, "晚 晚上") for offset, days in _FAR.items()},
    },
    "DAYPART": {
        **{(offset, _MORNING): _joined(days, "早 早上 晨 朝") for offset, days in _NEAR.items()},
        **{(offset, _MORNING): _joined(days, "早 早上") for offset, days in _FAR.items()},
    },
    "CYCLE": HOLIDAYS,
    "HOLIDAYS": {cal.OVER_CHRISTMAS: "圣诞节期间 圣诞期间"},
    "PART": dict(_PARTS.items()),
    "UNIT": {
        "second": "秒 秒钟", "minute": "分钟", "hour": "小时 钟头", "day": "天",
        "week": "周 星期 礼拜", "month": "个月", "quarter": "个季度", "year": "年",
    },
    "PERIOD": {
        "week": "周 星期 礼拜", "weekend": "周末 星期末 礼拜末", "month": "月 个月 月份",
        "quarter": "季度 个季度 季",
    },
    "DAYWORD": {
        0: "今天 今日 本日 今儿 今儿个", -1: "昨天 昨日 昨儿 昨儿个 琴日 寻日 噚日",
        -2: "前天 前日 前儿个", -3: "大前天 大前日", 1: "明天 明日 明儿 明儿个 听日",
        2: "后天 后日", 3: "大后天 大后日",
    },
    "RELATIVE": {
        (0, "year"): "今年 本年 本年度", (-1, "year"): "去年 上年 上年度 旧年",
        (-2, "year"): "前年", (-3, "year"): "大前年", (1, "year"): "明年 来年 出年 下年度",
        (2, "year"): "后年", (-1, "century"): "上世纪 上个世纪",
        (0, "century"): "本世纪 这个世纪",
    },
    "REL": {-1: "上", -2: "上上 大上", -3: "上上上", 0: "这 本 今 呢", 1: "下", 2: "下下"},
    "WEEKDAY": {
        number: " ".join(week + name for week in _WEEKS for name in names)
        for number, names in enumerate(("一", "二", "三", "四", "五", "六", "日天"))
    },
    "THIRD": {
        0: "初 上旬 早期 初期", 1: "中旬 中期", 2: "底 末 下旬 后期 晚期 末期",
    },
    "THIRD_OF": {
        (0, "year"): "年初 开年", (1, "year"): "年中", (2, "year"): "年底 年末 岁末 年尾",
        (0, "month"): "月初 月上旬", (1, "month"): "月中 月中旬",
        (2, "month"): "月底 月末 月尾 月下旬", (0, "week"): "周初", (1, "week"): "周中",
    },
    "PLACE": {1: "最初", -1: "最后"},
    "HALF": {1: "上半 前半", 2: "下半 后半"},
    "SEASON": {0: "春天 春季", 1: "夏天 夏季 暑天", 2: "秋天 秋季", 3: "冬天 冬季"},
    "THIS_SEASON": {0: "今春", 1: "今夏", 2: "今秋", 3: "今冬"},
    "SHORT_PART": {_MORNING: "早 晨", (18, 24): "晚", (21, 29): "夜"},
    "LUNAR_MONTH": {1: "正月", 11: "冬月", 12: "腊月"},
    "LUNAR_DAY": {place: "初" + n for place, n in enumerate("一二三四五六七八九十", 1)},
    "ADJACENT": {-1: "前一天 前夕 头天", 1: "第二天 次日 后一天 隔天"},
    "SOFT": {
        30: "最近 近来 近日 近期 日前 新近 前些天 前些日子 前不久 不久前 不久之前 没多久前 "
            "早些时候",
        1: "刚刚 刚才 方才 刚刚才", 7: "这些天", 14: "这阵子 这段时间 这一阵 这一阵子 这些日子",
        90: "前阵子 前段时间 前一阵 前一阵子 前一段时间 前段日子 前一段 上阵子",
        1095: "近年 近年来 近些年 这些年 这些年来",
    },
}  # fmt: skip

_CUES = Cues(
    ahead=r"""(?:已经?|都)?(?:安排|预约|计划|预定|定|排)(?:好了?|了|在|于)?
    [订买约]在 将 打算 准备 预[计定约]
    (?<![音乐聚晚开机大社宴年集展茶商协学拍约家])会(?![议员场计展]) (?<!重)(?<!为什么)要(?!求)
    必须 需要 应该 (?:到期|过期)(?!了) 有效 续[费约订签]
    (?:开始|举行|结束|开课|送货)(?!了) 得[在去]""",
    arranged="(?:预?订|预约|预定|安排|报名?|买|约)(?:好|完)?了 约好 邀请 报名",
    back="我们的?(?:聊天|对话) 了 过(?!期|程|年|节|生) 错过 已经? 曾 当时 刚",
    present="最后一天 截止 期限 约 订 起(?![床来])",
    asking="下[个次周月] 明[天年早晚] 后天 安排 计划 日程 有空 到期 预约 打算 有(?:什么|哪些|没有)",
    put_off="改[到在期] 推迟",
    onward="起",
    spaced=False,
)

# --- Words that only look like words of time -----------------------------------------------------

_TEXT = """
今日头条 今日说法 今年轻 今后 昨日重现 昨日青空 明日方舟 明日之后 明日香 明日边缘 日前 半天
一天到晚 一整天到晚 三天打鱼两天晒网 三天两头 一日三餐 一日不见 一日千里 一日为师 一朝一夕
一年到头 一年四季 一年一度 一夜之间 三更半夜 半夜三更 月饼 月亮 月球 月光 月台 月牙 月老 三月兔
三月街 五月花 五月天 二月河 六月雪 五月病 十月革命 十月怀胎 七月流火 七月与安生 四月是你的谎言
九月九的酒 年级 年级组 上年纪 上年级 上年龄 本年级 晚年 近年糕 百年孤独 百年好合 五年计划 周杰伦
周星驰 周润发 周迅 周深 周冬雨 周岁 周年 周末愉快 周末快乐 星期五餐厅 星期八 本周刊 本月刊
工作日志 一点一滴 早点 晚点 早就 早已 早日 早饭 早餐 早茶 早市 早教 早退 早恋 早操 早读 早课 早晚
早班 早安 晚安 晚饭 晚餐 晚会 晚报 晚宴 晚婚 晚自习 晚班 晚辈 夜市 夜宵 夜店 夜景 夜跑 夜校 夜班
晨跑 晨练 晨光 春节联欢晚会 圣诞老人 圣诞树 圣诞歌 圣诞集市 圣诞市场 圣诞礼物 圣诞快乐 圣诞帽
元旦快乐 春节快乐 中秋快乐 国庆快乐 清明上河图 中秋月饼 五一路 五一广场 五一大道 暑假工 寒假作业
暑假作业 清明梦 前男友 前女友 前任 前妻 前夫 前台 前端 前锋 前往 前来 前去 前面 前途 前进 前提
前景 前沿 前辈 前世 前线 前科 前缀 前后端 目前 以前 之前 先前 眼前 面前 提前 空前 从前 生前 超前
此前 前一天 前一晚 前一秒 前期 前几名 前仆后继 后来 后面 后悔 后果 后台 后退 后门 后排 后备 后方
后续 后者 后代 后勤 后卫 后缀 后遗症 后院 后背 后视镜 后现代 后知后觉 以后 之后 最后 初中 初恋
初级 初步 初次 初心 起初 底下 底层 底线 底片 末日 末尾 末班车 季节 季军 内容 内部 内存 里面 里程
附近 接近 靠近 将近 亲近 逼近 远近 最近的地铁 最近的餐厅 最近的医院 最近的超市 最近的机场
最近的车站 走过去 说过去 度过去 回过去 在此之前 起来 起床 开始菜单 晚些 一日游 二日游 两日游
三日游 四日游 五日游 七日游 公元前 纪元前 一下
"""
_DAYS = [week + day for week in ("周", "星期", "礼拜") for day in "一二三四五六日天末"]
_FEATURES = ["综合症", "综合征", "乐队", "画报", "烤肉", "俱乐部", "影院", "读书会", "特价"]
LOOKALIKES = frozenset((*_TEXT.split(), *(day + feature for day in _DAYS for feature in _FEATURES)))
"""Words that hide the shorter ones in them."""
_NUMERALS = frozenset("0123456789零〇一二两三四五六七八九十百几数")
_UNITS = frozenset("年月日号个点天")

NOT_BEFORE: dict[str, frozenset[str]] = {
    **dict.fromkeys(("五一", "六一", "双十一", "双十二"), _NUMERALS | _UNITS | frozenset("班")),
    **dict.fromkeys(("年初", "月初"), frozenset("一二三四五六七八九十中恋")),
    **dict.fromkeys(("年中", "月中"), frozenset("秋国考学华期午文心间旬")),
    **dict.fromkeys(("年底", "月底"), frozenset("层下线薪片")),
    **dict.fromkeys(("新年", "过年", "跨年", "小年"), frozenset("快好级龄纪轻底初中薪度限夜演")),
    **dict.fromkeys(("后天", "后日"), frozenset("性形培努养谈")),
    **dict.fromkeys(("每周", "每星期", "每礼拜"), frozenset("一二三四五六日天末")),
    "听日": frozenset("语文本剧系料"),
    "初一": frozenset("二三"),
    "一下": frozenset("午"),
    "来": frozenset("过了一两几到访找自电信"),
    "国庆": frozenset("路街"),
}
"""Words that mean something else when one of these characters follows."""

_MEALS_AND_DEEDS = frozenset("饭课会婚产病术事战睡雨酒午戏赛节假考")
NOT_BEHIND: dict[str, frozenset[str]] = {
    "日前": _NUMERALS,
    **dict.fromkeys(("后天", "后年", "后早", "后晚", "后早上", "后晚上"), _MEALS_AND_DEEDS),
    **dict.fromkeys(("前天", "前晚", "前早", "前晚上", "前早上"), _MEALS_AND_DEEDS),
    "多年": frozenset("十百千几"),
    "元宵": frozenset("吃煮买做个碗汤卖包"),
    "重阳": frozenset("王"),
    "国庆": frozenset("李王张刘陈杨赵周吴"),
    "过年": frozenset("超经不通度大"),
    "小年": frozenset("大中"),
    "初一": frozenset("读上念在"),
}
"""Words that mean something else behind one of these characters."""

NEVER_A_UNIT = frozenset({"年级", "年级组"})
"""Words that begin with a unit and stay words behind a number: 三年级, but 5日报名."""

NOT_BEFORE_NUMBER = frozenset("第座栋楼房街路巷弄门道区室院牌码单编#＃")
NOT_AFTER_NUMBER = frozenset(
    "球选楼线门房店馆桌厅院机码位台选车床库井服柜座栋室本元人员字电病队站种染色技文仓窗卡柱键宿教"
    "考公航坑厂弄舱摄演嘉产"
)
"""Characters beside which "5号" is a place or a thing, not a day: 3号楼, 第5号."""

HOW_OFTEN = frozenset("次天回遍趟节")
"""Characters after 一周三 that make it three times a week, not a Wednesday."""

SAYS_AN_HOUR = frozenset("钟半整零过多左到至-:,的了才就前后以之开在和与、。?？!！")
"""Characters after 一点 that make it one o'clock; before anything else it is "a bit" (一点意思)."""

_NAMED_YEAR = frozenset({"YEAR", "SHORT_YEAR", "LATE_YEAR"})
_COUNTING = frozenset({"NUM", "COUNT", "ABOUT", "YEAR", "SHORT_YEAR", "LATE_YEAR", "DAY"})


def is_word(text: str, at: int, word: str, kinds: Kinds, previous: Kinds) -> bool:
    """Whether a known word is meant at this place, behind a token of the ``previous`` kinds."""
    following = text[at + len(word) : at + len(word) + 1]
    if following and following in NOT_BEFORE.get(word, ()):
        return False
    if at and text[at - 1] in NOT_BEHIND.get(word, ()):
        return False
    if "WEEKDAY" in kinds and at:  # 周三 in 一周三次 counts how often, and names no Wednesday
        counted = text[at - 1] in NUMERALS or text[at - 1] == "每"
        return not (counted and following and following in HOW_OFTEN)
    if word in ("年中", "周中") and "NUM" in previous and not _NAMED_YEAR & previous.keys():
        return False  # 一年中, 过去一年中
    if word[0] in "前后" and len(word) > 1 and "UNIT" in previous:  # 三天前天气 is not 前天
        return False
    numbered = not _COUNTING.isdisjoint(previous)  # 5日报名 is the 5th, 三年级 no three years
    return bool(kinds) or not numbered or word[0] not in "年月日号" or word in NEVER_A_UNIT


def is_hour(text: str, end: int) -> bool:
    """Whether 一 is a number here: 一点意思 is "a bit of", 一点半 half past one."""
    if text[end : end + 1] != "点":
        return True
    following = text[end + 1 : end + 2]
    return not following or following in SAYS_AN_HOUR or following in NUMERALS


def is_day(text: str, start: int, end: int) -> bool:
    """Whether the number in 5号 may be a day, and not a house or a room."""
    before = text[max(0, start - 2) : start].rstrip()[-1:]
    after = text[end : end + 2].lstrip()
    return not (
        before in NOT_BEFORE_NUMBER
        or (before.isascii() and before.isalnum())
        or (after[1:2] or text[end + 1 : end + 2]) in NOT_AFTER_NUMBER
    )


_WEEKDAYS = re.compile(r"(?:周|星期|礼拜)([一二三四五六日]{2,7})(?![次天回遍趟节月号点年个])")


def _several(text: str, at: int) -> Token | None:
    """周一三五: Monday, Wednesday and Friday."""
    match = _WEEKDAYS.match(text, at)
    days = ["一二三四五六日".index(day) for day in match[1]] if match else []
    if match is None or days != sorted(set(days)):  # 周一一起: a list names every day once
        return None
    return Token(match[0], at, match.end(), {"WEEKDAYS": frozenset(days)})


def _is_number(text: str, at: int, end: int, kinds: Kinds) -> Kinds:
    if "DATE" in kinds and text[at:end].isdigit() and at and text[at - 1] in "号码单编":
        return {}  # 订单号20240305
    if text[at:end] == "一" and not is_hour(text, end):
        return {}
    if "NUM" in kinds and is_day(text, at, end):
        return {**kinds, "DAY": kinds["NUM"]}
    return kinds


# --- Orders --------------------------------------------------------------------------------------


def _and_more(_: Now, count: int, unit: Grain) -> Duration | None:
    """十多天 is 10 to 19, 三十来天 is about 30, 一百多天 is 100 to 199."""
    step = 1
    while count and count % (step * 10) == 0:
        step *= 10
    return Duration(((count, unit),), (0, max(step - 1, 1))) if count < 1000 else None


def just_before(now: Now, amount: Duration) -> Reading | None:
    """前两天, 上两周: the two before this one; or rolling to now."""
    if amount.unit in FINER_THAN_DAY or len(amount.parts) > 1:
        return relative.rolling(now, amount)
    ((count, name),) = amount.parts
    if amount.spread != (0, 0):
        ago = relative.ago(now, amount)
        return ago and Reading(ago.start, now.unit(name).start, name).or_else(ago)
    if count == 1 and name == "day":
        return None  # 前一天 is the day before another
    reading = Reading(now.unit(name, -count).start, now.unit(name).start, name)
    return reading.or_else(relative.rolling(now, amount))


def _counted(now: Now, offset: int, amount: Duration) -> Reading | None:
    """这一周 is this week, 上两周 the two before it and 这三天 the past three days."""
    single = amount.spread == (0, 0) and len(amount.parts) == 1 and amount.parts[0][0] == 1
    if single:
        return None if offset and amount.unit == "day" else relative.unit(now, offset, amount.unit)
    if offset and amount.unit in (*FINER_THAN_DAY, "day"):
        return None  # 上五天班, 待上两个小时
    if offset > 0:
        return relative.ahead(now, amount)
    return just_before(now, amount) if offset else past(now, amount)


def _weekday_of(now: Now, offset: int, weekday: int) -> When | None:
    """上周二: the Tuesday of the previous calendar week."""
    return combine.side_by_side(now, now.unit("week", offset), cycles.weekday(now, weekday))


def _the_last(now: Now, offset: int, count: int, cycle: Cycle) -> Reading | None:
    """上一个周二: the latest before today; 下一个春节 the first after it."""
    return combine.from_now(now, offset, cycle) if count == 1 and offset else None


def _before_month(now: Now, number: int) -> Reading | None:
    """三月前 is before March; or, leaving out 个, three months ago."""
    reading = ranges.before(now, cycles.month(now, number))
    return reading and reading.or_else(relative.ago(now, Duration.of(number, "month")))


def _either(first: Cycle | None, second: Cycle) -> Cycle | None:
    """八月十五 is 15 August; or Mid-Autumn, of the Chinese calendar."""

    def at(year: datetime) -> Reading | None:
        readings: list[Reading] = []
        for cycle in (first, second):
            with suppress(ValueError):  # a calendar may lack the day in this year
                reading = cycle.at(year) if cycle else None
                readings += [reading] if reading else []
        return readings[0].or_else(*readings[1:]) if readings else None

    return first and replace(first, at=at)


def _of_lunar_month(now: Now, month: int, day: int | None = None) -> Cycle | None:
    """腊月, 正月初三; 正月 may also be January."""
    if month != 1:
        return lunar_months(month) if day is None else lunar_date(month, day)
    if day is None:
        return _either(lunar_months(1), cycles.month(now, 1))
    civil = cycles.month_day(now, 1, day)
    return civil and _either(lunar_date(1, day), civil)


def _year_of(now: Now, amount: Duration, cycle: Cycle) -> Reading | None:
    """22年春节, where 22年 was read as an amount."""
    ((number, unit), *more) = amount.parts
    return short_year(now, number, cycle) if unit == "year" and number >= 10 and not more else None


def _from(now: Now, when: When) -> Reading | None:
    """从三月 alone: that month; or from it on."""
    reading = ranges.resolved(now, when)
    if reading is None or reading.start is None or reading.grain in FINER_THAN_DAY:
        return reading
    one_unit = reading.end == now.unit_at(reading.grain, reading.start).end
    return reading.or_else(ranges.onwards(now, reading)) if one_unit else reading


def _due(now: Now, third: tuple[int, Grain]) -> Reading | None:
    """月底前: up to the end of the present month."""
    which, unit = third
    part = subdivide.third(now, which, now.unit(unit))
    return ranges.until(now, part) if part else None


def _from_to(_: Now, first: Cycle, last: Cycle) -> Reading | Kinds:
    """每周一到周五."""
    if first.fields is None or last.fields is None:
        return {}
    days = sorted(first.fields.weekdays | last.fields.weekdays)
    if len(days) != 2:
        return {}
    fields = Recurrence(weekdays=frozenset(range(days[0], days[1] + 1)))
    return Reading(None, None, "day", recurrence=fields)


_LUNAR = "农历|阴历|旧历"
_AGO = "前|以前|之前"
_CLOCKS: Table = {
    "NUM|COUNT 点 NUM 刻": lambda now, hour, count: clock.past(now, 15 * count, hour),
    "NUM|COUNT 点 差 NUM 刻": lambda now, hour, count: clock.to(now, 15 * count, hour),
    "差 NUM|COUNT 分 NUM|COUNT 点": clock.to,
    "差 NUM 刻 NUM|COUNT 点": lambda now, count, hour: clock.to(now, 15 * count, hour),
}
_DATES: Table = {
    "几 NUM 个? UNIT": lambda _, ten, unit: Duration(((20, unit),), (0, 30)) if ten == 10 else None,
    "COUNT 日": lambda now, count: relative.amount(now, count, "day"),
    "COUNT 月": lambda now, count: relative.amount(now, count, "month"),
    "NUM|COUNT 刻钟": lambda _, count: Duration.of(15 * count, "minute"),
    "NUM|COUNT 个? 多|余|来|几 个? UNIT|PERIOD": _and_more,
    "NUM|COUNT 个? UNIT 多": lambda _, count, unit: Duration(((count, unit),), (0, 1)),
    "NUM|COUNT 个 半 PERIOD": relative.and_a_half,
    "好? 几|数 月": lambda now: relative.few(now, "month"),
    "仨 月": lambda _: Duration.of(3, "month"),
    "SEASON": lambda now, number: replace(cycles.season(now, number), alone=False),
    "在 SEASON": cycles.season,
    "SEASON 的时候|期间|里": cycles.season,
    "THIS_SEASON": lambda now, number: combine.this(now, cycles.season(now, number)),
    "HALF 年": cycles.half_year,
    "HALF 月|个月": lambda now, which: subdivide.every_part(now, which, "month", subdivide.half),
    "HAN 月 HAN": lambda now, month, day: _either(
        cycles.month_day(now, month, day), lunar_date(month, day)
    ),
    "在|于 LATE_YEAR 年": short_year,
    "民国 NUM 年": lambda now, number: cycles.year(now, 1911 + number) if number < 200 else None,
    "在|从|到|于|自 SLASHED": cycles.slashed,
    "SLASHED 那天|这天|当天|日|号": cycles.slashed,
    f"{_LUNAR}? LUNAR_MONTH": _of_lunar_month,
    f"{_LUNAR}? LUNAR_MONTH NUM|LUNAR_DAY": _of_lunar_month,
    "大年 LUNAR_DAY": lambda _, day: lunar_date(1, day),
    f"{_LUNAR}? NUM 月 LUNAR_DAY": lambda _, month, day: lunar_date(month, day),
    f"{_LUNAR} NUM 月 NUM 日|号?": lambda _, month, day: lunar_date(month, day),
    f"{_LUNAR} NUM 月": lambda _, month: lunar_months(month),
    f"{_LUNAR}? 闰 NUM 月": lambda _, month: lunar_months(month, leap=True),
    f"THIRD_OF {_AGO}": _due,
    "REL <measure>? PERIOD": relative.unit,
    "REL DURATION": _counted,
    "REL 个? WEEKDAY": _weekday_of,
    "REL 个? CYCLE": combine.from_now,
    "REL NUM 个 CYCLE": _the_last,
    "刚过去|刚刚过去|刚过完|过去 的 这? 个? PERIOD": lambda now, unit: relative.unit(now, -1, unit),
    "周末|星期末|礼拜末": lambda now: {"WEEKEND": None, Reading.KIND: relative.weekend(now, 0)},
    "每|每个 周末": lambda now: combine.every(now, cycles.weekends(now)),
    f"NUM 日 {_AGO}": lambda now, count: relative.ago(now, Duration.of(count, "day")),
    f"NUM 月 {_AGO}": _before_month,
    "NUM 日 后|之后|以后": lambda now, count: relative.ago(now, Duration.of(count, "day"), 1),
    "很久|多年|好久|好多年|很多年 以前|之前|前": relative.long_ago,
}
_PHRASES: Table = {
    "前|之前|此前 的? DURATION 里|内|间|中?": just_before,
    "DURATION CYCLE": _year_of,
    f"{WHEN} 的? 前|头 DURATION": partial(beside, sign=-1),
    f"{WHEN} 的? 后|之后|过后 DURATION": partial(beside, sign=1),
    "TIME 的 WEEKEND": lambda now, when, _: (
        combine.side_by_side(now, when, cycles.weekends(now)) if when.grain == "week" else None
    ),
}
_WORD = "每|每个|每逢|逢|每到|每年|每月|每个月|每周|每星期|每天|每日|每一天"
_INCLUDED = "或|及|或者|含|及其|以及"
_RANGES: Table = {
    f"{_WORD} 的? CYCLE 到|至|- CYCLE": _from_to,
    "每|每个? 工作日": lambda now: combine.every(now, cycles.workdays(now)),
    "每晚": lambda now: combine.every(now, cycles.part_of_day(now, (18, 24))),
    "每早": lambda now: combine.every(now, cycles.part_of_day(now, (5, 12))),
    f"在|于|包括|自|从? {WHEN} {_INCLUDED} 以后|之后|后|其后": ranges.onwards,
    f"在|于|包括|截至? {WHEN} {_INCLUDED} 以前|之前|前|更早": ranges.until,
    f"早于 {WHEN}": ranges.before,
    f"晚于|迟于 {WHEN}": ranges.after,
    f"不晚于|不迟于|最晚|最迟 {WHEN}": ranges.until,
    f"不早于|最早 {WHEN}": ranges.onwards,
    f"截至|截止|截止到|直到|一直到 {WHEN}": ranges.until,
    f"自从 {WHEN}": ranges.up_to_now,
    f"从|自|打 {WHEN}": _from,
    f"到|至 {WHEN}": lambda now, when: (
        (reading := ranges.resolved(now, when)) and reading.or_else(ranges.until(now, when))
    ),
}

# --- Clauses around a time: 自从三月搬家以来 ------------------------------------------------------

_PART_FIRST = re.compile(
    rf"[我你]?们?({'|'.join(' '.join(_PARTS.values()).split())})"
    "(?![饭餐好安课班会])[^？?]*了"
)
_CLAUSES = Clauses(
    openings=(),
    closings=(
        (
            re.compile("自从?|打?从"),
            re.compile("[^，。？！,?!]{1,12}?(?:以来|以后|之后|到现在|至今)"),
            ranges.up_to_now,
        ),
    ),
    mention=re.compile("(?!)"),
    mentioned=re.compile(
        "[^，。？！,?!]{0,6}(?:提到|提过|说过?|讲过?|聊到|写到?)[^，。？！,?!]{0,3}"
    ),
)


class _Chinese(Unspaced):
    """中午我吃了什么: a part of the day at the beginning is of today or of the day before."""

    def read(self, text: str, now: Now) -> list[Expression]:
        match = _PART_FIRST.match(text)
        expressions = super().read(text, now)
        if match is None or expressions:
            return expressions
        ends = next(hours for hours, names in _PARTS.items() if match[1] in names.split())
        reading = cycles.part_of_day(now, ends).latest(now)
        return [(reading, *match.span(1))] if reading else []


CHINESE = _Chinese(
    Script(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "of": "的",
            "measure": "个 整 一整 整个 一整个",
            "few": "几 数 好几",
            "half": "半",
            "and": "和 与 、 跟 零 又",
            "oclock": "点 时",
            "sharp": "钟 整",
            "zero": "零",
            "minute": "分",
            "less": "差",
            "month": "月 月份",
            "day": "日 号",
            "year": "年 年度",
            "decade": "年代",
            "century": "世纪",
            "quarter": "季度",
            "weekend": "周末 星期末",
            "nth": "第",
            "ago": "前 以前 之前",
            "later": "后 以后 之后 过后",
            "within": "内 之内 以内",
            "inside": "里 中 间",
            "since": "以来 至今 到现在 到今天为止 开始到现在 到目前 到目前为止 到如今 来",
            "onwards": "起 开始 往后 伊始",
            "until": "为止 止",
            "past": "过去 最近 近 刚过去",
            "coming": "未来 今后 接下来 往后 接下去",
            "that": "那 这 当",
            "same_time": "这个时候 这时候 这时 此时 这会儿 同期 这个时间",
            "whole": "前后 左右 上下 附近 整天 一整天 全天 一整晚 整晚 整周 一整周 整月 一整月 "
            "整个月 一整个月 全月 全年 整年 一整年 期间 假期 长假 的时候 时候 那会儿 那阵子 "
            "那段时间 这段时间 里 之中 那天 这天 当天 那日 当日 那一天 这一天 那年 那一年 当年 "
            "那晚 当晚",
            "every": _WORD.replace("|", " "),
            "from": "从 自 打 自从 在 于",
            "to": "到 至 - 直到 一直到 截至 截止到",
            "between": "之间 间 期间 中间 止 为止 这段时间",
            "lead": "整个 在 于 就是 大概 大约 差不多 约 整整",
        },
        hint="[上下这本今每]个?整?[周月星礼季年半]|"
        "NUMBER *[年月日号天周期拜季时分秒点刻个小末世多来余半]|"
        "半个?[年月天小]|工作日|很久|好久|多年",
        narrow=SIMPLIFIED,
        quoted=re.compile(
            "《[^》]{1,80}》|〈[^〉]{1,80}〉|“[^”]{1,80}”|「[^」]{1,80}」|『[^』]{1,80}』"
        ),
        lookalikes=LOOKALIKES,
        is_word=is_word,
        is_number=_is_number,
        several=_several,
        clocks=_CLOCKS,
        dates=_DATES,
        phrases=_PHRASES,
        ranges=_RANGES,
        clauses=_CLAUSES,
        links=frozenset("和与、跟及或") | {"以及", "还有"},
    )
)
