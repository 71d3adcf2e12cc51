"""What is kept of what the benchmarks wrote with ``--json``: figures, and no text of a data set."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Kept = dict[str, Any]
"""The figures of one benchmark, and the versions of what they were measured with."""

_VERSIONS = (
    "recall-retrievers", "chromadb", "onnxruntime", "numpy", "pydantic",
    "langchain-core", "langchain-chroma", "langchain-classic", "llama-index-core",
)  # fmt: skip


def figures(results: Path) -> dict[str, Kept]:
    """The figures of a folder of results, by the name of the benchmark."""
    found: dict[str, Kept] = {}
    for name, reduce in _REDUCED.items():
        file = results / f"{name}.json"
        if file.is_file():
            found[name] = reduce(json.loads(file.read_text(encoding="utf-8")))
            found[name]["versions"] = {
                "Python": platform.python_version(),
                **{package: version(package) for package in _VERSIONS},
            }
    return found


def _retrieval_figures(result: Any) -> Kept:
    sets = result if isinstance(result, list) else [result]
    return {
        "sets": {
            each["set"]: {
                "queries": each["queries"],
                "ours": each["overall"],
                "by_category": {
                    category: {
                        "ours": found,
                        **{name: one["by_category"][category] for name, one in others.items()},
                    }
                    for category, found in each["by_category"].items()
                },
                **{
                    name: {measure: one[measure] for measure in each["overall"]}
                    for name, one in others.items()
                },
                "ms": each["ms_per_query"]["p50"],
            }
            for each in sets
            for others in [each["baselines"]]
        }
    }


def _stock_figures(result: Any) -> Kept:
    return {"sets": result}


def _gate_figures(result: Any) -> Kept:
    shares = ("precision", "recall", "false_positive_rate")
    return {
        "n": result["n"],
        "ms": result["ms_median"],
        "by_language": {
            language: {share: figures[share] for share in shares}
            for language, figures in result["by_language"].items()
        },
        "personalab": {share: result["personalab"][share] for share in shares},
    }


def _time_figures(result: Any) -> Kept:
    return {"by_set": result["by_set"], "ms": result["ms_median"]}


def _latency_figures(result: Any) -> Kept:
    return {"by_rows": result["by_rows"]}


def _loading_figures(result: Any) -> Kept:
    return {name: result[name] for name in ("rows", "rate", "rss_mb", "again_rate", "share")}


def _footprint_figures(result: Any) -> Kept:
    return dict(result)


_REDUCED: dict[str, Callable[[Any], Kept]] = {
    "retrieval": _retrieval_figures,
    "stock": _stock_figures,
    "time_expressions": _time_figures,
    "gate": _gate_figures,
    "latency": _latency_figures,
    "loading": _loading_figures,
    "footprint": _footprint_figures,
}
