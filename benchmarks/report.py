"""The results as tables for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from recall_retrievers.evaluation.evaluate import MEASURES

_GENERATED = "-timed"  # how the name of a set ends whose queries name a time that a rule added
_WIDTH = 100
AHEAD = ("recall@5", "recall@10")
"""The figures that are compared question by question."""


def print_retrieval(result: Mapping[str, Any]) -> None:
    """Our figures with the difference to the best baseline beside each, then the baselines'."""
    baselines = result["baselines"]
    table = Table(title=f"{result['set']}: {result['face']}, time {result['time']}")
    table.add_column("", no_wrap=True)
    for name in MEASURES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("overall", *_compared(result["overall"], list(baselines.values())))
    if result["time_naming"]:
        others = [each["time_naming"] for each in baselines.values()]
        table.add_row("naming a time", *_compared(result["time_naming"], others))
    for category, figures in result["by_category"].items():
        others = [each["by_category"][category] for each in baselines.values()]
        table.add_row(f"  {category}", *_compared(figures, others))
    table.add_section()
    for name, figures in baselines.items():
        table.add_row(f"{name}, overall", *(_figure(figures.get(each)) for each in MEASURES))
    took = result["ms_per_query"]
    console = _console()
    console.print(table)
    console.print(
        f"{result['queries']} queries, {took['p50']:.1f} ms each (median), {took['p95']:.1f} ms "
        "(95th percentile). Beside each figure: the difference to the best baseline."
    )
    unmarked = result["without_time"]
    if unmarked:
        console.print(
            f"{unmarked['queries']} queries name no time; {len(unmarked['moved'])} of them do not "
            "rank as with --time none."
        )
    if result["set"].endswith(_GENERATED):
        console.print("A rule added the time phrase of these queries: gains are an upper bound.")


def print_retrieval_mean(results: Sequence[Mapping[str, Any]]) -> None:
    """The mean over sets of our figures and of the baselines'; each set counts the same."""
    table = Table(title=f"mean over {len(results)} sets")
    for name in ("", *MEASURES):
        table.add_column(name, no_wrap=True)
    systems = {"ours": [each["overall"] for each in results]} | {
        name: [each["baselines"][name] for each in results] for name in results[0]["baselines"]
    }
    for name, figures in systems.items():
        means = (sum(each[measure] for each in figures) / len(figures) for measure in MEASURES)
        table.add_row(name, *(_figure(each) for each in means))
    _console().print(table)


def print_ahead(results: Sequence[Mapping[str, Any]]) -> None:
    """Our recall minus that of each baseline alone, a row a set; certain losses are marked."""
    arms = [*results[0]["baselines"]]
    table = Table(title="ours minus each baseline, recall@5 and recall@10, with 95 % intervals")
    for name in ("", *arms):
        table.add_column(name, no_wrap=True)
    for each in results:
        ahead = [each["baselines"][arm]["ahead"] for arm in arms]
        cells = [[change[name] for name in AHEAD] for change in ahead if change]
        lost = ["  LOST" if any(x.high < 0 for x in cell) else "" for cell in cells]
        rows = ("\n".join(map(str, cell)) + mark for cell, mark in zip(cells, lost, strict=True))
        table.add_row(each["set"], *rows)
    _console().print(table)


def print_expressions(result: Mapping[str, Any]) -> None:
    """The shares of each set."""
    table = Table("set", "n", "strict", "lenient", "silent", title="time expressions")
    for name, figures in result["by_set"].items():
        shares = (_figure(figures[each]) for each in ("strict", "lenient", "silent"))
        table.add_row(name, str(figures["n"]), *shares)
    console = _console()
    console.print(table)
    console.print(f"{result['ms_median']:.3f} ms a text (median)")


def print_remembered(result: Mapping[str, Any]) -> None:
    """The shares of each half, and of its languages."""
    table = Table("set", "n", "direction", "range", title="times of memories")
    for name, figures in result.items():
        shares = (_figure(figures[each]) for each in ("direction", "range"))
        table.add_row(name, str(figures["n"]), *shares)
    _console().print(table)


