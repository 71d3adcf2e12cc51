"""Work on a path that is killed, and what must be there afterwards.

Each part runs in a process of its own: one that is killed, and one that looks, so that neither a
lock nor a crash reaches the tests. The processes come from a server that has Chroma imported.
"""

import json
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

import chromadb
from store.elsewhere import ENDS, server
from store.kit import SmallEmbedding

from recall_retrievers.core.errors import StoreDamagedError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.timeline import TimeRange

HEADER, NAMES = "header.bin", "index_metadata.pickle"
"""The first and the last file of a save of Chroma's."""

When = Literal["at any time", "at a save", "after a write"]
"""When a process is killed; a write is one of Chroma, of which the row index has not heard yet."""

_FIRST = datetime(2024, 1, 1, 12, tzinfo=UTC)
_SCOPES = (Scope(), Scope(user_id="ann"), Scope(user_id="bob"))
_STARTS = 60.0  # seconds within which a process must begin its work
_LOOKED_AT = 60  # memories searched for through the store; every one is searched for in Chroma


@dataclass
class Diary:
    """What a process was about to do, and what was done: read after it was killed."""

    path: Path
    stored: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)  # begun and not acknowledged

    def note(self, **entry: object) -> None:
        """Write what has ``begin``, or what is ``stored`` or ``deleted`` by now."""
        with self.path.open("a", encoding="utf-8") as file:  # one write, which a kill cannot tear
            file.write(json.dumps(entry) + "\n")

    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def read(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for line in lines:
            entry = json.loads(line)
            self.open |= set(entry.get("begin", ()))
            for row_id, text in entry.get("stored", {}).items():
                self.stored[row_id] = text
                self.open.discard(row_id)
                self.deleted.discard(row_id)
            for row_id in entry.get("deleted", ()):
                self.stored.pop(row_id, None)
                self.open.discard(row_id)
                self.deleted.add(row_id)


def embedding() -> SmallEmbedding:
    return SmallEmbedding(96)


def new_store(path: Path, saved_each: int) -> None:
    """An empty store, whose index Chroma saves after so many rows."""
    client = chromadb.PersistentClient(str(path))
    settings = {"hnsw": {"space": "cosine", "ef_search": 400, "sync_threshold": saved_each}}
    client.create_collection("memories", configuration=settings, embedding_function=None)
    client.close()


# -- the work -------------------------------------------------------------------------------------


def load(path: Path, diary: Diary, seed: int) -> None:
    """One long load after the other, in calls of a few hundred memories."""
    with RecallStore(path, embedding=embedding()) as store:
        for call in range(1_000):
            _add(store, diary, [f"m{seed}-{call}-{x}" for x in range(120)], call)


def change(path: Path, diary: Diary, seed: int) -> None:
    """Memories added, replaced and deleted, a few at a time."""
    chosen = random.Random(seed)
    diary.read()
    there = sorted(diary.stored)
    with RecallStore(path, embedding=embedding()) as store:
        for call in range(100_000):
            kind = chosen.choice(["add", "add", "replace", "delete", "ask"])
            if kind == "ask":
                store.find([Search("said1 said2", 5, method="keyword")])
            elif kind == "add" or len(there) < 20:
                new = [f"c{seed}-{call}-{x}" for x in range(chosen.randint(1, 30))]
                _add(store, diary, new, call)
                there += new
            elif kind == "replace":
                _add(store, diary, chosen.sample(there, 5), call)
            else:
                gone = chosen.sample(there, 5)
                diary.note(begin=gone)
                store.delete(gone)
                diary.note(deleted=gone)
                there = [row_id for row_id in there if row_id not in gone]


def repair(path: Path, diary: Diary, seed: int) -> None:
    """The same damage repaired, over and over."""
    for _ in range(10_000):
        diary.note(begin=[])
        RecallStore.repair(path, embedding=embedding())
        for folder in _index_folders(path):
            (folder / HEADER).write_bytes(b"torn")


def _add(store: RecallStore, diary: Diary, ids: list[str], call: int) -> None:
    texts = {row_id: text_of(row_id, call) for row_id in ids}
    diary.note(begin=ids)
    add(store, texts)
    diary.note(stored=texts)


def add(store: RecallStore, texts: dict[str, str]) -> None:
    store.add(
        {"id": x, "content": text, "created_at": _moment(x), "user_id": _owner(x)}
        for x, text in texts.items()
    )


def text_of(row_id: str, version: int) -> str:
    """A text of its own. Of hundreds that are nearly alike, Chroma's graph may lead past one."""
    chosen = random.Random(row_id)
    said = " ".join(f"said{chosen.randrange(500)}" for _ in range(4))
    return f"word{row_id} {said} version{version}of{row_id}"


def _owner(row_id: str) -> str:
    return "ann" if row_id[-1] in "02468" else "bob"


def _moment(row_id: str) -> datetime:
    return _FIRST + timedelta(days=random.Random(row_id).randrange(700))


# -- the kill -------------------------------------------------------------------------------------


def killed(
    work: Callable[[Path, Diary, int], None], path: Path, diary: Diary, seed: int, *, when: When
) -> None:
    """Let some work begin in a process, and kill it."""
    chosen = random.Random(seed)
    begun = diary.size()
    target = _work_and_die if when == "after a write" else _work
    process = server.Process(target=target, args=(work.__name__, path, diary.path, seed))
    process.start()
    if when == "after a write":
        process.join(ENDS)
        assert process.exitcode == -signal.SIGKILL, "it ended before it was killed"
    else:
        _wait_for(lambda: diary.size() > begun, process)
        time.sleep(chosen.uniform(0, 1.2))
        if when == "at a save":
            _stop_in_a_save(path, process, chosen)
    process.kill()
    process.join()
    diary.read()


def _work(name: str, path: Path, diary: Path, seed: int) -> None:
    globals()[name](path, Diary(diary), seed)


def _work_and_die(name: str, path: Path, diary: Path, seed: int) -> None:
    """Work until Chroma has written, and before the store hears of it."""
    left = random.Random(seed).randrange(25)

    def deadly(method: Callable[..., Any]) -> Callable[..., Any]:
        def write(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            result = method(*arguments, **named)
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return write

    for method in ("upsert", "update", "delete"):
        setattr(chromadb.Collection, method, deadly(getattr(chromadb.Collection, method)))
    _work(name, path, diary, seed)


def _wait_for(happened: Callable[[], bool], process: BaseProcess) -> None:
    end = time.monotonic() + _STARTS
    while not happened():
        assert process.is_alive(), "the work ended by itself"
        assert time.monotonic() < end, "the work did not begin"
        time.sleep(0.005)


def _stop_in_a_save(path: Path, process: BaseProcess, chosen: random.Random) -> None:
    """Stop the process while Chroma saves: the first file is new, and the last one is old."""
    _wait_for(lambda: bool(_index_folders(path)), process)
    [folder] = _index_folders(path)
    end = time.monotonic() + _STARTS
    while time.monotonic() < end and process.is_alive():
        before = _changed(folder / HEADER)
        while _changed(folder / HEADER) == before and time.monotonic() < end:
            pass  # a save is a matter of milliseconds: a pause would miss it
        at = time.monotonic() + chosen.choice([0, 0, 0.0005, 0.001, 0.002, 0.004])
        while time.monotonic() < at:
            pass
        os.kill(process.pid or 0, signal.SIGSTOP)
        if _changed(folder / NAMES) < _changed(folder / HEADER):
            return
        os.kill(process.pid or 0, signal.SIGCONT)  # it was quicker: the next one


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _index_folders(path: Path) -> list[Path]:
    return [each.parent for each in sorted(path.glob(f"*/{HEADER}"))]


# -- the look -------------------------------------------------------------------------------------


def what_is_left(path: Path, diary_path: Path, seed: int) -> str:
    """Open a path, repair it if it asks for that, and check all that was acknowledged.

    Returns:
        How it went: "opened" or "repaired".
    """
    diary = Diary(diary_path)
    diary.read()
    outcome = "opened"
    if torn := _torn(path):
        return "; ".join(torn)
    try:
        store = RecallStore(path, embedding=embedding())
    except StoreDamagedError as error:
        if "recall repair" not in str(error):
            raise
        RecallStore.repair(path, embedding=embedding())
        store = RecallStore(path, embedding=embedding())
        outcome = "repaired"
    with store:
        return "; ".join(_wrong(store, path, diary, seed)) or outcome


def look(path: Path, texts: dict[str, str], gone: set[str]) -> str:
    """What is wrong with a path; what was mended stays so, and is written to."""
    found: list[str] = []
    for _ in range(2):
        with RecallStore(path, embedding=embedding()) as store:
            there = {each.id: each.content for each in store.memories()}
            found += [] if there.items() >= texts.items() else ["some are not there as stored"]
            found += ["some that were deleted are there"] if there.keys() & gone else []
            found += wrongly_found(store, there, gone)
            texts = texts | {"new": text_of("new", 3)}
            add(store, {"new": texts["new"]})
    return "; ".join(found)


def _torn(path: Path) -> list[str]:
    """The row indexes that have half a change."""
    torn = []
    for file in path.glob(".recall/*/rows.sqlite"):
        with closing(sqlite3.connect(file)) as rows, suppress(sqlite3.OperationalError):  # no table
            [[words]] = rows.execute("SELECT value FROM fact WHERE name = 'rows'")
            [[counted]] = rows.execute("SELECT count(*) FROM said")
            [[damage]] = rows.execute("PRAGMA quick_check(1)")
            if words != counted or damage != "ok":
                torn.append(f"{file}: {words} rows with words, counted {counted}; {damage}")
    return torn


def _wrong(store: RecallStore, path: Path, diary: Diary, seed: int) -> Iterator[str]:
    """What is not as it was acknowledged."""
    there = {each.id: each for each in store.memories()}
    if len(there) != store.count():
        yield f"{store.count()} rows, {len(there)} memories"
    known = {row_id: text for row_id, text in diary.stored.items() if row_id not in diary.open}
    lost = [x for x, text in known.items() if x not in there or there[x].content != text]
    if lost:
        yield f"by id {len(lost)} of {len(known)} lost"
    if back := diary.deleted & there.keys() - diary.open:
        yield f"{len(back)} deleted ones are back"
    if strange := there.keys() - known.keys() - diary.open:
        yield f"{len(strange)} that nobody stored"
    texts = {row_id: memory.content for row_id, memory in there.items()}
    missed = _missed_by_chroma(path, texts)
    # Chroma's graph may not lead to a row that it holds: a search of ours knows how to find it.
    lost = [
        x for x in missed if x not in [each.id for each in store.find([Search(texts[x], 3)])[0]]
    ]
    if lost:
        yield f"by meaning {len(lost)} of {len(there)} lost"
    most, chosen = _LOOKED_AT, random.Random(seed)
    some = chosen.sample(sorted(known), min(most, len(known)))
    gone = sorted(diary.deleted - diary.open)
    yield from wrongly_found(
        store, {x: known[x] for x in some}, chosen.sample(gone, min(most, len(gone)))
    )


def wrongly_found(store: RecallStore, texts: dict[str, str], gone: Iterable[str]) -> Iterator[str]:
    """What is not found by its text, in its scope and at its time; or is, and should not be."""
    searches: list[tuple[str, Search]] = []
    for x, text in texts.items():
        day = _moment(x).replace(hour=0)
        within = (TimeRange(day, day + timedelta(days=1), "day"),)
        for method in ("keyword", "semantic"):
            searches.append((x, Search(text, 3, within=within, method=method)))
            searches += [(x, Search(text, 3, each, method=method)) for each in _SCOPES]
    answers = store.find([search for _, search in searches])
    for (x, search), hits in zip(searches, answers, strict=True):
        found = {each.id: each.memory for each in hits}
        if len(found) < len(hits) or not all(
            map(search.scope.holds, (y.scope for y in found.values()))
        ):
            yield f"{x}: found {[each.id for each in hits]} by {search}"
        if search.scope.user_id in (None, _owner(x)) and (
            x not in found or found[x].content != texts[x]
        ):
            yield f"{x} not found by {search}"
    for x in gone:
        if x in [each.id for each in store.find([Search(f"word{x}", 3, method="keyword")])[0]]:
            yield f"{x} was deleted and is found"


def _missed_by_chroma(path: Path, texts: dict[str, str]) -> list[str]:
    """The rows that Chroma does not find by the vector of their own text."""
    client = chromadb.PersistentClient(os.path.realpath(path))
    collection = client.get_collection("memories", embedding_function=None)
    missed: list[str] = []
    for start in range(0, len(texts), 500):
        ids = list(texts)[start : start + 500]
        embedded = Embedder(embedding()).embed_texts([texts[row_id] for row_id in ids])
        found = collection.query(query_embeddings=embedded.vectors, n_results=3, include=[])["ids"]
        missed += [row_id for row_id, near in zip(ids, found, strict=True) if row_id not in near]
    client.close()
    return missed
