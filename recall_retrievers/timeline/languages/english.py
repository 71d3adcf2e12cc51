"""The English words of time, orders that only English has, and its traps.

`_TRAPS` says where a word of time is none, and `_CLAUSES` what a clause before a time does to it.
"""

import re
from collections.abc import Callable
from functools import partial

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.clauses import Clauses
from recall_retrievers.timeline.grammar.engine import COMPLETE, Table
from recall_retrievers.timeline.grammar.lunar import lunar_day
from recall_retrievers.timeline.grammar.neighbours import NO_TIME, STRANGE, Place, has, is_one_of
from recall_retrievers.timeline.grammar.patterns import Spaced
from recall_retrievers.timeline.grammar.reading import Duration, Now, Reading
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.vocabulary import Kinds, Vocabulary, number_kinds, words_of
from recall_retrievers.timeline.meanings import combine, cycles, ranges, relative, subdivide

_DAYS = (
    "monday mon,tuesday tue tues,wednesday wed weds,thursday thu thur thurs,friday fri,"
    "saturday sat,sunday sun"
)
_MONTHS = (
    "january jan,february feb febr,march mar,april apr,may,june jun,july jul,august aug,"
    "september sep sept,october oct,november nov,december dec"
)
_ONES = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_DECADES = "twenties thirties forties fifties sixties seventies eighties nineties"
_MON, _THU, _SUN = 0, 3, 6
_HOLIDAYS = {
    cal.yearly(1, 1): "new_year_'s?_day NEW_year|years_'s?",
    cal.yearly(2, 14): "valentine|valentines_'s?_day on|at|last|this|next_valentine|valentines",
    cal.yearly(3, 17): "st|saint_.?_patrick|patricks_'s?_day",
    cal.from_easter(-2): "good_friday",
    cal.easter: "easter",
    cal.from_easter(1): "easter_monday",
    cal.yearly_weekday(5, _SUN, 2): "mother|mothers_'s?_day",
    cal.yearly_weekday(5, _MON, -1): "memorial_day",
    cal.yearly_weekday(6, _SUN, 3): "father|fathers_'s?_day",
    cal.yearly(6, 19): "juneteenth",
    cal.yearly(7, 4): "independence_day",
    cal.yearly_weekday(9, _MON, 1): "labor|labour_day",
    cal.yearly(10, 31): "halloween",
    cal.yearly_weekday(11, _THU, 4): "thanksgiving",
    cal.yearly_weekday(11, _THU, 4, later=1): "black_friday",
    cal.yearly_weekday(11, _THU, 4, later=4): "cyber_monday",
    cal.yearly(12, 24): "over|during|throughout?_the?_christmas|xmas_eve",
    cal.yearly(12, 25): "christmas xmas",
    cal.yearly(12, 26): "boxing_day",
    cal.yearly(12, 31): "new_year|years_'s?_eve",
    partial(lunar_day, month=1, day=1): "the?_chinese|lunar_new_year_'s?_day?",
}
_CHRISTMAS = "over|during|throughout_the?_christmas|xmas"

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {
        0: "today", -1: "yesterday yday", 1: "tomorrow tmrw",
        -2: "the_day_before_yesterday", 2: "the_day_after_tomorrow",
    },
    "NIGHT": {
        0: "tonight tonite", -1: "last|yesterday_night the_night_beforehand",
        -2: "the?_night_before_last",
    },
    "WEEKDAY": dict(enumerate(_DAYS.split(","))),
    "WEEKDAYS": {n: f"{days.split()[0]}s" for n, days in enumerate(_DAYS.split(","))},
    "MONTH": dict(enumerate(_MONTHS.split(","), 1)),
    "UNITS": {"day": "days", "week": "weeks", "month": "months", "year": "years"},
    "UNIT": {
        "second": "second seconds sec secs", "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs", "day": "day days d", "week": "week weeks wk wks w",
        "weekend": "weekend weekends wknd wknds", "month": "month months mth mths mos",
        "quarter": "quarter quarters qtr qtrs", "year": "year years yr yrs",
        "decade": "decade decades", "century": "century centuries",
    },
    "SEASON": {0: "spring", 1: "summer", 2: "autumn fall", 3: "winter"},
    "SEASONS": {0: "springs", 1: "summers", 2: "autumns falls", 3: "winters"},
    "PART": {
        (5, 12): "morning", (12, 13): "noon midday", (11, 14): "lunchtime", (12, 17): "afternoon",
        (17, 21): "evening dusk", (21, 29): "night nighttime", (24, 25): "midnight",
    },
    "PARTS": {
        (5, 12): "mornings", (12, 17): "afternoons", (17, 21): "evenings", (21, 29): "nights",
    },
    "PAST": {-1: "past trailing"},
    "REL": {-1: "last previous", 0: "this current", 1: "next coming upcoming"},
    "REL_BEHIND": {-2: "before_last", -1: "just_gone", 2: "after_next"},
    "NUM": {100: "hundred a_hundred"},
    "COUNT": {
        **dict(enumerate(f"{_ONES} {_TEENS}".split(), 1)),
        **{10 * n: word for n, word in enumerate(_TENS.split(), 2)},
    },
    "ORD": {**dict(enumerate(_ORDINALS.split(), 1)), 30: "thirtieth"},
    "EDGE": {0: "early", 1: "mid middle", 2: "late"},
    "END": {0: "beginning start", 2: "end"},
    "AMPM": {0: "am a_.?_m_.?", 12: "pm p_.?_m_.?"},
    "QUARTER": {15: "quarter"},
    "HOLIDAY": _HOLIDAYS,
    "HOLIDAYS": {
        cal.OVER_CHRISTMAS: _CHRISTMAS,
        (cal.yearly(12, 24), 9): f"{_CHRISTMAS}_holidays|holiday|break|vacation|period "
                                 "christmas|xmas_holidays|holiday|break|vacation|period",
    },
    "SOFT": {
        1: "a_moment_ago", 14: "the_other_day|night|morning|evening",
        30: "recently lately nowadays these_days the_other_week|weekend",
        60: "not_so|too|that|very?_long_ago", 90: "the_other_month",
        365: "a_while_ago|back some_time_ago|back",
    },
    "DECADE": {10 * n: word for n, word in enumerate(_DECADES.split(), 2)},
    "CENTURY": {100: "century"},
    "END_OF": {
        (2, "day"): "eod", (2, "week"): "eow", (2, "month"): "eom", (2, "quarter"): "eoq",
        (2, "year"): "eoy",
    },
    "BESIDE": {-1: "eve"},
    "HINT": {1: "ago while fortnight q fy valentine valentines weekdays workdays "
                "eighteen nineteen twenty thousand season"},
}  # fmt: skip

