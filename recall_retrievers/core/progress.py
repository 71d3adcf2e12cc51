"""A progress bar."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def progress_bar(
    things: Iterable[T] | None = None,
    *,
    unit: str,
    desc: str | None = None,
    total: int | None = None,
    wanted: bool = True,
) -> tqdm[T]:
    """A progress bar; silent where there is no terminal, and with ``TQDM_DISABLE=1`` set."""
    # tqdm no longer reads its own variable where `disable` is set.
    off = not wanted or os.environ.get("TQDM_DISABLE", "0") not in {"", "0"}
    # None = off where there is no terminal.
    return tqdm(things, desc=desc, total=total, unit=f" {unit}", disable=True if off else None)
