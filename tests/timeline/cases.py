"""How the tables of cases are checked: a text, the expected days, and the usual moment."""

import sys
from collections.abc import Callable
from datetime import datetime
from types import FrameType

from recall_retrievers import timeline
from recall_retrievers.timeline import extract_time

NOW = "2024-06-12T15:30:00+00:00"  # a Wednesday
ROOM = timeline.__file__.removesuffix("__init__.py")


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


def calls(work: Callable[..., object], *arguments: object) -> int:
    """How many functions of `timeline` are called: work that is the same on a busy machine."""
    called = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal called
        called += event == "call" and frame.f_code.co_filename.startswith(ROOM)

    sys.setprofile(count)
    try:
        work(*arguments)
    finally:
        sys.setprofile(None)
    return called
