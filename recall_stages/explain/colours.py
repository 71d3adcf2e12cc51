"""A colour for each kind of step, apart for colour-blind readers too, on light and dark grounds.

The palette of Okabe and Ito (2008), without its black and its yellow, which one ground swallows.
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
"""By the name of a step in flat metadata."""

OF_RELEVANCE = "#0072B2"  # of every other step

ASKED = COLOURS["time_ratio"]  # the time asked about, and what lies in it
OTHER = "#808080"  # what does not
EVENT = COLOURS["type_ratio"]  # the times that a memory tells of
