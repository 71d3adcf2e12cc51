"""English numbers, amounts and hours: "twenty third", "a couple of weeks", "half past three"."""

from functools import partial

from recall_retrievers.timeline.grammar.engine import Table
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, When
from recall_retrievers.timeline.english.words import number_kinds
from recall_retrievers.timeline.meanings import clock, combine, cycles, relative
from recall_retrievers.timeline.time_range import Grain

Numbers = dict[str, object]


def _number(_: Now, *addends: int) -> Numbers:
    return number_kinds(sum(addends))


def _ordinal(_: Now, tens: int, one: int) -> Numbers | None:
    return {"ORD": tens + one, "DAY": tens + one} if one < 10 and tens + one <= 31 else None


def _two_halves(now: Now, century: int, *rest: int) -> Numbers | None:
    """Nineteen eighty six, twenty fifteen."""
    number = century * 100 + sum(rest)
    return {"YEAR": number} if century in range(11, 18) else _said_year(now, number)


def _said_year(now: Now, number: int) -> Numbers | None:
    return {"YEAR": number, "SAID_YEAR": cycles.year(now, number)} if number < 2100 else None


def _hundreds(_: Now, hundreds: int, *rest: int) -> Numbers:
    return number_kinds(hundreds * 100 + sum(rest))


def _thousands(now: Now, thousands: int, *rest: int) -> Numbers:
    number = thousands * 1000 + sum(rest)
    return number_kinds(number) | ((thousands == 2 and _said_year(now, number)) or {})


NUMBERS: Table = {
    "TENS -? ONES": _number,
    "TENS -? ORD": _ordinal,
    "TEEN|TENS TENS": _two_halves,
    "TEEN|TENS TENS -? ONES": _two_halves,
    "TEEN|TENS oh ONES": _two_halves,
    "TEEN|TENS TEEN": _two_halves,
    "TEEN hundred": _two_halves,
    "TEEN hundred and? TENS|ONES|TEEN": _two_halves,
    "TEEN hundred and? TENS ONES": _two_halves,
    "a? hundred": lambda now: _hundreds(now, 1),
    "ONES hundred": _hundreds,
    "ONES hundred and? TENS|ONES|TEEN": _hundreds,
    "ONES hundred and? TENS ONES": _hundreds,
    "ONES thousand": _thousands,
    "ONES thousand and? TENS|ONES|TEEN": _thousands,
    "ONES thousand and? TENS ONES": _thousands,
    "SHORT_YEAR": lambda now, number: {
        kind: cycles.full_year(now, number) for kind in ("YEAR", "SURE_YEAR")
    },
}


def _amount(_: Now, count: int, unit: Grain) -> Duration | None:
    if 1900 <= count < 2100:  # "Easter 2021 weekend"
        return None
    return Duration.of(count, unit)


def _between_amounts(_: Now, low: int, amount: Duration | None) -> Duration | None:
    """Two or three weeks."""
    if amount is None:
        return None
    ((high, unit),) = amount.parts[:1]
    if len(amount.parts) > 1 or amount.spread != (0, 0) or not 0 < low < high < 100:
        return None
    return Duration(((low, unit),), (0, high - low))


def _point_five(now: Now, number: tuple[int, int], unit: Grain) -> Duration | None:
    """1.5 hours; other fractions of a unit have no calendar."""
    return relative.and_a_half(now, number[0], unit) if number[1] == 5 else None


def _half(_: Now, whole: Duration) -> Duration | None:
    """Half a year, half an hour."""
    ((count, unit),) = whole.parts[:1]
    part = relative.HALVES.get(unit)
    return Duration(((part[1], part[0]),)) if part and count == 1 and not whole.parts[1:] else None


def _sum(_: Now, one: Duration, other: Duration) -> Duration:
    return Duration(one.parts + other.parts)


AMOUNTS: Table = {
    "NUM UNIT": _amount,
    "a|an UNIT": lambda now, unit: _amount(now, 1, unit),
    "NUM -|to|or DURATION": _between_amounts,
    "a? couple of? UNITS": lambda _, unit: Duration(((2, unit),), (1, 1)),
    "a? few UNITS": relative.few,
    "some UNITS": relative.few,
    "several UNITS": lambda _, unit: Duration(((5, unit),), (2, 3)),
    "half DURATION": _half,
    "a|an UNIT and a half": lambda now, unit: relative.and_a_half(now, 1, unit),
    "NUM UNIT and a half": relative.and_a_half,
    "NUM and a half UNIT": relative.and_a_half,
    "DOTTED UNIT": _point_five,
    "a|an UNIT or NUM": lambda now, unit, most: _between_amounts(now, 1, _amount(now, most, unit)),
    "a? fortnight": lambda now: _amount(now, 2, "week"),
    "NUM fortnights": lambda now, count: _amount(now, 2 * count, "week"),
    "DURATION and|,? DURATION": _sum,
    "NUM last|past|previous UNITS": lambda now, count, unit: relative.rolling(
        now, Duration.of(count, unit)
    ),
}


def _to(_: Now, minutes: int, hour: int) -> Numbers | None:
    return clock.named((hour - 1) % 24, 60 - minutes) if 0 < minutes < 60 else None


HOURS: Table = {
    "HOUR AMPM": clock.hour,
    "HOUR a .? m .?": lambda now, hour: clock.hour(now, hour, 0),
    "HOUR p .? m .?": lambda now, hour: clock.hour(now, hour, 12),
    "HOUR o '|’ clock": clock.hour,
    "HM": clock.figures,
    "HM|DOTTED AMPM": clock.figures,
    "HM|DOTTED a .? m .?": lambda now, hour: clock.figures(now, hour, 0),
    "HM|DOTTED p .? m .?": lambda now, hour: clock.figures(now, hour, 12),
    "half past HOUR": lambda _, hour: clock.named(hour, 30),
    "quarter past HOUR": lambda _, hour: clock.named(hour, 15),
    "quarter to HOUR": lambda now, hour: _to(now, 15, hour),
    "NUM to HOUR AMPM": lambda _, minutes, hour, noon: clock.named(
        (hour - 1) % 24, 60 - minutes, noon
    ),
}


def _hours_of(now: Now, day: Cycle, hours: Cycle | None) -> When | None:
    return hours and combine.side_by_side(now, day, hours)


CLOCKS: Table = {
    "before|until|by|till around|about? CLOCK": partial(clock.outside, side=-1),
    "no later than CLOCK": partial(clock.outside, side=-1),
    "after|since|from CLOCK": partial(clock.outside, side=1),
    "from|between|at? CLOCK|HOUR|DOTTED -|to|and|until|till|through CLOCK": clock.between,
    "from|between|at? CLOCK -|to|and|until|till|through HOUR": clock.between,
    "WEEKDAY HOUR -|to HOUR": lambda now, weekday, *hours: _hours_of(
        now, cycles.weekday(now, weekday), clock.between(now, *hours)
    ),
}