_FOLLOWERS = words_of(
    """i you he she it we they me him her us them my your his our their its who whom what when
    where which why how is are was were am be been do does did done have has had can could will
    would shall should might must may and or but so because that than then as if while at in on of
    to from for with without about by near into over under after before since until till through
    during around between not n't please again also too already still just maybe actually the a an
    this these those there here tell remind show"""
)
_BEFORE_A_MONTH = words_of(
    """in during since until till by before after from between throughout early mid late last this
    next past previous every each coming following back end start beginning middle"""
)
_BEFORE_A_HOLIDAY = words_of("on at last this next during over since before after until every each")
_ABOUT_A_THING = words_of(
    """talk talked talking talks speak spoke speaking tell told telling say said saying ask asked
    know knew think thought hear heard learn learned read write wrote chat dream worry complain
    argue forget forgot remember joke care what how me us you him her them it"""
)
_PEOPLE = words_of("who whom whose")
_FEATURES = words_of(
    "roast roasts feeling feelings blues vibes motivation driver drivers school best papers "
    "supplement crossword funday scaries"
)
_EPITHETS = words_of(
    "casual taco throwback manic meatless freaky wacky giving super girl gal man fat sloppy blue"
)
_COUNTED = words_of(
    "many much often times time twice once point part day days week weeks month months hours "
    "minutes first last best worst busiest longest shortest early late"
)

