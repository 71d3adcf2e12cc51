"""The check of citations: how many wrong sentences it catches, and how many right ones it keeps.

    python -m benchmarks.citations --data FILE [--memories FILE ...] [--half NAME] [--misses N]

Each line of the file is ``{"claim": ..., "memories": [...], "cited": [1], "supported": true,
"kind": ...}``. A memory is a text, an object as `RecallStore.add` takes it, or the id of a line in
one of the files of ``--memories``. The numbers in ``cited`` count from 1. A wrong sentence is
caught if it is refused, or no longer cites what it cited; a right one is kept if it still does.

The same is printed for ROUGE-L and for the share of words, both at the threshold of the check.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets import DataError
from benchmarks.output import json_file, write_json
from recall_retrievers.core.candidate import Candidate, candidates
from recall_retrievers.core.citation import Claim
from recall_retrievers.core.memory import Memory
from recall_retrievers.llm.checking.citation_check import verify
from recall_retrievers.llm.fencing import body
from recall_retrievers.text.words import words

THRESHOLD = 0.4  # as `RewriteMemory.min_support`
_FIELDS = ("id", "content", "author", "created_at", "when_to_use")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence with its citation, the memories that were shown, and whether it is right."""

    claim: Claim
    memories: tuple[Candidate, ...]
    supported: bool
    kind: str
    half: str


Check = Callable[[Case], bool]


def ours(case: Case) -> bool:
    """Whether the sentence passes, and still cites what it cited."""
    passed = verify([case.claim], case.memories, THRESHOLD).citations
    return any(number in case.claim.numbers for each in passed for number in each.numbers)


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


def measure(cases: Sequence[Case]) -> dict[str, object]:
    """Run every check over every case; returns what ``--json`` writes."""
    passed = {name: [check(case) for case in cases] for name, check in CHECKS.items()}
    kinds = dict.fromkeys(case.kind for case in cases)
    return {
        "n": len(cases),
        "in_all": {name: figures(cases, said) for name, said in passed.items()},
        "by_kind": {
            kind: {"n": sum(case.kind == kind for case in cases)}
            | {name: _of_kind(cases, said, kind) for name, said in passed.items()}
            for kind in kinds
        },
        "misses": [
            {"kind": case.kind, "claim": case.claim.sentence, "supported": case.supported}
            for case, said in zip(cases, passed["ours"], strict=True)
            if said != case.supported
        ],
    }


def figures(cases: Sequence[Case], passed: Sequence[bool]) -> dict[str, float | None]:
    """The share of wrong sentences caught, of right ones kept, and their mean."""
    wrong = [not said for case, said in zip(cases, passed, strict=True) if not case.supported]
    right = [said for case, said in zip(cases, passed, strict=True) if case.supported]
    caught, kept = _mean(wrong), _mean(right)
    both = None if caught is None or kept is None else round((caught + kept) / 2, 4)
    return {"caught": caught, "kept": kept, "balanced_accuracy": both}


def _of_kind(cases: Sequence[Case], passed: Sequence[bool], kind: str) -> dict[str, float | None]:
    chosen = [at for at, case in enumerate(cases) if case.kind == kind]
    return figures([cases[at] for at in chosen], [passed[at] for at in chosen])


def read_cases(file: Path, memories: Sequence[Path]) -> list[Case]:
    """The cases of a file.

    Raises:
        DataError: When a file cannot be read, or a line lacks a part.
    """
    known = {str(row["id"]): row for each in memories for row in _rows(each)}
    return [_case(row, known, f"{file.name}:{line}") for line, row in enumerate(_rows(file), 1)]


def _rows(file: Path) -> list[dict[str, object]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read as JSON lines: {error}") from error


def _case(row: Mapping[str, object], known: Mapping[str, Mapping[str, object]], place: str) -> Case:
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
    return Case(
        Claim(claim, tuple(numbers)), candidates(memories), bool(row["supported"]), kind, half
    )


def _cited(case: Case) -> str:
    return "\n".join(body(case.memories[number - 1]) for number in case.claim.numbers)


def _mean(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def print_figures(result: Mapping[str, object], misses: int) -> None:
    """Print a table: in all, then a line for every kind."""
    by_kind, in_all = result["by_kind"], result["in_all"]
    assert isinstance(by_kind, dict) and isinstance(in_all, dict)  # noqa: S101, PT018 - `measure`
    print(f"{'':<18}{'n':>5}  " + "".join(f"{name:^24}" for name in CHECKS))
    print(f"{'':<25}" + "  caught   kept      BA  " * len(CHECKS))
    print(_line("in all", result["n"], in_all))
    for kind, figures_of in by_kind.items():
        print(_line(kind, figures_of["n"], figures_of))
    wrong = result["misses"]
    assert isinstance(wrong, list)  # noqa: S101 - `measure`
    for miss in wrong[:misses]:
        print(f"  {'refused' if miss['supported'] else 'passed'}, {miss['kind']}: {miss['claim']}")


def _line(name: str, count: object, by_check: Mapping[str, Mapping[str, float | None]]) -> str:
    cells = [by_check[check].values() for check in CHECKS]
    shown = "".join(
        "".join(f"{'' if value is None else f'{value:.3f}':>8}" for value in each) for each in cells
    )
    return f"{name:<18}{count:>5}  {shown}"


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.citations")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--memories", type=Path, nargs="*", default=[], help="files of memories")
    parser.add_argument("--half", help="only the lines with this half")
    parser.add_argument("--misses", type=int, default=0, help="how many to show")
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        cases = read_cases(given.data, given.memories)
    except DataError as error:
        parser.error(str(error))
    result = measure([case for case in cases if given.half in (None, case.half)])
    print_figures(result, given.misses)
    write_json(given.json, result)


if __name__ == "__main__":
    main()
