"""What a language model costs a question: calls, tokens and time, ours beside stock pieces.

    python -m benchmarks.model_cost [--memories examples/memorybank/memories.jsonl]
                                    [--latency-ms 500] [--candidates 20] [--json OUT]

One scripted model answers all, as it was asked to, after the same time for each call; calls and
tokens are counted where they arrive, by one counter. Each system finds, of one collection, the
memories of one user, shows them to the model, and returns five. Stock finds so many candidates;
ours so many by meaning and so many by words, of which most are the same:

- ``no model``: the retriever alone; stock: ``langchain-chroma``'s, over the same rows;
- ``rank``: ours with `SemanticRank`; stock: ``LLMListwiseRerank`` under a
  ``ContextualCompressionRetriever``; of LlamaIndex, ``LLMRerank`` and ``RankGPTRerank``;
- ``rewrite``: ours with `RewriteMemory` alone, over five memories; LlamaIndex's
  ``CitationQueryEngine`` over the same five;
- ``rank and rewrite``: ours with `RewriteMemory` as well; stock: a chain with one more prompt, that
  asks for the same text.

A fixed time for each call favours few calls and long ones. Tokens of tool schemas, which stock asks
with, are not counted. The columns are means over the questions; ms is the median, and includes the
search. ``prefix %`` is the part of a prompt with which the prompt of the question before it begins,
too: a provider that caches prefixes does not read it again. ``again`` is how many calls there are
when the same question is asked a minute and three hours later, with LangChain's ``InMemoryCache``;
LlamaIndex has no such cache.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import chromadb
from langchain_chroma import Chroma
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import LLMListwiseRerank
from langchain_core.caches import InMemoryCache
from langchain_core.documents import Document
from langchain_core.globals import set_llm_cache
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from rich.console import Console
from rich.table import Table

from benchmarks.embedding import once_per_text
from benchmarks.index_cost import Find, ScriptedLLM, index_systems
from benchmarks.output import json_file, write_json
from benchmarks.scripted_model import ScriptedModel
from langchain_recall import (
    ExtractTime,
    FuseRerank,
    RecallRetriever,
    RecallStore,
    RewriteMemory,
    personal_memory_retriever,
)
from recall_retrievers.core.memory import Memory
from recall_retrievers.text.tokens import token_counter

_K = 5
_NAME = "memories"
_USER = "Emily"
_MOMENT = "2023-05-07T12:00:00"
_LATER = ("2023-05-07T12:01:10", "2023-05-07T15:00:00")
QUESTIONS = (
    "What makes me nervous?",
    "Which park did I walk in last week?",
    "What did I see in the museum last Tuesday?",
    "Which dishes have I learned to cook?",
    "Which novels did I read?",
    "Where would I like to travel?",
)
_REWRITE = ChatPromptTemplate.from_template("""\
Turn the documents into a short text that helps with the question: what bears on it, in a sensible \
order, and nothing else. Every sentence names the documents that it rests on.

{question}

