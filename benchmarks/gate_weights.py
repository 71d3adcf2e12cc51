"""Learn the search gate's weights from labelled prompts, and measure them on prompts left out.

    python -m benchmarks.gate_weights --data FILE... --language en [--write FILE]

A logistic regression over the features of `recall_retrievers.gate.weights`, in numpy. It prints
accuracy, precision and recall of every batch, predicted by weights that were learned from all
other prompts. Of the prompts without a batch, each eighth is predicted by the rest. ``--write``
learns from all prompts, and puts the weights into a language's file in place of those it has.
"""

from __future__ import annotations

import argparse
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.datasets import DataError, GateCase, read_gate_cases
from benchmarks.gate import Outcome, figures
from recall_retrievers.gate.turns import last_message, read_turns
from recall_retrievers.gate.weights import Weights, load_weights

_OFTEN = 2  # prompts that must have a feature
_RIDGE = 0.1  # how strongly a weight is held near zero
_ROUNDS = 600
_LEAN = 0.2  # towards a search: one too many costs 10 ms, one too few costs the memory
_PARTS = 8  # of the prompts without a batch

Found = Sequence[frozenset[str]]


def described(cases: Sequence[GateCase]) -> Found:
    """The features of the user's last message of every prompt, and of what it leaves open."""
    return [
        frozenset(
            load_weights(case.language).described(*last_message(read_turns(case.conversation)))
        )
        for case in cases
    ]


def learn(found: Found, search: Sequence[bool]) -> tuple[float, dict[str, float]]:
    """A start and a weight for every feature that tells prompts apart.

    Examples:
        >>> found = [frozenset({"my"}), frozenset({"how", "?"})] * 20
        >>> start, weights = learn(found, [True, False] * 20)
        >>> weights["my"] > 1, weights["how"] < -1
        (True, True)
    """
    counts = Counter(feature for one in found for feature in one)
    names = sorted(feature for feature, count in counts.items() if count >= _OFTEN)
    number = {name: at for at, name in enumerate(names)}
    pairs = [(row, number[x]) for row, one in enumerate(found) for x in one if x in number]
    rows, columns = np.array(pairs).T
    values = 1 / np.sqrt([len(found[row]) for row in rows])
    wanted = np.array(search, dtype=float)
    weights = before = np.zeros(len(names))
    start = start_before = 0.0
    for turn in range(_ROUNDS):  # Nesterov's gradient steps; twice the mean is a safe length
        push = turn / (turn + 3)
        ahead = weights + push * (weights - before)
        start_ahead = start + push * (start - start_before)
        sums = np.bincount(rows, ahead[columns] * values, len(found)) + start_ahead
        off = (1 / (1 + np.exp(-sums)) - wanted) / len(found)
        slope = np.bincount(columns, off[rows] * values, len(names)) + _RIDGE / len(found) * ahead
        before, start_before = weights, start
        weights, start = ahead - 2 * slope, start_ahead - 2 * float(off.sum())
    rounded = {name: float(round(weights[at])) for name, at in number.items()}
    # A word of no weight still tells the language.
    kept = {name: each for name, each in rounded.items() if each or name.isalpha()}
    return round(start + _LEAN, 1), kept


def measure(cases: Sequence[GateCase]) -> dict[str, dict[str, float | None]]:
    """The figures of every batch, and of the prompts without a batch."""
    found = described(cases)
    parts: dict[tuple[str, int], list[int]] = {}
    for at, case in enumerate(cases):
        part = ("none", at % _PARTS) if case.batch is None else (str(case.batch), 0)
        parts.setdefault(part, []).append(at)
    outcomes: dict[str, list[Outcome]] = {}
    for (batch, _), asked in sorted(parts.items()):
        others = sorted(set(range(len(cases))).difference(asked))
        start, weights = learn([found[at] for at in others], [cases[at].search for at in others])
        learned = replace(load_weights(cases[0].language), start=start, weights=weights)
        outcomes.setdefault(batch, []).extend(
            (cases[at], _predicted(learned, found[at])) for at in asked
        )
    return {batch: figures(those) for batch, those in outcomes.items()}


def _predicted(learned: Weights, features: frozenset[str]) -> bool:
    points = learned.points({feature: (feature,) for feature in features})
    return learned.start + sum(points.values()) >= 0


def written(file: str, start: float, weights: Mapping[str, float]) -> str:
    """The text of a language's file, with these weights in place of its own."""
    classes, _, _ = file.partition("[weights]\n")
    lines = [f"start = {start:g}" if x.startswith("start = ") else x for x in classes.splitlines()]
    lines.append("[weights]")
    for weight in sorted(set(weights.values()), reverse=True):
        features = " ".join(sorted(name for name, each in weights.items() if each == weight))
        wrapped = textwrap.wrap(features, 100, break_long_words=False, break_on_hyphens=False)
        lines += [f'"{weight:+g}" = """', *wrapped, '"""']
    return "\n".join([*lines, ""])


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.gate_weights")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--language", required=True, help="of the prompts that are learned from")
    parser.add_argument("--write", type=Path, help="the language's file")
    given = parser.parse_args(argv)
    try:
        cases = [case for file in given.data for case in read_gate_cases(file)]
    except DataError as error:
        parser.error(str(error))
    cases = [case for case in cases if case.language == given.language]
    if given.write:
        start, weights = learn(described(cases), [case.search for case in cases])
        text = written(given.write.read_text(encoding="utf-8"), start, weights)
        given.write.write_text(text, encoding="utf-8")
        return
    for batch, shares in measure(cases).items():
        print(f"batch {batch}", *(f"{name} {share}" for name, share in shares.items()), sep="  ")


if __name__ == "__main__":
    main()