_CUES = Cues(
    ahead="""will shall won't gonna would should must need needs want wants hope hopes intend
    intends plan plans until_further going_to have_to has_to upcoming is_*ed are_*ed be_*ed is_*ing
    are_*ing am_*ing promised_to decided_to wanted_to offered_to hoped_to agreed_to see_you *'ll
    has_an? have_an? has_my have_my has_our have_our""",
    arranged="""book* reserv* schedul* arrang* organis* organiz* confirmed expected cancel* enrol*
    register* signed_up signing_up sign_up invit* invitation ordered order agreed ticket* handed_in
    gave_notice names_down name_down put_down sent_in applied planned""",
    back="""our_(?:chat|conversation)
    *ed been brought stood threw drank sang swam rode wore hid fought stole tore rang drew
    shut hit fed dug lent swept was were had did went got met saw came left took made said told
    bought began broke built became felt fell found flew gave grew held kept knew lost paid quit
    ran sold sent slept spent spoke taught thought woke won wrote drove ate caught chose hurt used
    died done gone seen eaten taken given known written spoken driven broken chosen worn""",
    present="""due deadline* delivery collection last_day first_day first_evening first_lesson
    appointment* reservation* reminder valid be has have starts? ends finish* expire* renew* lapse*
    runs opens? closes? returns? leaves? arrives? departs? comes? moves? meets? visits? turns?
    gets? takes? plays? works? celebrates? travels? stays? launch* retires? graduates? begins? go
    goes becomes? pays? hosts? sees? resumes? lands? falls? switch* changes? joins? fly flies marry
    marries apply applies call submit bring collect send buy attend host remember don't_forget meet
    see pick_up visit pay hand_in take start starting begin beginning leave work get stay move come
    join turn finish end celebrate travel return flying leaving moving going coming visiting
    travelling arriving returning interview* checkup closing_date expir* bookings? *'s_*ing
    *'re_*ing *'m_*ing""",
    asking="""due deadline* planned scheduled booked coming_up is_coming on_my_calendar
    in_my_calendar on_the_calendar free_on am_i_free are_we_free do_i_have do_we_have have_i_got
    what's_on what_is_on is_happening happening_on can_you_come can_we_meet going_to i'm_*ing
    we're_*ing is_*ing_on am_*_going are_*_going is_*_going appointment*""",
    being="is are am",
    leading="for for_the *ed_to *ed_to_the *ed_until *ed_until_the put_off_[^.]+",
    onward="from_[^.]+_on(?:wards?)? starting as_of",
    never="need needed indeed speed feed seed weed bed red wed hundred sacred did_n't",
)

# --- Traps ---------------------------------------------------------------------------------------


_BEFORE_NEW_YEAR = words_of("at over and around since before after until")
_OVER = words_of("in over within during throughout for")
_ENDS = words_of("end ends ending start starts starting begin begins beginning")
_CAME = words_of("came come comes coming passed dropped stopped stop went swung")
_THOUGHT = words_of("think thought heard hear know dream copy fan review opinion title author plot")
_MODAL = words_of("be have do not n't just also still already show tell remind again too as")
_GOES_LIKE = words_of("look looks looked looking go goes going went been so shaping")


def _is_verb(here: Place) -> bool:
    """Whether "may" and "march" are verbs, where "this" or "up to" stands before."""
    if here.before[:1] != ["this"] and here.before != ["to", "up"]:
        return False
    return not here.goes_no_further() or is_one_of(here.next, _MODAL)


def _is_moment(here: Place) -> bool:
    """Whether "second" is no number: "a second opinion"."""
    if has(here.behind, "NUM", "REL", "<art>"):
        return False
    return not has(here.ahead, "UNIT", "WEEKDAY", "<half_of>")


def _is_of_series(here: Place) -> bool:
    return not here.goes_no_further() or is_one_of(here.next, words_of("of with from"))


def _is_asked_for(here: Place) -> bool:
    """How long, how many days."""
    return here.texts(-1, 0) in (["how"], ["as"]) or here.texts(-2, 0) == ["how", "many"]


