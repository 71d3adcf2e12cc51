"""Random sequences of calls on each kind of store, against a model in plain Python: always equal.

RECALL_SEQUENCES=1000 runs a thousand of them. Each has users of its own, in a collection that those
of a place share: what one leaves behind, another must not see.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from store.kit import NOON, SmallEmbedding, similarities

from recall_retrievers.core.errors import MissingMemoryError, ScopeError, SettingsError
from recall_retrievers.core.memory import Memory, Standing
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

SEQUENCES = int(os.environ.get("RECALL_SEQUENCES", "10"))
CALLS = 25
WORDS = ("tea", "train", "dentist", "bread", "piano", "cat", "garden", "lake")
TYPES = ("observation", "event", "profile")
SMALL = SmallEmbedding()


def recorded(memory: Memory) -> datetime:
    assert memory.created_at is not None
    return memory.created_at


def stands(memory: Memory, at: Standing) -> bool:
    assert at.moment is not None
    if at.as_it_stood and recorded(memory) > at.moment:
        return False
    if memory.expires_at is not None and memory.expires_at <= at.moment:
        return False
    superseded = memory.superseded_at
    return at.include_superseded or superseded is None or superseded > at.moment


@dataclass
class Model:
    rows: dict[str, Memory] = field(default_factory=dict)
    now: datetime = NOON

    def all_of(self, owner: str) -> list[Memory]:
        """Also those that have expired: deleting reaches them."""
        return [each for each in self.rows.values() if each.scope.user_id == owner]

    def living(
        self,
        owner: str,
        fits: Callable[[Memory], bool] = lambda _: True,
        at: Standing | None = None,
    ) -> list[Memory]:
        """The memories of an owner that count, the newest first."""
        moment = at or Standing(self.now)
        alive = [each for each in self.all_of(owner) if fits(each) and stands(each, moment)]
        return sorted(alive, key=lambda each: (recorded(each), each.id), reverse=True)

    def there(self, owner: str) -> dict[str, Memory]:
        """The memories of an owner that have not expired, by id."""
        return {each.id: each for each in self.living(owner, at=Standing(self.now, False, True))}

    def put(self, new: Memory) -> None:
        """Store a memory; one that is there without any change keeps its mark."""
        old = self.rows.get(new.id)
        if old is None or marked(old, "", None) != new:
            self.rows[new.id] = new

    def newest(self, memory: Memory) -> Memory:
        """The last of those that supersede one another."""
        seen = [memory]
        while (heir := self.rows.get(seen[-1].superseded_by)) is not None and heir not in seen:
            seen.append(heir)
        return seen[-1]

    def forget(self, gone: list[str]) -> None:
        """Delete rows; what they have superseded counts again, or has the next heir."""
        for each in [x for x in self.rows.values() if x.superseded_by in gone]:
            by, at = each.superseded_by, each.superseded_at
            while by in gone:
                by, at = self.rows[by].superseded_by, self.rows[by].superseded_at
            self.rows[each.id] = marked(each, by, at)
        for row_id in gone:
            del self.rows[row_id]


def marked(memory: Memory, by: str, at: datetime | None) -> Memory:
    return memory.model_copy(update={"superseded_by": by, "superseded_at": at})


class Sequence:
    def __init__(self, number: int, store: RecallStore, model: Model) -> None:
        self.random = Random(number)
        self.owners = [f"ann{number}", f"bob{number}"]
        self.ids = [f"{number}-{each}" for each in range(8)]
        self.model = model
        self.store = store
        self.views = {each: store.for_scope(user_id=each) for each in self.owners}

    def run(self) -> None:
        """Make random calls; after each, both users must see what the model has."""
        calls = [self.add, self.add, self.update, self.update, self.later, self.delete]
        calls += [self.delete_some, self.purge, self.find, self.find]
        calls += [self.supersede, self.supersede, self.supersede, self.earlier]
        for _ in range(CALLS):
            owner = self.random.choice(self.owners)
            self.random.choice(calls)(owner)
            for each in self.owners:
                self.check(each)

    def check(self, owner: str) -> None:
        expected = self.model.living(owner)
        assert [*self.views[owner].memories()] == expected
        assert self.views[owner].count() == len(expected)
        there = self.model.there(owner)
        got = self.views[owner].get([*self.ids, "nobody's", self.ids[0]])
        assert got == [there[x] for x in self.ids if x in there]

    # -- changes ----------------------------------------------------------------------------------

    def add(self, owner: str) -> None:
        wanted = self.random.sample(self.ids, self.random.randint(1, 3))
        new = [self.memory(each, owner) for each in wanted]
        taken = [self.model.rows[each] for each in wanted if each in self.model.rows]
        if any(each.scope.user_id != owner for each in taken):
            with pytest.raises(ScopeError):
                self.views[owner].add(new)
        else:
            assert self.views[owner].add(new) == wanted
            for each in new:
                self.model.put(each)

    def update(self, owner: str) -> None:
        row_id = self.random.choice(self.ids)
        changes, values = self.changes()
        old = self.model.there(owner).get(row_id)
        if old is None:
            with pytest.raises(MissingMemoryError):
                self.views[owner].update(row_id, **changes)
            return
        new = old.model_copy(update=values)
        assert self.views[owner].update(row_id, **changes) == new
        self.model.rows[row_id] = new

    def supersede(self, owner: str) -> None:
        row_id, new = self.random.choice(self.ids), self.memory(self.random.choice(self.ids), owner)
        old, taken = self.model.there(owner).get(row_id), self.model.rows.get(new.id, new)
        error: type[Exception] | None = None
        if old is None:
            error = MissingMemoryError
        elif old.id == new.id or (self.model.newest(old) != old and old.superseded_by != new.id):
            error = SettingsError
        elif taken.scope.user_id != owner:
            error = ScopeError
        if error is not None:
            with pytest.raises(error):
                self.views[owner].supersede(row_id, new)
            return
        for _ in range(2):  # the same call again changes nothing
            assert self.views[owner].supersede(row_id, new) == new.id
        assert old is not None
        if old.superseded_by != new.id:
            self.model.rows[new.id] = new
        self.model.put(new)
        self.model.rows[row_id] = marked(old, new.id, new.created_at)

    def later(self, owner: str) -> None:
        self.model.now += timedelta(hours=self.random.choice([1, 6, 24]))

    def delete(self, owner: str) -> None:
        wanted = self.random.sample(self.ids, 2)
        gone = [each.id for each in self.model.all_of(owner) if each.id in wanted]
        assert self.views[owner].delete(wanted) == len(gone)
        self.model.forget(gone)

    def delete_some(self, owner: str) -> None:
        kind, stars = self.random.choice(TYPES), self.random.randint(0, 3)
        since = NOON - timedelta(days=self.random.randint(1, 30))
        conditions: Mapping[str, Any]
        conditions, fits = self.random.choice(
            [
                ({"memory_type": kind}, lambda each: each.memory_type == kind),
                ({"filter": {"stars": stars}}, lambda each: each.metadata.get("stars") == stars),
                ({"time_range": (since, None)}, lambda each: recorded(each) >= since),
            ]
        )
        assert self.views[owner].count(**conditions) == len(self.model.living(owner, fits))
        gone = [each.id for each in self.model.all_of(owner) if fits(each)]
        assert self.views[owner].delete(**conditions) == len(gone)
        self.model.forget(gone)

    def purge(self, owner: str) -> None:
        there = self.model.there(owner)
        gone = [each.id for each in self.model.all_of(owner) if each.id not in there]
        assert self.views[owner].purge() == len(gone)
        for each in gone:
            del self.model.rows[each]

    # -- questions --------------------------------------------------------------------------------

    def find(self, owner: str) -> None:
        word, stars = self.random.choice(WORDS), self.random.randint(0, 3)
        filtered = self.random.random() < 0.5
        fits = lambda each: not filtered or each.metadata.get("stars") == stars  # noqa: E731
        rows = self.model.living(owner, fits)
        search = Search(word, 50, filter={"stars": stars} if filtered else None)
        nearest, worded = self.views[owner].find([search, replace(search, method="keyword")])
        scores = similarities(word, [each.content for each in rows], SMALL) if rows else []
        expected = {each.id: round(float(x), 3) for each, x in zip(rows, scores, strict=True)}
        assert {hit.id: round(hit.score, 3) for hit in nearest} == pytest.approx(expected, abs=2e-3)
        assert [hit.score for hit in nearest] == sorted([hit.score for hit in nearest])[::-1]
        assert {hit.id for hit in worded} == {each.id for each in rows if word in each.content}

    def earlier(self, owner: str) -> None:
        """As the memories stood at a moment, and with superseded ones."""
        moment = self.model.now - timedelta(hours=self.random.randint(0, 720))
        word, others = self.random.choice(WORDS), self.random.random() < 0.5
        at = Standing(moment, as_it_stood=True, include_superseded=others)
        if self.random.random() < 0.3:
            at = Standing(self.model.now, include_superseded=True)
        expected, asked = self.model.living(owner, at=at), {}
        asked = {"as_of": moment} if at.as_it_stood else {}
        found = self.views[owner].memories(**asked, include_superseded=at.include_superseded)
        assert [*found] == expected
        count = self.views[owner].count(**asked, include_superseded=at.include_superseded)
        assert count == len(expected)
        search = Search(word, 50, **at._asdict())
        nearest, worded = self.views[owner].find([search, replace(search, method="keyword")])
        assert {hit.id for hit in nearest} == {each.id for each in expected}
        assert {hit.id for hit in worded} == {each.id for each in expected if word in each.content}

    # -- values -----------------------------------------------------------------------------------

    def memory(self, row_id: str, owner: str) -> Memory:
        stars = self.random.choice([None, 0, 1, 2, 3])
        return Memory(
            id=row_id,
            scope={"user_id": owner},
            content=self.text(),
            created_at=NOON - timedelta(hours=self.random.randint(0, 720)),
            memory_type=self.random.choice(TYPES),
            metadata={} if stars is None else {"stars": stars},
            expires_at=self.end(),
        )

    def changes(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Some changes, as `update` takes them and as a memory has them."""
        text, created, stars = self.text(), NOON - timedelta(days=3), self.random.randint(0, 3)
        expires, kind = self.end(), self.random.choice(TYPES)
        all_of_them: list[tuple[str, Any, str, Any]] = [
            ("text", text, "content", text),
            ("timestamp", created, "created_at", created),
            ("metadata", {"stars": stars}, "metadata", {"stars": stars}),
            ("metadata", {"stars": None}, "metadata", {}),
            ("expires_at", expires, "expires_at", expires),
            ("memory_type", kind, "memory_type", kind),
        ]
        some = self.random.sample(all_of_them, 2)
        return {each[0]: each[1] for each in some}, {each[2]: each[3] for each in some}

    def text(self) -> str:
        return " ".join(self.random.sample(WORDS, 2))

    def end(self) -> datetime | None:
        hours = self.random.choice([None, None, 1, 12, 48])
        return None if hours is None else self.model.now + timedelta(hours=hours)


@pytest.mark.parametrize(
    ("place", "some"), [("memory", "0123"), ("path", "4567"), ("server", "89")]
)
def test_random_sequences_end_as_in_the_model(
    place: str, some: str, request: pytest.FixtureRequest, tmp_path: Path, collection_name: str
) -> None:
    """What is in a folder or on a server is there again when it is opened anew."""
    client = request.getfixturevalue("chroma_server").client() if place == "server" else None
    source, model = tmp_path if place == "path" else client, Model()

    def opened() -> RecallStore:
        create = True if client else None
        return RecallStore(
            source, collection_name, embedding=SMALL, clock=lambda: model.now, create=create
        )

    for number in (n for n in range(SEQUENCES) if str(n)[-1] in some):
        model.rows, model.now = {}, NOON
        with opened() as store:
            Sequence(number, store, model).run()
        if source:
            with opened() as store:
                sequence = Sequence(number, store, model)
                for owner in sequence.owners:
                    sequence.check(owner)
                    sequence.earlier(owner)
    if client:
        client.delete_collection(collection_name)