def print_gate(result: Mapping[str, Any], most_misses: int) -> None:
    """Ours, the original and each language; then the prompts that were judged wrongly."""
    names = ("precision", "recall", "false_positive_rate")
    table = Table("", *(name.replace("_", " ") for name in names), title="search gate")
    rows = {"SearchGate": result, "PersonaLab": result["personalab"], **result["by_language"]}
    for name, shares in rows.items():
        table.add_row(name, *(_figure(shares[each]) for each in names))
    console = _console()
    console.print(table)
    console.print(f"{result['n']} prompts, {result['ms_median']:.3f} ms each (median)")
    for miss in result["misses"][:most_misses]:
        wanted = "should search" if miss["search"] else "should not search"
        console.print(f"{wanted}: {miss['conversation']!r}\n    {miss['why']}", markup=False)
    if len(result["misses"]) > most_misses:
        console.print(f"and {len(result['misses']) - most_misses} more")


def print_latency(result: Mapping[str, Any], missing: Sequence[str]) -> None:
    """What each system costs, and that divided by the cost of langchain-chroma."""
    console = _console()
    for rows, cases in result["by_rows"].items():
        table = Table(
            title=f"{int(rows):,} memories, k={result['k']}: CPU ms (medians); disk in KB"
        )
        for name in ("", "system", "cost", "ratio"):
            table.add_column(name, justify="left" if name in ("", "system") else "right")
        for case, systems in cases.items():
            for system, one in systems.items():
                table.add_row(case, system, *(f"{one[each]:.2f}" for each in ("cost", "ratio")))
            table.add_section()
        console.print(table)
    if missing:
        console.print(f"Not installed, and left out: {', '.join(missing)}")


def print_opening(result: Mapping[str, Any]) -> None:
    """Seconds to the first answer and memory, a table a size."""
    console = _console()
    columns = ("open_s", "first_s", "hybrid_s", "next_ms", "beyond_mb", "peak_beyond_mb")
    for rows, measured in result["by_rows"].items():
        if "left_out" in measured:
            console.print(f"{rows} rows are left out: {measured['left_out']}")
            continue
        table = Table(title=f"{int(rows):,} rows: the first answer after opening")
        for name in ("", *columns):
            table.add_column(name, justify="right" if name else "left", no_wrap=True)
        for system, figures in measured["systems"].items():
            table.add_row(system, *(f"{figures[each]:.2f}" for each in columns))
        console.print(table)
        console.print(
            f"recall ask, the whole process: {measured['ask_s']:.2f} s; on a hundred rows "
            f"{measured['ask_of_100_s']:.2f} s"
        )


def print_server(result: Mapping[str, Any]) -> None:
    """Seconds and bytes of each step, and the memory at the end."""
    table = Table(title=f"{result['rows']:,} rows of 50 users over chroma run: one user asks")
    for name in ("system", "step", "ms", "KB down", "KB up", "right"):
        table.add_column(name, justify="left" if name in ("system", "step") else "right")
    for system, steps in result["systems"].items():
        for name, step in steps.items():
            if "s" in step:
                traffic = (f"{step[each] / 1024:,.1f}" for each in ("down", "up"))
                right = {True: "yes", False: "NO"}.get(step.get("right", ""), "")
                table.add_row(system, name, f"{1000 * step['s']:,.0f}", *traffic, right)
        table.add_row(system, "memory at the end", "", f"{steps['end']['rss_mb']:.0f} MB", "", "")
        table.add_section()
    _console().print(table)


def _console() -> Console:
    console = Console()
    console.width = max(console.width, _WIDTH)  # a file or a pipe has no width of its own
    return console


def _compared(ours: Mapping[str, float], others: list[Mapping[str, float]]) -> list[str]:
    if not ours:
        return ["-"] * len(MEASURES)
    best = {name: max(each[name] for each in others) for name in MEASURES}
    return [f"{ours[name]:.3f} {ours[name] - best[name]:+.3f}" for name in MEASURES]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