def _last(here: Place) -> Kinds | None:
    """The last day of school; "in the last month" may roll, and "last month" may not."""
    if _is_of_a_thing(here):
        return NO_TIME
    over_the = here.texts(-1, 0) == ["the"] and _OVER.intersection(here.texts(-2, -1))
    if not over_the or has(here.ahead, "UNITS"):
        return None
    return {"OVER_LAST": None, **here.token.kinds}


def _year(here: Place) -> Kinds | None:
    """The PIN that ends in 2019; what I think of 2666, the book."""
    before, rest = here.before[:1], here.before[1:]
    if before in (["in"], ["with"]) and _ENDS.intersection(rest):
        return {}
    return NO_TIME if before == ["of"] and _THOUGHT.intersection(rest) else None


def _past(here: Place) -> Kinds | None:
    """Half past six; else "past" is "last"."""
    if has(here.behind, "<half>", "NUM", "QUARTER"):
        return None
    return {kind: value for kind, value in here.token.kinds.items() if kind != "<past>"}


def _next(here: Place) -> Kinds | None:
    """The next day, of a story."""
    if not (has(here.behind, "<art>") and has(here.ahead, "UNIT", "PART")):
        return None
    return {} if here.ahead and here.ahead.kinds.get("UNIT") in ("day", None) else None


def _is_present(here: Place) -> bool:
    """How was my week? The sales in the year. But not "a poem about my day"."""
    if is_one_of(here.behind, words_of("my our")):
        return is_one_of(here.ahead, _GOES_LIKE) or (here.is_last() and "how" in here.texts(-4, 0))
    return (
        here.token.kinds["UNIT"] not in ("day", "weekend", "second", "minute", "hour")
        and here.texts(-2, 0) == ["in", "the"]
        and here.is_last()
        and _COUNTED.isdisjoint(here.texts(-10, 0))
    )


def _is_of_a_thing(here: Place) -> bool:
    if not (has(here.ahead, "UNIT") and here.texts(2, 3) == ["of"]):
        return False
    rest = [one for one in here.near(3, 6) if one.text not in ("the", "a", "my", "our")]
    return has(rest[0] if rest else None, STRANGE)


def _is_holiday(here: Place) -> bool:
    noun_follows = has(here.ahead, STRANGE) and not is_one_of(here.ahead, _FOLLOWERS)
    as_a_day = here.follows(_BEFORE_A_HOLIDAY) and not has(here.behind, "<art>")
    return as_a_day or not noun_follows


def _is_capital(token_start: int, text: str) -> bool:
    return text[token_start].isupper() and text[token_start + 1 : token_start + 2].islower()


def _is_in_title(here: Place) -> bool:
    """Whether a day stands in a title: "Friday Night Lights", "The Man Who Was Thursday".

    A title has other words in capitals, after words in small letters.
    """
    tokens, text = here.tokens, here.text
    if not _is_capital(here.token.start, text):
        return False
    first = last = here.at
    while first and _is_capital(tokens[first - 1].start, text):
        first -= 1
    while last + 1 < len(tokens) and _is_capital(tokens[last + 1].start, text):
        last += 1
    if first in (0, last) or not tokens[first - 1].text.isalpha():
        return False
    behind, ahead = tokens[first : here.at], tokens[here.at + 1 : last + 1]
    if len(behind) > 1 and any(one.text in _FOLLOWERS for one in behind):
        return True
    if not any(has(one, STRANGE, "PARTS") for one in ahead):
        return False
    named_after = has(ahead[0], STRANGE) and "SEASON" not in here.token.kinds
    return not (named_after and is_one_of(here.behind, _BEFORE_A_HOLIDAY))


