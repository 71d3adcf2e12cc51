"""How each stage wants to be answered, and a reply that is made for it.

A reply is made for a stage out of its `Kit`, which knows under which name the stage wants its
entries and what an entry looks like. ``understood`` says whether the stage can use the reply.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

CONTENTS = {
    "a": "The dentist moved to Elm Street.",
    "b": "A filling by the dentist.",
    "c": "Green tea in the morning.",
    "d": "Carla plans a wedding.",
}
SCORES = [0.2, 0.9, 0.1, 0.4]  # of a, b, c and d, where a model scores them


@dataclass(frozen=True)
class Kit:
    """How one stage wants to be answered."""

    stage: str
    key: str
    settings: dict[str, Any]

    @property
    def ranks(self) -> bool:
        return self.key in {"scores", "ranking"}

    def entry(self, place: int, number: object, **other: object) -> dict[str, object]:
        """The entry on the memory at a place, under this number."""
        if self.ranks:
            return {"memory": number, "score": SCORES[place - 1], **other}
        return {"text": list(CONTENTS.values())[place - 1], "memories": [number], **other}

    def entries(self, numbers: Sequence[object] = (1, 2, 3, 4)) -> list[dict[str, object]]:
        return [self.entry(place, number) for place, number in enumerate(numbers, 1)]

    def pairs(self) -> list[list[float]]:
        """The scores in the form that the prompt asks for."""
        return [[number, score] for number, score in enumerate(SCORES, 1)]

    def draft(self) -> str:
        """An answer that a model takes back."""
        entry = {"memory": 3, "score": 1, "text": "Green tea.", "memories": [3]}
        return json.dumps({self.key: [entry]})

    def payload(self, entries: object = None) -> dict[str, object]:
        return {self.key: self.entries() if entries is None else entries}

    def json(self, entries: object = None) -> str:
        return json.dumps(self.payload(entries))


Make = Callable[[Kit], Any]
RANK, RERANK = "SemanticRank", "RerankMemory"
RANKS = (RANK, RERANK)
LEFT_OUT = "{} of 4 not judged"

KITS = [
    Kit("SemanticRank", "scores", {"semantic_share": 1}),
    Kit("RerankMemory", "ranking", {"semantic_share": 1}),
    Kit("RewriteMemory", "sentences", {}),
    Kit("Reflect", "points", {"kind": "key_points"}),
]


@dataclass(frozen=True)
class Reply:
    """What a model says, or the error it raises."""

    name: str
    make: Make
    understood: bool
    kits: Sequence[str] = tuple(kit.stage for kit in KITS)
    order: str = "bdac"  # of the memories, where a model that is understood ranks them
    note: str = ""  # what the trace says of a reply that is understood, yet odd

    def __str__(self) -> str:
        return self.name


def good(name: str, make: Make, *kits: str, order: str = "bdac", note: str = "") -> Reply:
    return Reply(name, make, True, kits or tuple(kit.stage for kit in KITS), order, note)


def bad(name: str, make: Make, *kits: str) -> Reply:
    return Reply(name, make, False, kits or tuple(kit.stage for kit in KITS))
