"""A store: written, read, searched, closed; in memory, on a path and on a server."""

import asyncio
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from store.kit import SmallEmbedding, contents, ids, similarities

from recall_stages.errors import (
    EmbeddingMismatchError,
    FilterError,
    ForeignCollectionError,
    MemoryFormatError,
    StoreClosedError,
    StoreError,
    StoreLockedError,
)
from recall_stages.memory import Memory, Scope
from recall_stages.stage import Search
from recall_stages.store import RecallStore
from recall_stages.timeline import TimeRange

NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)


def best(store: RecallStore, text: str, limit: int = 1, **search: Any) -> list[Memory]:
    return store.find([Search(text, limit, **search)])[0]


class TestEverywhere:
    """In memory, on a path and on a server alike."""

    def test_what_is_added_is_read_back_in_the_order_asked_for(self, store: RecallStore) -> None:
        memory = Memory(
            id="visit",
            content="The dentist put in a filling.",
            memory_type="conversation",
            created_at=NOON,
            events=[TimeRange(NOON, None, "day")],
            when_to_use="teeth hurt",
            author="Ann",
            scope=Scope(user_id="ann"),
            metadata={"stars": 3, "price": 1.5, "paid": True, "tags": ["teeth", "牙"]},
            quality=0.5,
        )
        assert store.add([memory, {"id": "tea", "content": "Green tea."}]) == ["visit", "tea"]
        assert store.count() == 2
        tea, visit = store.get(["tea", "missing", "visit", "tea"])
        assert tea.content == "Green tea."
        assert visit == memory.model_copy(update={"events": visit.events})
        assert [(each.start, each.end) for each in visit.events] == [(NOON, None)]

    def test_what_is_deleted_is_gone(self, store: RecallStore) -> None:
        kept, gone = store.add(["tea", "coffee"])
        store.delete([gone, gone, "never there"])
        assert ids(best(store, "coffee", limit=5)) == [kept]
        assert store.get([gone]) == []
        assert store.count() == 1

    def test_adding_again_replaces_wholly(self, store: RecallStore) -> None:
        old = {"topic": "tea", "stars": 3, "tags": ["a"]}
        store.add(
            [
                Memory(
                    id="one",
                    content="green tea",
                    metadata=old,
                    author="Ann",
                    quality=1,
                    events=[TimeRange(NOON, None, "day")],
                    scope=Scope(user_id="ann", session_id="monday"),
                    created_at=NOON,
                )
            ]
        )
        new = Memory(id="one", content="steam trains", metadata={"stars": 4}, created_at=0)
        store.add([new])
        assert store.count() == 1
        assert store.get(["one"]) == [new]
        assert best(store, "steam trains")[0].score == pytest.approx(1, abs=1e-5)
        assert best(store, "green tea", filter={"topic": "tea"}) == []
        assert best(store, "green tea", scope=Scope(user_id="ann")) == []
        assert best(store, "green tea", within=(TimeRange(NOON, None, "day"),)) == []

    def test_the_most_similar_come_first_with_their_cosine(self, store: RecallStore) -> None:
        texts = ["tea and bread", "bread", "tea", "a train", "tea tea tea bread", "river"]
        store.add(texts)
        found = best(store, "tea bread", limit=9)
        expected = similarities("tea bread", contents(found), SmallEmbedding())
        assert len(found) == len(texts)
        assert [each.score for each in found] == pytest.approx(list(expected), abs=1e-5)
        assert [each.score for each in found] == sorted(expected, reverse=True) or (
            np.diff([each.score for each in found]) <= 0
        ).all()
        for each in found:
            assert type(each.score) is float
            assert 0 <= each.score <= 1
            assert each.trace == {"similarity": each.score}

    def test_filter_scope_and_time_hold_together(self, store: RecallStore) -> None:
        store.add(
            {
                "id": f"{user}-{stars}-{year}",
                "content": "tea",
                "created_at": f"{year}-06-01T00:00:00Z",
                "scope": {"user_id": user},
                "metadata": {"stars": stars},
            }
            for user in ("ann", "bob")
            for stars in (1, 2, 3)
            for year in (1965, 2023, 2024)
        )
        year = TimeRange(datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), "year")
        found = best(
            store,
            "tea",
            limit=9,
            scope=Scope(user_id="ann"),
            filter={"stars": {"$gt": 1.5}},
            within=(year,),
        )
        assert sorted(ids(found)) == ["ann-2-2023", "ann-3-2023"]

    def test_several_searches_are_answered_in_order(self, store: RecallStore) -> None:
        store.add(["tea", "train"])
        answers = store.find([Search("train", 1), Search("tea", 1), Search("train", 2)])
        assert [contents(found) for found in answers] == [["train"], ["tea"], ["train", "tea"]]
        assert store.find([]) == []

    def test_an_empty_store_finds_nothing(self, store: RecallStore) -> None:
        assert (store.count(), best(store, "tea"), store.get(["x"])) == (0, [], [])
        assert store.add([]) == []
        store.delete([])

    def test_hundreds_are_written_and_read(self, store: RecallStore) -> None:
        made = store.add(f"word{number}" for number in range(620))
        assert store.count() == len(set(made)) == 620
        assert contents(store.get(made[::-1]))[:2] == ["word619", "word618"]
        store.delete(made[10:])
        assert store.count() == 10

    async def test_async_does_the_same(self, store: RecallStore) -> None:
        made = await store.aadd(["tea", "train"])
        searches = [Search("train", 2), Search("tea", 1)]
        assert await store.afind(searches) == store.find(searches)
        assert ids(store.get(made)) == made

    def test_a_closed_store_says_so(self, store: RecallStore) -> None:
        store.add(["tea"])
        store.close()
        store.close()
        uses: list[Callable[[], object]] = [
            lambda: store.add(["tea"]),
            lambda: store.add([]),
            lambda: store.delete(["x"]),
            lambda: store.get(["x"]),
            lambda: store.get([]),
            lambda: best(store, "tea"),
            lambda: store.find([]),
            store.count,
        ]
        for use in uses:
            with pytest.raises(StoreClosedError, match="is closed; open it again"):
                use()
        with pytest.raises(StoreClosedError, match="closed"):
            asyncio.run(store.afind([Search("tea", 1)]))