def _is_named(here: Place) -> bool:
    """Whether a day or a month is a part of a name: "Sunday roast", "Wednesday Addams"."""
    token, behind, ahead, text = here.token, here.behind, here.ahead, here.text
    if has(token, "WEEKDAY") and (is_one_of(ahead, _FEATURES) or is_one_of(behind, _EPITHETS)):
        return True
    if here.texts(-2, 0) in (["who", "is"], ["who", "was"]) and not (ahead and ahead.text == "'s"):
        return True
    if behind is None or ahead is None or not has(token, "WEEKDAY", "MONTH"):
        return False
    if behind.text in _BEFORE_A_MONTH | _BEFORE_A_HOLIDAY | words_of("of for by to and or , the"):
        return False
    if has(behind, "DAY") or not behind.text.isalpha() or not _is_capital(token.start, text):
        return False
    if not _is_capital(ahead.start, text) or text[token.end : ahead.start] != " ":
        return False
    goes_on = any(one.text.isalpha() for one in here.near(2, 3))
    return has(ahead, STRANGE) or (has(ahead, "PART") and goes_on)


_Test = Callable[[Place], bool]
_Trap = Callable[[Place], Kinds | None]


def _no_time_if(test: _Test) -> _Trap:
    return lambda here: NO_TIME if test(here) else None


def _also_if(kind: str, test: _Test) -> _Trap:
    return lambda here: {kind: None, **here.token.kinds} if test(here) else None


_NAMED = _no_time_if(lambda here: _is_named(here) or _is_in_title(here))
_ASKED_FOR = _no_time_if(_is_asked_for)
_OF_A_THING = _no_time_if(_is_of_a_thing)
_TOPIC = _no_time_if(lambda here: is_one_of(here.behind, _ABOUT_A_THING))
_VERB = _no_time_if(_is_verb)
_TRAPS: dict[str, _Trap] = {
    # Sunday roast, Wednesday Addams, "Friday Night Lights"
    **dict.fromkeys(("WEEKDAY", "WEEKDAYS", "MONTH", "SEASON", "DAYWORD", "PARTS"), _NAMED),
    "HOLIDAY": _no_time_if(lambda here: not _is_holiday(here)),  # the Christmas market
    "may": _VERB,  # this may be
    "march": _VERB,
    "about": _TOPIC,  # talk about Monday
    "around": _TOPIC,
    "second": _no_time_if(_is_moment),  # a second opinion
    "season": _no_time_if(_is_of_series),  # the last season of a series
    "new": _also_if("NEW", lambda here: is_one_of(here.behind, _BEFORE_NEW_YEAR)),  # over New Year
    "first": _OF_A_THING,  # the first day of school
    "final": _OF_A_THING,
    "last": _last,
    "long": _ASKED_FOR,  # how long, how many days
    "UNITS": _ASKED_FOR,
    "by": _no_time_if(lambda here: is_one_of(here.behind, _CAME)),  # came by Monday
    "YEAR": _year,
    "past": _past,
    "UNIT": lambda here: {"PRESENT": here.token.kinds["UNIT"]} if _is_present(here) else None,
    "next": _next,
    "before": _also_if("beforehand", Place.is_last),  # the day before, and nothing behind it
}


def _decide(here: Place) -> Kinds | None:
    """What an English word of time is beside others; None where it stays what it is."""
    for name in dict.fromkeys((*here.token.kinds, here.token.text)):
        changed = _TRAPS[name](here) if name in _TRAPS else None
        if changed is not None:
            return changed
    return None


# --- Orders --------------------------------------------------------------------------------------


def _two_halves(now: Now, century: int, *rest: int) -> Kinds | None:
    """Nineteen eighty six, twenty fifteen."""
    number = century * 100 + sum(rest)
    if century in range(11, 18):
        return {"YEAR": number}
    return {"YEAR": number, "SAID_YEAR": cycles.year(now, number)} if number < 2100 else None


def _back(now: Now, when: Reading) -> dict[str, object] | None:
    """Back in May, which is past; "back" is no part of the time in "I will be back in May"."""
    return {COMPLETE: when} if when.start is None or when.start <= now.moment else None


