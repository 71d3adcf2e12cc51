"""The check of citations: how many wrong sentences it catches, and how many right ones it keeps.

    python -m benchmarks.citations --data FILE ... [--memories FILE ...] [--half NAME] [--misses N]

Each line of a file is ``{"claim": ..., "memories": [...], "cited": [1], "supported": true,
"kind": ..., "set": ...}``. A memory is a text, an object as `RecallStore.add` takes it, or the id
of a line in one of the files of ``--memories``. The numbers in ``cited`` count from 1. Without a
``set``, the file is one. A wrong sentence is caught if it is refused, or no longer cites what it
cited; a right one is kept if it still does.

The figures are printed for all sentences, the mean of the sets, each set and each kind; then what
the check is without each of its rules. ROUGE-L and the share of words stand beside it, both at 0.4.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from benchmarks.datasets import DataError
from benchmarks.output import json_file, write_json
from recall_retrievers.core.candidate import Candidate, candidates
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Claim
from recall_retrievers.llm.checking.citation_check import Judgement, judge, shown_of
from recall_retrievers.llm.citing import Cites
from recall_retrievers.llm.fencing import body
from recall_retrievers.text.words import words

THRESHOLD = 0.4  # of the plain shares of words; a lower one catches next to nothing
RULES = ("numbers", "names", "negation", "words")
MEAN = "mean of the sets"
_FIELDS = ("id", "content", "author", "created_at", "when_to_use")


@dataclass(frozen=True)
class Case:
    """A sentence with its citation, the memories that were shown, and whether it is right."""

    claim: Claim
    memories: tuple[Candidate, ...]
    supported: bool
    kind: str
    half: str
    set: str

    @cached_property
    def judged(self) -> Judgement:
        """What the check says of the sentence."""
        least = Cites.model_fields["min_support"].default
        return judge(self.claim, shown_of(self.memories), len(self.memories), least)


Check = Callable[[Case], bool]


def ours(case: Case, without: str = "") -> bool:
    """Whether the sentence passes, and still cites what it cited."""
    same = not set(case.claim.numbers).isdisjoint(case.judged.numbers)
    return same and case.judged.broken <= {without}


def word_share(case: Case) -> bool:
    """Whether enough of the sentence's words stand in the cited memories."""
    needed = set(words(case.claim.sentence))
    return len(needed & set(words(_cited(case)))) >= THRESHOLD * len(needed)


def rouge_l(case: Case) -> bool:
    """Whether enough of the sentence's words stand there in the same order (ROUGE-L, recall)."""
    needed, found = words(case.claim.sentence), words(_cited(case))
    row = [0] * (len(found) + 1)
    for word in needed:
        diagonal = 0
        for at, other in enumerate(found, 1):
            diagonal, row[at] = (
                row[at],
                diagonal + 1 if word == other else max(row[at], row[at - 1]),
            )
    return row[-1] >= THRESHOLD * len(needed)


CHECKS: Mapping[str, Check] = {"ours": ours, "word share": word_share, "ROUGE-L": rouge_l}
WITHOUT = {f"without {rule}": partial(ours, without=rule) for rule in RULES}

Figures = Mapping[str, float | None]
Row = Mapping[str, Figures]
"""The figures of each check."""


def measure(cases: Sequence[Case]) -> dict[str, object]:
    """Run every check over every case; returns what ``--json`` writes."""
    checks: dict[str, Check] = {**CHECKS, **WITHOUT}
    said = [{name: check(case) for name, check in checks.items()} for case in cases]

    def row(chosen: Sequence[bool]) -> Row:
        at = [place for place, is_chosen in enumerate(chosen) if is_chosen]
        right = [cases[place].supported for place in at]
        return {name: figures(right, [said[place][name] for place in at]) for name in checks}

    sets = {name: row([c.set == name for c in cases]) for name in Counter(c.set for c in cases)}
    kinds = Counter(case.kind for case in cases)
    return {
        "n": {"in all": len(cases), **Counter(case.set for case in cases), **kinds},
        "in_all": row([True] * len(cases)),
        "mean": {
            name: {
                what: _mean([v for each in sets.values() if (v := each[name][what]) is not None])
                for what in ("caught", "kept", "balanced_accuracy")
            }
            for name in checks
        },
        "by_set": sets,
        "by_kind": {kind: row([case.kind == kind for case in cases]) for kind in kinds},
        "misses": [
            {"kind": case.kind, "claim": case.claim.sentence, "supported": case.supported}
            for case, by in zip(cases, said, strict=True)
            if by["ours"] != case.supported
        ],
    }


