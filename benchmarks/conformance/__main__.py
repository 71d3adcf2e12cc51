"""The table: which stock pieces, and which of ours, keep which promise.

    python -m benchmarks.conformance [--json OUT]

Prints markdown. A cell is "yes", "no", "-" where the promise does not apply, or "by design" where
a piece does not mean to keep it; the list below the table says what was seen. Some pieces need
pandas, spacy or langchain-community besides; where these are missing, they are not tried.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from benchmarks.conformance import langchain, llamaindex, ours
from benchmarks.conformance.check import Verdict
from benchmarks.conformance.checks import CHECKS
from benchmarks.conformance.piece import Piece
from benchmarks.output import json_file, write_json

Row = Mapping[str, Verdict]


def judged(piece: Piece) -> Row | str:
    """What each check came to, or why the piece could not be tried."""
    try:
        subject = piece.subject()
        subject.apply(subject.make(subject.model("")), [], subject.query)
    except ImportError as error:
        return str(error.args[0]) if error.args else "a package is missing"
    except Exception as error:  # noqa: BLE001 - the check of empty input says so
        logging.getLogger(__name__).debug("%s: %s", piece.name, error)
    return {check.name: check.judge(subject) for check in CHECKS}


def table(title: str, rows: Mapping[Piece, Row | str]) -> list[str]:
    """Markdown: a column for each check, then what was seen where a promise was broken."""
    tried = {piece: row for piece, row in rows.items() if not isinstance(row, str)}
    names = [check.name for check in CHECKS]
    lines = [f"| {title} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for piece, row in tried.items():
        lines.append(f"| {piece.name} | {' | '.join(_cell(piece, n, row[n]) for n in names)} |")
    notes = [
        f"- {piece.name}, {name}: {_note(piece, name, row[name])}"
        for piece, row in tried.items()
        for name in names
        if row[name].holds is False
    ]
    missing = [
        f"- {p.name} was not tried: {row}" for p, row in rows.items() if isinstance(row, str)
    ]
    return [*lines, "", *notes, *missing]


def together(rows: Mapping[Piece, Row | str]) -> Mapping[Piece, Row | str]:
    """One row for many, which keeps a promise where each of them does; then those that do not."""
    tried = [row for row in rows.values() if not isinstance(row, str)]
    verdicts = {check.name: {row[check.name].holds for row in tried} - {None} for check in CHECKS}
    all_of_them = Piece(f"each of {len(rows)} stages of both faces", next(iter(rows)).subject)
    told = {n: Verdict(all(holds), "see below") for n, holds in verdicts.items()}
    broken = {
        piece: row
        for piece, row in rows.items()
        if isinstance(row, str) or any(verdict.holds is False for verdict in row.values())
    }
    return {all_of_them: told, **broken}


def _cell(piece: Piece, name: str, verdict: Verdict) -> str:
    if verdict.holds is None:
        return "-"
    if verdict.holds:
        return "yes"
    return "by design" if name in piece.by_design else "no"


def _note(piece: Piece, name: str, verdict: Verdict) -> str:
    return piece.by_design.get(name) or " ".join(verdict.why.split())[:160]


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.conformance")
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    logging.getLogger("llama_index").setLevel(logging.ERROR)  # warns of what is tried on purpose
    groups = {
        f"langchain-classic {version('langchain-classic')}": langchain.pieces(),
        f"llama-index-core {version('llama-index-core')}": llamaindex.pieces(),
        "recall-retrievers": [piece for face in ours.FACES for piece in ours.pieces(face)],
    }
    print(*(f"- {check.name}: {check.promise}" for check in CHECKS), sep="\n")
    result = {}
    for title, pieces in groups.items():
        rows = {piece: judged(piece) for piece in pieces}
        shown = together(rows) if title == "recall-retrievers" else rows
        print("", *table(title, shown), sep="\n")
        result[title] = {
            piece.name: row
            if isinstance(row, str)
            else {n: {"holds": v.holds, "why": v.why} for n, v in row.items()}
            for piece, row in rows.items()
        }
    write_json(given.json, result)


if __name__ == "__main__":
    main()
