"""The tables of `docs/how_it_grows.md`: a benchmark writes its own, between two comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_SYSTEMS = {
    "chroma": "raw Chroma",
    "langchain_chroma": "langchain-chroma",
    "recall": "ours, by meaning and words",
    "recall, building": "ours, while the row index is built",
}
_WAYS = {
    "meaning_ms": "by meaning",
    "words_ms": "by words",
    "user_ms": "one user of 50",
    "month_ms": "a month of 24",
}
_ASKING = {"langchain_chroma": "langchain-chroma, with a filter", "recall": _SYSTEMS["recall"]}


def write_opening(page: Path, by_rows: Mapping[str, Any]) -> None:
    """Put the figures of `benchmarks.opening` into the page."""
    _write(page, "opening", _opening(by_rows))


def write_server(page: Path, systems: Mapping[str, Any]) -> None:
    """Put the figures of `benchmarks.server` into the page."""
    _write(page, "server", _server(systems))


def _opening(by_rows: Mapping[str, Any]) -> Iterator[str]:
    yield "| memories | | first answer | of that not Chroma's | memory beyond Chroma's own | next |"
    yield "|---|---|---|---|---|---|"
    sizes = {rows: each for rows, each in by_rows.items() if "systems" in each}
    for rows, measured in sizes.items():
        chroma = measured["systems"]["chroma"]["hybrid_s"]
        for system, name in _SYSTEMS.items():
            figures = measured["systems"][system]
            full, first = figures["hybrid_s"], figures["first_s"]
            took = f"{full:.2f} s"
            if system == "recall, building":
                took = f"{first:.2f} s by meaning, {full:.1f} s by words too"
            beyond = "-" if system == "chroma" else f"{max(first - chroma, 0):.2f} s"
            memory = "-" if system == "chroma" else f"{figures['beyond_mb']:.0f} MB"
            next_ms = f"{figures['next_ms']:.1f} ms"
            yield f"| {int(rows):,} | {name} | {took} | {beyond} | {memory} | {next_ms} |"
    yield ""
    yield f"| memories | {' | '.join(_WAYS.values())} |"
    yield f"|---|{'---|' * len(_WAYS)}"
    for rows, measured in sizes.items():
        ours = measured["systems"]["recall, building"]  # afterwards: it compares no texts
        took = [f"{ours[way]:.1f} ms" for way in _WAYS]
        yield f"| {int(rows):,} | {' | '.join(took)} |"
    asked = [f"{each['ask_s']:.1f} s on {int(rows):,}" for rows, each in sizes.items()]
    small = [f"{each['ask_of_100_s']:.1f} s" for each in sizes.values()][:1]
    yield ""
    whole = f"{', '.join(asked)} memories, {small[0]} on a hundred"
    yield f"`recall ask` as a whole process took {whole}."


def _server(systems: Mapping[str, Any]) -> Iterator[str]:
    steps = ("first", "next", "deleted")
    yield (
        "| | first question | a question after that "
        "| after another process has deleted one of them |"
    )
    yield "|---|---|---|---|"
    for system, name in _ASKING.items():
        told = [
            f"{1000 * each['s']:,.0f} ms, {_size(each['down'])}"
            for each in (systems[system][step] for step in steps)
        ]
        yield f"| {name} | {' | '.join(told)} |"


def _size(count: float) -> str:
    kilobytes = count / 1024
    if kilobytes < 1:
        return "under 1 KB"
    return f"{kilobytes:.1f} KB" if kilobytes < 10 else f"{kilobytes:,.0f} KB"


def _write(page: Path, name: str, lines: Iterator[str]) -> None:
    begin, end = f"<!-- figures of benchmarks.{name} -->\n", "<!-- end of figures -->"
    before, begun, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise ValueError(f"{page} has no place for figures: {begin.strip()} ... {end}")
    block = "\n".join(lines)
    page.write_text(f"{before}{begin}\n{block}\n\n{end}{after}", encoding="utf-8")
