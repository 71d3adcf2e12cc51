"""The items of the checks, without a framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice, permutations

MARK = "mark"
"""The metadata by which a result is known again, also where its id was lost."""


@dataclass(frozen=True)
class Item:
    """One document or node, without a framework.

    Args:
        id: Its id.
        content: Its text.
        score: How relevant it is, higher is better; None = unknown.
        metadata: What else is known of it.
    """

    id: str
    content: str
    score: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def _item(name: str, content: str, score: float, recorded: str) -> Item:
    known = {MARK: name, "stars": 3, "created_at": recorded, "memory_type": "observation"}
    return Item(name, content, score, known)


ITEMS = (
    _item("a", "The dentist moved to Elm Street.", 0.9, "2024-02-01T09:00:00+00:00"),
    _item("b", "A filling by the dentist.", 0.6, "2024-03-05T10:00:00+00:00"),
    _item("c", "Green tea in the morning.", 0.5, "2023-11-20T18:30:00+00:00"),
    _item("d", "Carla plans a wedding.", 0.05, "2024-01-10T12:00:00+00:00"),
)

BARE = tuple(Item(each.id, each.content, None, {MARK: each.id}) for each in ITEMS)

# The same words in another order: for whoever counts words these are equal, and none is a copy.
TIED = tuple(
    _item(f"tied-{place}", " ".join(words), 0.5, "2024-03-05T10:00:00+00:00")
    for place, words in enumerate(islice(permutations(["tea", "milk", "honey", "lemon"]), 4))
)
