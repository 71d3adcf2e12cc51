"""`recall time`, and how commands take a text and the moment of asking.

Nothing but the room of time is loaded for it.
"""

import argparse
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import get_args

from recall_retrievers.cli.output import print_json, print_time, range_json, say
from recall_retrievers.timeline.extract_time import Language, extract_time, without_time_words
from recall_retrievers.timeline.parse_time import moment_of

QUOTED = "each in quotes"
_WHOLE = re.compile(r"\s|[\u3040-\u30ff\u3400-\u9fff]")  # Chinese and Japanese have no spaces


def add_moment(parser: argparse.ArgumentParser) -> None:
    """Add the option for the moment of asking."""
    parser.add_argument("--timestamp", help="the moment of asking, ISO 8601 (the clock)")


def texts_of(words: Sequence[str]) -> list[str]:
    """The texts on a command line: words without quotes are one, texts in quotes are several.

    Examples:
        >>> texts_of(["what", "did", "I", "do"]), texts_of(["Who is Bob?", "Who moved?"])
        (['what did I do'], ['Who is Bob?', 'Who moved?'])
    """
    return [*words] if any(map(_WHOLE.search, words)) else [" ".join(words)]


def add_time(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall time`."""
    parser.add_argument("text", nargs="+", help=f"one text, or several, {QUOTED}")
    add_moment(parser)
    parser.add_argument("--timezone", help="such as Europe/Berlin (the machine's)")
    parser.add_argument(
        "--language",
        choices=get_args(Language),
        default="auto",
        help="auto looks at the letters and the small words",
    )
    parser.add_argument(
        "--week-start",
        choices=("monday", "sunday"),
        default="monday",
        help='the day on which "last week" begins (monday)',
    )


def time(options: argparse.Namespace) -> int:
    """What is understood of the time in a text.

    Prints each range with the other readings of its words, and what is left to search for. No model
    and no memories are needed.
    """
    moment = moment_of(options.timestamp, options.timezone, datetime.now(UTC))
    results = []
    for text in texts_of(options.text):
        ranges = extract_time(
            text, moment, language=options.language, week_start=options.week_start
        )
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
