"""The factor of a memory from the time that a question names, and how far that time is trusted.

A wrong time must cost little, as people misremember. What speaks for a time is a memory in it that
answers as well as the best of all; the less so, the more of the candidates lie in it anyway: among
the memories of a year there is always one that fits. Who writes a date means it. If a question asks
for nothing but a time, nothing else can answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from recall_retrievers.core.candidate import Note
from recall_retrievers.core.memory import TimeMatch
from recall_retrievers.core.pool import Facts
from recall_retrievers.core.query import Query
from recall_retrievers.text.order import AskedOrder, without_order
from recall_retrievers.text.questions import asks_for_time_alone
from recall_retrievers.text.words import SMALL_STEMS, plain_stems
from recall_retrievers.timeline import TimeRange, extract_time, half_life_weight

_POOL = 50  # the best candidates, by which the width of a time is estimated
_WIDTH = 4  # the power of the share that lies outside: 0 = width does not count
_SURE, _UNSURE = 0.5, 3  # the power of (best in time / best of all), for dates and for other times
_DATE = 2  # the power of the ratio of a date
_DAY = timedelta(days=1)
_ELSEWHEN = timedelta(days=375)  # another year, month, week and day of the week
_SOFT_HALF_LIFE = timedelta(days=14)  # for vague words such as "recently"

TimeRatio = tuple[float, dict[str, Note]]
"""A factor, and its reason as notes."""


def of_the_time(facts: Facts, query: Query, ranges: Sequence[TimeRange]) -> list[int]:
    """The places of the memories that answer a question for nothing but a time; else none."""
    spans = [each.span for each in ranges if each.span]
    if not spans or not asks_for_time_alone(query.text, spans, {*facts.authors}):
        return []
    return [place for place, matching in enumerate(facts.matches(ranges)) if any(matching)]


def time_ratios(
    facts: Facts,
    relevance: Sequence[float],
    query: Query,
    ranges: Sequence[TimeRange],
    ratio: float,
) -> list[TimeRatio]:
    """The factor of each memory for the times that the question names, best first.

    The ratio is the factor of a memory from a time that is trusted wholly.
    """
    matches = facts.matches(ranges)
    dates = [_is_date(each, query.reference_time) for each in ranges]
    trust = time_trust(matches, relevance, dates)
    highest = [ratio**_DATE if date else ratio for date in dates]
    found: list[TimeRatio] = []
    for created, matching in zip(facts.created, matches, strict=True):
        matched = [place for place, match in enumerate(matching) if match]
        first = matched[0] if matched else None
        if first is None:
            found.append((1.0, {"time_match": "none"}))
            continue
        more = (highest[first] - 1) * trust[first]
        notes: dict[str, Note] = {"time_match": matching[first] or "", "time_trust": trust[first]}
        if ranges[first].soft and ranges[first].start is not None and created is not None:
            # "Recently" fades; "long ago" does not.
            more *= half_life_weight(query.reference_time - created, _SOFT_HALF_LIFE)
            notes["time_match"] = "recency"
        found.append((1 + more, notes))
    return found


def time_trust(
    matches: Sequence[Sequence[TimeMatch | None]],
    relevance: Sequence[float],
    dates: Sequence[bool],
) -> list[float]:
    """The trust in each time that a question names, 0 to 1, from the matches of each candidate."""
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


def _is_date(named: TimeRange, reference_time: datetime) -> bool:
    """Whether words name the same time whenever they are said, or the same day of a year.

    Examples:
        >>> now = datetime.fromisoformat("2024-06-12T15:30:00+00:00")
        >>> texts = ("on 26 April", "in May 2023", "yesterday", "in May", "in early May")
        >>> [_is_date(named, now) for text in texts for named in extract_time(text, now)]
        [True, True, False, False, False]
    """
    if named.start is None or not named.text:
        return False
    if named.text.isascii() and not any(map(str.isdigit, named.text)):
        return False  # "last Tuesday", "in May": another reading takes 0.2 ms
    again = extract_time(named.text, reference_time - _ELSEWHEN)
    start = again[0].start if again else None
    if start is None:
        return False
    same_day = (start.month, start.day) == (named.start.month, named.start.day)
    one_day = named.end is not None and named.end - named.start <= _DAY
    return same_day and (one_day or start.year == named.start.year)


_FITS = 0.75  # the share of the best relevance from which a memory fits the question
_COVERS = 0.5  # the same for one that has all words of the question that the best one has


def fitting(facts: Facts, worth: Sequence[float], question: str) -> list[int]:
    """The places of the memories that fit a question for the latest or the first.

    They are nearly as relevant as the best one. Less is enough where a memory shares as many words
    with the question: the best one may only repeat them. One that shares other words does not fit.
    """
    most = max(worth, default=0.0)
    near = [place for place, own in enumerate(worth) if own >= _COVERS * most > 0]
    wanted = {*plain_stems(without_order(question))} - SMALL_STEMS
    found = zip(near, facts.candidates(near), strict=True)
    shared = {n: wanted.intersection(plain_stems(one.content)) for n, one in found if one}
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
    """The factors that put some memories before all others, in the order asked for.

    All others have the factor 1, as has a memory without a recorded time.
    """
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
