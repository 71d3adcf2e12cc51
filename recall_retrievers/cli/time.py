"""What is understood of the time in a text.

Prints each range with the other readings of its words, and what is left to search for. No model and
no memories are needed.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import get_args

from recall_retrievers.cli.ask import QUOTED, add_moment, texts_of
from recall_retrievers.cli.output import print_json, print_time, range_json, say
from recall_retrievers.core.query import Timed
from recall_retrievers.stages.extract_time import ExtractTime, without_time_words

EXAMPLE = '{program} "what did we plan for early March?" --timestamp 2024-06-12T15:30'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("text", nargs="+", help=f"one text, or several, {QUOTED}")
    add_moment(parser)
    parser.add_argument("--timezone", help="such as Europe/Berlin (the machine's)")
    parser.add_argument(
        "--language",
        choices=get_args(ExtractTime.model_fields["language"].annotation),
        default="auto",
        help="auto looks at the letters and the small words",
    )
    parser.add_argument(
        "--week-start",
        choices=("monday", "sunday"),
        default="monday",
        help='the day on which "last week" begins (monday)',
    )


def run(options: argparse.Namespace) -> int:
    """Read each text and show what was understood."""
    moment = Timed(timestamp=options.timestamp, timezone=options.timezone).moment(datetime.now(UTC))
    calendar = ExtractTime(language=options.language, week_start=options.week_start)
    results = []
    for text in texts_of(options.text):
        ranges = calendar.read(text, moment)
        searched = without_time_words(text, ranges)
        if options.json:
            times = [range_json(each) for each in ranges]
            results.append({"text": text, "time": times, "searched_for": searched})
            continue
        say(f"\n{text}", style="bold")
        print_time(ranges)
        say(f"searched for: {searched}" if ranges else "no time is named")
    if options.json:
        print_json({"asked_at": moment.isoformat(), "texts": results})
    return 0
