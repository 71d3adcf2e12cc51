"""Recurring times: "on Mondays", "every March", "in the mornings"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Final

from recall_retrievers.timeline.parse_time import in_zone

# The English names, in every locale: in Germany `strftime` would say "Dienstag".
WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_LIMITS = {"weekdays": (0, 6), "months": (1, 12), "days": (1, 31), "hours": (0, 23)}


def weekday_name(day: date) -> str:
    """The English name of the day of the week."""
    return WEEKDAYS[day.weekday()]


def month_name(day: date) -> str:
    """The English name of the month."""
    return MONTHS[day.month - 1]


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The calendar fields that a moment must have; an empty set leaves its field free.

    Attributes:
        weekdays: 0 is Monday, 6 is Sunday.
        months: 1 is January, 12 is December.
        days: Days of the month, 1 to 31.
        hours: Hours of the day, 0 to 23.
        timezone: The time zone of the calendar and the clock; None = that of the moment compared.

    Raises:
        ValueError: If a field holds a number that the calendar does not have.

    Examples:
        >>> mondays = Recurrence(weekdays=frozenset({0}))
        >>> mondays.matches(datetime.fromisoformat("2024-06-10T08:00:00+00:00"))
        True
        >>> mondays.matches(datetime.fromisoformat("2024-06-11T08:00:00+00:00"))
        False
    """

    weekdays: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    timezone: tzinfo | None = None

    def __post_init__(self) -> None:
        """Check every number against its calendar field."""
        for name, (low, high) in _LIMITS.items():
            wrong = sorted(n for n in getattr(self, name) if not low <= n <= high)
            if wrong:
                msg = f"{name} must lie between {low} and {high}; got {wrong}"
                raise ValueError(msg)

    def matches(self, moment: datetime) -> bool:
        """Whether a moment falls on this recurrence."""
        if self.timezone is not None:
            moment = in_zone(moment, self.timezone)
        wanted = (self.weekdays, self.months, self.days, self.hours)
        fields = (moment.weekday(), moment.month, moment.day, moment.hour)
        return all(
            not allowed or field in allowed for allowed, field in zip(wanted, fields, strict=True)
        )

    def narrow(self, other: Recurrence) -> Recurrence:
        """Both at once, for "on Monday mornings"; a field of both has their common values."""
        both = {name: (getattr(self, name), getattr(other, name)) for name in _LIMITS}
        shared = {name: (one & more) or one or more for name, (one, more) in both.items()}
        return Recurrence(**shared, timezone=self.timezone or other.timezone)

    def join(self, other: Recurrence) -> Recurrence:
        """One or the other, for "on Mondays and Tuesdays"."""
        return Recurrence(**{name: getattr(self, name) | getattr(other, name) for name in _LIMITS})

    def describe(self) -> str:
        """The recurrence in words, such as "every Monday in March".

        Examples:
            >>> Recurrence(weekdays=frozenset({0, 2}), months=frozenset({3})).describe()
            'every Monday, Wednesday in March'
        """
        words = "every " + (_listed(self.weekdays, WEEKDAYS, 0) or "day")
        if self.days:
            words += " on day " + _listed(self.days)
        if self.months:
            words += " in " + _listed(self.months, MONTHS, 1)
        if self.hours:
            words += " at hours " + _listed(self.hours)
        return words


def _listed(numbers: Iterable[int], names: tuple[str, ...] = (), first: int = 0) -> str:
    return ", ".join(names[n - first] if names else str(n) for n in sorted(numbers))
