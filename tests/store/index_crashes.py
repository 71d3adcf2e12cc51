"""What is done to a row index in other processes, and what must be found afterwards.

Nothing here needs pytest: the server of processes imports it once for all of them.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from chromadb.api.models.Collection import Collection
from store.elsewhere import server
from store.kit import SmallEmbedding

from recall_retrievers.core.errors import StoreDamagedError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

ENDS = 120.0  # seconds within which a process must have looked
FIRST = datetime(2024, 1, 1, 12, tzinfo=UTC)

Texts = dict[str, str]
"""The texts of memories by id, as they must be."""


def moment(row_id: str) -> datetime:
    return FIRST + timedelta(days=random.Random(row_id).randrange(700))


def owner(row_id: str) -> str:
    return random.Random(row_id).choice(["ann", "bob"])


def text_of(row_id: str, version: int) -> str:
    common = " ".join(f"common{x}" for x in random.Random(row_id).sample(range(40), 4))
    return f"word{row_id} version{version}of{row_id} {common}"


def add(store: RecallStore, texts: Texts) -> None:
    store.add(
        {"id": x, "content": text, "created_at": moment(x), "user_id": owner(x)}
        for x, text in texts.items()
    )


def wrong(
    store: RecallStore, texts: Texts, gone: set[str], some: set[str] | None = None
) -> Iterator[str]:
    """What is not found, or found although it is not there; only some memories, if named."""
    there = {each.id: each.content for each in store.memories()}
    if lost := [x for x, text in texts.items() if there.get(x) != text]:
        yield f"not there, or other than stored: {lost[:5]}"
    if there.keys() & gone:
        yield "some that were deleted are there"
    looked_at = [x for x in there if some is None or x in some]
    searches: list[tuple[str, str, Search]] = []
    for x in looked_at:
        scope, day = Scope(user_id=owner(x)), moment(x).replace(hour=0)
        within = (TimeRange(day, day + timedelta(days=1), "day"),)
        searches += [
            (x, "words", Search(there[x], 3, method="keyword")),
            (x, "meaning", Search(there[x], 3)),
            (x, "time", Search(there[x], 3, within=within)),
            (x, "words of its owner", Search(there[x], 3, method="keyword", scope=scope)),
            (x, "meaning of its owner", Search(there[x], 3, scope=scope)),
        ]
    hits = store.find([search for _, _, search in searches])
    for (x, way, _), answer in zip(searches, hits, strict=True):
        found = [each.id for each in answer]
        if x not in found or there[x] != answer[found.index(x)].memory.content:
            yield f"{x} not found by {way}"
        if len(set(found)) != len(found) or not there.keys() >= set(found):
            yield f"{found} by {way}"
    lost_words = [x for x in gone if some is None or x in some]
    hits = store.find([Search(f"word{x}", 3, method="keyword") for x in lost_words])
    for x, answer in zip(lost_words, hits, strict=True):
        if x in [each.id for each in answer]:
            yield f"{x} was deleted and is found"


# -- a process that is killed ---------------------------------------------------------------------


class Diary:
    """What was begun and what was acknowledged, also after a kill."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.texts: Texts = {}
        self.gone: set[str] = set()
        self.named: dict[str, None] = {}  # all ids, those that were changed last at the end
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            self._take(json.loads(line))

    def note(self, **entry: object) -> None:
        with self._path.open("a", encoding="utf-8") as file:  # one write, which a kill cannot tear
            file.write(json.dumps(entry) + "\n")
        self._take(entry)

    def some(self, chosen: random.Random) -> set[str]:
        """The ids that were changed last, and some of the others."""
        return {
            *list(self.named)[-15:],
            *chosen.sample(sorted(self.named), min(15, len(self.named))),
        }

    def _take(self, entry: dict[str, Any]) -> None:
        for row_id in entry.get("begun", ()):  # until it is acknowledged, nothing is promised of it
            self.texts.pop(row_id, None)
            self.gone.discard(row_id)
            self.named.pop(row_id, None)
            self.named[row_id] = None
        self.texts |= entry.get("stored", {})
        self.gone |= set(entry.get("deleted", ()))


def look_and_work(answer: Connection, path: Path, diary_path: Path, seed: int) -> None:
    """Look at what a process left that was killed; then write and ask until this one is."""
    chosen, diary = random.Random(seed), Diary(diary_path)
    try:
        mend(path)
        with RecallStore(path, embedding=SmallEmbedding()) as store:
            answer.send("; ".join(wrong(store, diary.texts, diary.gone, diary.some(chosen))))
            if seed % 2:
                die_after_a_write_of_chroma(chosen)
            for call in range(10_000):
                kind = chosen.choice(["add", "add", "replace", "delete", "ask"])
                if kind == "ask":
                    store.find([Search("common1 common2", 5, method="keyword")])
                    continue
                there = sorted(diary.texts)
                old = chosen.sample(there, min(3, len(there)))
                ids = [f"x{seed}x{call}x{n}" for n in range(chosen.randint(1, 9))]
                ids = old if old and kind != "add" else ids
                diary.note(begun=ids)
                if kind == "delete" and old:
                    store.delete(ids)
                    diary.note(deleted=ids)
                else:
                    texts = {x: text_of(x, seed * 10_000 + call) for x in ids}
                    add(store, texts)
                    diary.note(stored=texts)
    except BaseException as error:
        answer.send(f"{type(error).__name__}: {error}")
        raise


def mend(path: Path) -> None:
    """Repair a path whose index Chroma was saving when it was killed, as the error says."""
    try:
        RecallStore(path, embedding=SmallEmbedding()).close()
    except StoreDamagedError:
        RecallStore.repair(path, embedding=SmallEmbedding())


def die_after_a_write_of_chroma(chosen: random.Random) -> None:
    """Kill this process when Chroma has written, before the store hears of it."""
    left = chosen.randrange(25)

    def deadly(method: Callable[..., Any]) -> Callable[..., Any]:
        def write(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            result = method(*arguments, **named)
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return write

    for name in ("add", "upsert", "update", "delete"):
        setattr(Collection, name, deadly(getattr(Collection, name)))


# -- a process that looks -------------------------------------------------------------------------


def look(answer: Connection, path: Path, texts: Texts, gone: set[str]) -> None:
    try:
        more = {"new": text_of("new", 3)}
        for _ in range(2):  # what was mended stays so, and is written to
            with RecallStore(path, embedding=SmallEmbedding()) as store:
                found = "; ".join(wrong(store, texts, gone))
                add(store, more)
                texts = texts | more
            if found:
                break
    except BaseException as error:  # noqa: BLE001 - the test says what it was
        found = f"{type(error).__name__}: {error}"
    answer.send(found)


def seen(path: Path, texts: Texts, gone: set[str]) -> str:
    """What another process finds wrong with a path."""
    ours, theirs = server.Pipe()
    process = server.Process(target=look, args=(theirs, path, texts, gone))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(ENDS) else "it took too long"
    except EOFError:
        return "it crashed"
    finally:
        process.kill()
        process.join()
