"""A colour for each kind of step. Colour-blind readers can tell them apart, on light and dark.

The palette is by Okabe and Ito (2008), without its black and its yellow: each of the two is
invisible on one of the grounds.
"""

from __future__ import annotations

COLOURS = {
    "by_words": "#56B4E9",
    "type_ratio": "#009E73",
    "author_ratio": "#CC79A7",
    "session_ratio": "#CC79A7",
    "time_ratio": "#E69F00",
    "decay": "#D55E00",
    "recency": "#D55E00",
    "stale": "#D55E00",
}
"""The colours by the name of a step in flat metadata."""

OF_RELEVANCE = "#0072B2"  # every other step

IN_RANGE = COLOURS["time_ratio"]  # the time that the question names, and the memories in it
OTHER = "#808080"  # the other memories
EVENT = COLOURS["type_ratio"]  # the events of a memory
