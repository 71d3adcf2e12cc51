"""What else people would put together for a hybrid search, in the form that `latency` measures.

- ``ensemble``: LangChain's ``EnsembleRetriever`` of ``BM25Retriever`` and Chroma; no conditions;
- ``lancedb``: a hybrid query of LanceDB with reciprocal rank fusion, its vector index and its index
  of words;
- ``sqlite``: SQLite's FTS5 and sqlite-vec, fused by rank by hand.

A system that is not installed is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.real_rows import RealRows, user_of

if TYPE_CHECKING:
    from benchmarks.latency import Asked

    System = Callable[[Asked], Sequence[str]]

WITHOUT_CONDITIONS = frozenset({"ensemble"})
NEEDED = {
    "ensemble": ("langchain_community", "rank_bm25"),
    "lancedb": ("lancedb",),
    "sqlite": ("apsw", "sqlite_vec"),
}
_POOL = 50  # candidates by meaning, and as many by words
_OFFSET = 60  # of reciprocal rank fusion


def missing() -> list[str]:
    """The systems that are not installed."""
    return [name for name, needed in NEEDED.items() if not all(map(find_spec, needed))]


def systems(data: RealRows, folder: Path, opened: ExitStack, k: int) -> dict[str, System]:
    """The systems that are installed, filled and ready to answer."""
    made = {"ensemble": _ensemble, "lancedb": _lancedb, "sqlite": _sqlite}
    return {
        name: make(data, folder, opened, k) for name, make in made.items() if name not in missing()
    }


def _ensemble(data: RealRows, folder: Path, opened: ExitStack, k: int) -> System:
    import chromadb  # noqa: PLC0415
    from langchain_chroma import Chroma  # noqa: PLC0415
    from langchain_classic.retrievers import EnsembleRetriever  # noqa: PLC0415
    from langchain_community.retrievers import BM25Retriever  # noqa: PLC0415

    # `latency` has filled this collection.
    client: Any = chromadb.PersistentClient(str(folder / "langchain_chroma"))
    opened.enter_context(closing(client))
    stock = Chroma("stock", data.embedding.for_langchain(), client=client)
    words = BM25Retriever.from_texts(data.texts, k=_POOL)
    by_meaning = stock.as_retriever(search_kwargs={"k": _POOL})
    both = EnsembleRetriever(retrievers=[words, by_meaning], weights=[0.5, 0.5])
    return lambda asked: [each.page_content for each in both.invoke(asked.text)[:k]]


def _lancedb(data: RealRows, folder: Path, _: ExitStack, k: int) -> System:
    import lancedb  # noqa: PLC0415
    from lancedb.rerankers import RRFReranker  # noqa: PLC0415

    rows = [
        {"text": text, "user": user_of(n), "at": data.time(n).timestamp(), "vector": vector}
        for n, (text, vector) in enumerate(zip(data.texts, data.vectors, strict=True))
    ]
    table: Any = lancedb.connect(folder / "lancedb").create_table("memories", rows)
    table.create_fts_index("text")
    table.create_scalar_index("user", index_type="BITMAP")
    table.create_scalar_index("at")
    if len(rows) >= 10_000:  # of fewer it looks at each
        table.create_index("cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ")
    fused = RRFReranker()

    def answer(asked: Asked) -> list[str]:
        query = table.search(query_type="hybrid").vector(data.embedding.embed_query(asked.text))
        query = query.text(asked.text).rerank(fused).limit(k)
        if condition := _condition(asked):
            query = query.where(condition, prefilter=True)
        return [row["text"] for row in query.to_list()]

    return answer


def _sqlite(data: RealRows, folder: Path, opened: ExitStack, k: int) -> System:
    import apsw  # noqa: PLC0415 - Python's own SQLite often takes no extensions
    import sqlite_vec  # noqa: PLC0415

    database: Any = opened.enter_context(closing(apsw.Connection(str(folder / "rows.sqlite"))))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.execute("CREATE TABLE memory (row INTEGER PRIMARY KEY, text TEXT, user TEXT, at REAL)")
    database.execute("CREATE VIRTUAL TABLE word USING fts5(text, tokenize = 'porter')")
    database.execute(
        "CREATE VIRTUAL TABLE vector USING vec0(row INTEGER PRIMARY KEY, user TEXT, at FLOAT, "
        f"vector FLOAT[{data.vectors.shape[1]}] distance_metric=cosine)"
    )
    with database:
        for n, text in enumerate(data.texts):
            user, at = user_of(n), data.time(n).timestamp()
            database.execute("INSERT INTO memory VALUES (?, ?, ?, ?)", (n, text, user, at))
            database.execute("INSERT INTO word (rowid, text) VALUES (?, ?)", (n, text))
            vector = data.vectors[n].tobytes()
            database.execute("INSERT INTO vector VALUES (?, ?, ?, ?)", (n, user, at, vector))

    def answer(asked: Asked) -> list[str]:
        condition = f" AND {where}" if (where := _condition(asked)) else ""
        vector = data.embedding.embed_query(asked.text).tobytes()
        words = " OR ".join(f'"{word}"' for word in asked.text.replace('"', " ").split())
        arms = [
            database.execute(
                f"SELECT row FROM vector WHERE vector MATCH ? AND k = {_POOL}{condition}", [vector]
            ),
            database.execute(
                "SELECT memory.row FROM word JOIN memory ON memory.row = word.rowid WHERE word "
                f"MATCH ?{condition} ORDER BY bm25(word) LIMIT {_POOL}",
                [words],
            ),
        ]
        scores: dict[int, float] = {}
        for arm in arms:
            for rank, (row,) in enumerate(arm, 1):
                scores[row] = scores.get(row, 0.0) + 1 / (_OFFSET + rank)
        best = sorted(scores, key=lambda row: -scores[row])[:k]
        found = dict(
            database.execute(
                f"SELECT row, text FROM memory WHERE row IN ({', '.join(map(str, best))})"
            )
        )
        return [found[row] for row in best]

    return answer


def _condition(asked: Asked) -> str:
    """What a question is limited to, in SQL; the values are ours."""
    parts = [] if asked.user is None else [f"user = '{asked.user}'"]
    if asked.during is not None:
        first, end = (each.timestamp() for each in asked.during)
        parts += [f"at >= {first}", f"at < {end}"]
    return " AND ".join(parts)
