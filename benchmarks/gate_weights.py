"""Learn the search gate's weights from labelled prompts, and measure what they say by themselves.

    python -m benchmarks.gate_weights --data FILE... --language en [--write FILE]

A logistic regression over the features of `recall_retrievers.gate.language`, in numpy. It prints
the precision and recall of every batch, predicted by the weights that were learned from all other
prompts, without any phrase. Of the prompts without a batch, each eighth is predicted by the rest.
``--write`` writes the weights that are learned from all prompts.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.datasets import DataError, GateCase, read_gate_cases
from benchmarks.gate import Outcome, figures
from recall_retrievers.gate.language import features, load_language
from recall_retrievers.gate.reading import sentences_in
from recall_retrievers.gate.turns import USER, read_turns

_OFTEN = 2  # prompts that must have a feature
_RIDGE = 0.02  # how strongly a weight is held near zero
_ROUNDS = 600
_SMALLEST = 0.3  # a smaller weight is left out
_PARTS = 8  # of the prompts without a batch

Found = Sequence[frozenset[str]]


def described(cases: Sequence[GateCase]) -> Found:
    """The features of the user's last message of every prompt."""
    found = []
    for case in cases:
        language = load_language(case.language, {})
        texts = [turn.text for turn in read_turns(case.conversation) if turn.role == USER]
        sentences = sentences_in(texts[-1], language) if texts else []
        found.append(features(sentences, language.learned.classes))
    return found


def learn(found: Found, search: Sequence[bool]) -> tuple[float, dict[str, float]]:
    """A bias and a weight for every feature that tells prompts apart.

    Examples:
        >>> found = [frozenset({"my"}), frozenset({"how", "?"})] * 20
        >>> bias, weights = learn(found, [True, False] * 20)
        >>> weights["my"] > 1, weights["how"] < -1
        (True, True)
    """
    counts = Counter(each for one in found for each in one)
    names = sorted(each for each, count in counts.items() if count >= _OFTEN)
    number = {name: at for at, name in enumerate(names)}
    rows = np.array([row for row, one in enumerate(found) for each in one if each in number])
    columns = np.array([number[each] for one in found for each in one if each in number])
    values = 1 / np.sqrt([len(found[row]) for row in rows])
    wanted = np.array(search, dtype=float)
    weights = before = np.zeros(len(names))
    bias = bias_before = 0.0
    for turn in range(_ROUNDS):  # Nesterov's gradient steps; twice the mean is a safe length
        push = turn / (turn + 3)
        ahead, bias_ahead = weights + push * (weights - before), bias + push * (bias - bias_before)
        sums = np.bincount(rows, ahead[columns] * values, len(found)) + bias_ahead
        off = (1 / (1 + np.exp(-sums)) - wanted) / len(found)
        slope = np.bincount(columns, off[rows] * values, len(names)) + _RIDGE / len(found) * ahead
        before, bias_before = weights, bias
        weights, bias = ahead - 2 * slope, bias_ahead - 2 * float(off.sum())
    kept = {name: round(float(weights[at]), 1) for name, at in number.items()}
    return round(bias, 1), {name: each for name, each in kept.items() if abs(each) >= _SMALLEST}


def predict(found: Found, bias: float, weights: dict[str, float]) -> list[bool]:
    """Which prompts need memories, by the weights alone."""
    sums = (sum(weights.get(each, 0.0) for each in one) for one in found)
    return [
        bias + each / max(1, len(one)) ** 0.5 > 0 for each, one in zip(sums, found, strict=True)
    ]


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
        bias, weights = learn([found[at] for at in others], [cases[at].search for at in others])
        said = predict([found[at] for at in asked], bias, weights)
        outcomes.setdefault(batch, []).extend(zip((cases[at] for at in asked), said, strict=True))
    return {batch: figures(those) for batch, those in outcomes.items()}


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.gate_weights")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--language", required=True, help="of the prompts that are learned from")
    parser.add_argument("--write", type=Path, help="the file of the weights")
    given = parser.parse_args(argv)
    try:
        cases = [case for file in given.data for case in read_gate_cases(file)]
    except DataError as error:
        parser.error(str(error))
    cases = [case for case in cases if case.language == given.language]
    if given.write:
        bias, weights = learn(described(cases), [case.search for case in cases])
        text = json.dumps({"bias": bias, "weights": weights}, ensure_ascii=False, indent=0)
        given.write.write_text(text + "\n", encoding="utf-8")
        return
    for batch, shares in measure(cases).items():
        print(f"batch {batch}", *(f"{name} {share}" for name, share in shares.items()), sep="  ")


if __name__ == "__main__":
    main()
