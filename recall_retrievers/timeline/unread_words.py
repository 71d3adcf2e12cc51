"""Words of time in a question that no calendar can read: "when I was in college".

`find_time_words` finds them with patterns. The patterns may also match words that the grammar
reads: a caller looks here only after `extract_time` has read nothing. It may then ask a language
model. A word too many costs a model call; a word too few costs a time that is not understood.
"""

import re


def _any(phrases: str) -> str:
    """One pattern for phrases with commas between them."""
    return f"(?:{'|'.join(phrase.strip() for phrase in phrases.split(','))})"


_WORDS = {
    "UNIT": _any("""day, night, morning, afternoon, evening, weekend, week, month, summer, winter,
        autumn, spring, year"""),
    "LONG": _any("day, night, week, weekend, month, summer, winter, year, decade, century"),
    "WHOSE": r"(?:the|my|our|your|his|her|their|that|\w+['’]s)",
    "NAMED": r"(?!which\b|what\b)\w+(?:['’]s)?",
    # What happened once and has a name, so that "before" and "after" it are times.
    "EVENT": _any("""wedding, marriage, divorce, break-?up, engagement, funeral, birth, graduation,
        reunion, honeymoon, pandemic, epidemic, lockdowns?, quarantine, covid, corona, war, crisis,
        revolution, recession, crash, elections?, coronation, presidency, administration, campaign,
        protests?, blackout, heat ?wave, drought, eclipse, bubble, boom, earthquake, flood, storm,
        hurricane, fire, accident, surgery, operation, diagnosis, chemo, pregnancy, olympics,
        world cup, championships?, tournament, marathon, festival, concert, launch, release, merger,
        acquisition, layoffs?, migration, outage, incident, strike, renovation, move, trip, cruise,
        vacation, holidays?, voyage, conference, retreat, bootcamp, internship, sabbatical, leave,
        semester, term, trimester, finals, exams?, sprint, interview, promotion, retirement,
        kick-?off, project, christening, baptism, transplant,
         studies, relationship"""),
    "HOLIDAY": _any("""easter, ramadan, eid, passover, hanukkah, chanukah, purim, rosh hashanah,
        yom kippur, diwali, holi, lent, pentecost, advent, mardi gras, carnival, oktoberfest,
        nowruz, midsummer, solstice, equinox, super bowl, world cup, olympics, spring break,
        (?:summer|winter|school|term) (?:break|holidays?|vacation), the holidays, holiday season,
        birthday, anniversary, (?:name|wedding|graduation|moving) day"""),
    "LIFE": _any(r"""teens, twenties, thirties, forties, fifties, sixties, seventies, eighties,
        \d0['’]?s, childhood, boyhood, girlhood, youth, adolescence, infancy,
        (?:college|school|high school|university|uni|student|army) (?:days|years|time)"""),
    "SCHOOL": _any("semester, term, trimester, school year, academic year, sprint"),
    "CHILD": _any("""kid, child, baby, toddler, teen, teenager, boy, girl, student, freshman,
        sophomore, young man, young woman"""),
    "SUBJECT": r"(?!ASKING\b|\w+ing\b)(?:WHOSE )?\w+(?: (?:and i|first|still|both|all|last|just))?",
    "ASKING": _any("""did, do, does, was, were, is, are, am, will, would, should, shall, can, could,
        have, has, had"""),
    "SELF": _any("i, we, you, they, she, he, it, everyone, everybody"),
    "PAST": _any(r"""\w+n['’]t, was, were, had, did, went, got, met, saw, came, left, took, made,
        said, told, bought, began, broke, built, became, felt, fell, found, flew, gave, grew, held,
        kept, knew, lost, paid, quit, ran, sold, sent, slept, spent, spoke, taught, thought, woke,
        won, wrote, drove, ate, caught, chose, hurt, used, died, \w\w+[^\We]ed"""),
    "HAPPENED": _any("""
        婚礼, 结婚, 订婚, 离婚, 分手, 毕业, 开学, 放假, 入职, 离职, 辞职, 退休, 搬家, 装修,
        出生, 怀孕, 生孩子, 手术, 住院, 车祸, 去世, 葬礼, 疫情, 封城, 封控, 隔离, 解封, 战争, 地震,
        奥运会, 冬奥会, 世界杯, 高考, 中考, 考研, 面试, 期末, 发布会, 上线, 裁员, 出差, 旅行,
        旅游, 生日, 比赛, 军训, 实习, 留学, 当兵, 创业, 过年"""),
}
"""The words in capitals in the patterns below, and what each stands for."""
PAST = _WORDS["PAST"]

