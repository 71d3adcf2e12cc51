"""A colour for each kind of step, apart for colour-blind readers too, on light and dark grounds.

The palette of Okabe and Ito (2008), without its black and its yellow, which one ground swallows.
"""

from __future__ import annotations

from recall_stages.explain.build_up import Kind

COLOURS: dict[Kind, str] = {
    "meaning": "#0072B2",
    "words": "#56B4E9",
    "relevance": "#0072B2",
    "model": "#0072B2",
    "later": "#0072B2",
    "type": "#009E73",
    "author": "#CC79A7",
    "session": "#CC79A7",
    "time": "#E69F00",
    "age": "#D55E00",
    "stale": "#D55E00",
}

ASKED = COLOURS["time"]  # the time asked about, and what lies in it
OTHER = "#808080"  # what does not
EVENT = COLOURS["type"]  # the times that a memory tells of