class TestAdding:
    def test_a_memory_without_a_time_gets_the_clocks(self) -> None:
        with RecallStore(embedding=SmallEmbedding(), clock=lambda: NOON) as store:
            first, second = store.add(["tea", {"content": "train", "created_at": 0}])
            assert [each.created_at for each in store.get([first, second])] == [
                NOON,
                datetime(1970, 1, 1, tzinfo=UTC),
            ]
            assert second < first

    def test_what_a_search_said_is_not_stored(self, in_memory: RecallStore) -> None:
        in_memory.add(["tea"])
        found = best(in_memory, "tea")
        in_memory.add(found)
        assert in_memory.count() == 1
        kept = in_memory.get(ids(found))[0]
        assert (kept.score, kept.trace) == (None, {})

    def test_the_memories_given_are_left_as_they_were(self, in_memory: RecallStore) -> None:
        mapping = {"content": "tea", "metadata": {"stars": 3}}
        memory = Memory(content="train")
        in_memory.add([mapping, memory])
        assert mapping == {"content": "tea", "metadata": {"stars": 3}}
        assert (memory.id, memory.created_at) == ("", None)

    @pytest.mark.parametrize(
        ("bad", "says"),
        [
            ({"content": ""}, "content"),
            ({"content": "  "}, "white space"),
            ({}, "content"),
            ({"content": "x", "contnet": "y"}, "did you mean"),
            ({"content": "x", "created_at": "soon"}, "created_at"),
            ({"content": "x", "created_at": True}, "got True"),
            ({"content": "x", "metadata": {"k": None}}, "metadata 'k' must be"),
            ({"content": "x", "metadata": {"k": float("nan")}}, "'k' must be a finite number"),
            ({"content": "x", "metadata": {"k": [1.0, float("inf")]}}, "finite number"),
            ({"content": "x", "metadata": {"k": []}}, "empty list"),
            ({"content": "x", "metadata": {"k": {"nested": 1}}}, "metadata 'k' must be"),
            ({"content": "x", "metadata": {"k": [1, "a"]}}, "metadata 'k' must be"),
            ({"content": "x", "metadata": {"k": NOON}}, "metadata 'k' must be"),
            (
                {"content": "x", "metadata": {"k": np.array([1, 2])[:, None]}},
                "metadata 'k' must be",
            ),
            ({"content": "x", "metadata": {"k": 2**63}}, "64 bits"),
            ({"content": "x", "metadata": {"created_at": 1}}, "may not use the name created_at"),
            ({"content": "x", "metadata": {"$and": 1}}, "rename it"),
            ({"content": "x", "metadata": {"k": "\ud83d"}}, "half a character"),
            ({"content": "x", "quality": 7}, "quality"),
            (42, "a memory is a Memory, a mapping of its fields or a text; got int"),
            (None, "got NoneType"),
            (["x"], "got list"),
        ],
        ids=ascii,
    )
    def test_one_bad_memory_is_an_error_and_nothing_is_stored(
        self, in_memory: RecallStore, bad: Any, says: str
    ) -> None:
        with pytest.raises(MemoryFormatError, match=says):
            in_memory.add([*(f"good {number}" for number in range(300)), bad])
        assert in_memory.count() == 0

    @pytest.mark.parametrize("scalar", [np.float64(1.5), np.float32(1.5), np.int64(3), np.int32(3)])
    def test_a_numpy_number_is_stored_as_it_is_or_refused(
        self, in_memory: RecallStore, scalar: Any
    ) -> None:
        try:
            made = in_memory.add([{"content": "x", "metadata": {"k": scalar}}])
        except MemoryFormatError:
            assert in_memory.count() == 0
        else:
            assert in_memory.get(made)[0].metadata["k"] == scalar.item()
            assert len(best(in_memory, "x", filter={"k": scalar.item()})) == 1

    @pytest.mark.parametrize("one", ["tea", {"content": "tea"}, Memory(content="tea")], ids=repr)
    def test_a_single_memory_is_not_taken_for_a_list(
        self, in_memory: RecallStore, one: Any
    ) -> None:
        with pytest.raises(MemoryFormatError, match="put it in a list"):
            in_memory.add(one)
        assert in_memory.count() == 0

    def test_a_single_id_is_not_taken_for_a_list(self, in_memory: RecallStore) -> None:
        in_memory.add([{"id": "a", "content": "tea"}])
        for use in (in_memory.delete, in_memory.get):
            with pytest.raises(TypeError, match="put it in a list"):
                use("abc")
        assert in_memory.count() == 1

    def test_one_id_twice_in_a_call_is_an_error(self, in_memory: RecallStore) -> None:
        rows = [{"id": "one", "content": "tea"}, {"id": "one", "content": "train"}]
        with pytest.raises(MemoryFormatError, match="have the id 'one'"):
            in_memory.add(rows)
        assert in_memory.count() == 0

    def test_more_rows_than_chroma_takes_at_once(self) -> None:
        """Chroma's own limit is 5,461 a call."""
        with RecallStore(embedding=SmallEmbedding(32)) as store:
            made = store.add(f"word{number}" for number in range(5_600))
            assert store.count() == 5_600
            assert ids(store.get(made)) == made
            assert len(best(store, "word1", limit=100_000)) == 5_600
            store.delete(made)
            assert store.count() == 0

    def test_calls_are_small_enough_for_the_cloud(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes: list[int] = []
        collection = type(in_memory._opened.collection)
        upsert = collection.upsert

        def counted(self: Any, **rows: Any) -> None:
            sizes.append(len(rows["ids"]))
            upsert(self, **rows)

        monkeypatch.setattr(collection, "upsert", counted)
        in_memory.add(f"word{number}" for number in range(620))
        assert sum(sizes) == 620
        assert max(sizes) <= 300

    def test_progress_shows_nothing_where_there_is_no_terminal(
        self, in_memory: RecallStore, capfd: pytest.CaptureFixture[str]
    ) -> None:
        in_memory.add(["tea"], progress=True)
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("progress", [True, False])
    def test_on_a_terminal_progress_shows_where_it_is_wanted(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch, progress: bool
    ) -> None:
        terminal = StringIO()
        monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("sys.stderr", terminal)

        in_memory.add([f"tea {number}" for number in range(3)], progress=progress)

        shown = terminal.getvalue()
        assert ("reading" in shown, "storing" in shown) == (progress, progress)
        assert ("3/3" in shown) == progress

    def test_odd_text_is_only_text(self, in_memory: RecallStore) -> None:
        odd = ["'; DROP TABLE x; --", '"', "%_*", "\x00nul", "a" * 20_000, "🦷", "$and"]
        assert contents(in_memory.get(in_memory.add(odd))) == odd
        for text in odd:
            assert best(in_memory, text, limit=9)[0].score is not None


class TestFinding:
    def test_opposite_directions_count_nothing(self, in_memory: RecallStore) -> None:
        class Opposite(SmallEmbedding):
            def embed_query(self, text: str) -> list[float]:
                return [1.0, 0.0] if text == "for" else [-1.0, 0.0]

        with RecallStore(embedding=Opposite(2)) as store:
            store.add(["against"])
            assert best(store, "for")[0].score == 0

    def test_a_wrong_filter_is_an_error(self, in_memory: RecallStore) -> None:
        with pytest.raises(FilterError):
            best(in_memory, "tea", filter={"a": {"b": 1}})

    def test_chromas_race_is_tried_again(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A row deleted between Chroma's two look-ups is an error that passes."""
        in_memory.add(["tea"])
        failures = _failing_queries(in_memory, monkeypatch, "Error finding id", times=2)
        assert contents(best(in_memory, "tea", filter={"x": {"$ne": 1}})) == ["tea"]
        assert failures == []

    def test_a_race_that_does_not_pass_is_an_error(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _failing_queries(in_memory, monkeypatch, "Error finding id", times=99)
        with pytest.raises(chromadb.errors.InternalError, match="Error finding id"):
            best(in_memory, "tea", filter={"x": {"$ne": 1}})

    def test_a_broken_index_is_not_tried_again(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second try would pass, and return wrong neighbours."""
        broken = "Failed to apply logs to the hnsw segment writer"
        left = _failing_queries(in_memory, monkeypatch, broken, times=2)
        with pytest.raises(chromadb.errors.InternalError, match="apply logs"):
            best(in_memory, "tea", filter={"x": {"$ne": 1}})
        assert len(left) == 1

    async def test_the_event_loop_runs_on_while_a_store_works(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Slow(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                time.sleep(0.3)
                return super().embed_documents(texts)

            async def aembed_query(self, text: str) -> list[float]:
                await asyncio.sleep(0.1)
                return self.embed_query(text)

        with RecallStore(embedding=Slow()) as store:
            collection = type(store._opened.collection)
            query = collection.query

            def slow_query(*args: Any, **settings: Any) -> Any:
                time.sleep(0.3)
                return query(*args, **settings)

            monkeypatch.setattr(collection, "query", slow_query)
            for work in (store.aadd(["tea"]), store.afind([Search("tea", 1)])):
                ticks = await _ticks_during(work)
                assert ticks >= 10

    async def test_async_searches_run_side_by_side(self) -> None:
        class Slow(SmallEmbedding):
            async def aembed_query(self, text: str) -> list[float]:
                await asyncio.sleep(0.2)
                return self.embed_query(text)

        with RecallStore(embedding=Slow()) as store:
            store.add(["tea", "train"])
            started = time.monotonic()
            await store.afind([Search(f"tea {number}", 1) for number in range(8)])
            assert time.monotonic() - started < 1

    def test_threads_may_search_and_write_at_once(self, in_memory: RecallStore) -> None:
        errors: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for turn in range(15):
                    made = in_memory.add([f"word{number} turn{turn}"])
                    assert best(in_memory, f"word{number}", limit=3, filter={"x": {"$ne": 1}})
                    if turn % 2:
                        in_memory.delete(made)
            except BaseException as error:  # noqa: BLE001 - handed to the test
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert in_memory.count() == 4 * 8

    def test_chroma_is_never_asked_to_embed(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It would download its default model."""
        from chromadb.utils.embedding_functions import DefaultEmbeddingFunction

        def refuse(*_: object) -> None:
            raise AssertionError("Chroma embedded something by itself")

        monkeypatch.setattr(DefaultEmbeddingFunction, "__call__", refuse)
        made = in_memory.add(["tea"])
        in_memory.add(in_memory.get(made))
        assert best(in_memory, "tea")


def _failing_queries(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch, message: str, times: int
) -> list[Exception]:
    """Let the first queries fail as Chroma does."""
    failures: list[Exception] = [chromadb.errors.InternalError(message) for _ in range(times)]
    collection = type(store._opened.collection)
    query = collection.query

    def failing(self: Any, **asked: Any) -> Any:
        if failures:
            raise failures.pop()
        return query(self, **asked)

    monkeypatch.setattr(collection, "query", failing)
    return failures


async def _ticks_during(work: Any) -> int:
    ticks = 0
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1
    await task
    return ticks


class TestOpening:
    def test_stores_in_memory_are_private_to_each_other(self, small: SmallEmbedding) -> None:
        with RecallStore(embedding=small) as mine, RecallStore(embedding=small) as yours:
            mine.add(["tea"])
            assert (mine.count(), yours.count()) == (1, 0)
            yours.close()
            assert contents(best(mine, "tea")) == ["tea"]

    def test_what_is_on_a_path_is_there_again_after_opening_anew(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        with RecallStore(tmp_path / "deep" / "er", embedding=small) as store:
            made = store.add(["tea", {"content": "train", "scope": {"user_id": "ann"}}])
            before = store.get(made)
        with RecallStore(str(tmp_path / "deep" / "er"), embedding=small) as store:
            assert store.get(made) == before
            assert contents(best(store, "train")) == ["train"]
            store.add(["bread"])
            assert store.count() == 3

    def test_collections_of_one_path_are_kept_apart(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        with (
            RecallStore(tmp_path, "mine", embedding=small) as mine,
            RecallStore(tmp_path, "yours", embedding=small) as yours,
        ):
            mine.add(["tea"])
            assert (mine.count(), yours.count()) == (1, 0)

    def test_a_path_opened_twice_under_two_spellings_is_one(
        self, tmp_path: Path, small: SmallEmbedding, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Chroma keeps an index for each spelling, and loses the vectors of one of them."""
        path = tmp_path / "store"
        (tmp_path / "link").symlink_to(path, target_is_directory=True)
        monkeypatch.chdir(tmp_path)
        spellings = [str(path), f"{path}/", "store", tmp_path / "link", f"{path}/../store"]
        stores = [RecallStore(each, embedding=small) for each in spellings]
        for number, store in enumerate(stores):
            store.add(f"word{number} turn{turn}" for turn in range(230))
        for store in stores:
            assert store.count() == 230 * len(stores)
            for number in range(len(stores)):
                found = best(store, f"word{number} turn7", filter={"none": {"$ne": 1}})
                assert found[0].score == pytest.approx(1, abs=1e-5)
        for store in stores[:-1]:
            store.close()
        assert best(stores[-1], "word0 turn7")[0].content == "word0 turn7"
        stores[-1].close()
        with RecallStore(path, embedding=small) as store:
            assert len(best(store, "word3", limit=9_999, filter={"none": {"$ne": 1}})) == 1150

    def test_a_path_held_by_another_process_is_refused_until_that_ends(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        script = """
            import sys
            from recall_stages.store import RecallStore
            from store.kit import SmallEmbedding
            store = RecallStore(sys.argv[1], embedding=SmallEmbedding())
            store.add(["theirs"])
            print("open", flush=True)
            sys.stdin.readline()
        """
        other = _python(script, str(tmp_path))
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            with pytest.raises(StoreLockedError, match=r"chroma run --path .*HttpClient"):
                RecallStore(tmp_path, embedding=small)
            with pytest.raises(StoreLockedError):
                RecallStore(f"{tmp_path}/.", embedding=small)
        finally:
            other.kill()
            other.communicate(timeout=20)
        with RecallStore(tmp_path, embedding=small) as store:
            assert contents(best(store, "theirs")) == ["theirs"]

    def test_a_path_is_free_again_after_closing(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        first, second = (RecallStore(tmp_path, embedding=small) for _ in range(2))
        first.add(["ours"])
        first.close()
        assert _opens_elsewhere(tmp_path) == "StoreLockedError"
        second.close()
        assert _opens_elsewhere(tmp_path) == "1"

    def test_an_error_while_opening_leaves_the_path_free(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        with RecallStore(tmp_path, embedding=small) as store:
            store.add(["ours"])
        with pytest.raises(EmbeddingMismatchError):
            RecallStore(tmp_path, embedding=SmallEmbedding(model_name="other"))
        with pytest.raises(Exception, match=r"(?i)name"):
            RecallStore(tmp_path, "no", embedding=small)  # Chroma wants three letters
        assert _opens_elsewhere(tmp_path) == "1"

    def test_a_file_is_no_path(self, tmp_path: Path, small: SmallEmbedding) -> None:
        file = tmp_path / "memories.jsonl"
        file.write_text("{}")
        with pytest.raises(NotADirectoryError, match="is a file"):
            RecallStore(file, embedding=small)
        assert file.read_text() == "{}"

    @pytest.mark.parametrize(
        "source", [42, object(), ["path"], {"path": "x"}], ids=["int", "object", "list", "dict"]
    )
    def test_anything_else_is_no_source(self, source: Any, small: SmallEmbedding) -> None:
        with pytest.raises(TypeError, match="a path, a chromadb client or a chromadb collection"):
            RecallStore(source, embedding=small)

    async def test_an_async_client_is_refused_and_the_right_one_named(
        self, server_port: int, small: SmallEmbedding
    ) -> None:
        client = await chromadb.AsyncHttpClient(host="127.0.0.1", port=server_port)
        with pytest.raises(TypeError, match="HttpClient, not AsyncHttpClient"):
            RecallStore(client, embedding=small)  # type: ignore[arg-type]

    def test_a_client_that_is_handed_in_stays_open(
        self, chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
    ) -> None:
        with RecallStore(chroma, collection_name, embedding=small) as store:
            store.add(["tea"])
        collection = chroma.get_collection(collection_name, embedding_function=None)
        assert collection.count() == 1
        with RecallStore(collection, embedding=small) as store:
            assert store.name == collection_name
            store.add(["train"])
        assert collection.count() == 2
        chroma.delete_collection(collection_name)

    def test_a_server_client_that_is_handed_in_stays_open(
        self, server_port: int, collection_name: str, small: SmallEmbedding
    ) -> None:
        client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
        with RecallStore(client, collection_name, embedding=small) as store:
            store.add(["tea"])
        assert client.get_collection(collection_name, embedding_function=None).count() == 1
        client.delete_collection(collection_name)

    def test_closing_leaves_the_memory_of_others_alone(
        self, chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
    ) -> None:
        mine = chroma.create_collection(collection_name, embedding_function=None)
        mine.add(ids=["a"], embeddings=[[1.0, 2.0]])
        before = {each.name for each in chroma.list_collections()}
        with RecallStore(embedding=small) as store:
            store.add(["tea"])
        assert {each.name for each in chroma.list_collections()} == before
        assert mine.count() == 1
        chroma.delete_collection(collection_name)

    def test_an_empty_collection_handed_in_becomes_ours_with_its_first_memory(
        self, chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
    ) -> None:
        theirs = chroma.create_collection(collection_name, embedding_function=None)
        with RecallStore(theirs, embedding=small) as store:
            with pytest.raises(ForeignCollectionError):
                store.delete(["a"])
            with pytest.raises(MemoryFormatError):
                store.add(["tea", " "])
            assert chroma.get_collection(collection_name).metadata is None
            store.add(["tea"])
            assert best(store, "tea")[0].content == "tea"
        with RecallStore(chroma, collection_name, embedding=small) as again:
            again.add(["coffee"])
            assert again.count() == 2
        chroma.delete_collection(collection_name)

    def test_a_client_with_other_settings_is_asked_for(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        settings = Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(str(tmp_path), settings)
        try:
            with pytest.raises(StoreError, match=r"hand that client in: RecallStore\(client\)"):
                RecallStore(tmp_path, embedding=small)
            with RecallStore(client, "handed-in", embedding=small) as store:
                assert store.count() == 0
        finally:
            client.close()

    def test_the_clouds_index_is_understood(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Chroma Cloud answers with an index that is not called hnsw."""
        in_memory.add(["tea"])
        collection = in_memory._opened.collection
        cloud = {"hnsw": None, "spann": {"space": "cosine"}, "embedding_function": None}
        monkeypatch.setattr(type(collection), "configuration_json", property(lambda _: cloud))
        with RecallStore(collection, embedding=SmallEmbedding()) as store:
            assert best(store, "tea")[0].score == pytest.approx(1, abs=1e-5)

    def test_its_name_and_model_are_told(self, small: SmallEmbedding, tmp_path: Path) -> None:
        with RecallStore(tmp_path, embedding=small) as store:
            assert repr(store) == "RecallStore(name='memories', embedding_model='small')"


class TestAnotherModel:
    @pytest.fixture
    def filled(self, tmp_path: Path, small: SmallEmbedding) -> Path:
        with RecallStore(tmp_path, embedding=small) as store:
            store.add(["tea"])
        return tmp_path

    def test_a_collection_of_another_model_is_refused_by_name(self, filled: Path) -> None:
        with pytest.raises(EmbeddingMismatchError, match=re.escape("vectors of 'small'")):
            RecallStore(filled, embedding=SmallEmbedding(model_name="large"))

    def test_the_default_model_is_another_one(self, filled: Path) -> None:
        with pytest.raises(EmbeddingMismatchError, match="all-MiniLM-L6-v2"):
            RecallStore(filled)

    def test_other_dimensions_are_refused_for_reading_and_writing(self, filled: Path) -> None:
        with RecallStore(filled, embedding=SmallEmbedding(32)) as store:
            for use in (lambda: best(store, "tea"), lambda: store.add(["train"])):
                with pytest.raises(EmbeddingMismatchError, match=r"of 64 numbers.*makes 32"):
                    use()
            assert store.count() == 1

    def test_dimensions_are_remembered_beside_the_model(self, filled: Path) -> None:
        client = chromadb.PersistentClient(str(filled))
        metadata = client.get_collection("memories", embedding_function=None).metadata
        client.close()
        assert metadata["embedding_model"] == "small"
        assert metadata["embedding_dimension"] == 64

    def test_an_embedding_that_fails_stores_nothing_of_its_batch(
        self, in_memory: RecallStore
    ) -> None:
        class Broken(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return [[float("nan")] * 64 for _ in texts]

        with RecallStore(embedding=Broken()) as store:
            with pytest.raises(StoreError, match="NaN"):
                store.add(["tea"])
            assert store.count() == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
class TestForks:
    """Chroma hangs in a fork; we say so instead."""

    def test_a_fork_cannot_use_a_store_and_the_parent_still_can(self, tmp_path: Path) -> None:
        script = """
            import os, signal, sys
            from recall_stages.stage import Search
            from recall_stages.store import RecallStore
            from store.kit import SmallEmbedding

            def told(use):
                try:
                    use()
                except Exception as error:
                    return f"{type(error).__name__}: {error}"
                return "no error"

            small = SmallEmbedding()
            stores = [RecallStore(where, embedding=small) for where in (None, sys.argv[1])]
            for store in stores:
                store.add(["tea"])
            read, write = os.pipe()
            if not os.fork():
                signal.alarm(20)
                lines = [
                    told(use)
                    for store in stores
                    for use in (
                        store.count,
                        lambda: store.add(["x"]),
                        lambda: store.find([Search("tea", 1)]),
                        lambda: store.get([]),
                    )
                ]
                lines.append(told(lambda: RecallStore(embedding=SmallEmbedding())))
                lines.append(told(lambda: RecallStore(sys.argv[1], embedding=SmallEmbedding())))
                for store in stores:
                    store.close()
                lines.append("closed")
                os.write(write, "\\n".join(lines).encode())
                os._exit(0)
            os.close(write)
            status = os.wait()[1]
            print(os.fdopen(read).read(), f"status {status}", sep="\\n")
            print(*(store.count() for store in stores), "end", sep="\\n", flush=True)
            sys.stdin.readline()
        """
        process = _python(script, str(tmp_path))
        try:
            assert process.stdout is not None
            lines = [line.strip() for line in iter(process.stdout.readline, "end\n")]
            # Closing in the fork must not give the parent's path away.
            assert _opens_elsewhere(tmp_path) == "StoreLockedError"
        finally:
            _, problems = process.communicate("\n", timeout=30)
        refused = [bool(re.match("StoreClosedError.*spawn", line)) for line in lines[:8]]
        assert all(refused), [*lines, problems]
        assert re.match("StoreError.*spawn", lines[8]), lines
        assert lines[9].startswith("StoreLockedError"), lines
        assert lines[10:] == ["closed", "status 0", "1", "1"]


def test_importing_the_store_does_not_import_chroma() -> None:
    script = "import sys, recall_stages.store; print('chromadb' in sys.modules)"
    out, _ = _python(script).communicate(timeout=60)
    assert out == "False\n"


def test_a_collection_of_ours_takes_no_fields(
    chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
) -> None:
    with RecallStore(chroma, collection_name, embedding=small):
        pass
    with pytest.raises(ForeignCollectionError, match="leave `fields` out"):
        RecallStore(chroma, collection_name, embedding=small, fields={"content": "body"})
    chroma.delete_collection(collection_name)


def _python(script: str, *arguments: str) -> subprocess.Popen[str]:
    tests = Path(__file__).parent.parent
    paths = [str(tests), str(tests.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _opens_elsewhere(path: Path) -> str:
    """What another process says when it opens a path: how many memories, or which error."""
    script = """
        import sys
        from recall_stages.store import RecallStore
        from store.kit import SmallEmbedding
        try:
            print(RecallStore(sys.argv[1], embedding=SmallEmbedding()).count())
        except Exception as error:
            print(type(error).__name__)
    """
    return _python(script, str(path)).communicate(timeout=60)[0].strip()
