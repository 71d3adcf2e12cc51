"""The common parts of both pictures: the axes, and text that matplotlib draws as it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
from matplotlib import font_manager, rcParams
from matplotlib.axes import Axes
from rich.console import Console
from rich.text import Text

from recall_retrievers.core.candidate import Candidate

_WIDTH = 9.0  # inches of a figure
_LINE = 34  # the width of a label, in letters
_CHINESE = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback",
)  # fmt: skip


@cache
def _chinese() -> list[str]:
    installed = set(font_manager.get_font_names())
    return [name for name in _CHINESE if name in installed]


def text_style() -> dict[str, Any]:
    """No formulas between dollars, and Chinese if this machine has a font for it."""
    return {"parse_math": False, "family": [*rcParams["font.family"], *_chinese()]}


def axes_of(height: float, ax: Axes | None) -> Axes:
    """The axes to draw on: the caller's, or those of a new figure so many inches high."""
    if ax is None:
        _, ax = plt.subplots(figsize=(_WIDTH, height), layout="constrained")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def labels(memories: Sequence[Candidate]) -> list[str]:
    """A label for each memory: its number and its first words, on two lines at most."""
    return [_short(f"{number}. {memory.content}") for number, memory in enumerate(memories, 1)]


def _short(text: str) -> str:
    # Rich wraps it, as it knows that a Chinese character is as wide as two letters.
    lines = [each.plain.rstrip() for each in Text(" ".join(text.split())).wrap(Console(), _LINE)]
    return "\n".join(lines[:2]) + ("…" if len(lines) > 2 else "")
