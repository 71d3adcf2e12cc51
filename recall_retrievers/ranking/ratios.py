"""The factors of memories in `FuseRerank`: by named times, by sessions, and by an asked order."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import nlargest
from itertools import combinations

from recall_retrievers.core.candidate import Note
from recall_retrievers.core.memory import TimeMatch
from recall_retrievers.core.pool import Facts
from recall_retrievers.core.query import Query
from recall_retrievers.text.order import AskedOrder, without_order
from recall_retrievers.text.questions import asks_for_all, asks_for_time_alone, pattern
from recall_retrievers.text.words import CJK, SMALL_WORDS, words
from recall_retrievers.timeline import TimeRange, extract_time, half_life_weight
from recall_retrievers.timeline.extract_time import tells_past

# -- the time that is named ------------------------------------------------------------------------

# A wrong time must cost little, as people misremember. What speaks for a time is a memory in it
# that answers as well as the best of all; the less so, the more of the candidates lie in it anyway.
# Who names a day, a week or a place in the calendar means it, so its trust has a lower bound. Where
# no memory is about the topic, a day or a week that is plainly named decides. Beside a time of day
# lies the rest of its day, and beside a day the night that follows: the nearer, the more.

_POOL = 50  # the best candidates, by which the width of a time is estimated
_WIDTH = 4  # the power of the share that lies outside: 0 = width does not count
_SURE, _UNSURE = 0.5, 3  # the power of (best in time / best of all), for dates and for other times
_DATE = 2  # the power of the ratio of a date
_DAY = timedelta(days=1)
_NO_TIME = (timedelta.max, "")
_ELSEWHEN = timedelta(days=400)  # another year, month, week and day of the week
_WEEK, _YEAR = timedelta(days=7, hours=1), 365  # where the clock changes; days
_EDGE = timedelta(hours=5)  # a night belongs to the day on which it began
_REST = 0.5  # how far its day counts beside a time: with less the day is lost, with more the time
_COARSE = frozenset({"month", "quarter", "season"})  # they gain nothing by a least trust
_DAY_TRUST = 0.5  # the least of "yesterday", "last week"; with 1, a wrong one costs .054 R@5
_ABOUT = 0.33  # evidence below this is about another topic; measured with `_DECIDES`
_DECIDES = 3  # the power of the ratio of a time that decides
_LONGEST = 200  # bytes: who chats, or pastes a dialogue, names times in passing
_SOFT_HALF_LIFE = timedelta(days=14)  # for vague words such as "recently"

TimeRatio = tuple[float, dict[str, Note]]  # a factor, and its reason as notes


def time_alone(query: Query, ranges: Sequence[TimeRange], names: Iterable[str] = ()) -> bool:
    """Whether the question asks for nothing but a time; see `asks_for_time_alone`."""
    spans = [named.span for named in ranges if named.span]
    if ranges and not spans:  # handed in with the call; the question may name it as well
        read = extract_time(query.text, query.reference_time)
        spans = [named.span for named in read if named.span] or [(0, 0)]
    return asks_for_time_alone(query.text, spans, names)


def near_the_time(facts: Facts, query: Query, ranges: Sequence[TimeRange]) -> list[tuple[int, str]]:
    """The places of all memories, those of the time first, and what the others are instead.

    Empty if the question asks for more than a time, or no memory has one.
    """
    if not any(facts.created) or not time_alone(query, ranges, {*facts.authors}):
        return []
    others = [other for named in ranges for other in named.alternatives]
    # The day that "a year ago" names in its year.
    days = [x for x in others if x.grain == "day" and any(each.overlaps(x) for each in ranges)]
    found: list[tuple[int, timedelta, int, str]] = []
    matches = zip(facts.matches(ranges), facts.matches(others), facts.created, strict=True)
    for place, (named, meant, moment) in enumerate(matches):
        inside, aims = any(named), (any(named) and days) or ranges
        near, side = min((_distance(aim, moment) for aim in aims), default=_NO_TIME)
        if inside and (any(meant) or not days):
            found.append((0, timedelta(), place, ""))
        elif any(meant):
            reading = next(x for x, match in zip(others, meant, strict=True) if match)
            found.append((2, timedelta(), place, f"another reading: {reading.describe()}"))
        else:
            # The day ends at the midnight after it, which belongs to the next day.
            far = near.days + (side == "after" or bool(near % _DAY))
            away = f"{far} day{'s' * (far > 1)} {side} the time asked for"
            why = away if side else "not of the time asked for"
            found.append((1 if inside else 3, near, place, why))
    return [(place, why) for *_, place, why in sorted(found)]


def _distance(named: TimeRange, moment: datetime | None) -> tuple[timedelta, str]:
    if moment and named.start and moment < named.start:
        return named.start - moment, "before"
    return (moment - named.end, "after") if moment and named.end else _NO_TIME


def short_times(facts: Facts, ranges: Sequence[TimeRange], most: int) -> set[int]:
    """The places of all memories of a day or a week that is named, where it has few enough."""
    short = [named for named in ranges if named.whole_days and _is_plain(named)]
    places: set[int] = set()
    for matching in zip(*facts.matches(short), strict=True):
        inside = {place for place, match in enumerate(matching) if match}
        places |= inside if len(places | inside) <= most else set()
    return places


def names_a_day(ranges: Sequence[TimeRange]) -> bool:
    """Whether one of the times is a day, a part of one or a week."""
    return any(_is_plain(named) for named in ranges)


def time_ratios(  # noqa: PLR0913, PLR0917 - what is known of the candidates and the question
    facts: Facts,
    relevance: Sequence[float],
    query: Query,
    ranges: Sequence[TimeRange],
    ratio: float,
    evidence: float,
) -> list[TimeRatio]:
    """The factor of each memory for the times that the question names.

    The ratio is that of a time that is trusted wholly. The evidence is the number of its sign.
    """
    matches = facts.matches(ranges)
    places = [_in_the_calendar(named, query.reference_time) for named in ranges]
    dates = [place == "date" for place in places]
    trust = time_trust(matches, relevance, dates)
    highest = [ratio**_DATE if date else ratio for date in dates]
    for n, (named, place) in enumerate(zip(ranges, places, strict=True)):
        if named.text and len(query.text.encode(errors="replace")) > _LONGEST:
            continue
        trust[n] = max(trust[n], _least_trust(named, place, query.text, ratio))
        if evidence < _ABOUT and _is_plain(named):
            trust[n], highest[n] = 1.0, ratio**_DECIDES
    found: list[TimeRatio] = []
    for created, matching in zip(facts.created, matches, strict=True):
        first = next((n for n, match in enumerate(matching) if match), None)
        if first is None:
            beside = [_beside(named, created) for named in ranges]
            more = max((b * t * (h - 1) for b, t, h in zip(beside, trust, highest, strict=True)))
            found.append((1 + more, {"time_match": "near" if more else "none"}))
            continue
        more = (highest[first] - 1) * trust[first]
        notes: dict[str, Note] = {"time_match": matching[first] or "", "time_trust": trust[first]}
        if ranges[first].soft and ranges[first].start is not None and created is not None:
            # "Recently" fades; "long ago" does not.
            more *= half_life_weight(query.reference_time - created, _SOFT_HALF_LIFE)
            notes["time_match"] = "recency"
        found.append((1 + more, notes))
    return found


def day_of_clock(named: TimeRange) -> TimeRange | None:
    """The day of a time of day, such as "at 6:25 pm yesterday"."""
    if named.grain not in ("hour", "minute") or named.start is None or named.end is None:
        return None
    midnight = named.start.replace(hour=0, minute=0, second=0, microsecond=0)
    return replace(named, start=midnight, end=midnight + _DAY, grain="day", alternatives=())


def _beside(named: TimeRange, moment: datetime | None) -> float:
    """How near a moment is to a time of day on its day, or to a day; 1 at its edge."""
    if moment is None or not named.start or not named.end or named.end - named.start > _DAY:
        return 0.0
    distance, _ = _distance(named, moment)
    if named.whole_days or named.grain == "part_of_day":
        if moment == named.end:  # a date without a time of day: the next day as a whole
            return 0.0
        return max(0.0, 1 - distance / _EDGE)
    day = day_of_clock(named)
    return _REST * (1 - distance / _DAY) if day and day.contains(moment) else 0.0


def time_trust(
    matches: Sequence[Sequence[TimeMatch | None]],
    relevance: Sequence[float],
    dates: Sequence[bool],
) -> list[float]:
    best = max(relevance, default=0.0) or 1.0
    order = sorted(range(len(relevance)), key=[-value for value in relevance].__getitem__)
    trust = []
    for place, date in enumerate(dates):
        inside = [n for n in order if matches[n][place]]
        answers = relevance[inside[0]] / best if inside else 0.0
        if date:
            trust.append(answers**_SURE)
            continue
        others = sum(1 for n in order[:_POOL] if matches[n][place]) - 1
        trust.append(answers**_UNSURE * (1 - max(others, 0) / _POOL) ** _WIDTH)
    return trust


def _least_trust(named: TimeRange, place: str, text: str, ratio: float) -> float:
    if place == "date":
        return 1 / (ratio + 1)  # the ratio itself, as that of a date is squared
    if named.soft or named.recurrence:
        return 0.0
    if asks_for_all(text):
        return 1.0
    if place and named.grain not in _COARSE:
        return 1.0
    return _DAY_TRUST if _is_plain(named) else 0.0


def _is_plain(named: TimeRange) -> bool:
    """Whether it is one time with two ends, and no longer than a week."""
    short = named.start and named.end and named.end - named.start <= _WEEK
    return bool(short) and not (named.soft or named.recurrence)


def _in_the_calendar(named: TimeRange, reference_time: datetime) -> str:
    """Whether words name a date, or a part of every year; "last week" does neither.

    A date is the same days whenever it is said ("in May 2023"), or the same day of a year ("on 26
    April"); an hour is surer to be wrong, so "on 5 May at six" is a part of a year.
    """
    if named.grain == "session" or not named.text:  # handed in with the call
        return "date"
    if named.start is None:
        return ""
    elsewhen = _ELSEWHEN if reference_time.year < 3 else -_ELSEWHEN  # the calendar has a beginning
    again = extract_time(named.text, reference_time + elsewhen)
    start = again[0].start if again else None
    if start is None:
        return ""
    same_day = (start.month, start.day) == (named.start.month, named.start.day)
    one_day = named.end is not None and named.end - named.start <= _DAY
    if named.whole_days and same_day and (one_day or start.year == named.start.year):
        return "date"
    apart = (named.start - start).days % _YEAR
    near = min(apart, _YEAR - apart) <= _WEEK.days
    return "part of a year" if near and named.end and named.grain != "year" else ""


# -- sessions, and hours ---------------------------------------------------------------------------

PAUSE = timedelta(hours=1)  # a longer pause ends a session


def session_ratios(facts: Facts, worth: Sequence[float], share: float) -> list[float]:
    """The factors that lift a turn by a share of the way to the best turn of its session.

    A memory that stands alone loses nothing to a long talk.
    """
    ratios = [1.0] * len(facts)
    if not any(facts.turns_before):  # none answers another
        return ratios
    for session in _sessions(facts):
        best = max(worth[place] for place in session)
        for place in session:
            if own := worth[place]:
                ratios[place] = 1 + share * (best - own) / own
    return ratios


def spread_ratios(facts: Facts, worth: Sequence[float]) -> list[float]:
    """The factors that put memories of different hours first: 1, 1/2, 1/3 between two pauses."""
    ratios = [1.0] * len(facts)
    dated = [(moment, place) for place, moment in enumerate(facts.created) if moment is not None]
    for hour in _without_pause(dated):
        hour.sort(key=lambda place: -worth[place])
        for rank, place in enumerate(hour, 1):
            ratios[place] = 1 / rank
    return ratios


def _sessions(facts: Facts) -> Iterable[list[int]]:
    """The places of the turns of each session: at least two, and one that answers another."""
    by_owner: dict[tuple[object, ...], list[tuple[datetime, int]]] = defaultdict(list)
    for place, moment in enumerate(facts.created):
        if facts.memory_types[place] == "conversation" and moment is not None:
            by_owner[facts.owners[place]].append((moment, place))
    for turns in by_owner.values():
        for session in _without_pause(turns):
            if len(session) > 1 and any(facts.turns_before[place] for place in session):
                yield session


def _without_pause(dated: Iterable[tuple[datetime, int]]) -> list[list[int]]:
    groups: list[list[int]] = []
    last: datetime | None = None
    for moment, place in sorted(dated):
        if last is None or moment - last >= PAUSE:
            groups.append([])
        groups[-1].append(place)
        last = moment
    return groups


# -- the latest or the first, and of two values the later ------------------------------------------

_FITS = 0.75  # the share of the best relevance from which a memory fits the question
_COVERS = 0.5  # the same for one that has all words of the question that the best one has
_COMPARED = 5  # candidates, the best ones: they are read for most answers anyway
_READ = 10  # candidates in which one is looked for that was not said before
_BEHIND = 0.999  # so that what was said stands behind it, and in its own order
_SHORT = 6  # words, or Chinese characters, of a value

_LONG = re.compile(r"[.!?;。！？；]\W+\w|.{120}")  # more than one, or a long one
_NO_STEM = re.compile(f"[ぁ-ん]|[{CJK}]{{2}}")  # Japanese particles and endings, and pairs
_SMALL = {*words(" ".join(frozenset().union(*SMALL_WORDS.values())))}
_NOW = {*words("now new jetzt neu neue neuer noch ahora nuevo maintenant nouveau 现 今 新")}


def fitting(facts: Facts, worth: Sequence[float], question: str) -> list[int]:
    """The places of the memories that are relevant enough to be put in order.

    Less is enough for one that shares as many words with the question as the best one.
    """
    most = max(worth, default=0.0)
    near = [place for place, own in enumerate(worth) if own >= _COVERS * most > 0]
    wanted = {*_stems(without_order(question))}
    found = zip(near, facts.candidates(near), strict=True)
    shared = {n: wanted.intersection(_stems(one.content)) for n, one in found if one}
    best = next((own for place, own in shared.items() if worth[place] == most), wanted)
    return [
        place
        for place, own in shared.items()
        if worth[place] >= (_COVERS if best and own >= best else _FITS) * most
        and not (own and own.isdisjoint(best))
    ]


def order_ratios(
    facts: Facts, scores: Sequence[float], places: Iterable[int], order: AskedOrder
) -> list[float]:
    """The factors that put the dated ones of some memories before all others, in an order."""
    ratios, top = [1.0] * len(facts), max(scores, default=0.0)
    dated = [
        (moment, facts.ids[place], place)
        for place in places
        if (moment := facts.created[place]) is not None and scores[place] > 0
    ]
    dated.sort(reverse=order.newest)
    for number, (_, _, place) in enumerate(dated):
        ratios[place] = top * (2 - number / len(dated)) / scores[place]
    return ratios


def later_first(
    facts: Facts, question: str, worth: Sequence[float], scores: Sequence[float]
) -> list[float]:
    """The factors that put the later of two values before the earlier one.

    Two memories of one author exchange their scores if they say the same in the present tense but
    for one value, and the question asks what it is now: "Ann lives in Leeds", "Ann lives in Bath".
    """
    given, best = [*scores], max(worth, default=0.0)
    first = nlargest(_COMPARED, range(len(facts)), key=scores.__getitem__)
    near = [(at, n) for n in first if worth[n] >= _FITS * best > 0 and (at := facts.created[n])]
    if len(near) > 1 and not (pattern("then_or_many").search(question) or tells_past(question)):
        asked = {*_stems(question)}
        dated = [n for _, n in sorted(near)]
        said = [
            (n, [stem for stem in _stems(found.content) if stem not in _NOW])
            for n, found in zip(dated, facts.candidates(dated), strict=True)
            # A short sentence in the present.
            if found and not (_LONG.search(found.content) or tells_past(found.content))
        ]
        for (early, one), (late, other) in combinations(said, 2):
            if (
                facts.created[early] != facts.created[late]
                and facts.authors[early] == facts.authors[late]
                and facts.owners[early] == facts.owners[late]
                and given[early] > given[late]
                and _differ_in_a_value(one, other, asked)
            ):
                given[early], given[late] = given[late], given[early]
    return [new / score if score > 0 else 1.0 for new, score in zip(given, scores, strict=True)]


def unsaid_first(facts: Facts, scores: Sequence[float], exchange: str) -> list[float]:
    """The factors that put what the last exchange says behind the first memory that it does not.

    Who asks on does not ask for what was answered. A memory is said if the exchange has half of its
    words.
    """
    ratios = [1.0] * len(facts)
    told = {*words(exchange)}
    first = nlargest(_READ, range(len(facts)), key=scores.__getitem__)
    said: list[int] = []
    for place, memory in zip(first, facts.candidates(first), strict=True):
        own = {*words(memory.content)} if memory else told
        if 2 * len(own & told) < len(own):
            for n, other in enumerate(said, 1):
                ratios[other] = scores[place] / scores[other] * _BEHIND**n
            return ratios
        if scores[place] > 0:
            said.append(place)
    return ratios


def _differ_in_a_value(one: list[str], other: list[str], asked: AbstractSet[str]) -> bool:
    same = Counter(one) & Counter(other)
    if 2 * same.total() < min(len(one), len(other)):
        return False
    for side in (one, other):
        value = [n for n, stem in enumerate(side) if side[: n + 1].count(stem) > same[stem]]
        if not value or not value[0] or len(value) > _SHORT:
            return False
        whole = range(value[0], value[-1] + 1)  # a word twice may be in the question as well
        if asked & {side[n] for n in whole if n not in value or side[n] not in same}:
            return False
    return 2 * len(asked & same.keys()) >= max(len(asked), 1)


def _stems(text: str) -> list[str]:
    """The words by which texts are compared, in any language: no small ones, no pairs."""
    return [stem for stem in words(text) if not (stem in _SMALL or _NO_STEM.match(stem))]
