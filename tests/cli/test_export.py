"""`recall export` and `recall load`: a collection as lines, and an equal one made of them."""

import json
from pathlib import Path
from typing import Any

import chromadb
import pytest
from cli.kit import Run
from conftest import WordsEmbedding

from recall_retrievers import Memory, read_memories
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.timeline import TimeRange

DAY = TimeRange(None, None, "day")
MEMORIES = [
    Memory(
        id="later",
        content="  Tea,\r\n\u2028\x1b[31m with milk.\n",
        created_at="2024-03-06T10:00:00.123456+05:30",
        metadata={"content": "x", "tags": ["a", "b"], "stars": 3.0, "n": 2**62, "a b.c": False},
        quality=0.1,
    ),
    Memory(
        id="早",
        content="上周我去看了牙医。👨‍👩‍👧",
        created_at="2024-03-05T10:00:00Z",
        memory_type="task",
        when_to_use="牙疼的时候",
        author="小明",
        said_before="Which dentist?",
        turn_before="later",
        scope={"user_id": "安", "workspace": "w"},
        metadata={"document_id": "d", "user id": "x", "id": "y", "embedding": "z"},
    ),
    Memory(content="Two weeks ago, we moved.", id="none", created_at=0, events=[]),
    Memory(content="On.", id="open", created_at=1, events=[DAY], expires_at="2524-03-05T10:00Z"),
]


def rows_of(folder: Path, model: Any = None) -> dict[str, Any]:
    with RecallStore(folder, embedding=model):  # the model is the one that it remembers
        pass
    with chromadb.PersistentClient(str(folder)) as client:
        rows: Any = client.get_collection("memories", embedding_function=None).get(
            include=["documents", "metadatas", "embeddings"]
        )
    for metadata in rows["metadatas"]:
        del metadata["written_at"]
    columns = (rows["documents"], rows["metadatas"], rows["embeddings"].tolist())
    return dict(zip(rows["ids"], zip(*columns, strict=True), strict=True))


@pytest.mark.parametrize("vectors", [False, True], ids=["embedded again", "with vectors"])
def test_what_is_exported_and_loaded_is_equal_row_by_row(
    tmp_path: Path, run: Run, vectors: bool
) -> None:
    # With vectors, any model may have made them: the command line has only one of its own.
    model = WordsEmbedding() if vectors else MiniLM()
    with RecallStore(tmp_path / "first", embedding=model) as store:
        store.add(MEMORIES)
    file = tmp_path / "all.jsonl"
    options = ["--chroma", tmp_path / "first", *(["--vectors"] if vectors else [])]

    code, out, err = run("export", *options, "-o", file)
    assert (code, out, err) == (0, f"4 memories of memories written to {file}\n", "")
    assert run("export", *options)[1].encode() == file.read_bytes()
    code, out, err = run("load", "--memories", file)
    assert (code, out, err) == (0, "4 memories loaded in all.jsonl.recall\n", "")

    assert [json.loads(line)["id"] for line in file.open(encoding="utf-8")] == [
        "none",
        "open",
        "早",
        "later",
    ]
    expected = rows_of(tmp_path / "first", model)
    assert rows_of(tmp_path / "all.jsonl.recall", model) == expected
    with RecallStore(embedding=model) as copy:
        copy.add(read_memories(file))
        assert {each.id for each in copy.memories()} == expected.keys()
    if vectors:
        stats = run("stats", "--memories", file)[1]
        assert model.model_name in stats
        code, _, err = run("ask", "--memories", file, "tea")
        assert code == 2
        assert f"vectors of '{model.model_name}', and questions need that model" in err


def test_an_export_is_of_one_owner_and_leaves_no_half_of_a_file(tmp_path: Path, run: Run) -> None:
    with RecallStore(tmp_path / "first", embedding=WordsEmbedding()) as store:
        store.add(MEMORIES)
    options = ["--chroma", tmp_path / "first", "--user-id", "安"]
    line = json.loads(run("export", *options)[1])
    assert (line["user_id"], line["content"]) == ("安", MEMORIES[1].content)

    file = tmp_path / "all.jsonl"
    file.write_text("before", encoding="utf-8")
    assert run("export", *options, "--collection", "mistyped", "-o", file)[0] == 2
    assert file.read_text(encoding="utf-8") == "before"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["all.jsonl"]
