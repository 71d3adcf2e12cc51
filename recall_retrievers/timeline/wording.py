"""A time range as text: an ISO 8601 interval for flat fields, and words for the user."""

from datetime import datetime, time, tzinfo

from recall_retrievers.timeline.time_range import TimeRange


def format_interval(time_range: TimeRange) -> str:
    """Write the bounds as ``start/end``; an open bound is ``..``."""
    return "/".join(
        ".." if bound is None else bound.isoformat() for bound in (time_range.start, time_range.end)
    )


def parse_interval(text: str, zone: tzinfo | None = None) -> TimeRange:
    """The time range in a text of `format_interval`."""
    start, slash, end = text.partition("/")
    if not slash:
        raise ValueError(f"an interval is written start/end; got {text!r:.60}")
    bounds = [None if bound == ".." else _bound(bound, zone) for bound in (start, end)]
    whole_days = all(bound is None or bound.time() == time.min for bound in bounds)
    return TimeRange(bounds[0], bounds[1], "day" if whole_days else "minute")


def _bound(text: str, zone: tzinfo | None) -> datetime:
    bound = datetime.fromisoformat(text)
    return bound if bound.tzinfo or zone is None else bound.replace(tzinfo=zone)


def in_words(time_range: TimeRange) -> str:
    """The words of the question, their reading, and their other readings."""
    words = f'"{time_range.text}"' if time_range.text else "the time asked about"
    others = dict.fromkeys(map(_meaning, time_range.alternatives))
    also = f"; also possible: {', or '.join(others)}" if others else ""
    return f"{words} is understood as {_meaning(time_range)}{also}"


def _meaning(time_range: TimeRange) -> str:
    if not time_range.soft:
        return time_range.describe()
    if time_range.start is None:
        return f"long ago: {time_range.describe()}"
    return "recently: newer memories first"
