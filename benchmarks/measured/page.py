"""The page, section by section, of the figures that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from benchmarks.measured.figures import Kept

_SETS = {
    "locomo": "LoCoMo, turn level",
    "locomo-timed": "LoCoMo, a time phrase added",
    "beam": "BEAM 100K, message level",
    "memorybank-en": "MemoryBank, English",
    "memorybank-zh": "MemoryBank, Chinese",
    "realtalk": "REALTALK, chats of pairs of people",
    "friendsqa": "FriendsQA, scenes of a series",
    "carmem": "CarMem, drivers and an assistant",
    "timelineqa": "TimelineQA, a lifelog",
    "madial-en": "MADial-Bench, English",
    "madial-zh": "MADial-Bench, Chinese",
    "memdaily-zh": "MemDaily, Chinese",
    "prefeval": "PrefEval, requests on which a preference bears",
    "locomo-plus": "Locomo-Plus, remarks that recall an earlier one",
    "ikat-ptkb": "TREC iKAT, turns of a conversation on which personal facts bear",
    "reme-bfcl": "ReMe, task memories for a request",
    "reme-situation": "ReMe, task memories by the situation in which they help",
    "qmsum": "QMSum, turns of meetings",
    "llqa-clock": "LLQA, a lifelog, a clock time added",
}
_SHOWN = ("recall@5", "recall@10")
_STOCK = {
    "langchain_chroma": "langchain-chroma",
    "langchain_time_weighted": "LangChain, time-weighted",
    "llamaindex_vector": "LlamaIndex, vector index",
    "llamaindex_time_weighted": "LlamaIndex, time-weighted",
}
_CASES = {
    "one_user": "a question to one user of 20",
    "all": "a question to all",
    "a_time": "a question about a tenth of the time",
    "add": "one memory added",
    "open": "opened, asked once, closed",
    "disk": "on disk, a memory",
}
_SYSTEMS = {
    "recall": "ours",
    "recall_meaning": "ours, by meaning",
    "langchain_chroma": "langchain-chroma",
    "ensemble": "`EnsembleRetriever`",
    "lancedb": "LanceDB, hybrid",
    "sqlite": "FTS5 + sqlite-vec",
}

_INTRO = """\
# Measured

`python -m benchmarks.measured` prints this page from the results of the benchmarks. No figure is
typed by hand.

- The sets are not part of this project, except pieces of MemoryBank and FriendsQA. The figures are
  from the half of each that we develop on.
