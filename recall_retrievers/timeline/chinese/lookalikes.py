"""Words that only look like words of time: 周杰伦 is no week, 3号楼 no third of the month.

Only words with a part that could be read must stand here: 聊天 does no harm, 去年前男友 does.
"""

from collections.abc import Mapping

from recall_retrievers.timeline.chinese.numbers import NUMERALS

_TEXT = """
今日头条 今日说法 今年轻 今后 昨日重现 昨日青空 明日方舟 明日之后 明日香 明日边缘
日前 半天 一天到晚 一整天到晚 三天打鱼两天晒网 三天两头 一日三餐 一日不见 一日千里
一日为师 一朝一夕 一年到头 一年四季 一年一度 一夜之间 三更半夜 半夜三更 月饼 月亮
月球 月光 月台 月牙 月老 岁月 蜜月 三月兔 三月街 五月花 五月天 二月河 六月雪
五月病 十月革命 十月怀胎 七月流火 七月与安生 四月是你的谎言 九月九的酒 年级 年级组
上年纪 上年级 上年龄 本年级 成年 青年 少年 童年 老年 晚年 近年糕 百年孤独
百年好合 五年计划 周杰伦 周星驰 周润发 周迅 周深 周冬雨 周岁 周年 周末愉快
周末快乐 星期五餐厅 星期八 本周刊 本月刊 工作日志 点建议 点意见 点要求 点原因
点理由 点想法 点看法 点疑问 点问题 点注意 点优势 点好处 点不同 点区别 点经验
点体会 点感受 点希望 点内容 点一线 点共识 点启示 点变化 点规定 点说明 一点一滴
早点 晚点 早就 早已 早日 早饭 早餐 早茶 早市 早教 早退 早恋 早操 早读 早课
早晚 早班 早安 晚安 晚饭 晚餐 晚会 晚报 晚宴 晚婚 晚自习 晚班 晚辈 夜市 夜宵
夜店 夜景 夜跑 夜校 夜班 晨跑 晨练 晨光 春节联欢晚会 圣诞老人 圣诞树 圣诞歌
圣诞集市 圣诞市场 圣诞礼物
圣诞快乐 圣诞帽 元旦快乐 春节快乐 中秋快乐 国庆快乐 清明上河图 中秋月饼 五一路
五一广场 五一大道 暑假工 寒假作业 暑假作业 清明梦 前男友 前女友 前任 前妻 前夫
前台 前端 前锋 前往 前来 前去 前面 前途 前进 前提 前景 前沿 前辈 前世 前线
前科 前缀 前后端 目前 以前 之前 先前 眼前 面前 提前 空前 从前 生前 超前 此前
前一天 前一晚 前一秒 前期 前几名 前仆后继 后来 后面 后悔 后果 后台 后退 后门
后排 后备 后方 后续 后者 后代 后勤 后卫 后缀 后遗症 后院 后背 后视镜 后现代
后知后觉 以后 之后 最后 初中 初恋 初级 初步 初次 初心 起初 底下 底层 底线 底片
末日 末尾 末班车 季节 季军 内容 内部 内存 里面 里程 附近 接近 靠近 将近 亲近
逼近 远近 最近的地铁 最近的餐厅 最近的医院 最近的超市 最近的机场 最近的车站 走过去
说过去 度过去 回过去 在此之前 中间 起来 起床 开始菜单 时间 晚些 一日游 二日游 两日游
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


def is_word(
    text: str, at: int, word: str, kinds: Mapping[str, object], previous: Mapping[str, object]
) -> bool:
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
