"""A process that is killed loses nothing that was acknowledged.

`make test` kills a few processes, `make test-kills` two hundred: RECALL_KILLS says how many.
"""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from store.elsewhere import said_by
from store.killed import Diary, When, change, killed, load, new_store, repair, what_is_left

KILLS = int(os.environ.get("RECALL_KILLS", "3"))


class Kind(NamedTuple):
    work: Callable[[Path, Diary, int], None]
    saved_each: int  # after so many rows Chroma saves its index
    share: float  # of all kills
    when: When = "at any time"
    turns: int = 1  # how often one path is worked on and killed


KINDS = {
    "load-at-a-save": Kind(load, 300, 0.3, "at a save"),
    "changes-at-a-save": Kind(change, 100, 0.25, "at a save"),
    "changes-after-a-write": Kind(change, 50, 0.35, "after a write", turns=2),
    "repair": Kind(repair, 250, 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_nothing_acknowledged_is_lost(tmp_path: Path, kind: Kind) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(max(1, round(KILLS * kind.share))):
        path, diary = tmp_path / f"store-{seed}", Diary(tmp_path / f"diary-{seed}.jsonl")
        new_store(path, kind.saved_each)
        if kind.work is repair:
            killed(load, path, diary, seed, when="at a save")
        for turn in range(kind.turns):
            number = 1000 * turn + seed
            killed(kind.work, path, diary, number, when=kind.when)
            outcomes[said_by(what_is_left, path, diary.path, number)] += 1
    print(f"{outcomes.total()} kills: {dict(outcomes)}")  # noqa: T201 - the counts are the result
    assert set(outcomes) <= {"opened", "repaired"}, outcomes
