"""Whether a conversation needs memories: labelled prompts, the search gate, and the original.

    python -m benchmarks.gate --data FILE [--batch N] [--misses N] [--json OUT]

Each line of the file is ``{"conversation": ..., "search": true}``: a text, or a list of messages
with ``role`` and ``content``; with a ``language``, it is counted for that language too, and
with a ``batch`` (a number), ``--batch`` can ask for that batch alone. The
baseline is the gate of PersonaLab as it was published: substrings anywhere in the conversation.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.datasets import DataError, GateCase, read_gate_cases
from benchmarks.output import json_file, write_json
from benchmarks.report import print_gate
from recall_retrievers.gate.turns import Conversation, read_turns
from recall_retrievers.stages.search_gate import SearchGate

Outcome = tuple[GateCase, bool]

_SEED_MEMORY = (
    "remember", "recall", "previous", "before", "earlier", "last time", "you said", "we discussed",
    "mentioned", "talked about", "history", "past", "context", "background", "what did",
    "do you know about", "tell me about", "familiar with", "experience with", "learned", "saved",
    "stored", "recorded", "noted", "documented",
)  # fmt: skip
_SEED_QUESTION = (
    "what", "when", "where", "who", "how", "why", "which", "can you", "do you", "have you",
    "did you", "will you", "could you", "would you",
)  # fmt: skip
_SEED_PRONOUNS = ("my", "me", "i", "you", "we", "us", "our")


def personalab_gate(conversation: Conversation) -> bool:
    """The gate of PersonaLab: memory words x 3, question words x 1, any pronoun 2; from 3 on, yes.

    Examples:
        >>> personalab_gate("Show the weather"), personalab_gate("Book my usual table")
        (True, False)
    """
    text = "\n".join(turn.text for turn in read_turns(conversation)).lower()
    score = 3 * sum(word in text for word in _SEED_MEMORY)
    score += sum(word in text for word in _SEED_QUESTION)
    score += 2 * any(word in text for word in _SEED_PRONOUNS)
    return score >= 3


def measure(cases: Sequence[GateCase]) -> dict[str, object]:
    """Ask both gates about every case; returns what ``--json`` writes."""
    gate = SearchGate()
    gate.should_search("")  # a process reads the languages once
    milliseconds: list[float] = []

    def timed(conversation: Conversation) -> bool:
        started = time.perf_counter()
        search = gate.should_search(conversation)
        milliseconds.append(1000 * (time.perf_counter() - started))
        return search

    timed("")
    milliseconds.clear()
    ours = _outcomes(cases, timed)
    languages = dict.fromkeys(case.language for case in cases if case.language)
    return {
        **figures(ours),
        "ms_median": round(statistics.median(milliseconds), 4),
        "n": len(cases),
        "personalab": figures(_outcomes(cases, personalab_gate)),
        "by_language": {
            language: figures([each for each in ours if each[0].language == language])
            for language in languages
        },
        "misses": [
            {"conversation": case.conversation, "search": case.search, "why": str(reading)}
            for case, said in ours
            if said != case.search
            for reading in [gate.explain(case.conversation)]
        ],
    }


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Accuracy, precision, recall and false positive rate; None if there is nothing to count."""
    right = sum(said and case.search for case, said in outcomes)
    return {
        "accuracy": _share(sum(said == case.search for case, said in outcomes), len(outcomes)),
        "precision": _share(right, sum(said for _, said in outcomes)),
        "recall": _share(right, sum(case.search for case, _ in outcomes)),
        "false_positive_rate": _share(
            sum(said and not case.search for case, said in outcomes),
            sum(not case.search for case, _ in outcomes),
        ),
    }


def _outcomes(cases: Sequence[GateCase], gate: Callable[[Conversation], bool]) -> list[Outcome]:
    return [(case, gate(case.conversation)) for case in cases]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.gate")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--batch", type=int, help="only the prompts of this batch")
    parser.add_argument("--misses", type=int, default=20, help="how many to show")
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        cases = read_gate_cases(given.data)
    except DataError as error:
        parser.error(str(error))
    if given.batch is not None:
        cases = [case for case in cases if case.batch == given.batch]
        if not cases:
            parser.error(f"{given.data} has no prompts of batch {given.batch}")
    result = measure(cases)
    print_gate(result, given.misses)
    write_json(given.json, result)


if __name__ == "__main__":
    main()
