"""How the tables of cases are checked: a text, the expected days, and the usual moment."""

from __future__ import annotations

from datetime import datetime

from recall_stages.timeline import extract_time

NOW = "2024-06-12T15:30:00+00:00"  # a Wednesday


def read(text: str, now: str = NOW, **settings: object) -> list[tuple[str, str]]:
    """The ranges of a text as pairs of short strings; midnight is left out, open ends are `..`."""
    found = extract_time(text, now, **settings)  # type: ignore[arg-type]
    return [(short(one.start), short(one.end)) for one in found]


def short(moment: datetime | None) -> str:
    """A moment without its zone, a day without its midnight."""
    if moment is None:
        return ".."
    written = moment.replace(tzinfo=None).isoformat(timespec="minutes")
    return written.removesuffix("T00:00")