- Differences under 0.03 on LoCoMo and 0.035 on BEAM are noise.
- Timings are from a shared machine with two cores. Read them as ratios.
- `benchmarks/README.md` in the sources says how each figure is measured, how much each part of the
  ranking finds, and what was tried and dropped."""


def page(kept: Mapping[str, Kept]) -> str:
    """The page, of the figures that are kept."""
    sections = [_INTRO]
    for name, write in _WRITTEN.items():
        if name in kept:
            sections.append("\n".join(write(kept[name])))
    sections.append("\n".join(_versions(kept)))
    return "\n\n".join(sections) + "\n"


def _retrieval(kept: Kept) -> Iterator[str]:
    yield "## What it finds\n"
    yield "    python -m benchmarks.retrieval --data DIR [--data DIR ...] --json OUT\n"
    yield (
        "Recall@5 / recall@10: the share of the evidence among the first five and ten results. "
        "Ours is the public retriever with its defaults and no model. Dense is the same embedding "
        "by cosine alone, as ReMe 0.2 ranks by default. RRF fuses dense and BM25 by rank, as "
        "LangChain's `EnsembleRetriever` and LlamaIndex's `QueryFusionRetriever` do.\n"
    )
    yield "| set (questions) | ours | BM25 | dense | dense + BM25 (RRF) |"
    yield "|---|---|---|---|---|"
    for name, told in _SETS.items():
        if name in kept["sets"]:
            one = kept["sets"][name]
            cells = [_pair(one[system]) for system in ("ours", "bm25", "dense", "rrf")]
            yield _row(f"{told} ({one['queries']})", *cells)
    yield "\nThe number of LoCoMo's questions includes the adversarial ones, its figures do not.\n"
    yield "Where the best of the three others finds more than we do, by kind of question:\n"
    yield from [
        f"- {_SETS.get(name, name)}, {category}: {measure} ours {ours:.3f}, best {best:.3f}"
        for name, one in kept["sets"].items()
        for category, systems in one["by_category"].items()
        if systems["ours"]
        for measure in _SHOWN
        for ours in [systems["ours"][measure]]
        for best in [max(systems[each][measure] for each in ("bm25", "dense", "rrf"))]
        if ours < best
    ] or ["- nowhere"]


def _stock(kept: Kept) -> Iterator[str]:
    yield "## The stock retrievers\n"
    yield "    python -m benchmarks.stock --data DIR [--data DIR ...] --json OUT\n"
    yield (
        "The retrievers of the frameworks with their defaults, on the same questions, texts and "
        "vectors. The time-weighted ones prefer newer memories. They read no time in a question.\n"
    )
    yield _row("set", *_STOCK.values())
    yield "|---" * (1 + len(_STOCK)) + "|"
    for name, told in _SETS.items():
        if name in kept["sets"]:
            yield _row(told, *(_pair(kept["sets"][name][system]) for system in _STOCK))


def _gate(kept: Kept) -> Iterator[str]:
    yield "## The search gate\n"
    yield "    python -m benchmarks.gate --data benchmarks/data/unseen_gate.jsonl --json OUT\n"
    yield (
        f"{kept['n']} labelled prompts in five languages, {kept['ms']:.2f} ms each. The weights of "
        "the gate were not learned from them. They were written for this project; those of other "
        "people may score lower. In languages without weights everything but greetings and thanks "
        "is searched.\n"
    )
    yield "| | precision | recall | false positives |"
    yield "|---|---|---|---|"
    rows = {f"`SearchGate`: {x}": shares for x, shares in kept["by_language"].items()}
    for name, shares in {**rows, "the gate of PersonaLab: all": kept["personalab"]}.items():
        yield _row(name, *(f"{share:.3f}" for share in shares.values()))


def _time(kept: Kept) -> Iterator[str]:
    yield "## Time in a question\n"
    yield "    python -m benchmarks.time_expressions --data expressions.jsonl --json OUT\n"
    yield (
        "Strict: the first range found has the right days. Lenient: one of the readings has them. "
        "Silent: nothing is found in a text that names no time. "
        f"One text takes {kept['ms']:.2f} ms. The `peer_core` sets are the tests of other parsers. "
        "These contradict each other.\n"
    )
    yield "| set | texts | strict | lenient | silent |"
    yield "|---|---|---|---|---|"
    for name, one in kept["by_set"].items():
        shares = (one[share] for share in ("strict", "lenient", "silent"))
        yield _row(name, one["n"], *("" if each is None else f"{each:.3f}" for each in shares))


def _latency(kept: Kept) -> Iterator[str]:
    counts = sorted(kept["by_rows"], key=int)
    yield "## What it costs\n"
    yield f"    python -m benchmarks.latency --data DIR --rows {','.join(counts)} --json OUT\n"
    yield (
        "Milliseconds of processor time, medians; on disk kilobytes. In brackets: how many times "
        "that of langchain-chroma. All systems embed the question with the same model, and return "
        "ten memories. Ours searches by meaning, by words and by the meaning of single words; by "
        'meaning is the same retriever with `method="semantic"`. The vector of an added memory is '
        "known. Imports are not counted.\n"
    )
    systems = list(dict.fromkeys(s for case in kept["by_rows"][counts[0]].values() for s in case))
    shown = [each for each in _SYSTEMS if each in systems]
    yield _row("memories", "", *map(_SYSTEMS.__getitem__, shown))
    yield "|---" * (2 + len(shown)) + "|"
    for rows in counts:
        cases = kept["by_rows"][rows]
        for case, name in _CASES.items():
            costs = [_cost(cases[case].get(each)) for each in shown]
            yield _row(f"{int(rows):,}", name, *costs)


def _cost(one: Mapping[str, float] | None) -> str:
    return "" if one is None else f"{one['cost']:.1f} ({one['ratio']:.2f})"


def _loading(kept: Kept) -> Iterator[str]:
    yield "## Loading\n"
    memories = "examples/memorybank/memories.jsonl"
    yield f"    python -m benchmarks.loading --memories {memories} --json OUT\n"
    yield (
        f"{kept['rate']:.0f} memories a second were stored: {kept['rows']} memories, with the "
        f"default embedding and at most {kept['rss_mb']} MB of memory. Storing the same again: "
        f"{kept['again_rate']:.0f} a second. Reading the times in the texts takes "
        f"{kept['share']:.1%} of the first run."
    )


def _footprint(kept: Kept) -> Iterator[str]:
    yield "## Installation, import and start\n"
    yield "    python -m benchmarks.footprint --json OUT\n"
    yield "| installed | MB | packages |"
    yield "|---|---|---|"
    for extra, one in kept["installation"].items():
        name = f"recall-retrievers[{extra}]" if extra else "recall-retrievers"
        yield _row(f"`{name}`", one["mb"], one["packages"])
    yield "\n| import or command | ms of processor time |"
    yield "|---|---|"
    for name, one in kept["imports"].items():
        yield _row(name, one["ms"])


def _versions(kept: Mapping[str, Kept]) -> Iterator[str]:
    yield "## With what\n"
    sections: dict[str, list[str]] = {}
    for name, one in kept.items():
        told = ", ".join(f"{package} {number}" for package, number in one["versions"].items())
        sections.setdefault(told, []).append(name)
    yield "| benchmarks | versions |"
    yield "|---|---|"
    for told, names in sections.items():
        yield _row(", ".join(names), told)


def _pair(found: Mapping[str, float]) -> str:
    return " / ".join(f"{found[each]:.3f}" for each in _SHOWN)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


_WRITTEN: dict[str, Callable[[Kept], Iterator[str]]] = {
    "retrieval": _retrieval,
    "stock": _stock,
    "time_expressions": _time,
    "gate": _gate,
    "latency": _latency,
    "loading": _loading,
    "footprint": _footprint,
}
