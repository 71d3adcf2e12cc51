"""The command `python -m benchmarks.measured`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measured.figures import figures
from benchmarks.measured.page import page
from benchmarks.output import write_json

KEPT = Path(__file__).with_name("figures.json")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.measured")
    parser.add_argument("--results", type=Path, metavar="DIR")
    given = parser.parse_args(argv)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    if given.results is not None:
        if not given.results.is_dir():
            parser.error(f"{given.results} is no folder; --results takes one with retrieval.json")
        kept |= figures(given.results)
        write_json(KEPT, kept)
    print(page(kept), end="")


if __name__ == "__main__":
    main()
