"""Progress of long work, on standard error: where somebody looks on, and wants to see it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")

_OFF = "TQDM_DISABLE"  # tqdm's own name for it, which it no longer reads where we say anything


def progress_bar(
    things: Iterable[T] | None = None,
    *,
    unit: str,
    desc: str | None = None,
    total: int | None = None,
    wanted: bool = True,
) -> tqdm[T]:
    """A progress bar; silent where there is no terminal, and with ``TQDM_DISABLE=1`` set.

    Args:
        things: What is gone through; None = the work says how far it is, with ``update``.
        unit: What is counted, as in "memories".
        desc: What is done with them.
        total: How many there are, where ``things`` does not know.
        wanted: Whether it is shown at all.

    Examples:
        >>> list(progress_bar("ab", unit="letters"))
        ['a', 'b']
    """
    off = not wanted or os.environ.get(_OFF, "0") not in {"", "0"}
    # None = off where there is no terminal.
    return tqdm(things, desc=desc, total=total, unit=f" {unit}", disable=True if off else None)