{documents}""")

Asked = Callable[..., object]
"""Asked with a question, and with the moment of asking where ours is."""


class Cost(TypedDict):
    """What one system costs a question."""

    calls: float
    tokens_in: float
    tokens_out: float
    ms: float
    prefix: float
    again: float


def measure(
    memories: Sequence[Memory], latency_s: float, candidates: int
) -> dict[str, dict[str, Cost]]:
    """Ask every system every question; what it cost, by what was done and by who did it."""
    model = ScriptedModel(latency_s=latency_s)
    client = chromadb.EphemeralClient()
    with RecallStore(client, _NAME, embedding=once_per_text(), event_times=False) as store:
        store.add(memories)
        stock = _stock(client, model, candidates)
        ours = _ours(store, model, candidates)
        index_model = ScriptedLLM(latency_s=latency_s)
        index = index_systems(_finder(store, candidates), index_model, _K)
        return {
            step: {
                whose: _cost(systems[step], model)
                for whose, systems in (("ours", ours), ("stock LangChain", stock))
                if step in systems
            }
            | {name: _cost(_timeless(x), index_model) for name, x in index.get(step, {}).items()}
            for step in ours
        }


def _finder(store: RecallStore, candidates: int) -> Find:
    search = RecallRetriever(store=store, stages=[], **{**_settings(candidates), "k": candidates})
    return lambda question: [each.page_content for each in search.invoke(question)]


def _settings(candidates: int) -> dict[str, Any]:
    return {
        "k": _K,
        "fetch_k": candidates,
        "timestamp": _MOMENT,
        "timezone": "UTC",
        "scope": {"user_id": _USER},
    }


def _ours(store: RecallStore, model: ScriptedModel, candidates: int) -> dict[str, Asked]:
    settings = _settings(candidates)
    return {
        "no model": RecallRetriever(store=store, **settings).invoke,
        "rank": personal_memory_retriever(store, model, **settings).invoke,
        "rewrite": RecallRetriever(
            store=store, stages=[ExtractTime(), FuseRerank(), RewriteMemory(llm=model)], **settings
        ).invoke,
        "rank and rewrite": personal_memory_retriever(
            store, model, rewrite=True, **settings
        ).invoke,
    }


def _stock(client: chromadb.ClientAPI, model: ScriptedModel, candidates: int) -> dict[str, Asked]:
    found = Chroma(_NAME, client=client, embedding_function=_Lists()).as_retriever(
        search_kwargs={"k": candidates, "filter": {"user_id": _USER}}
    )
    ranked = ContextualCompressionRetriever(
        base_retriever=found, base_compressor=LLMListwiseRerank.from_llm(model, top_n=_K)
    )
    rewritten: Runnable[str, object] = (
        {"question": RunnablePassthrough(), "documents": ranked | _shown} | _REWRITE | model
    )
    return {
        "no model": _timeless(lambda question: found.invoke(question)[:_K]),
        "rank": _timeless(ranked.invoke),
        "rank and rewrite": _timeless(rewritten.invoke),
    }


def _timeless(ask: Callable[[str], object]) -> Asked:
    """What is asked the same at any moment."""
    return lambda question, **_: ask(question)


def _shown(documents: Sequence[Document]) -> str:
    return "\n\n".join(
        f"Document ID: {number}\n```{document.page_content}```"
        for number, document in enumerate(documents, 1)
    )


def _cost(ask: Asked, model: ScriptedModel | ScriptedLLM) -> Cost:
    ask(QUESTIONS[0])  # what is made once is made
    model.reset()
    took: list[float] = []
    first: list[str] = []
    for question in QUESTIONS:
        place, begun = len(model.prompts), time.perf_counter()
        ask(question)
        took.append(1000 * (time.perf_counter() - begun))
        first += model.prompts[place : place + 1]
    calls, tokens_in, tokens_out = (total / len(QUESTIONS) for total in model.counted)
    return {
        "calls": round(calls, 2),
        "tokens_in": round(tokens_in),
        "tokens_out": round(tokens_out),
        "ms": round(statistics.median(took)),
        "prefix": round(100 * statistics.fmean(map(_prefix, first, first[1:])) if first else 0),
        "again": _again(ask, model),
    }


def _prefix(before: str, prompt: str) -> float:
    """The part of a prompt, by tokens, with which the one before it begins, too."""
    count = token_counter()
    common = os.path.commonprefix([before, prompt])  # noqa: RUF071 - of characters, as is meant
    return count(common) / count(prompt)


def _again(ask: Asked, model: ScriptedModel | ScriptedLLM) -> float:
    """The calls for a question that was asked already, the mean of two later moments."""
    set_llm_cache(InMemoryCache())
    try:
        ask(QUESTIONS[0])
        model.reset()
        for moment in _LATER:
            ask(QUESTIONS[0], timestamp=moment)
        return model.counted[0] / len(_LATER)
    finally:
        set_llm_cache(None)


class _Lists:
    """The default embedding in the form that stock LangChain takes."""

    def __init__(self) -> None:
        self._model = once_per_text()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in self._model.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(number) for number in self._model.embed_query(text)]


def _read(file: Path) -> list[Memory]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [
        Memory(
            id=row["id"],
            content=row["content"],
            created_at=f"{row['created_at']}+00:00",
            memory_type=row["memory_type"],
            author=row["author"],
            scope={"user_id": row["user_id"]},
        )
        for row in rows
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--memories", type=Path, default=Path("examples/memorybank/memories.jsonl"))
    parser.add_argument("--latency-ms", type=float, default=500)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--json", type=json_file, default=None)
    given = parser.parse_args(argv)
    if given.candidates < 1 or given.latency_ms < 0:
        parser.error("--candidates takes a number from 1 on, --latency-ms one from 0 on")
    if not given.memories.is_file():
        parser.error(f"{given.memories} is not there; --memories takes a JSONL file")
    costs = measure(_read(given.memories), given.latency_ms / 1000, given.candidates)
    table = Table(
        title=f"a question, {given.latency_ms:g} ms a call, {given.candidates} candidates"
    )
    columns = ("", "", "calls", "tokens in", "tokens out", "ms", "prefix %", "again")
    for column in columns:
        table.add_column(column, justify="left" if not column else "right")
    for step, by_whom in costs.items():
        for whose, cost in by_whom.items():
            table.add_row(step, whose, *(f"{figure:g}" for figure in cost.values()))
    Console(width=100).print(table)
    write_json(given.json, costs)


if __name__ == "__main__":
    main()
