"""Which way to the memories nearest in meaning: all ways find the same ones, at another cost.

Chroma finds the nearest of *all* rows in a few milliseconds. A condition makes that slow, because
it reads whatever fulfils the condition out of SQLite first: 100 to 600 ms at 100,000 rows. So a
condition is left away where it can be (``graph``, ``rows``) and put to Chroma only where it must be
(``where``):

- ``graph``: ask for the nearest without a condition, more than are wanted, and look which of them
  fulfil it. For a condition that many rows fulfil; it can come back short.
- ``rows``: compare every row that fulfils it, exactly. For one that few rows fulfil.
- ``where``: let Chroma see to it, with buckets of days instead of a range of times. For conditions
  on metadata, which are not mirrored; in a collection that somebody else made or that lies in
  Chroma Cloud, where conditions are indexed; and where there is no mirror yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Route = Literal["graph", "rows", "where"]

# Milliseconds, measured on two cores at 10,000 to 300,000 rows of 384 dimensions; what counts is
# how they compare, and that hardly differs between machines.
_ASKING, _A_NEIGHBOUR = 2.0, 0.008
_COMPARING, _A_ROW, _AN_UNREAD_ROW = 0.3, 0.00015, 0.04
_FILTERING, _A_FILTERED_ROW = 8.0, 0.0015

_MARGIN = 2.0  # more than the share of rows says, because neighbours in meaning are so in time too
_MOST_NEIGHBOURS = 4000  # beyond these the graph is slower than any other way


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is known about the rows that a search may return.

    Attributes:
        wanted: How many memories are asked for.
        rows: How many rows the collection has.
        matching: How many of them fulfil the conditions; None where only Chroma can tell.
        unread: Of how many of these the vector is not in memory.
    """

    wanted: int
    rows: int
    matching: int | None
    unread: int


def routes(given: Conditions) -> list[Route]:
    """The ways to try, the cheapest first, up to one that comes back with all there are.

    Examples:
        >>> routes(Conditions(wanted=50, rows=100_000, matching=50_000, unread=50_000))
        ['graph', 'where']
        >>> routes(Conditions(wanted=50, rows=100_000, matching=300, unread=300))
        ['rows']
        >>> routes(Conditions(wanted=50, rows=100_000, matching=None, unread=0))
        ['where']
    """
    if given.matching is None:
        return ["where"]
    costs: dict[Route, float] = {
        "graph": _ASKING + _A_NEIGHBOUR * neighbours(given),
        "rows": _COMPARING + _A_ROW * given.matching + _AN_UNREAD_ROW * given.unread,
        "where": _FILTERING + _A_FILTERED_ROW * given.rows,
    }
    if neighbours(given) > _MOST_NEIGHBOURS:
        del costs["graph"]
    ways = sorted(costs, key=lambda way: costs[way])
    return ways[: 2 if ways[0] == "graph" else 1]


def neighbours(given: Conditions) -> int:
    """How many of the nearest to look at, so that enough of them fulfil the conditions."""
    if not given.matching or given.matching >= given.rows:
        return given.wanted
    return round(_MARGIN * given.wanted * given.rows / given.matching)