_DATES: Table = {
    "MONTH .|,|/|-? <art>? DAY": cycles.month_day,
    "MONTH .|,|/|-? <art>? DAY ,|-|/? YEAR": lambda now, month, day, year: cycles.numeric_date(
        now, (year, month, day)
    ),
    "MONTH .? <art>? DAY -|<to> <art>? DAY": cycles.days_of_month,
    "MONTH <art>? DAY <and>|<or>|& <art>? DAY": cycles.several_days,
    "the UNIT beforehand": lambda now, unit: relative.unit(now, -1, unit),
    "a? long time|while? ago": relative.long_ago,
    "ages ago": relative.long_ago,
    "in|my|our the? PRESENT": lambda now, unit: relative.unit(now, 0, unit),
    "coming|upcoming weekend": lambda now: now.unit("weekend", now.today.weekday() > 4),
}


def _weekday_week(now: Now, day: int) -> Reading | None:
    """Saturday week: the Saturday after the coming one."""
    coming = combine.coming(now, cycles.weekday(now, day)) if now.ahead else None
    return now.unit_at("day", coming.start + cal.WEEK) if coming and coming.start else None


_PHRASES: Table = {
    "REL calendar|fiscal|financial UNIT": relative.unit,
    "REL season": cycles.season_from_now,
    "latter half of|in <art>? CYCLE|TIME|UNIT_NOW": lambda now, when: subdivide.half(now, 2, when),
    "DURATION beforehand": relative.ago,
    "UNIT to date": lambda now, unit: subdivide.so_far(now, now.unit(unit)),
    "UNIT starting|beginning|commencing on? <art>? CYCLE|TIME": lambda now, unit, when: (
        ranges.amount_from(now, Duration.of(1, unit), when)
    ),
    "UNIT ending|ended|finishing on? <art>? CYCLE|TIME": ranges.unit_up_to,
    "on|every CYCLES": combine.every,
    "on CYCLES and CYCLES": combine.every,
    "on|every|each weekdays|workdays": lambda now: combine.every(now, cycles.workdays(now)),
    "on weekends": lambda now: combine.every(now, cycles.weekends(now)),
    "WEEKDAY week": _weekday_week,
}

_ONE = "<art>? CYCLE|TIME|SAID_YEAR"
_RANGES: Table = {
    f"starting|beginning from|on|in? {_ONE}": ranges.onwards,
    f"greater|later than {_ONE}": ranges.after,
    "back TIME": _back,
}

# --- Clauses around a time: "since I moved in March", "as mentioned on 5 May" --------------------

_COARSE = ("month", "quarter", "season", "year", "decade")
_SAID = (
    "mentioned|said|told|noted|stated|described|discussed|reported|wrote|written|recorded|shared"
)
# A clause ends where another question begins: "since I like hiking what did I do in March?".
_WORDS = r"(?:(?!(?:what|which|who|whom|how|did|does|do|when|where|why|since)\b)[\w’'-]+\s+)"
_SUBJECT = r"(?:i|we|he|she|they|you|it|(?:my|our|his|her|their|the)\s+\w+)"
# "Since you asked", "especially since I like it" and "since it's already May" give a reason.
_REASON = r"(?!you\s+(?:ask|mention|said|told|want|like)|(?:it|there|that)(?:['’]s|\s+is)\b)"
_STRESS = r"(?<!especially )(?<!particularly )(?<!mainly )(?<!but )(?<!and )"


def _onwards(now: Now, reading: Reading) -> Reading | None:
    """After I moved in March: at some time in March, or later."""
    return ranges.onwards(now, reading) if reading.grain in _COARSE else None


def _until_then(now: Now, reading: Reading) -> Reading | None:
    return ranges.until(now, reading) if reading.grain in _COARSE else None


_CLAUSES = Clauses(
    openings=(
        (
            re.compile(
                rf"{_STRESS}\b(?:ever\s+)?since\s+{_REASON}{_WORDS}{{1,10}}$", re.IGNORECASE
            ),
            ranges.up_to_now,
        ),
        (re.compile(rf"\bafter\s+{_SUBJECT}\s+{_WORDS}{{1,8}}$", re.IGNORECASE), _onwards),
        (re.compile(rf"\bbefore\s+{_SUBJECT}\s+{_WORDS}{{1,8}}$", re.IGNORECASE), _until_then),
    ),
    closings=(),
    mention=re.compile(
        rf"(?:(?:,|\(|;|\bas\b)\s*(?:[\w’']+\s+){{0,4}}?(?:{_SAID})\b[^.?!,;]{{0,30}}?\s+"
        r"(?:(?:on|of|from|in)\s+)?|(?<=\s)as\s+of\s+)(?:the\s+)?[\w.,/\s-]{0,30}$",
        re.IGNORECASE,
    ),
    mentioned=re.compile(rf",?\s+[^.?!]{{0,20}}\b(?:{_SAID})\b[^.?!]{{0,60}}", re.IGNORECASE),
)

