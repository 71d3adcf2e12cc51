"""The English names of days and months, in every locale.

`strftime` speaks the language that the program has set: in Germany a prompt would say "Dienstag".
"""

from datetime import date
from typing import Final

WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def weekday_name(day: date) -> str:
    """The name of the day of the week."""
    return WEEKDAYS[day.weekday()]


def month_name(day: date) -> str:
    """The name of the month."""
    return MONTHS[day.month - 1]
