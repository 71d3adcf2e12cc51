"""What a command prints: tables for a person, or JSON for a program."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recall_retrievers.cli.streams import writes_all
from recall_retrievers.text.words import STEERING, printable
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.time_range import format_interval, in_words


class _Terminal(Console):
    """A console that leaves a broken pipe to the program; rich would end the process itself."""

    def on_broken_pipe(self) -> None:
        """Raise what it was."""
        raise BrokenPipeError


def show(table: Table) -> None:
    """Write a table to standard output, with colours where that is a terminal."""
    _Terminal().print(table)


def say(text: str, style: str | None = None) -> None:
    """Write a line; what would steer the terminal is written out."""
    line = printable(text)
    _Terminal().print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def show_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """Write a table of names and values, which say nothing but their text."""
    table = Table("", "", title=_cell(title), title_justify="left", show_header=False)
    for name, value in facts:
        table.add_row(_cell(name), _cell(value))
    show(table)


def _cell(text: str) -> Text:
    return Text(printable(text))


def report(options: argparse.Namespace, result: object, text: str) -> None:
    """Print what was done: as JSON if the options ask for it, else as a line of text."""
    if options.json:
        print_json(result)
    else:
        say(text)


def print_json(result: object) -> None:
    """Write a result as JSON, in any script; what steers a terminal as an escape of JSON."""
    print(as_json(result, escaped=not writes_all(sys.stdout), indent=2))


def as_json(result: object, *, escaped: bool, indent: int | None = None) -> str:
    """A result as JSON, on one line unless there is an ``indent``; ``escaped`` in ASCII alone."""
    written = json.dumps(result, indent=indent, ensure_ascii=escaped)
    return STEERING.sub(lambda each: f"\\u{ord(each[0]):04x}", written)


def range_json(time_range: TimeRange) -> dict[str, object]:
    """A time that was understood, and how else it may be meant."""
    return {
        "words": time_range.text,
        "range": format_interval(time_range),
        "means": time_range.describe(),
        "vague": time_range.soft,
        "also": [format_interval(each) for each in time_range.alternatives],
    }


def print_time(ranges: Sequence[TimeRange]) -> None:
    """The times that were understood, one a line."""
    for each in ranges:
        say(in_words(each))