ENGLISH = Spaced(
    Vocabulary(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "art": "the",
            "one": "a an",
            "in": "in on during over for within throughout",
            "will": "in",
            "within": "within",
            "at": "at",
            "about": "about around towards toward almost nearly roughly",
            "of": "of containing",
            "inside": "of in",
            "this": "this",
            "from": "from",
            "to": "to through thru until till",
            "since": "since",
            "more_than": "more|longer_than over",
            "at_least": "at_least",
            "less_than": "less_than fewer_than no|not_more|longer_than at_most",
            "until": "until till by up_to up_to_and_including on|at_or_before no|not_later_than",
            "before": "before preceding prior_to earlier_than less_than",
            "after": "after following",
            "onwards": "on|at_or_after no|not_earlier|sooner_than",
            "as_of": "as_of|at",
            "so_far": "so_far",
            "earlier": "earlier sooner",
            "rest": "later rest remainder remaining",
            "whole": "all the|this_whole|entire|full",
            "same_time": "this|same_time",
            "same_day": "this|same_day|date_in?",
            "between": "between",
            "and": "and",
            "or": "or",
            "on": "on onward onwards forward",
            "now": "now date present",
            "back": "ago back earlier",
            "every": "every each",
            "weekend_word": "weekend weekends",
            "few": "few some",
            "several": "several",
            "couple": "couple",
            "recent": "recent",
            "half": "half",
            "half_of": "half",
            "fortnight": "fortnight fortnights",
            "past": "past",
            "to_hour": "to",
            "oclock": "o_clock",
            "year": "year",
            "thousand": "thousand",
            "to_the_day": "exactly",
            "share": "half whole all most rest remainder much as",
            "event": "the my our his her their your",
            "street": "street",
        },
        common=_FOLLOWERS,
        doubtful=words_of(
            "march may april june august jan mar sep jun dec sat sun wed mon spring summer autumn "
            "fall winter"
        ),
        verbs=words_of("may march fall spring"),
        before_month=_BEFORE_A_MONTH,
        before_weekday=words_of("on last this next every each until"),
        before_year=words_of(
            "in of during since until till by before after from between throughout year early mid "
            "late for than through = circa quarter half fiscal financial"
        ),
        before_day=words_of("on for from since between by before after until till this of around"),
        ordinal="st|nd|rd|th",
        decade="s",
        month_first=True,
        things=words_of(
            "spirit meaning story history origin ghost magic days colours colors songs"
        ),
        measures=words_of(
            """people persons words steps calories dollars euros pounds yuan bucks points meters
            metres feet miles kilometers kilometres km kg grams pages items users pieces copies
            times percent square sq sqft followers subscribers volts watts rpm mah mg ml kcal seats
            students employees"""
        ),
        decide=_decide,
        clauses=_CLAUSES,
        numbers={
            "TEEN|TENS TENS|TEEN": _two_halves,
            "TEEN|TENS oh|TENS -? ONES": _two_halves,
            "TEEN hundred": _two_halves,
            "TEEN hundred <and>? TENS|TEEN|ONES": _two_halves,
            "TEEN hundred <and>? TENS -? ONES": _two_halves,
            "ONES hundred": lambda _, hundreds: number_kinds(100 * hundreds),
            "TEEN|TENS -? DECADE": lambda _, century, years: {"SURE_DECADE": 100 * century + years},
        },
        dates=_DATES,
        phrases=_PHRASES,
        ranges=_RANGES,
    )
)
