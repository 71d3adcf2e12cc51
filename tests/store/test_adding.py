"""Adding: what is stored, what is refused, and that nothing is stored by halves."""

from io import StringIO
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode
from store.kit import NOON, SmallEmbedding, best, ids

from recall_retrievers.core.errors import MemoryFormatError
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore


class TestAdding:
    def test_what_the_caller_changes_afterwards_changes_no_answer(
        self, in_memory: RecallStore
    ) -> None:
        memory = Memory(content="tea", metadata={"tags": ["hot"], "stars": 3})
        in_memory.add([memory])
        memory.metadata["stars"] = 1
        memory.metadata["tags"].append("cold")  # type: ignore[union-attr]  # it is a list
        assert best(in_memory, "tea")[0].memory.metadata == {"tags": ["hot"], "stars": 3}

    def test_metadata_changed_to_what_no_row_keeps_is_refused(self, in_memory: RecallStore) -> None:
        memory = Memory(content="tea")
        memory.metadata["when"] = NOON  # type: ignore[assignment]  # as a caller may do
        with pytest.raises(MemoryFormatError, match="metadata 'when' must be text"):
            in_memory.add(["train", memory])
        assert in_memory.count() == 0

    @pytest.mark.parametrize(
        ("bad", "says"),
        [
            ({"content": ""}, "content"),
            ({"content": "  "}, "white space"),
            ({}, "content"),
            ({"content": "x", "contnet": "y"}, "did you mean"),
            ({"content": "x", "topic": "y"}, r"own goes into metadata: metadata=\{'topic'"),
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
            ({"content": "x", "metadata": {"k": ["a", "\ud83d"]}}, "half a character"),
            ({"content": "x", "author": "\ud83d"}, "half a character"),
            ({"content": "x", "id": "\ud83d"}, "half a character"),
            ({"content": "x", "quality": 7}, "quality"),
            (42, "a memory is a Memory, a mapping .* or a node of LlamaIndex; got int"),
            (None, "got NoneType"),
            (["x"], "got list"),
            (
                Document("x", metadata={"created_at": "in spring"}),
                "of 'x' cannot be read",
            ),
            (TextNode(id_="1", text=" "), "TextNode '1' cannot be stored: .*content"),
            ({"content": "x", "metadata": {"k": [*range(1000)]}}, "a memory has 1,005 values"),
            ({"content": "x", "metadata": {f"k{n}": n for n in range(1001)}}, "1,000 at most"),
            ({"content": "x"} | {f"k{n}": n for n in range(1001)}, "takes no 1,002 settings"),
        ],
        ids=lambda bad: ascii(bad)[:60],
    )
    def test_one_bad_memory_is_an_error_and_nothing_is_stored(
        self, in_memory: RecallStore, bad: Any, says: str
    ) -> None:
        with pytest.raises(MemoryFormatError, match=says):
            in_memory.add([*(f"good {number}" for number in range(300)), bad])
        assert in_memory.count() == 0

    def test_a_change_makes_no_memory_that_chroma_could_not_apply(
        self, in_memory: RecallStore
    ) -> None:
        [tea] = in_memory.add([{"content": "tea", "metadata": {"a": [*range(600)]}}])
        with pytest.raises(MemoryFormatError, match="1,000 at most"):
            in_memory.update(tea, metadata={"b": [*range(600)]})
        with pytest.raises(MemoryFormatError, match="1,000 at most"):
            in_memory.supersede(tea, {"content": "rum", "metadata": {"b": [*range(9000)]}})
        assert in_memory.update(tea, metadata={"b": [*range(300)]}).id == tea
        assert in_memory.count() == 1

    @pytest.mark.parametrize("one", ["tea", {"content": "tea"}, Memory(content="tea")], ids=repr)
    def test_a_single_memory_is_not_taken_for_a_list(
        self, in_memory: RecallStore, one: Any
    ) -> None:
        with pytest.raises(MemoryFormatError, match="put it in a list"):
            in_memory.add(one)
        assert in_memory.count() == 0

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

    @pytest.mark.parametrize(
        ("progress", "switched_off", "shows"),
        [(True, "", True), (True, "0", True), (True, "1", False), (False, "", False)],
    )
    def test_on_a_terminal_progress_shows_where_it_is_wanted(
        self,
        in_memory: RecallStore,
        monkeypatch: pytest.MonkeyPatch,
        progress: bool,
        switched_off: str,
        shows: bool,
    ) -> None:
        terminal = StringIO()
        monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TQDM_DISABLE", switched_off)

        in_memory.add([f"tea {number}" for number in range(3)], progress=progress)

        shown = terminal.getvalue()
        assert ["reading" in shown, "storing" in shown, "3/3" in shown] == 3 * [shows]


class TestLongTexts:
    def test_the_text_is_kept_whole_and_its_beginning_is_searched(self) -> None:
        """Words and tokens of a million Chinese characters took eight seconds."""
        seen: list[str] = []

        class Seeing(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                seen.extend(texts)
                return super().embed_documents([text[:100] for text in texts])

        beginning = "开始 in the spring of 2019 "
        text = beginning + "博物馆的猫" * 200_000 + " 结束 on 12 May 2021 in Zanzibar"
        with RecallStore(embedding=Seeing()) as store:
            made = store.add([{"content": text, "created_at": NOON, "when_to_use": "cats"}])
            assert [each.content for each in store.get(made)] == [text]
            assert [len(each) for each in seen] == [50_000]
            assert seen[0].startswith(f"cats\n{beginning}博物馆")
            assert ids(best(store, "开始", method="keyword")) == made
            assert best(store, "zanzibar", method="keyword") == []
            assert {each.start.year for each in store.get(made)[0].events if each.start} == {2019}
            assert best(store, "cats", method="keyword")[0].memory.content == text
