"""The English words of time: their meanings, and the neighbours that decide between these."""

from collections.abc import Iterator

from recall_retrievers.timeline.time_range import Grain


def word_set(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())


_MONTHS = (
    "january jan", "february feb febr", "march mar", "april apr", "may", "june jun",
    "july jul", "august aug", "september sep sept", "october oct", "november nov", "december dec",
)  # fmt: skip
_WEEKDAYS = (
    "monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs",
    "friday fri", "saturday sat", "sunday sun",
)  # fmt: skip
_UNITS: dict[Grain, str] = {
    "second": "second seconds sec secs",
    "minute": "minute minutes min mins",
    "hour": "hour hours hr hrs h",
    "day": "day days",
    "weekend": "weekend weekends wknd wknds",
    "week": "week weeks wk wks",
    "month": "month months mth mths mos",
    "quarter": "quarter quarters qtr qtrs",
    "year": "year years yr yrs",
    "decade": "decade decades",
    "century": "century centuries",
}
_ONES = "one two three four five six seven eight nine"
_TEENS = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"  # 10 to 19
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_DECADES = "twenties thirties forties fifties sixties seventies eighties nineties"
_PARTS = {
    "morning": (5, 12),
    "noon": (12, 13),
    "midday": (12, 13),
    "lunchtime": (11, 14),
    "afternoon": (12, 17),
    "evening": (17, 21),
    "dusk": (17, 21),
    "night": (21, 29),
    "nighttime": (21, 29),
    "midnight": (24, 25),
}
_SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_EDGES = {
    "early": 0,
    "beginning": 0,
    "start": 0,
    "mid": 1,
    "middle": 1,
    "late": 2,
    "end": 2,
}

_ENDS: dict[str, tuple[int, Grain]] = {
    "eod": (2, "day"),
    "eow": (2, "week"),
    "eom": (2, "month"),
    "eoq": (2, "quarter"),
    "eoy": (2, "year"),
    "bom": (0, "month"),
}
_YEAR_BEGINS = ("eighteen", "nineteen", "twenty", "thousand")
_GLUED = {"last": -1, "next": 1}

Kinds = dict[str, object]


def _calendar_words() -> Iterator[tuple[str, str, object]]:
    """Names, their kind, and their value."""
    for number, names in enumerate(_MONTHS, 1):
        yield names, "MONTH", number
    for number, names in enumerate(_WEEKDAYS):
        yield names, "WEEKDAY", number
        yield names.split()[0] + "s", "WEEKDAYS", number
    for unit, names in _UNITS.items():
        yield names.split()[1], "UNITS", unit
        yield names, "UNIT", unit
    for name, hours in _PARTS.items():
        yield name, "PART", hours
        yield name + "s", "PARTS", hours
    for name in (
        "beginning",
        "start",
        "end",
    ):  # before EDGE: the more special pattern is tried first
        yield name, "END", _EDGES[name]
    for kind, numbered in (("SEASON", _SEASONS), ("EDGE", _EDGES), ("AMPM", {"am": 0, "pm": 12})):
        for name, number in numbered.items():
            yield name, kind, number
    for name, number in _SEASONS.items():
        yield name + "s", "SEASONS", number


def _shorthand() -> Iterator[tuple[str, str, object]]:
    """Abbreviations, words run together, and names of units with no place in the calendar."""
    for name, edge in _ENDS.items():
        yield name, "EDGE_OF", edge
    for name, offset in _GLUED.items():  # typed without the space
        for unit in ("week", "month", "year"):
            yield name + unit, "GLUED", (offset, unit)
    yield "h", "HALF_YEAR", "h"
    for name in _YEAR_BEGINS:  # a hint of "nineteen ninety-nine"
        yield name, "YEAR_BEGINS", name
    for name in ("season", "seasons"):
        yield name, "ANY_SEASON", name
    for name in ("weekday", "weekdays", "workday", "workdays"):
        yield name, "WORKDAYS", name


def _number_words() -> Iterator[tuple[str, str, object]]:
    for kind, names, first, step in (
        ("ONES", _ONES, 1, 1),
        ("TEEN", _TEENS, 10, 1),
        ("TENS", _TENS, 20, 10),
    ):
        for number, name in enumerate(names.split()):
            value = first + number * step
            yield name, kind, value
            yield from ((name, *more) for more in number_kinds(value).items())
    for number, name in enumerate([*_ORDINALS.split(), *[""] * 9, "thirtieth"], 1):
        yield name, "ORD", number
        yield name, "DAY", number
    for number, name in enumerate(_DECADES.split(), 2):
        yield name, "DECADE", number * 10


def _vocabulary() -> dict[str, Kinds]:
    words: dict[str, Kinds] = {}
    for names, kind, value in (*_calendar_words(), *_shorthand(), *_number_words()):
        for name in names.split():
            words.setdefault(name, {})[kind] = value
    return words


def number_kinds(number: int) -> Kinds:
    """The possible meanings of a number: a count, a day, an hour, a year."""
    kinds: Kinds = {"NUM": number}
    if 1 <= number <= 31:
        kinds["DAY"] = number
    if number <= 24:
        kinds["HOUR"] = number
    if 1000 <= number <= 2999:
        kinds["YEAR"] = number
    return kinds


