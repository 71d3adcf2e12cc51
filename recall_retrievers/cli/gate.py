"""Whether a message needs memories at all, and why.

Returns 0 where memories are needed and 1 where they are not, so that a shell can decide by it.
"""

from __future__ import annotations

import argparse

from recall_retrievers.cli.output import report
from recall_retrievers.stages.search_gate import SearchGate

EXAMPLE = '{program} "When is my sister\'s birthday?" && echo ask the memories'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("message", nargs="+", help="what the user says")
    parser.add_argument(
        "--threshold",
        type=float,
        default=SearchGate.model_fields["threshold"].default,
        help="the sum from which on memories are searched (3); lower = searched more often",
    )


def run(options: argparse.Namespace) -> int:
    """Read the message and say yes or no."""
    message = " ".join(options.message)
    reading = SearchGate(threshold=options.threshold).explain(message)
    result = {
        "message": message,
        "search": reading.search,
        "score": reading.score,
        "threshold": reading.threshold,
        "cues": [dict(zip(("words", "kind", "weight"), cue, strict=True)) for cue in reading.cues],
    }
    report(options, result, str(reading))
    return 0 if reading.search else 1