_ENGLISH = (
    # "when I was in college", "before we moved", "the summer we went to Italy"
    # "when Akib went to the shop" tells a story; of another person only a state is a time.
    "(?:when|while) (?:SELF|WHOSE \\w+)(?: (?:and i|first|still|both|all|last|just))? PAST",
    "(?:when|while) SUBJECT (?:was|were|lived|worked|studied|had|used)",
    "(?:before|after|since|until|till|once|by the time|as soon as) SUBJECT PAST",
    "the (?:UNIT|time)(?: that| when)? SUBJECT PAST",
    "(?:before|after|since) (?:moving|graduating|retiring|marrying|divorcing|quitting)",
    "(?:before|after|since) getting (?:married|divorced|engaged|pregnant|promoted|hired|fired)",
    # "after my sister's wedding", "during the lockdown", "the week of the launch"
    r"(?:before|after|since|until|till|around|during) (?:NAMED ){0,3}EVENT",
    "(?:through|throughout|following|prior to|leading up to) (?:NAMED ){0,3}EVENT",
    "in (?:NAMED )?(?:pandemic|lockdown|quarantine|war|heat ?wave|drought|crisis|recession)",
    r"(?:LONG|eve|time|start|beginning|middle|end|height|peak)s? of (?:WHOSE )?(?:\w+ )?EVENT",
    r"(?:WHOSE|\d+|two|three|four|five|few|several) LONGs? (?:before|after|earlier|later|prior)",
    "(?:pre|post)-?(?:covid|pandemic|war|lockdown|wedding|divorce)",
    "(?:covid|corona|pandemic|lockdown|war) (?:times?|days|years|era|period)",
    "turn of the (?:century|millennium|year)",
    # "over Easter", "last semester", "on our anniversary"
    "at HOLIDAY",
    r"(?:on|over|around|before|after|during|by|last|this|next) (?:NAMED ){0,2}HOLIDAY",
    "(?:last|previous|next) SCHOOL",
    "this (?:semester|trimester|school year|academic year|sprint)",
    "(?:first|second|final|fall|spring|summer|winter) (?:semester|trimester)",
    # "back then", "that summer", "the other spring", "one night"
    "back then|back in (?:the day|my|our|his|her|their|college|school|high school|uni)|way back",
    "long ago|once upon a time|(?:good )?old days|ago|in the past|at (?:one|some) point",
    "(?:since|until|till|by|from) then",
    "(?:that|the other|the same|the (?:previous|following|preceding|next)) UNIT",
    "those UNITs|one (?:night|morning|evening|afternoon|weekend|summer|winter|autumn)",
    "(?:around|about|at|by|during) (?:the|that|this|the same) time|the time (?:i|we|he|she|they)",
    "previously|formerly|nowadays|lately|recently|someday|coming up",
    r"(?<!as )soon(?! as)|earlier(?=\s*(?:[?.!,]|$))",
    # "in my teens", "as a child", "at the age of ten"
    r"(?:in|from|during|throughout|since) WHOSE (?:(?:early|mid|late)[ -])?LIFE",
    "during WHOSE (?:NAMED )?(?:year|years|time|stay|days|months|weeks|period|phase)",
    r"(?:in|on|at|during|from|since|after|before) WHOSE (?:first|last|early|final) \w+",
    "in (?:(?:high|middle|primary|elementary|secondary|grad) school|kindergarten|preschool)",
    "as an? (?:young |little |small )?CHILD",
    r"(?:at|around|by) (?:the )?age(?: of)? \w+|growing up",
)
_CHINESE = (
    "小时候|儿时|童年|少年时|青春期|年轻的?时候?|早年|往年|当年|当初|当时|那时候?|那会儿|那阵子",
    "从前|以前|曾经|早些时候|过去那些|改天|将来",
    "HAPPENED(?:的?(?:时候?|那天|那年|那会儿|那段时间)|期间|前后|当天|之?[前后]|以[前后])",
    "(?:上|读|念|在|住在?|刚到?|来|搬|当|学)[^，。？！]{0,8}(?:的时候|那会儿|那年|那阵子|那几年)",
    r"[^\W\d_a-zA-Z]期间",
    "那(?:个|一)?(?:天|晚|周|月|年(?![龄代级轻])|次|回|夏天|冬天|春天|秋天|周末|假期|几天|几年|些年|段时间|段日子)",
    "有一(?:天|次|年|回|晚)|某(?:天|年|个晚上)",
    "(?:小学|初中|中学|高中|大学|幼儿园)(?:的?时候?|期间|时代|那会儿|阶段)",
    "[刚初][^，。？！]{1,8}时(?![间常尚髦])",
    "[上下这前]个?学期|[暑寒]假",
    "复活节|开斋节|斋月|泼水节|火把节|排灯节|嘉年华|啤酒节",
)
# Matched first and passed over: words that only look like those above.
_LOOKALIKES = (
    # An indirect question asks for the time: "tell me when I moved".
    r"(?:tell|told|know|knew|remember|recall|ask|asked|say|said|sure|idea|wonder)(?: \w+)? when",
    "(?:between|and) when",
    "(?:look|looks|looked|looking|named?|runs?|takes?|took|taking|go|goes|went) after",
    "the time (?:it|we should|i should)|(?:on|in) time|all the time|every time",
    "since you (?:asked|mentioned)",
)
_CHINESE_LOOKALIKES = ("什么时候|啥时候|有时候|到时候",)


def _one_of(*patterns: str) -> str:
    """The patterns as one, with their words in capitals filled in."""
    joined = "|".join(patterns)
    while re.search("[A-Z]{4,}", joined):
        joined = re.sub("[A-Z]{4,}", lambda name: _WORDS[name[0]], joined)
    return joined


_TIME_WORDS = re.compile(
    rf"\b(?:{_one_of(*_LOOKALIKES)})\b|{_one_of(*_CHINESE_LOOKALIKES)}"
    rf"|(?P<time>\b(?:{_one_of(*_ENGLISH)})(?!\w)|{_one_of(*_CHINESE)})",
    re.IGNORECASE,
)


def find_time_words(question: str) -> tuple[int, int] | None:
    """The place of the first words of time that a calendar alone may not be able to read."""
    for match in _TIME_WORDS.finditer(question):
        if match["time"]:
            return match.span("time")
    return None