WORDS: dict[str, Kinds] = _vocabulary()
"""Every word with a fixed meaning, and its names in patterns."""

QUIET_KINDS: frozenset[str] = frozenset(
    {"NUM", "DAY", "HOUR", "YEAR", "ORD", "ONES", "TEEN", "TENS", "EDGE", "END", "AMPM"}
)
"""Kinds that name no time by themselves; a text with no other kind is left alone at once."""

# Words with another meaning, or names of people: they name a time only beside certain words.
AMBIGUOUS: frozenset[str] = word_set(
    "march may april june august jan mar sep jun dec sat sun wed mon spring summer autumn "
    "fall winter"
)
VERBAL: frozenset[str] = frozenset({"may", "march", "fall", "spring"})
"""Ambiguous words that are verbs or things as well: "this may", "the fall of", "the spring"."""

TIME_PREPOSITIONS: frozenset[str] = word_set(
    "in during since until till by before after from between throughout early mid late last "
    "this next past previous every each coming following"
)
"""Words after which "March" is the month."""

WEEKDAY_PREPOSITIONS: frozenset[str] = word_set("on last this next every each until")

YEAR_PREPOSITIONS: frozenset[str] = word_set(
    "in of during since until till by before after from between throughout year early mid "
    "late for than through = circa quarter half fiscal financial"
)
"""Words after which 2023 is a year."""

THOUGHT_OF: frozenset[str] = word_set(
    "think thought thinking heard hear know dream copy fan review reviews speak spoke opinion "
    "title author plot"
)
"""Words before "of" and a thing: "what I think of 1984"."""

ABOUT_A_THING: frozenset[str] = word_set(
    "talk talked talking talks speak spoke speaking tell told telling say said saying ask asked "
    "asking know knew think thought thinking hear heard learn learned read write wrote writing "
    "chat chatted dream dreamt dreamed worry worried complain complained argue argued forget "
    "forgot remember joke joked brag care what how me us you him her them it"
)
"""Words after which "about" names a topic, and is no part of the time."""

BEFORE_THE_END: frozenset[str] = word_set("by at until till before since after")
"""Words after which EOM is the end of the month."""

PROMISES: frozenset[str] = word_set("will ll shall gonna")
"""Words after which "in two weeks" lies ahead; without them it may be a duration."""

GOES_LIKE: frozenset[str] = word_set("look looks looked looking go goes going went been so shaping")
"""Words after "my week" in a question about it: how it looks, how it has been so far."""

COUNTED: frozenset[str] = word_set(
    "many much often times time twice once point part day days week weeks month months hours "
    "minutes first last best worst busiest longest shortest early late"
)
"""Words before "in the year" that make it any year."""

AFTER_MODAL: frozenset[str] = word_set(
    "be have do not n't just also still already show tell remind again too as"
)
"""Words after "this may" where "may" is a verb."""

DATE_PREPOSITIONS: frozenset[str] = word_set(
    "on for from since between by before after until till this of around"
)
"""Words after which 5/7 or "the 3rd" is a date."""

CHAIN: frozenset[str] = word_set("to and or - – through thru until till , &")
"""Words that carry a reading over: in "from 2010 to 2018" both are years."""

FOLLOWERS: frozenset[str] = word_set(
    "i you he she it we they me him her us them my your his our their its who whom what when "
    "where which why how is are was were am be been do does did done have has had can could "
    "will would shall should might must may and or but so because that than then as if while "
    "at in on of to from for with without about by near into over under after before since "
    "until till through during around between not n't please again also too already still "
    "just maybe actually the a an this these those there here tell remind show did"
)
"""Words that end a date; before any other word "the third ..." goes on: "the third floor"."""

MEASURES: frozenset[str] = word_set(
    "people persons words steps calories dollars euros pounds yuan bucks points meters metres "
    "feet miles kilometers kilometres km kg grams pages items users pieces copies times "
    "percent square sq sqft followers subscribers volts watts rpm mah mg ml kcal seats students "
    "employees"
)
"""Words that a number counts: "in 2000 steps" has no year."""

HOLIDAY_NAMES: frozenset[str] = word_set(
    "christmas xmas thanksgiving easter halloween juneteenth hanukkah diwali"
)
"""Holidays that also name things: "a Christmas movie" is not a day, "at Christmas dinner" is."""

HOLIDAY_PREPOSITIONS: frozenset[str] = word_set(
    "on at last this next during over since before after until every each"
)

NAMED: frozenset[str] = HOLIDAY_NAMES | word_set(
    "yesterday today tomorrow tonight recently lately ago nowadays while cinco q fy cy "
    "valentine valentines w yday tmrw tonite fortnight christmases easters thanksgivings halloweens"
)
"""Words that stand for themselves in a pattern and make a sentence worth reading."""

COMMON: frozenset[str] = frozenset({"while", "fortnight", "w"})
"""Words of `NAMED` that mostly name no time."""