def figures(right: Sequence[bool], passed: Sequence[bool]) -> Figures:
    """The share of wrong sentences caught, of right ones kept, and their mean."""
    of = [*zip(right, passed, strict=True)]
    caught, kept = _mean([not p for r, p in of if not r]), _mean([p for r, p in of if r])
    both = None if caught is None or kept is None else round((caught + kept) / 2, 4)
    return {"caught": caught, "kept": kept, "balanced_accuracy": both}


def read_cases(file: Path, memories: Sequence[Path]) -> list[Case]:
    """The cases of a file.

    Raises:
        DataError: When a file cannot be read, or a line lacks a part.
    """
    known = {str(row["id"]): row for each in memories for row in _rows(each)}
    return [_case(row, known, file, line) for line, row in enumerate(_rows(file), 1)]


def _rows(file: Path) -> list[dict[str, object]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read as JSON lines: {error}") from error


def _case(
    row: Mapping[str, object], known: Mapping[str, Mapping[str, object]], file: Path, line: int
) -> Case:
    place = f"{file.name}:{line}"
    claim, shown, cited = row.get("claim"), row.get("memories"), row.get("cited")
    if not isinstance(claim, str) or not isinstance(shown, list) or "supported" not in row:
        raise DataError(f"{place} must have claim (a text), memories (a list) and supported")
    numbers = cited if isinstance(cited, list) else [cited]
    if not numbers or not all(isinstance(n, int) and 1 <= n <= len(shown) for n in numbers):
        raise DataError(f"{place}: cited must be numbers from 1 to {len(shown)}; got {cited!r}")
    fields = [
        known.get(each, {"content": each}) if isinstance(each, str) else each for each in shown
    ]
    memories = [Memory(**{name: each[name] for name in _FIELDS if name in each}) for each in fields]
    kind, half = str(row.get("kind", "")), str(row.get("half", ""))
    sentence, supported = Claim(claim, tuple(numbers)), bool(row["supported"])
    of_set = str(row.get("set", file.stem))
    return Case(sentence, candidates(memories), supported, kind, half, of_set)


def _cited(case: Case) -> str:
    return "\n".join(body(case.memories[number - 1]) for number in case.claim.numbers)


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def print_figures(result: Mapping[str, Any], misses: int) -> None:
    """Print two tables: by set and by kind, and without each rule."""
    rows = {"in all": result["in_all"], MEAN: result["mean"]}
    print(f"{'':<36}{'n':>5}  " + "".join(f"{name:^24}" for name in CHECKS))
    print(" " * 43 + "  caught   kept      BA  " * len(CHECKS))
    for name, row in {**rows, **result["by_set"], **result["by_kind"]}.items():
        shown = "".join(_cells(row[check]) for check in CHECKS)
        print(f"{name:<36}{result['n'].get(name, ''):>5}  {shown}")
    print(f"\n{MEAN:<36}  caught   kept      BA  BA of " + ", ".join(result["by_set"]))
    for name in ("ours", *WITHOUT):
        each = "".join(
            f"{row[name]['balanced_accuracy'] or 0:8.3f}" for row in result["by_set"].values()
        )
        print(f"{name:<36}{_cells(result['mean'][name])}{each}")
    for miss in result["misses"][:misses]:
        print(f"  {'refused' if miss['supported'] else 'passed'}, {miss['kind']}: {miss['claim']}")


def _cells(shown: Figures) -> str:
    return "".join(f"{'' if value is None else f'{value:.3f}':>8}" for value in shown.values())


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.citations")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--memories", type=Path, nargs="*", default=[], help="files of memories")
    parser.add_argument("--half", help="only the lines with this half")
    parser.add_argument("--misses", type=int, default=0, help="how many to show")
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        cases = [case for file in given.data for case in read_cases(file, given.memories)]
    except DataError as error:
        parser.error(str(error))
    result = measure([case for case in cases if given.half in (None, case.half)])
    print_figures(result, given.misses)
    write_json(given.json, result)


if __name__ == "__main__":
    main()
